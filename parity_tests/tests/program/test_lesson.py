"""lesson: both sides against each other and against the recorded numbers."""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
import torch

import numpy_impl.softmax
import torch_impl.softmax
from attention_twice import cli, words

ROOT = Path(__file__).parents[3]
SVG = "{http://www.w3.org/2000/svg}"

# What the lesson is known by, to the printed digit. A dot is an exact 0.
RECORDED = {
    1: """
        1.00 · · · ·
        0.50 0.50 · · ·
        0.33 0.33 0.33 · ·
        0.25 0.25 0.25 0.25 ·
        0.20 0.20 0.20 0.20 0.20
        """,
    2: """
        0.10 0.00 0.90 1.00 0.80
        0.90 1.00 0.10 0.00 0.20
        0.10 0.00 0.90 1.00 0.80
        0.12 0.11 0.26 0.29 0.23
        0.01 0.00 0.30 0.50 0.18
        """,
    3: """
        1.00 · · · ·
        0.96 0.04 · · ·
        0.24 0.26 0.50 · ·
        0.09 0.39 0.43 0.09 ·
        0.02 0.14 0.02 0.09 0.73
        """,
    4: """
        16 3.89 4.00 0.79 0.53
        64 8.17 8.00 0.86 0.47
        256 16.08 16.00 0.95 0.47
        1024 32.53 32.00 0.92 0.39
        """,
}
EXERCISE_1 = """
    0.10 0.00 0.90 1.00 0.80
    0.90 1.00 0.10 0.00 0.20
    0.90 1.00 0.10 0.00 0.20
    0.37 0.61 0.01 0.00 0.01
    0.29 0.32 0.13 0.12 0.14
    0.12 0.11 0.26 0.29 0.23
    +0.17 +0.21 -0.13 -0.17 -0.09
    """
IMPLS = ["numpy", "torch"]


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Return what the program prints for some arguments."""
    cli.run([*arguments, "--plain", "--lang", "en"])
    return capsys.readouterr().out


def rows(text: str) -> list[list[str]]:
    """Return the rows of five numbers in a text, without their labels."""
    number = r"(?:[+-]?\d+(?:\.\d\d)?|·)"
    pattern = rf"(?:^|\s)({number}(?:\s+{number}){{4}})$"
    found = re.findall(pattern, text, flags=re.MULTILINE)
    return [row.split() for row in found]


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize("section", RECORDED)
def test_recorded_numbers(
    section: int, impl: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(capsys, "--impl", impl, "--section", str(section))
    assert rows(text) == rows(RECORDED[section].replace("        ", ""))


@pytest.mark.parametrize("impl", IMPLS)
def test_recorded_numbers_of_exercise_1(
    impl: str, capsys: pytest.CaptureFixture[str]
) -> None:
    text = printed(capsys, "exercise", "1", "--impl", impl)
    assert rows(text) == rows(EXERCISE_1.replace("    ", ""))


def test_the_sections_are_the_same_alone_and_together(
    capsys: pytest.CaptureFixture[str],
) -> None:
    # The dots are explained once in a run, where they are first.
    zero = "· is exactly 0.\n"
    whole = printed(capsys, "--impl", "numpy").replace(zero, "")
    for section in range(1, 6):
        alone = printed(capsys, "--impl", "numpy", "--section", str(section))
        body = alone[alone.index(f"\n{section}  ") :].replace(zero, "")
        assert body[: body.index("\nGo on")].strip() in whole


@pytest.mark.skipif(
    not torch.__version__.startswith("2.13."),
    reason="the figure was recorded with torch 2.13",
)
def test_recorded_difference_from_sdpa(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = printed(capsys, "--impl", "torch", "--section", "5")
    found = re.search(r"PyTorch (\d\.\de-\d\d)", text)
    assert found is not None
    assert float(found[1]) <= 2.4e-7


def test_readmes_show_what_the_lesson_prints(
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name, lang in (("README.md", "en"), ("README.zh-Hant.md", "zh-Hant")):
        text = (ROOT / name).read_text(encoding="utf-8")
        found = re.search(r"```text\n(.*?)```", text, flags=re.DOTALL)
        assert found is not None, f"{name} shows nothing of the lesson"
        cli.run(["--plain", "--lang", lang, "--section", "2", "3"])
        # How far the versions differ is the machine's, not the lesson's.
        lines = capsys.readouterr().out.splitlines()
        for line in found[1].splitlines():
            assert line in lines, f"{name}: {line!r} is not printed"


@pytest.mark.parametrize("name", ["README.md", "README.zh-Hant.md"])
def test_readmes_show_the_code_as_it_is(name: str) -> None:
    """Both sides of softmax and safe_sum, without their docstrings."""
    text = (ROOT / name).read_text(encoding="utf-8")
    (shown,) = re.findall(r"```diff\n(.*?)```", text, flags=re.DOTALL)
    for sign, room in (("-", numpy_impl.softmax), ("+", torch_impl.softmax)):
        lines = [line for line in shown.splitlines() if line[:1] in f" {sign}"]
        whole = "".join(
            inspect.getsource(function)
            for function in (room.softmax, room.safe_sum)
        )
        code = re.sub(r' *""".*?"""\n', "", whole, flags=re.DOTALL)
        assert [line[1:] for line in lines if line] == code.splitlines()


@pytest.mark.parametrize("lang", words.TAGS)
def test_readmes_show_the_heat_map_as_it_is_drawn(
    lang: str, tmp_path: Path
) -> None:
    """All that is written in it; how it is drawn is matplotlib's."""
    cli.run(
        ["--section", "3", "--lang", lang, "--plain", "--plot", str(tmp_path)]
    )
    made, kept = (
        [text.text for text in ElementTree.parse(path).iter(f"{SVG}text")]
        for path in (
            tmp_path / "section-3.svg",
            ROOT / "docs" / "plots" / f"weights-{lang}.svg",
        )
    )
    assert "0.73" in made
    assert made == kept
