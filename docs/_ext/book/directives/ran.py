"""What a program, or a few lines, print: run when the book is built."""

from __future__ import annotations

import html
import shlex
import unicodedata
from collections.abc import Callable
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from ..kept import depend_on_code, kept, python
from ..languages import language_of


class Ran(SphinxDirective):
    """What running a file of the project prints."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Run it, in the page's language, and return what it printed."""
        words = shlex.split(self.arguments[0])
        words += ["--plain", "--lang", language_of(self.config).tag]
        text = f"$ .venv/bin/python {self.arguments[0]}\n"
        return [terminal(text + printed(self, words))]


class Shown(SphinxDirective):
    """A few lines of Python, and what they print."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Run them, and return both."""
        lines = "\n".join(self.content)
        text = printed(self, ["-c", lines])
        return [
            nodes.literal_block(lines, lines, language="python"),
            terminal(text),
        ]


def terminal(text: str) -> nodes.Node:
    """Return what a program prints, in columns as a terminal has them.

    No two fonts agree how wide 光 or × is beside a letter, so each such
    character gets the one or two cells that a terminal gives it.
    """
    cells = "".join(
        html.escape(character)
        if character.isascii()
        else f'<span class="cell{1 + wide(character)}">{character}</span>'
        for character in text
    )
    block = f'<div class="highlight terminal"><pre>{cells}</pre></div>'
    return nodes.raw("", block, format="html")


def wide(character: str) -> bool:
    """Return whether a terminal gives a character two cells."""
    return unicodedata.east_asian_width(character) in "WF"


def ran_once(
    directive: SphinxDirective, key: list[str], make: Callable[[], Any]
) -> Any:
    """Return what `make` returns; the page depends on the project's code."""
    depend_on_code(directive.env)
    return kept(key, make)


def printed(directive: SphinxDirective, words: list[str]) -> str:
    """Return what Python prints, in the project's folder."""
    text: str = ran_once(directive, words, lambda: run(directive, words))
    return text


def run(directive: SphinxDirective, words: list[str]) -> str:
    """Run Python in the project's folder, and return what it prints."""
    done = python(*words)
    if done.returncode != 0:
        raise directive.error(f"{words} ends with {done.stderr[-500:]}")
    return done.stdout.strip()
