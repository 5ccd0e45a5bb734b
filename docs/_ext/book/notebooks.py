"""Each page of the lesson as a notebook, to run and to change.

A page's text becomes cells of text, and its directives become cells of code:
both sides of a function, a program to run, a fault to try. The cells are
plain Python without notebook magic, so that a test can run them.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

from attention_twice.words import translated

from .exercises import parts_of
from .languages import language_of

DIRECTIVE = re.compile(
    r"^(?P<fence>`{3,})\{(?P<name>[\w-]+)\} *(?P<argument>.*?)\n"
    r"(?P<content>.*?)\n?(?P=fence)$",
    re.M | re.S,
)
START = """\
# In the folder of the project, or with it installed.
import inspect
import subprocess
import sys

import numpy_impl
import torch_impl


def both(path):
    for package in (numpy_impl, torch_impl):
        found = package
        for name in path.split("."):
            found = getattr(found, name)
        print(f"# {package.__name__}")
        print(inspect.getsource(found))


def by_hand(path):
    module, name = path.split(".")
    print(inspect.getsource(getattr(getattr(numpy_impl, module), name)))


def ran(*words):
    command = [sys.executable, "-m", *words]
    done = subprocess.run(
        command, capture_output=True, text=True, encoding="utf-8", check=True
    )
    print(done.stdout)
"""


def notebook(page: str, tag: str) -> dict[str, Any]:
    """Return a page as a notebook."""
    page = re.sub(r"\A---\n.*?\n---\n", "", page, flags=re.S)
    cells = [code(START)]
    place = 0
    for found in DIRECTIVE.finditer(page):
        cells += words(page[place : found.start()])
        cells += cells_of(found, tag)
        place = found.end()
    cells += words(page[place:])
    for number, cell in enumerate(cells):
        cell["id"] = f"cell-{number}"
    return {
        "cells": cells,
        "metadata": {
            "kernelspec": {
                "display_name": "Python 3",
                "language": "python",
                "name": "python3",
            }
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def cells_of(found: re.Match[str], tag: str) -> list[dict[str, Any]]:
    """Return what a directive becomes."""
    name, argument = found["name"], found["argument"]
    if name == "sides":
        return [code(f'both("{argument}")')]
    if name == "by-hand":
        return [code(f'by_hand("{argument}")')]
    if name == "ran":
        file, *more = argument.split()
        given = [file.removesuffix(".py"), *more, "--plain", "--lang", tag]
        return [code(f"ran(*{given!r})")]
    if name == "shown":
        return [code(found["content"])]
    if name == "break":
        given = ["parity_tests", "faults", "--only", argument]
        return [*words(found["content"]), code(f"ran(*{given!r})")]
    if name == "exercise":
        exercise = parts_of(found["content"].splitlines())
        cell = code(exercise.to_do)
        # Whoever runs the whole notebook takes this in place of the start.
        cell["metadata"]["solution"] = exercise.done
        fold = f"```python\n{exercise.solution}\n```"
        title = translated(tag, "A solution")
        return [*words(exercise.asked), cell, *words(folded(title, fold))]
    if name == "answer":
        inner = DIRECTIVE.search(found["content"])
        text = DIRECTIVE.sub("", found["content"]).strip()
        answer = words(folded(argument, text))
        return [*answer, *(cells_of(inner, tag) if inner else [])]
    # What is drawn, and what moves, is in the book.
    there = translated(tag, "There is a picture here in the book.")
    return words(f"*({there})*")


def folded(summary: str, text: str) -> str:
    """Return text that is folded away."""
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


def words(text: str) -> list[dict[str, Any]]:
    """Return a cell of text, none for no text."""
    # Beside a notebook lie the pages of the site.
    text = re.sub(r"\]\(([\w-]+)\.md", r"](\1.html", text.strip())
    if not text:
        return []
    return [{"cell_type": "markdown", "metadata": {}, "source": text}]


def code(text: str) -> dict[str, Any]:
    """Return a cell of code that has not been run."""
    return {
        "cell_type": "code",
        "execution_count": None,
        "metadata": {},
        "outputs": [],
        "source": text.strip(),
    }


def lesson_pages(folder: Path) -> list[str]:
    """Return the pages of the lesson: those that show both sides."""
    return sorted(
        path.stem
        for path in folder.glob("*.md")
        if "```{sides}" in path.read_text(encoding="utf-8")
    )


def write_notebooks(app: Sphinx, exception: Exception | None) -> None:
    """Write a notebook beside each page of the lesson."""
    if exception is not None:
        return
    for name in lesson_pages(Path(app.srcdir)):
        text = (Path(app.srcdir) / f"{name}.md").read_text(encoding="utf-8")
        made = notebook(text, language_of(app.config).tag)
        path = Path(app.outdir) / f"{name}.ipynb"
        content = json.dumps(made, ensure_ascii=False, indent=1)
        path.write_text(content + "\n", encoding="utf-8")
