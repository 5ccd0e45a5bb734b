"""The pages of the book that a command writes, in both languages.

The text between `<!-- name -->` and `<!-- end -->` is replaced; the prose
around it is written by hand. A page's plot is `plots/PAGE.svg` and its
numbers are `plots/PAGE.json`, once for both languages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from attention_twice.files import write_json, written_whole
from attention_twice.words import LANGUAGES

# Lines by the name of their marker, and that by the folder of a language.
Made = Mapping[str, Mapping[str, Sequence[str]]]
# Two numbers in a cell: narrow, and never broken into two lines.
BESIDE = "\u202f/\u202f"
Found = TypeVar("Found")


class PageError(Exception):
    """A page that cannot be written, or a file that cannot be read."""


def require_markers(docs: Path, page: str, markers: Sequence[str]) -> None:
    """Raise PageError where a page lacks a marker: before a long run."""
    empty: dict[str, list[str]] = {name: [] for name in markers}
    filled(docs, page, in_each_language(lambda tag: empty))


def in_each_language(
    made: Callable[[str], Mapping[str, Sequence[str]]],
) -> Made:
    """Return what is made for each language, from its tag, by its folder."""
    return {language.folder: made(language.tag) for language in LANGUAGES}


def publish(
    docs: Path, page: str, draw: Callable[[Path], None], data: Any, made: Made
) -> None:
    """Write a page with its plot, which `draw` writes, and its numbers."""
    plot = docs / "plots" / f"{page}.svg"
    draw(plot)
    write_json(plot.with_suffix(".json"), data)
    rewrite(docs, page, made)


def rewrite(docs: Path, page: str, made: Made) -> None:
    """Write lines into a page of both languages, or into none."""
    for path, text in filled(docs, page, made).items():
        with written_whole(path) as file:
            file.write(text.encode())
    print(
        f"{docs}: {page}.md is new in both languages; once read: "
        f"python docs/_ext/book/matched.py --matched {page}"
    )


def filled(docs: Path, page: str, made: Made) -> dict[Path, str]:
    """Return the new text of a page in each language."""
    texts = {}
    for language, markers in made.items():
        path = docs / language / f"{page}.md"
        try:
            text = path.read_text(encoding="utf-8")
        except OSError as error:
            raise PageError(f"{path}: {error.strerror}") from error
        for name, lines in markers.items():
            text = between(text, name, lines, path)
        texts[path] = text
    return texts


def between(text: str, name: str, lines: Sequence[str], path: Path) -> str:
    """Return a page with other lines at one of its markers."""
    pattern = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
    body = "\n".join(["", *lines, ""])
    replaced, count = re.subn(
        pattern, lambda m: f"{m[1]}{body}\n{m[2]}", text, flags=re.S
    )
    if count != 1:
        raise PageError(
            f"{path} has {count} markers from <!-- {name} --> to "
            "<!-- end -->, expected 1"
        )
    return replaced


def grid(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return a table."""
    return [*header(head), *map(row, rows)]


def header(cells: Sequence[str]) -> list[str]:
    """Return the first two lines of a table."""
    return [row(cells), row(["---"] * len(cells))]


def row(cells: Sequence[str]) -> str:
    """Return a line of a table."""
    return "| " + " | ".join(cells) + " |"


def earlier(path: Path, read: Callable[[Any], Found]) -> Found:
    """Return what an earlier run has written as JSON."""
    try:
        return read(json.loads(path.read_text(encoding="utf-8")))
    except OSError as error:
        raise PageError(f"{path}: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        message = f"{path} is not what this command writes: {error!r}"
        raise PageError(message) from error
