"""Figures: SVG whose text stays text, in the fonts of whoever reads it."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .files import written_whole

# One of them has the signs of Chinese, on each system.
FONTS = (
    "DejaVu Sans",
    "Noto Sans CJK TC",
    "PingFang TC",
    "Microsoft JhengHei",
    "sans-serif",
)


@contextmanager
def text_stays_text(salt: str, style: dict[Any, Any]) -> Iterator[None]:
    """Draw with a style, and without paths in place of letters.

    The salt names the figure, so that the same figure is the same file.
    """
    import matplotlib

    # The reader's machine has the font for Chinese, this one need not, and
    # matplotlib says at length what it cannot find.
    logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore", message="Glyph .* missing from font")
    whole = {**style, "svg.fonttype": "none", "svg.hashsalt": salt}
    with matplotlib.rc_context(whole):
        yield


def write_figure(
    path: Path, size: tuple[float, float], draw: Callable[[Any], None]
) -> None:
    """Write one SVG, whole or not at all."""
    from matplotlib.figure import Figure

    with text_stays_text(path.name, {"font.family": FONTS}):
        figure = Figure(figsize=size, layout="constrained")
        draw(figure)
        with written_whole(path) as file:
            figure.savefig(file, format="svg", metadata={"Date": None})


class HeatMap(NamedTuple):
    """Weights from 0 to 1, with a title and the labels of both axes."""

    title: str
    weights: NDArray[Any]
    rows: Sequence[str]
    columns: Sequence[str]

    def write(self, path: Path) -> None:
        """Write it as an SVG."""
        width, height = len(self.columns), len(self.rows)
        size = (2.5 + 0.7 * width, 1.2 + 0.6 * height)
        write_figure(path, size, self.draw)

    def draw(self, figure: Any) -> None:
        """Draw each weight as a number on its colour; an exact 0 is a dot."""
        axes = figure.add_subplot()
        axes.imshow(
            self.weights, cmap="viridis", vmin=0, vmax=1, aspect="auto"
        )
        axes.set_title(self.title, fontsize=10)
        axes.set_xticks(range(len(self.columns)), self.columns)
        axes.set_yticks(range(len(self.rows)), self.rows)
        for (row, column), weight in np.ndenumerate(self.weights):
            axes.text(
                column,
                row,
                "·" if weight == 0 else f"{weight:.2f}",
                ha="center",
                va="center",
                color="black" if weight > 0.6 else "white",
            )
