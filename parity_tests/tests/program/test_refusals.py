"""Arguments that are refused, in one line, and streams that are closed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from parity_tests.tests.program.running import (
    PROGRAM,
    run,
    said_by_main,
)


def refused(name: str, reason: str) -> str:
    """Return the start of what argparse says of an argument."""
    return f"argument {name}: {reason}"


BAD = [
    (["--impl", "jax"], refused("--impl", "invalid choice: 'jax'")),
    (["--impl"], refused("--impl", "expected one argument")),
    (["--impl", "--plain"], refused("--impl", "expected one argument")),
    (["--lang", "de"], refused("--lang", "invalid choice: 'de'")),
    (["--lang"], refused("--lang", "expected one argument")),
    (["--section", "6"], refused("--section", "invalid choice: 6")),
    (["--section", "12"], refused("--section", "invalid choice: 12")),
    (["--section"], refused("--section", "expected at least one argument")),
    (["--plan"], "unrecognized arguments: --plan\n"),
    (["--plain=1"], refused("--plain", "ignored explicit argument '1'")),
    (["-x"], "unrecognized arguments: -x\n"),
    (["lessons"], refused("COMMAND", "invalid choice: 'lessons'")),
    (["exercise"], "the following arguments are required: NUMBER"),
    (["exercise", "4"], refused("NUMBER", "invalid choice: '4'")),
    (["exercise 1"], refused("COMMAND", "invalid choice: 'exercise 1'")),
    (["quiz", "1"], "unrecognized arguments: 1\n"),
    ([""], refused("COMMAND", "invalid choice: ''")),
    (["exercise", "1", "--query", "1"], "argument --query: expected 2"),
    (
        ["exercise", "1", "--query", "1", "nan"],
        "--query is 'nan', expected a finite number",
    ),
    (
        ["exercise", "1", "--query", "1e39", "1"],
        "--query is '1e39', expected a finite number from -1e37 to 1e37",
    ),
    (
        ["exercise", "1", "--query", "1", "-1e39"],
        "--query is '-1e39', expected a finite number",
    ),
    (
        ["exercise", "1", "--query", "1", "-inf"],
        "--query is '-inf', expected a finite number",
    ),
    (
        ["exercise", "2", "--query", "1", "0"],
        "unrecognized arguments: --query 1 0\n",
    ),
    (["quiz", "--plot", "x"], "unrecognized arguments: --plot x\n"),
    (["--plot", "x", "quiz"], "unrecognized arguments: --plot x\n"),
    (["--answers"], "unrecognized arguments: --answers\n"),
    (
        ["--section", "3", "exercise", "1"],
        "unrecognized arguments: --section 3\n",
    ),
    (["--plot", ""], "--plot needs a path\n"),
    (["--plot="], "--plot needs a path\n"),
    (["--plot"], refused("--plot", "expected one argument")),
    (
        ["exercise", "3", "--lengths", "0"],
        "--lengths is '0', expected a whole number from 1",
    ),
    (
        ["exercise", "3", "--lengths", "1.5"],
        "--lengths is '1.5', expected a whole number from 1",
    ),
    (
        ["exercise", "3", "--lengths"],
        refused("--lengths", "expected at least one argument"),
    ),
    (
        ["exercise", "3", "--lengths", "9" * 400],
        f"--lengths is '{'9' * 400}', expected a whole number from 1",
    ),
    (
        ["exercise", "3", "--lengths", "9" * 5000],
        f"--lengths is '{'9' * 5000}', expected a whole number from 1",
    ),
    (
        ["exercise", "3", "--lengths", "10", "90000000"],
        "--lengths 90000000: the score matrix takes 30899047852 MiB",
    ),
]


@pytest.mark.parametrize(("arguments", "message"), BAD)
def test_bad_arguments_in_one_line(
    arguments: list[str],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    said = said_by_main(monkeypatch, capsys, *arguments)
    assert said.startswith(f"attention.py: {message}")


BAD_CHINESE = [
    ("--impl", "--impl：後面要有一個值\n"),
    ("--impl=jax", "--impl：不能用 'jax'，可以用的有："),
    ("--answers", "看不懂 --answers\n"),
    ("--query=1", "看不懂 --query=1\n"),
]


@pytest.mark.parametrize(("argument", "message"), BAD_CHINESE)
def test_the_language_of_a_refusal(
    argument: str,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for lang in (["--lang=zh-Hant"], ["--lang", "en", "--lang", "zh-Hant"]):
        said = said_by_main(monkeypatch, capsys, argument, *lang)
        assert said.startswith(f"attention.py: {message}")


@pytest.mark.parametrize("arguments", [arguments for arguments, _ in BAD])
def test_no_refusal_in_chinese_has_english_words(
    arguments: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    chinese = ["--lang", "zh-Hant"]
    said = said_by_main(monkeypatch, capsys, *arguments, *chinese)
    assert not re.search("argument|invalid|expected|required|needs", said)


def test_bad_arguments_leave_no_traceback() -> None:
    # Chinese also where Python would open stderr as ASCII.
    ascii_streams = {"PYTHONIOENCODING": "ascii"}
    done = run("--impl", "jax", "--lang", "zh-Hant", variables=ascii_streams)
    assert done.returncode == 2
    expected = "attention.py: --impl：不能用 'jax'，可以用的有："
    assert done.stderr.startswith(expected)
    assert done.stderr.count("\n") == 1


def shell(command: str) -> subprocess.CompletedProcess[str]:
    """Run the program with what a shell can do to its streams."""
    line = f"'{sys.executable}' '{PROGRAM}' --lang en {command}"
    return subprocess.run(
        ["sh", "-c", line], capture_output=True, text=True, check=False
    )


@pytest.mark.skipif(os.name == "nt", reason="the shell is another there")
@pytest.mark.parametrize(
    ("command", "status", "prints"),
    [
        ("quiz --impl numpy <&-", 0, True),
        ("quiz --impl numpy >&-", 0, False),
        ("quiz 2>&-", 0, True),
        ("quiz <&- >&- 2>&-", 0, False),
        ("--impl jax 2>&-", 2, False),
    ],
)
def test_closed_streams(command: str, status: int, prints: bool) -> None:
    done = shell(command)
    assert (done.returncode, done.stderr) == (status, "")
    assert bool(done.stdout) == prints


@pytest.mark.skipif(
    not Path("/dev/full").exists(), reason="this system has no full device"
)
@pytest.mark.parametrize("command", ["quiz --impl numpy", "--help"])
def test_an_output_that_is_full(command: str) -> None:
    done = shell(f"{command} >/dev/full")
    assert done.returncode == 1
    expected = "attention.py: [Errno 28] No space left on device\n"
    assert done.stderr == expected
