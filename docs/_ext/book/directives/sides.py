"""Code from the real files, by name: both sides of a function.

The build fails if a function is missing, or is on one side only.
"""

from __future__ import annotations

import ast

from docutils import nodes
from sphinx.highlighting import PygmentsBridge
from sphinx.util.docutils import SphinxDirective

from attention_twice.sources import definitions, parsed, path_of

from ..api import SIDES


class BookError(Exception):
    """What a page asks for and is not there."""


def source(package: str, path: str) -> list[str]:
    """Return a function, or a class, in its steps: head, then statements.

    `path` is module.function, module.Class or module.Class.method.
    """
    module, _, name = path.partition(".")
    file = path_of(package, module)
    node = dict(definitions(parsed(file))).get(name)
    if node is None:
        raise BookError(f"{path} is not in {package}/{module}.py")
    text = file.read_text(encoding="utf-8").splitlines()
    lines = text[node.lineno - 1 : node.end_lineno]
    # A class is one step a method; a function is one step a statement.
    documented = int(ast.get_docstring(node) is not None)
    starts = [item.lineno - node.lineno for item in node.body[documented:]]
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
    """Return as HTML a function that only NumPy's side has."""
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
        module = path.split(".")[0]
        parts.append('<div class="side">')
        file = f"{SIDES[label]}/{module}.py"
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
        module = path.split(".")[0]
        for package in SIDES.values():
            self.env.note_dependency(str(path_of(package, module)))
        try:
            text = self.shown(path)
        except (BookError, OSError) as error:
            raise self.error(str(error)) from error
        return [nodes.raw("", text, format="html")]


class ByHand(Sides):
    """A function that NumPy's side alone has."""

    shown = staticmethod(by_hand)
