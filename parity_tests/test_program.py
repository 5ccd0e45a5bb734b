"""attention.py as a user runs it: output, languages, plots, bad arguments."""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
import tracemalloc
from pathlib import Path
from xml.etree import ElementTree

import pytest
from rich.cells import cell_len

import attention
import numpy_impl

PROGRAM = Path(attention.__file__)


def run(
    *arguments: str, code: str | None = None, stdin: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run the program, or Python code, in a process of its own."""
    start = [str(PROGRAM)] if code is None else ["-c", code]
    return subprocess.run(
        [sys.executable, *start, *arguments],
        capture_output=True,
        encoding="utf-8",
        input=stdin,
        cwd=PROGRAM.parent,
        check=False,
    )


def blocking(*names: str) -> str:
    """Return Python code for which some packages are not installed."""
    return f"import sys; sys.modules.update(dict.fromkeys({names!r}))\n"


def test_the_whole_lesson_in_its_own_process() -> None:
    done = run("--lang", "en")
    assert (done.returncode, done.stderr) == (0, "")
    for section in range(1, 6):
        assert f"\n{section}  " in done.stdout
    assert done.stdout.count("Largest difference between NumPy") == 5
    assert "\x1b" not in done.stdout
    assert all(line == line.rstrip() for line in done.stdout.splitlines())


def test_without_torch_numpy_computes_alone() -> None:
    code = blocking("torch") + "import attention; sys.exit(attention.main())"
    done = run("--lang", "en", code=code)
    assert (done.returncode, done.stderr) == (0, "")
    assert "PyTorch is not installed here, so NumPy computes" in done.stdout
    assert "0.02   0.14   0.02   0.09   0.73" in done.stdout
    assert run("exercise", "2", code=code).returncode == 0
    refused = run("--impl", "torch", "--lang", "en", code=code)
    assert refused.returncode == 2
    assert refused.stderr.startswith("attention.py: --impl torch needs torch")


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
    code += "import attention; sys.exit(attention.main())"
    folder = tmp_path / "plots"
    done = run("--plot", str(folder), "--lang", "en", code=code)
    assert done.returncode == 2
    assert "--plot needs matplotlib, which is not installed" in done.stderr
    assert not folder.exists()


BAD = [
    (["--impl", "jax"], "--impl is 'jax', possible: numpy torch both"),
    (["--impl"], "--impl needs numpy or torch or both"),
    (["--lang", "de"], "--lang is 'de', possible: en zh-Hant"),
    (["--section", "6"], "--section is '6', possible: 1 2 3 4 5"),
    (["--section"], "--section needs one or more of 1 to 5"),
    (["--plan"], "--plan is no option, possible: --impl --lang"),
    (["lesson"], "'lesson' is not possible: nothing, exercise 1"),
    (["exercise"], "'exercise' is not possible: nothing, exercise 1"),
    (["exercise", "4"], "'exercise 4' is not possible: nothing, exercise 1"),
    (["quiz", "1"], "'quiz 1' is not possible: nothing, exercise 1"),
    (["exercise", "1", "--query", "1"], "--query needs two numbers"),
    (
        ["exercise", "1", "--query", "1", "nan"],
        "--query is 'nan', expected a finite number",
    ),
    (["exercise", "2", "--query", "1", "0"], "--query is not for this"),
    (["quiz", "--plot", "x"], "--plot is not for this, but for: the lesson,"),
    (["--answers"], "--answers is not for this, but for: quiz"),
    (
        ["exercise", "3", "--lengths", "0"],
        "--lengths is '0', expected a whole number from 1",
    ),
    (
        ["exercise", "3", "--lengths", "1.5"],
        "--lengths is '1.5', expected a whole number from 1",
    ),
    (
        ["exercise", "3", "--lengths", "10", "90000000"],
        "--lengths 90000000: the table of scores takes 30899047852 MiB",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_arguments_in_one_line(
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "argv", ["attention.py", *arguments])
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    assert attention.main() == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"attention.py: {message}")
    assert err.count("\n") == 1


def test_bad_arguments_leave_no_traceback() -> None:
    done = run("--impl", "jax", "--lang", "zh-Hant")
    assert done.returncode == 2
    expected = "--impl 是 'jax'，可以用的有：numpy torch both"
    assert done.stderr == f"attention.py: {expected}\n"


def test_a_file_in_the_place_of_the_plot_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("kept")
    arguments = ["--plot", str(tmp_path / "file"), "--lang", "en"]
    with pytest.raises(attention.BadArgumentError, match="cannot write to"):
        attention.run(arguments)
    assert (tmp_path / "file").read_text() == "kept"


@pytest.mark.parametrize("lang", attention.LANGUAGES)
def test_plots(
    lang: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "new" / "plots"
    drawn = []
    for _ in range(2):
        attention.run(
            ["--impl", "numpy", "--lang", lang, "--plot", f"{folder}"]
        )
        files = sorted(folder.iterdir())
        drawn.append({path.name: path.read_bytes() for path in files})
    assert drawn[0] == drawn[1]
    assert list(drawn[0]) == [f"section-{n}.svg" for n in (1, 2, 3, 5)]
    for data in drawn[0].values():
        texts = [
            "".join(node.itertext())
            for node in ElementTree.fromstring(data).iter()
            if node.tag.endswith("}text")
        ]
        assert set(numpy_impl.lesson.TOKENS) <= set(texts)
    assert "0.96" in (folder / "section-3.svg").read_text(encoding="utf-8")
    assert str(folder / "section-3.svg") in capsys.readouterr().out


@pytest.mark.parametrize("impl", ["numpy", "torch", "both"])
def test_exercise_2(impl: str, capsys: pytest.CaptureFixture[str]) -> None:
    attention.run(["exercise", "2", "--impl", impl, "--lang", "en"])
    lines = capsys.readouterr().out.splitlines()
    masked, opened = (
        [line for line in lines if line.startswith(token)]
        for token in ("床", "光")
    )
    assert masked == [
        "床   1.00      ·      ·      ·      ·",
        "床   0.99   0.00   0.01   0.00   0.00",
    ]
    assert opened[0] == opened[1]


@pytest.mark.parametrize("lengths", [[8], [8, 8], [64, 16, 32]])
def test_exercise_3(
    lengths: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["exercise", "3", "--lang", "en", "--lengths"]
    attention.run([*arguments, *map(str, lengths)])
    out = capsys.readouterr().out
    found = [int(n) for n in re.findall(r"^(\d+) ", out, flags=re.MULTILINE)]
    assert found == lengths
    assert ("\nexponent" in out) == (len(set(lengths)) > 1)


def test_the_fitted_exponent() -> None:
    lengths = [1000, 2000, 4000]
    times = [3e-9 * T**2.5 for T in lengths]
    assert attention.slope(lengths, times) == pytest.approx(2.5)


def test_the_peak_is_as_the_refusal_reckons_it() -> None:
    T = 1000
    version = attention.Version("numpy")
    attention.median_time(version, T)
    tracemalloc.start()
    attention.median_time(version, T)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    tables = peak / attention.table_bytes(T)
    assert 0.8 * attention.PEAK_TABLES < tables <= attention.PEAK_TABLES


@pytest.mark.parametrize("lang", attention.LANGUAGES)
def test_quiz_shows_answers_only_when_asked(
    lang: str, capsys: pytest.CaptureFixture[str]
) -> None:
    attention.run(["quiz", "--lang", lang, "--impl", "numpy"])
    asked = capsys.readouterr().out
    attention.run(["quiz", "--lang", lang, "--impl", "numpy", "--answers"])
    answered = capsys.readouterr().out
    for number in ("29%", "0.31", "32.53", "0.92", "0.39"):
        assert number in answered
        assert number not in asked


def test_words_in_both_languages() -> None:
    for key, texts in attention.WORDS.items():
        assert len(texts) == 2
        assert all(texts), key
        fields = [sorted(re.findall(r"{(\w+)", text)) for text in texts]
        assert set(fields[0]) == set(fields[1]), key


@pytest.mark.parametrize("lang", attention.LANGUAGES)
@pytest.mark.parametrize(
    "arguments",
    [[], ["exercise", "1"], ["exercise", "2"], ["quiz", "--answers"]],
    ids=" ".join,
)
def test_no_line_is_wider_than_a_terminal(
    arguments: list[str], lang: str, capsys: pytest.CaptureFixture[str]
) -> None:
    attention.run([*arguments, "--lang", lang])
    for line in capsys.readouterr().out.splitlines():
        assert cell_len(line) < 80, line


@pytest.mark.parametrize(
    ("variables", "lang"),
    [
        ({"LC_ALL": "zh_TW.UTF-8", "LANG": "en_US.UTF-8"}, "zh-Hant"),
        ({"LC_ALL": "", "LC_MESSAGES": "", "LANG": "zh_HK.UTF-8"}, "zh-Hant"),
        ({"LC_ALL": "C", "LANG": "zh_TW.UTF-8"}, "en"),
        ({"LC_ALL": "", "LC_MESSAGES": "de_DE", "LANG": "zh_TW"}, "en"),
    ],
)
def test_the_language_is_that_of_the_locale(
    variables: dict[str, str], lang: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert attention.locale_language() == lang


def test_a_reader_that_stops_early_is_no_error() -> None:
    code = textwrap.dedent(
        f"""
        import subprocess, sys
        program = [sys.executable, {str(PROGRAM)!r}, "--impl", "numpy"]
        pipe = subprocess.PIPE
        done = subprocess.Popen(program, stdout=pipe, stderr=pipe)
        done.stdout.close()
        print(done.wait(), done.stderr.read())
        """
    )
    assert run(code=code).stdout == "1 b''\n"


def test_help_names_every_option(capsys: pytest.CaptureFixture[str]) -> None:
    for lang in attention.LANGUAGES:
        attention.run(["--help", "--lang", lang])
        text = capsys.readouterr().out
        for option in (*attention.CHOICES, *attention.PLACES, "--plain"):
            assert f"  {option}" in text
