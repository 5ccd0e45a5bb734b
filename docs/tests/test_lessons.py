"""What each page of the lesson must have, in both languages."""

from __future__ import annotations

import functools
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from attention_twice.sources import ROOT
from book import live_figures, matched, still_figures
from book.directives.sides import BookError, by_hand, sides, source
from book.exercises import parts_of, solved
from built import LANGUAGES, NOTEBOOKS, PAGES, SITE
from parity_tests.faults.bank import FAULTS


def code_of(path: Path) -> str:
    """Return all code of a notebook, its exercises solved."""
    made = json.loads(path.read_text(encoding="utf-8"))
    return "\n\n".join(
        cell["metadata"].get("solution", cell["source"])
        for cell in made["cells"]
        if cell["cell_type"] == "code"
    )


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs(name: str, tmp_path: Path) -> None:
    """All its code in one process; the other language has the same code."""
    code = code_of(SITE / "en" / f"{name}.ipynb")
    other = code_of(SITE / "zh_Hant" / f"{name}.ipynb")
    assert other.replace("'zh-Hant'", "'en'") == code
    script = tmp_path / "cells.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-800:]
    assert "# torch_impl" in done.stdout


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 20


# What each page of the lesson must have, as it stands in its source.
PARTS = {
    "both sides": r"^`{3,}\{sides\}",
    "what it prints": r"^`{3,}\{(?:ran|shown)\}",
    "a picture": r"^`{3,}\{(?:picture|live)\}",
    "where the two differ": r"^## Where the two differ, and why$",
    "two faults": r"(?s)^`{3,}\{break\}.*^`{3,}\{break\}",
    "an exercise": r"^`{3,}\{exercise\}",
    "a question": r"^`{3,}\{answer\}",
}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_lesson_has_all_its_parts(name: str) -> None:
    text = (ROOT / "docs" / "en" / f"{name}.md").read_text(encoding="utf-8")
    lacking = [
        p for p, sign in PARTS.items() if not re.search(sign, text, re.M)
    ]
    assert not lacking


# What a directive names must be in the code; nothing is built to see it.
NAMED: dict[str, Callable[[str], object]] = {
    "sides": sides,
    "by-hand": by_hand,
    "picture": functools.partial(getattr, still_figures),
    "live": live_figures.CAPTIONS.__getitem__,
    "break": {fault.name: fault for fault in FAULTS}.__getitem__,
}


@pytest.mark.parametrize("name", PAGES)
def test_what_a_page_shows_is_there(name: str) -> None:
    text = (ROOT / "docs" / "en" / f"{name}.md").read_text(encoding="utf-8")
    for kind, shown in re.findall(r"^`{3,}\{([\w-]+)\} *(.*)$", text, re.M):
        if kind in NAMED:
            NAMED[kind](shown)


@pytest.mark.parametrize("name", PAGES)
def test_both_languages_show_the_same(name: str) -> None:
    """The same directives in the same order, faults and functions named."""
    found = [
        re.findall(
            r"^`{3,}\{(?!answer|toctree)([\w-]+)\} *(.*)$",
            (ROOT / "docs" / folder / f"{name}.md").read_text("utf-8"),
            re.M,
        )
        for folder in LANGUAGES
    ]
    assert found[0] == found[1]


def test_both_languages_have_the_same_pages() -> None:
    assert not list(matched.problems())


def test_what_is_not_matched_is_found(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    for language in ("en", "zh_Hant"):
        shutil.copytree(ROOT / "docs" / language, docs / language)
    with (docs / "en" / "head.md").open("a", encoding="utf-8") as file:
        file.write("\nMore.\n")
    with (docs / "zh_Hant" / "cost.md").open("a", encoding="utf-8") as file:
        file.write("\n這是默認的。\n")
    (docs / "zh_Hant" / "scale.md").unlink()
    found = list(matched.problems(docs))
    assert len(found) == 3, found
    assert any("scale.md is missing" in line for line in found)
    assert any("head.md has changed" in line for line in found)
    assert any("默認, expected 預設" in line for line in found)
    matched.match(["head"], docs)
    assert len(list(matched.problems(docs))) == 2


def test_what_stands_on_one_side_only_ends_the_build() -> None:
    assert sides("softmax.softmax").count('class="step"') == 6
    with pytest.raises(BookError, match="is not in torch_impl"):
        sides("softmax.softmax_backward")
    assert by_hand("softmax.softmax_backward").count('class="side"') == 1
    with pytest.raises(BookError, match="is on both sides"):
        by_hand("softmax.softmax")
    assert "def forward" in source("torch_impl", "head.AttentionHead")[-1]


def test_an_exercise_that_checks_nothing_ends_the_build() -> None:
    good = ["What?", "---", "x = 1", "---", "assert x == 2", "---", "x = 2"]
    assert solved(parts_of(good)) == ""
    with pytest.raises(ValueError, match="the start passes"):
        solved(parts_of([*good[:4], "assert x", *good[5:]]))
    with pytest.raises(ValueError, match="the solution fails"):
        solved(parts_of([*good[:6], "x = 3"]))
    with pytest.raises(ValueError, match="3 parts, expected asked, start"):
        parts_of(good[:5])
