"""What the division by √d is for, measured."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any, NamedTuple

from rich.text import Text

from .arguments import Arguments
from .figures import write_figure
from .page import Page
from .recall import pair_losses
from .sections import show_versions
from .sides import Version


def run_scale(page: Page, version: Version, arguments: Arguments) -> None:
    """Print entropy, gradient and losses, with the division and without."""
    room: Any = version.package.experiments
    names = ("entropy", "gradient")
    page.title("scale")
    show_versions(page, [version])
    page.say("text scale", rows=room.ROWS, most=math.log(room.ROWS))
    found = {
        D: (
            room.sharpness(D, None, arguments.seed),
            room.sharpness(D, 1.0, arguments.seed),
        )
        for D in room.WIDTHS
    }
    header = ["d"]
    for name in map(page.word, names):
        header += [name, page.word("undivided")]
    rows = [header]
    for D, pair in found.items():
        cells = [getattr(one, name) for name in names for one in pair]
        rows.append([str(D), *(f"{x:.2f}" for x in cells)])
    page.grid([Text(f"  {c}") for c in row] for row in rows)
    last = arguments.steps or 400
    curves = scale_curves(page, version, arguments.seed, last)
    page.console.print()
    page.say("text scale loss")
    rows = [
        [
            page.word("steps"),
            page.word("poem loss"),
            page.word("undivided"),
            page.word("pairs right"),
            page.word("undivided"),
        ]
    ]
    for number, step in enumerate(curves.steps):
        poem = (f"{c[step - 1]:.4f}" for c in curves.poem)
        pairs = (f"{c[number]:.1%}" for c in curves.pairs)
        rows.append([str(step), *itertools.chain(poem, pairs)])
    page.grid([Text(f"  {c}") for c in row] for row in rows)
    if page.plot is not None:
        draw_scale(page, page.plot / "scale.svg", found, curves)


class Curves(NamedTuple):
    """Losses of the poem and shares of pairs, divided by √d and not."""

    steps: list[int]
    poem: list[list[float]]
    pairs: list[list[float]]


def scale_curves(page: Page, version: Version, seed: int, last: int) -> Curves:
    """Train on the poem and on pairs, with the division and without."""
    package: Any = version.package
    room = package.training
    steps = sorted({max(1, last * part // 8) for part in (1, 2, 4, 6, 8)})
    poem, pairs = [], []
    test = room.recall_batch(1000, 2**31 + seed)
    for name, scale in (("attention", None), ("no scale", 1.0)):
        poem.append(package.experiments.poem_losses(last, scale, seed))
        model = room.recall_model(seed, scale)
        label, step = page.word(name), room.train_step
        losses = pair_losses(page, label, version, model, step, last)
        pairs.append(
            [
                room.accuracy(model, test)
                for count, _ in losses
                if count in steps
            ]
        )
    return Curves(steps, poem, pairs)


def draw_scale(
    page: Page, path: Path, found: dict[int, Any], curves: Curves
) -> None:
    """Write entropy, gradient and both tasks as one figure of four."""

    def draw(figure: Any) -> None:
        panels = figure.subplots(2, 2).ravel()
        names = (page.word("scaled"), page.word("undivided"))
        for number, name in enumerate(names):
            for axes, what in zip(
                panels, ("entropy", "gradient"), strict=False
            ):
                values = [
                    getattr(pair[number], what) for pair in found.values()
                ]
                axes.plot(list(found), values, marker="o", label=name)
                axes.set(xscale="log", xlabel="d", ylabel=page.word(what))
            losses = curves.poem[number]
            panels[2].plot(range(1, len(losses) + 1), losses, label=name)
            panels[3].plot(
                curves.steps, curves.pairs[number], marker="o", label=name
            )
        panels[2].set(yscale="log", ylabel=page.word("poem loss"))
        panels[3].set(ylim=(0, 1.05), ylabel=page.word("pairs right"))
        for axes in panels[2:]:
            axes.set_xlabel(page.word("steps"))
        panels[0].legend()

    page.write(path, lambda: write_figure(path, (8, 6), draw))
