"""Curves against T for the book, readable on white and on dark pages.

A picture does not know the colour of its page: it has no background, and
its colours are readable on both. Its words are names and units, the same in
every language.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attention_twice.figures import write_figure

from ..pages import PageError

# By name, values against T.
Lines = Mapping[str, Mapping[int, float]]

GREY = "#7a7a7a"
BLUE, RED, GREEN, PURPLE, CYAN = (
    "#2f7fd6",
    "#d9480f",
    "#2b8a3e",
    "#9c5fd6",
    "#0c8599",
)
# A colour a library, a marker a way; dashed keeps the score matrix.
LOOKS = {
    "SDPA": (GREY, "o-"),
    "numpy fast": (BLUE, "D-"),
    "numpy flash": (BLUE, "^-"),
    "numpy naive": (BLUE, "s--"),
    "torch flash": (RED, "^-"),
    "torch naive": (RED, "s--"),
    "jax.nn": (GREEN, "v--"),
    "mlx": (CYAN, "X--"),
    "onnxruntime": (PURPLE, "P--"),
}


def require_matplotlib() -> None:
    """Raise PageError where no plot can be drawn: before a long run."""
    if importlib.util.find_spec("matplotlib") is None:
        raise PageError("a plot needs matplotlib, which is not installed")


def write_plot(path: Path, panels: Mapping[str, Lines]) -> None:
    """Write an SVG of panels one below the other, by their titles.

    What could not be measured has no panel.
    """
    drawn = {t: lines for t, lines in panels.items() if any(lines.values())}

    def draw(figure: Any) -> None:
        figure.patch.set_alpha(0)
        several = figure.subplots(len(drawn), 1, squeeze=False)[:, 0]
        for axes, (title, lines) in zip(several, drawn.items(), strict=True):
            draw_curves(axes, lines)
            axes.set_title(title, color=GREY)
        figure.legend(
            *several[0].get_legend_handles_labels(),
            loc="outside upper center",
            ncols=3,
            frameon=False,
            labelcolor="linecolor",
        )

    path.parent.mkdir(parents=True, exist_ok=True)
    write_figure(path, (5.2, 0.9 + 3.2 * len(drawn)), draw)


def draw_curves(axes: Any, lines: Lines) -> None:
    """Draw a curve a name against T, both axes logarithmic."""
    for name, line in lines.items():
        colour, look = LOOKS[name]
        pair = (list(line), list(line.values()))
        axes.plot(*pair, look, color=colour, label=name, markersize=5)
    axes.set(xscale="log", yscale="log", xlabel="T")
    axes.set_xticks(sorted({T for line in lines.values() for T in line}))
    axes.xaxis.set_major_formatter("{x:.0f}")
    axes.yaxis.set_major_formatter("{x:g}")
    axes.yaxis.get_major_locator().set_params(subs=(1, 2, 5))
    axes.minorticks_off()
    axes.patch.set_alpha(0)
    axes.tick_params(colors=GREY)
    axes.xaxis.label.set_color(GREY)
    for spine in axes.spines.values():
        spine.set_color(GREY)
