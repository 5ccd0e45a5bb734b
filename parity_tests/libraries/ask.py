"""`libraries`: the card as a table, as JSON, and as a page of the book."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.table import Table

from attention_twice.console import bar, terminal
from attention_twice.files import write_json

from ..cases.table import CASES
from ..pages import require_markers
from ..ports.workers import Found, Worker, WorkerError, answers
from ..suite.versions import ALL_DTYPES
from .adapters import installed
from .card import Card
from .judged import Cell, Result, start
from .page import CALLED, MARKERS, PAGE, write_pages
from .probes import KINDS, LACKS, OTHER, PROBES, REFUSED, WRONG

LIMIT = 60.0


def libraries(
    only: Sequence[str] = (),
    path: Path | None = None,
    pages: Path | None = None,
) -> int:
    """Probe every library that is installed; print, write, return 0."""
    modules = [m for m in installed() if not only or short(m) in only]
    if not modules:
        names = ", ".join(short(module) for module in installed())
        print(f"libraries: none of these; installed: {names}", file=sys.stderr)
        return 2
    if pages is not None:
        require_markers(pages, PAGE, MARKERS)
    cards, lost = [], []
    with bar() as progress:
        total = len(modules) * (len(PROBES) + len(CASES))
        task = progress.add_task("libraries", total=total)
        for module in modules:
            try:
                cards.append(card(module, lambda: progress.advance(task)))
            except WorkerError as error:
                lost.append(str(error))
    console = terminal(30 + 24 * len(cards))
    console.print(table(cards))
    for line in lost:
        console.print(line, markup=False)
    for each in cards:
        for name, result in each.results.items():
            if result.kind == WRONG:
                line = f"{each.name}: {name}: {result.says}"
                console.print(
                    line, markup=False, highlight=False, soft_wrap=True
                )
    if path is not None:
        write_json(path, as_json(cards))
    if pages is not None:
        write_pages(pages, cards)
    return 0 if cards and not lost else 1


def short(module: ModuleType) -> str:
    """Return the name of an adapter's module."""
    return module.__name__.rpartition(".")[2]


def card(module: ModuleType, advance: Any) -> Card:
    """Ask one library everything, in processes of its own."""

    def another() -> Worker:
        return Worker(module.NAME, start, short(module), LIMIT)

    first = another()
    questions = [("probe", str(probe)) for probe in PROBES]
    questions += [("case", case.name) for case in CASES]
    cells, results = {}, {}
    for (what, which), answered in answers(first, questions, another):
        if what == "probe":
            cells[which] = cell(answered)
        else:
            results[which] = result(answered)
        advance()
    return Card(
        module.NAME, first.said, module.LAYOUT, cells, in_order(results)
    )


def cell(answered: Found) -> Cell:
    """Return the cell of a probe, also if its process ended."""
    return (
        Cell(answered.why, WRONG) if answered.why else Cell(*answered.answer)
    )


def result(answered: Found) -> Result:
    """Return the result of a case."""
    return (
        Result(WRONG, answered.why)
        if answered.why
        else Result(*answered.answer)
    )


def in_order(results: dict[str, Result]) -> dict[str, Result]:
    """Return results in the order of the table of cases."""
    return {c.name: results[c.name] for c in CASES if c.name in results}


STYLES = {OTHER: "yellow", WRONG: "bold red", LACKS: "dim", REFUSED: "dim"}


def table(cards: Sequence[Card]) -> Table:
    """Return the card: a line a probe, a column a library."""
    drawn = Table("", title="what libraries do")
    for each in cards:
        drawn.add_column(f"{each.name}\n{each.version}")
    drawn.add_row("layout", *(each.layout for each in cards))
    for probe in PROBES:
        drawn.add_row(
            str(probe), *(styled(c.cells[str(probe)]) for c in cards)
        )
    for dtype in ALL_DTYPES:
        drawn.add_row(dtype, *(styled(c.of_dtype(dtype)) for c in cards))
    drawn.add_section()
    for kind in KINDS:
        label = f"cases: {CALLED[kind]}"
        drawn.add_row(label, *(str(c.count(kind)) for c in cards))
    drawn.add_row(
        "largest error, of its bound", *(f"{c.worst():.0%}" for c in cards)
    )
    return drawn


def styled(entry: Cell) -> str:
    """Return a cell with its colour; in a file without colours a sign."""
    style = STYLES.get(entry.kind)
    text = f"✗ {entry.says}" if entry.kind == WRONG else entry.says
    return f"[{style}]{text}[/]" if style else text


def as_json(cards: Iterable[Card]) -> list[dict[str, Any]]:
    """Return all results as JSON."""
    return [
        {
            "library": each.name,
            "version": each.version,
            "layout": each.layout,
            "probes": {n: c._asdict() for n, c in each.cells.items()},
            "cases": {n: r._asdict() for n, r in each.results.items()},
        }
        for each in cards
    ]
