"""Code from the real files, pulled by its name: both sides of a function.

What has gone, or stands on one side only, ends the build.
"""

from __future__ import annotations

import ast
from typing import Any

from docutils import nodes
from sphinx.highlighting import PygmentsBridge
from sphinx.util.docutils import SphinxDirective

from ..api import SIDES
from ..kept import ROOT

# What the same method is called on the other side.
IDIOM = {"__call__": "forward"}


class BookError(Exception):
    """What a page asks for and is not there."""


def source(package: str, path: str) -> list[str]:
    """Return a function, or a class, in its steps: head, then statements.

    `path` is room.function, room.Class or room.Class.method.
    """
    room, *names = path.split(".")
    file = ROOT / package / f"{room}.py"
    text = file.read_text(encoding="utf-8")
    found: Any = ast.parse(text)
    for name in names:
        wanted = {name}
        if package == "torch_impl":
            wanted.add(IDIOM.get(name, name))
        own = [n for n in found.body if getattr(n, "name", None) in wanted]
        if not own:
            raise BookError(f"{path} is not in {package}/{room}.py")
        found = own[0]
    lines = text.splitlines()[found.lineno - 1 : found.end_lineno]
    shift = found.lineno
    # A class is one step a method; a function is one step a statement.
    documented = int(ast.get_docstring(found) is not None)
    starts = [node.lineno - shift for node in found.body[documented:]]
    ends = [*starts[1:], len(lines)]
    parts = [lines[: starts[0]]]
    parts += [lines[a:b] for a, b in zip(starts, ends, strict=True)]
    return ["\n".join(part).rstrip() for part in parts]


def sides(path: str) -> str:
    """Return both sides of a function as HTML, aligned step by step."""
    return aligned(
        path,
        {label: source(package, path) for label, package in SIDES.items()},
    )


def by_hand(path: str) -> str:
    """Return as HTML what NumPy's side has and autograd does on the other."""
    try:
        source(SIDES["PyTorch"], path)
    except BookError:
        return aligned(path, {"NumPy": source(SIDES["NumPy"], path)})
    raise BookError(f"{path} is on both sides: show both")


def aligned(path: str, columns: dict[str, list[str]]) -> str:
    """Return columns of code as HTML, each step in a row of its own."""
    rows = max(map(len, columns.values()))
    bridge = PygmentsBridge("html")
    alone = " alone" if len(columns) == 1 else ""
    parts = [f'<div class="sides{alone}" style="--rows: {rows + 1}">']
    for label, steps in columns.items():
        room = path.split(".")[0]
        parts.append('<div class="side">')
        file = f"{SIDES[label]}/{room}.py"
        parts.append(f'<p class="side-name">{label} <code>{file}</code></p>')
        for number in range(rows):
            text = steps[number] if number < len(steps) else ""
            code = bridge.highlight_block(text, "python") if text else ""
            parts.append(f'<div class="step">{code}</div>')
        parts.append("</div>")
    return "".join([*parts, "</div>"])


class Sides(SphinxDirective):
    """A function as both sides have it."""

    required_arguments = 1
    shown = staticmethod(sides)

    def run(self) -> list[nodes.Node]:
        """Return the columns."""
        path = self.arguments[0]
        room = path.split(".")[0]
        for package in SIDES.values():
            self.env.note_dependency(str(ROOT / package / f"{room}.py"))
        try:
            text = self.shown(path)
        except (BookError, OSError) as error:
            raise self.error(str(error)) from error
        return [nodes.raw("", text, format="html")]


class ByHand(Sides):
    """A function that NumPy's side alone has."""

    shown = staticmethod(by_hand)
