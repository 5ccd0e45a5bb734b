"""`check`: a port that is right, wrong, unfinished, hanging, hostile."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import numpy_impl
from parity_tests.ports.check import report_on
from parity_tests.ports.new import modules, new_port
from parity_tests.ports.port import Port

pytestmark = pytest.mark.ports
Make = Callable[..., Path]
ROOT = Path(__file__).parents[3]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Return a function that copies numpy_impl and adds lines to modules."""

    def made(name: str = "my_impl", **ends: str) -> Path:
        folder = tmp_path / name
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(
            Path(str(numpy_impl.__file__)).parent, folder, ignore=ignored
        )
        for module, text in ends.items():
            with (folder / f"{module}.py").open("a", encoding="utf-8") as file:
                file.write("\n\n" + text)
        return folder

    return made


def run(folder: Path, **options: object) -> int:
    return report_on(Port(str(folder)), **options)  # type: ignore[arg-type] # by name


def test_a_right_port_passes_and_an_unfinished_one_is_not_passed(
    make: Make, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    folder = make()
    (folder / "masks.py").unlink()
    (folder / "__init__.py").write_text(
        "from .arrays import from_numpy, to_numpy\n", encoding="utf-8"
    )
    path = tmp_path / "results.json"
    assert run(folder, concept="averaging", path=path) == 0
    assert " 0 failed, 0 not there yet" in capsys.readouterr().out
    written = json.loads(path.read_text(encoding="utf-8"))
    assert written["good"]
    assert all(row["failure"] is None for row in written["results"])
    assert run(folder, concept="masks") == 1
    out = capsys.readouterr().out
    assert "0 passed, 0 failed" in out


def test_a_wrong_port_fails_with_what_shows_it_alone(
    make: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong = "def log_sum_exp(x):\n    return np.sum(x, axis=-1)\n"
    folder = make(softmax=wrong)
    assert run(folder, concept="softmax", first_failures=1) == 1
    out = capsys.readouterr().out
    assert f"alone: python -m parity_tests check {folder}" in out


@pytest.mark.parametrize(
    ("does", "says"),
    [
        ("import time; time.sleep(600)", "no answer within 2 seconds"),
        ("import os; os._exit(7)", "the process ended with status 7"),
    ],
)
def test_who_hangs_or_crashes_loses_their_own_rows_alone(
    make: Make, capsys: pytest.CaptureFixture[str], does: str, says: str
) -> None:
    body = f"def padding_mask(lengths, S):\n    {does}\n"
    folder = make(masks=body)
    assert run(folder, concept="masks", judge="closed form", limit=2.0) == 1
    out = capsys.readouterr().out
    assert says in out
    passed, failed = counted(out)
    assert passed > 0
    assert failed > 0


def counted(out: str) -> tuple[int, int]:
    """Return how many passed and failed, from the last line."""
    numbers = re.findall(r"(\d+) (passed|failed)", out.rsplit("\n", 2)[-2])
    counts = {word: int(number) for number, word in numbers}
    return counts["passed"], counts["failed"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("raise SystemExit(3)", "cannot be imported: SystemExit: 3"),
        ("import os; os._exit(9)", "the process ended with status 9"),
        ("1 +", "cannot be imported: SyntaxError"),
        ("x = 1", "has no function from_numpy"),
    ],
)
def test_what_cannot_be_imported_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, says: str
) -> None:
    folder = tmp_path / "odd"
    folder.mkdir()
    (folder / "__init__.py").write_text(text, encoding="utf-8")
    assert run(folder) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("check: ")
    assert says in printed.err
    assert printed.err.count("\n") == 1
    assert not printed.out


def test_no_package_at_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(tmp_path / "nothing") == 2
    assert "is no package" in capsys.readouterr().err
    assert report_on(Port("there_is_no_such_package")) == 2
    assert "ModuleNotFoundError" in capsys.readouterr().err
    assert report_on(Port("numpy_impl", "there_is_no_such_library")) == 2
    assert "there_is_no_such_library" in capsys.readouterr().err


WRONG = "def log_sum_exp(x):\n    return np.sum(x, axis=-1)\n"
KNOWN = '[[expected]]\nplace = "softmax: *"\nreason = "not yet"\n'


@pytest.mark.parametrize(
    ("text", "status", "says"),
    [
        (KNOWN, 0, "failed as expected"),
        (
            KNOWN + '[[expected]]\nplace = "masks: *"\nreason = "old"\n',
            0,
            "failed as expected",
        ),
        (
            KNOWN + '[[expected]]\nplace = "softmax: gone"\nreason = "old"\n',
            1,
            "there is no such check: softmax: gone",
        ),
        ('[[expected]]\nplace = "x"\n', 2, "expected place and reason"),
        ('[[other]]\nplace = "x"\n', 2, "expected tables [[expected]]"),
        ("[[", 2, "cannot be read"),
    ],
)
def test_expected_failures_have_reasons_and_no_stale_ones(
    make: Make,
    capsys: pytest.CaptureFixture[str],
    text: str,
    status: int,
    says: str,
) -> None:
    folder = make(softmax=WRONG)
    (folder / "expected_failures.toml").write_text(text, encoding="utf-8")
    assert run(folder, concept="softmax") == status
    printed = capsys.readouterr()
    assert says in printed.out + printed.err


def test_an_expected_failure_that_passes_is_a_failure(
    make: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = make()
    (folder / "expected_failures.toml").write_text(KNOWN, encoding="utf-8")
    assert run(folder, concept="softmax") == 1
    assert (
        "expected to fail, and passed: softmax: *" in capsys.readouterr().out
    )


@pytest.mark.parametrize("library", ["jax", "numpy", "something_else"])
def test_a_new_port_has_every_room_and_nothing_in_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], library: str
) -> None:
    folder = tmp_path / "my_impl"
    assert new_port(folder, library) == 0
    for module in modules():
        text = (folder / f"{module}.py").read_text(encoding="utf-8")
        compile(text, module, "exec")
        assert "NotImplementedError" in text, module
    assert new_port(folder, library) == 2
    assert "is there already" in capsys.readouterr().err
    assert new_port(tmp_path / "a-b", library) == 2
    if library == "numpy":
        assert run(folder, concept="masks") == 1
        assert "0 passed, 0 failed" in capsys.readouterr().out


def test_the_same_as_tests_of_pytest(make: Make, tmp_path: Path) -> None:
    folder = make(softmax=WRONG)
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider"]
    # Installed, the plugin is there without being named.
    command += ["-p", "parity_tests.plugin", "--pyargs", "parity_tests"]
    command += ["-q", "--impl", str(folder), "-k", "softmax and log_sum_exp"]
    process = subprocess.run(
        command,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert process.returncode == 1, process.stdout + process.stderr
    assert "expected" in process.stdout
    assert "test_check_case_of_the_port[softmax: " in process.stdout
