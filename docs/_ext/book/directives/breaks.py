"""Faults of the bank: the change, and what turns red."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from attention_twice.sources import ROOT
from attention_twice.words import translated

from ..api import SIDES
from ..languages import language_of
from .ran import ran_once


class Break(SphinxDirective):
    """A fault of the bank: the change, and what turns red.

    The text in it says what goes wrong, in the page's language.
    """

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Apply the fault to a copy, run the suite on it, show it."""
        from parity_tests.faults.bank import FAULTS

        name = self.arguments[0]
        found = [fault for fault in FAULTS if fault.name == name]
        if not found:
            raise self.error(f"{name!r} is no fault of the bank")
        fault = found[0]
        places = ran_once(self, ["break", name], lambda: caught_at(fault))
        if not places:
            raise self.error(f"{name!r} turns nothing red")
        tag = language_of(self.config).tag
        box = nodes.admonition(classes=["break"])
        box += nodes.title(text=name)
        self.state.nested_parse(self.content, self.content_offset, box)
        package = SIDES["NumPy" if fault.side == "numpy" else "PyTorch"]
        file = f"{package}/{fault.module}.py"
        before, after = whole_lines(ROOT / file, fault.before, fault.after)
        for label, text in (
            (translated(tag, "In {file}, replace", file=file), before),
            (translated(tag, "by"), after),
        ):
            box += nodes.paragraph(text=label)
            box += nodes.literal_block(text, text, language="python")
        box += nodes.paragraph(
            text=translated(tag, "What turns red, among others:")
        )
        red = nodes.bullet_list()
        for place in places:
            item = nodes.paragraph()
            item += nodes.literal(text=place)
            red += nodes.list_item("", item)
        box += red
        if fault.report:
            repository, number = fault.report.split("#")
            line = nodes.paragraph(
                text=translated(tag, "A public report:") + " "
            )
            address = f"https://github.com/{repository}/issues/{number}"
            line += nodes.reference(text=fault.report, refuri=address)
            box += line
        return [box]


def whole_lines(path: Path, before: str, after: str) -> tuple[str, str]:
    """Return what is replaced, and what by, as the lines that they are in."""
    text = path.read_text(encoding="utf-8")
    place = text.index(before)
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place + len(before.rstrip("\n")))
    rest = text[place + len(before) : end]
    lines = [text[start:place] + part + rest for part in (before, after)]
    return textwrap.dedent(lines[0]), textwrap.dedent(lines[1])


def caught_at(fault: Any) -> list[str]:
    """Return some of the places at which the suite sees a fault."""
    from attention_twice.console import quiet
    from parity_tests.faults.tried import tried

    with quiet():
        return [str(found.check_case) for found in tried(fault, enough=3)]
