"""The page of the book about libraries, in both languages."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from attention_twice.words import N_, translated, translations

from ..pages import header, in_each_language, rewrite, row
from ..suite.versions import ALL_DTYPES
from .card import Card
from .judged import Cell
from .probes import CONTRACT, KINDS, LACKS, OTHER, PROBES, REFUSED, WRONG

PAGE = "libraries"
MARKERS = ("card", "cases", "wrong", "calls")
# What a kind of result is called.
CALLED = {
    CONTRACT: N_("as the contract"),
    OTHER: N_("another convention"),
    LACKS: N_("not offered"),
    REFUSED: N_("refused with an error"),
    WRONG: N_("wrong"),
}


def write_pages(docs: Path, cards: Sequence[Card]) -> None:
    """Write the tables into libraries.md of both languages."""
    rewrite(docs, PAGE, in_each_language(partial(made, cards)))


def made(cards: Sequence[Card], tag: str) -> dict[str, list[str]]:
    """Return the lines for every marker of a page."""
    return {
        "card": card_lines(cards, tag),
        "cases": case_lines(cards, tag),
        "wrong": wrongs(cards, tag),
        "calls": calls(tag),
    }


def card_lines(cards: Sequence[Card], tag: str) -> list[str]:
    """Return the table of probes."""
    names = [f"{card.name} {card.version}" for card in cards]
    lines = header([translated(tag, "what is asked"), *names])
    layouts = [card.layout for card in cards]
    lines.append(row([translated(tag, "layout"), *layouts]))
    for number, probe in enumerate(PROBES, 1):
        name = str(probe)
        link = f"[{translated(tag, name)}](#call-{number})"
        cells = [shown(card.cells[name], tag) for card in cards]
        lines.append(row([link, *cells]))
    for dtype in ALL_DTYPES:
        cells = [shown(card.of_dtype(dtype), tag) for card in cards]
        lines.append(row([dtype, *cells]))
    return lines


def case_lines(cards: Sequence[Card], tag: str) -> list[str]:
    """Return the table of cases."""
    lines = header(["", *(card.name for card in cards)])
    for kind in KINDS:
        counts = (str(card.count(kind)) for card in cards)
        lines.append(row([translated(tag, CALLED[kind]), *counts]))
    shares = (f"{card.worst():.0%}" for card in cards)
    error = translated(
        tag, "largest error of what is right, as a share of its bound"
    )
    return [*lines, row([error, *shares])]


def shown(cell: Cell, tag: str) -> str:
    """Return a cell, marked by what it is."""
    if cell.kind == LACKS:
        return "-"
    text = translations(tag).gettext(cell.says).replace("|", "/")
    marks = {WRONG: "**", OTHER: "*"}
    mark = marks.get(cell.kind, "")
    return f"{mark}{text}{mark}"


def calls(tag: str) -> list[str]:
    """Return the call behind each line, and what is right."""
    lines = []
    for number, probe in enumerate(PROBES, 1):
        asked = probe.asked
        parts = [
            f"query {listed(asked.query)}",
            f"key {listed(asked.key)}",
            f"value {listed(asked.value)}",
        ]
        if asked.attn_mask is not None:
            parts.append(f"attn_mask {asked.attn_mask[0, 0].tolist()}")
        for name in ("is_causal", "scale", "window", "soft_cap"):
            option = getattr(asked, name)
            if option not in (None, False):
                parts.append(f"{name} {option}")
        right = next(
            (r.output for r in probe.readings if r.kind == CONTRACT), None
        )
        result = translated(tag, REFUSED) if right is None else f"{right}"
        name = translated(tag, probe.name)
        # A heading that every reader of Markdown makes the same name of.
        lines += [f"### Call {number}", "", f"{name}:", ""]
        lines += [f"- `{part}`" for part in parts]
        lines += [f"- → {translated(tag, 'right is')} `{result}`", ""]
    return lines


def listed(array: NDArray[Any]) -> str:
    """Return an array's numbers, or its shape where they are many."""
    numbers, shape = array.tolist(), array.shape
    if 0 in shape or max(shape) > 8:
        return f"{shape}"
    single = shape[0] == shape[1] == shape[3] == 1
    return f"{[r[0] for r in numbers[0][0]]}" if single else f"{numbers[0]}"


def wrongs(cards: Sequence[Card], tag: str) -> list[str]:
    """Return what is wrong by library, the first few of each."""
    lines = []
    for card in cards:
        bad = {n: r for n, r in card.results.items() if r.kind == WRONG}
        for name, result in list(bad.items())[:5]:
            says = result.says.replace("|", "/")
            lines.append(f"- {card.name}: `{name}`: {says}")
        if len(bad) > 5:
            rest = translated(tag, "and {count} more", count=len(bad) - 5)
            lines.append(f"- {card.name}: {rest}")
    return lines or [translated(tag, "Nothing.")]
