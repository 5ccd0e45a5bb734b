"""The page of the book about accuracy, in both languages."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from attention_twice.words import translated

from ...pages import BESIDE, grid, in_each_language, publish
from ...suite.versions import ALL_DTYPES
from ..kernels import SDPA
from ..machine import machine_lines
from ..plots import write_plot
from .record import Cell, Errors, as_json

PAGE = "accuracy"
MARKERS = ("machine", *ALL_DTYPES)
# The dtypes that are drawn, where the scores spread no more than this.
DRAWN, SPREAD = ("float32", "float64"), 1.0


def write_pages(docs: Path, errors: Errors) -> None:
    """Write numbers, plot and both languages of the page."""
    lines = in_each_language(partial(made, errors))
    draw = partial(draw_errors, errors=errors)
    publish(docs, PAGE, draw, as_json(errors), lines)


def made(errors: Errors, tag: str) -> dict[str, list[str]]:
    """Return the lines for every marker of a page."""
    tables = {dtype: table(errors, dtype, tag) for dtype in ALL_DTYPES}
    return {"machine": machine_lines(errors.machine, tag), **tables}


def table(errors: Errors, dtype: str, tag: str) -> list[str]:
    """Return the table of a dtype, median / worst."""
    cells = [cell for cell in errors.cells if cell.dtype == dtype]
    if not cells:
        return [translated(tag, "Not measured: no wide long double.")]
    names = list(cells[0].medians)

    def line(cell: Cell) -> list[str]:
        texts = [shown(cell, name) for name in names]
        return [str(cell.length), f"{cell.spread:g}", *texts]

    head = ["T", translated(tag, "spread"), *names]
    return grid(head, map(line, cells))


def shown(cell: Cell, name: str) -> str:
    """Return SDPA's errors, or another's as multiples; bold if too large."""
    if name == SDPA:
        both = cell.medians[name], cell.worst[name]
        return BESIDE.join(f"{x:.2g}" if x < 100 else f"{x:.0f}" for x in both)
    text = BESIDE.join(map(brief, cell.ratios(name)))
    return text if cell.accurate(name) else f"**{text}**"


def brief(ratio: float) -> str:
    """Return a ratio; 0 is exact, and there is no ratio to 0."""
    if ratio == 0:
        return "0"
    return f"{ratio:.2f}" if ratio < 1000 else "∞"


def draw_errors(path: Path, errors: Errors) -> None:
    """Write the median of each version against T as SVG, a dtype a panel."""
    panels: dict[str, dict[str, dict[int, float]]] = {}
    for cell in errors.cells:
        if cell.dtype in DRAWN and cell.spread == SPREAD:
            lines = panels.setdefault(cell.dtype, {})
            for name, median in cell.medians.items():
                lines.setdefault(name, {})[cell.length] = median
    write_plot(path, panels)
