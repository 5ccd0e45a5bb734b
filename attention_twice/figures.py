"""Figures: SVG whose text stays text."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .files import written_whole


def write_heat_map(
    path: Path,
    title: str,
    values: NDArray[Any],
    rows: Sequence[str],
    columns: Sequence[str],
) -> None:
    """Write a matrix as an SVG heat map, whole or not at all."""

    def draw(figure: Any) -> None:
        axes = figure.add_subplot()
        axes.imshow(values, cmap="viridis", vmin=0, vmax=1, aspect="auto")
        axes.set_title(title, fontsize=10)
        axes.set_xticks(range(len(columns)), columns)
        axes.set_yticks(range(len(rows)), rows)
        for (row, column), weight in np.ndenumerate(values):
            axes.text(
                column,
                row,
                "·" if weight == 0 else f"{weight:.2f}",
                ha="center",
                va="center",
                color="black" if weight > 0.6 else "white",
            )

    size = (2.5 + 0.7 * len(columns), 1.2 + 0.6 * len(rows))
    write_figure(path, size, draw)


def write_figure(
    path: Path, size: tuple[float, float], draw: Callable[[Any], None]
) -> None:
    """Write one SVG whose text stays text, whole or not at all."""
    import logging

    import matplotlib
    from matplotlib.figure import Figure

    # Text stays text: the reader's machine has the CJK font, this one
    # need not, and matplotlib says at length which it cannot find.
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", message="Glyph .* missing from font")
    fonts = ["DejaVu Sans", "Noto Sans CJK TC", "PingFang TC"]
    style: dict[Any, Any] = {
        "svg.fonttype": "none",
        "svg.hashsalt": path.name,
        "font.family": [*fonts, "Microsoft JhengHei", "sans-serif"],
    }
    with matplotlib.rc_context(style):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        with written_whole(path) as file:
            figure.savefig(file, format="svg", metadata={"Date": None})
