"""How the program starts, and what it says where a package is missing."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from attention_twice import words
from parity_tests.tests.program.running import (
    MAIN,
    PROGRAM,
    START,
    blocking,
    failing,
    run,
)


def test_the_whole_lesson_in_its_own_process() -> None:
    done = run("--lang", "en")
    assert (done.returncode, done.stderr) == (0, "")
    for section in range(1, 6):
        assert f"\n{section}  " in done.stdout
    assert done.stdout.count("Largest difference between NumPy") == 5
    assert "\x1b" not in done.stdout
    assert all(line == line.rstrip() for line in done.stdout.splitlines())


def test_without_torch_numpy_computes_alone() -> None:
    code = blocking("torch") + MAIN
    done = run("--lang", "en", code=code)
    assert (done.returncode, done.stderr) == (0, "")
    assert "PyTorch is not installed here, so NumPy computes" in done.stdout
    assert "0.02   0.14   0.02   0.09   0.73" in done.stdout
    assert run("exercise", "2", code=code).returncode == 0
    refused = run("--impl", "torch", "--lang", "en", code=code)
    assert refused.returncode == 2
    assert refused.stderr.startswith("attention.py: --impl torch needs torch")


@pytest.mark.parametrize(
    "error",
    [
        "ImportError('DLL load failed\\nwhile importing')",
        "OSError('libcudart.so.12: cannot open shared object file')",
        "ModuleNotFoundError('No module named sympy', name='sympy')",
    ],
)
def test_a_torch_that_does_not_load_is_as_one_that_is_missing(
    error: str,
) -> None:
    code = failing("torch", error) + MAIN
    said = error.split("'")[1].partition("\\n")[0]
    done = run("--lang", "en", "--section", "5", code=code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith(
        "PyTorch is installed here but does not load, so NumPy computes "
        f"alone: {said}\n"
    )
    assert "Computed by NumPy." in done.stdout
    assert "--impl both" not in done.stdout
    assert "pip install" not in done.stdout
    assert run("exercise", "2", code=code).returncode == 0
    done = run("--impl", "torch", "--lang", "en", code=code)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "attention.py: --impl torch: torch is installed here but does not "
        f"load: {said}\n"
    )


@pytest.mark.parametrize(
    ("arguments", "program"),
    [
        ([str(PROGRAM)], ".venv/bin/python attention.py"),
        (["-m", "attention_twice"], "python -m attention_twice"),
        (
            ["-c", "from attention_twice.__main__ import start; start()"],
            "attention-twice",
        ),
    ],
)
def test_each_way_to_start_it_says_how_to_go_on(
    arguments: list[str], program: str
) -> None:
    # Without the seconds that torch needs to load.
    quiz = ["quiz", "--impl", "numpy"]
    done = subprocess.run(
        [sys.executable, *arguments, "--lang", "en", *quiz],
        capture_output=True,
        text=True,
        cwd=PROGRAM.parent,
        check=True,
    )
    assert done.stdout.endswith(f"The answers: {program} quiz --answers\n")


def test_help_waits_for_nothing_heavy() -> None:
    code = blocking("torch", "matplotlib", "babel", "parity_tests") + MAIN
    done = run("train", "--help", "--lang", "en", code=code)
    assert (done.returncode, done.stderr) == (0, "")
    assert "--checkpoint FILE" in done.stdout


@pytest.mark.parametrize("package", ["numpy", "rich"])
def test_a_missing_package_is_named_in_one_line(package: str) -> None:
    done = run(code=blocking(package) + START)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        f"attention.py: {package} is not installed for this Python; "
        "try .venv/bin/python attention.py\n"
    )
    imported = run(code=blocking(package) + "from attention_twice import cli")
    assert "ModuleNotFoundError" in imported.stderr


def test_ctrl_c_while_packages_load() -> None:
    code = textwrap.dedent(
        """
        import sys
        class Finder:
            def find_spec(name, path=None, target=None):
                if name == "rich.table":
                    raise KeyboardInterrupt
        sys.meta_path.insert(0, Finder)
        """
    )
    done = run(code=code + START)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


@pytest.mark.parametrize("lang", words.TAGS)
def test_without_torch_the_advice_is_to_install_it(lang: str) -> None:
    code = blocking("torch") + MAIN
    for arguments in (["--section", "5"], ["--impl", "numpy"]):
        done = run(*arguments, "--lang", lang, code=code)
        assert "pip install torch" in done.stdout
        assert "--impl both" not in done.stdout
    done = run("--impl", "numpy", "--section", "5", "--lang", lang)
    assert "pip install" not in done.stdout
    assert "--impl both" in done.stdout


def test_numpy_impl_loads_nothing_but_numpy() -> None:
    code = blocking("torch", "rich", "matplotlib", "parity_tests") + (
        "import numpy_impl\n"
        "i = numpy_impl.lesson.draw_inputs()\n"
        "print(numpy_impl.lesson.look_back(i.query, i.key).weights[1, 1])\n"
        "print([m for m in ('torch', 'rich', 'matplotlib', 'torch_impl')"
        " if sys.modules.get(m)])"
    )
    done = run(code=code)
    assert done.stderr == ""
    assert done.stdout.split("\n")[0].startswith("0.037")
    assert done.stdout.split("\n")[1] == "[]"


def test_torch_impl_does_without_numpy_impl() -> None:
    code = blocking("numpy_impl", "parity_tests") + (
        "import torch_impl; print(torch_impl.lesson.match_keys().weights[3])"
    )
    assert run(code=code).stdout.startswith("tensor(0.28")


def test_without_matplotlib_a_plot_is_refused(tmp_path: Path) -> None:
    code = blocking("matplotlib")
    code += MAIN
    folder = tmp_path / "plots"
    done = run("--plot", str(folder), "--lang", "en", code=code)
    assert done.returncode == 2
    assert "--plot needs matplotlib, which is not installed" in done.stderr
    assert not folder.exists()
