"""`scale`: what the division by √d is for, measured and trained."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from .figures import write_figure
from .page import Page
from .recall import pair_losses
from .sections import show_sides
from .sides import Side
from .words import N_

# By dimension, the sharpness of the weights divided by √d and not.
Sharpness = Mapping[int, tuple[Any, Any]]
MEASURES = (N_("entropy"), N_("gradient"))


class Curves(NamedTuple):
    """Losses of the poem and accuracy on pairs, divided by √d and not."""

    steps: list[int]
    poem: list[list[float]]
    pairs: list[list[float]]


def run_scale(
    page: Page, sides: Sequence[Side], steps: int = 400, seed: int = 0
) -> None:
    """Print entropy, gradient and losses, with the division and without."""
    side = sides[0]
    module: Any = side.package.experiments
    page.title("What the scale is for: with 1/√d and without")
    show_sides(page, sides)
    sharpness = {
        D: (module.sharpness(D, None, seed), module.sharpness(D, 1.0, seed))
        for D in module.WIDTHS
    }
    show_sharpness(page, module.ROWS, sharpness)
    curves = train_both(page, side, seed, steps)
    show_curves(page, curves)
    if page.plot is not None:
        draw_scale(page, page.plot / "scale.svg", sharpness, curves)


def show_sharpness(page: Page, rows: int, sharpness: Sharpness) -> None:
    """Print how sharp the weights are, and how much gradient is left."""
    page.say(
        "{rows} random queries and keys of dimension d. Entropy of the "
        "weights in nats:\n{most:.2f} where all weights are equal, 0 where "
        "one key has all. Gradient: the norm\nof the gradient of a row of "
        "scores.",
        rows=rows,
        most=math.log(rows),
    )
    head = ["d"]
    for measure in map(page.word, MEASURES):
        head += [measure, page.word("undivided")]
    table = [head]
    for D, pair in sharpness.items():
        cells = (getattr(one, name) for name in MEASURES for one in pair)
        table.append([str(D), *(f"{x:.2f}" for x in cells)])
    page.table(table)


def train_both(page: Page, side: Side, seed: int, last: int) -> Curves:
    """Train on the poem and on pairs, with the division and without."""
    package: Any = side.package
    module = package.training
    steps = sorted({max(1, last * part // 8) for part in (1, 2, 4, 6, 8)})
    poem, pairs = [], []
    test = module.recall_batch(1000, 2**31 + seed)
    labels = (page.word("attention"), page.word("attention, without 1/√d"))
    for label, scale in zip(labels, (None, 1.0), strict=True):
        poem.append(package.experiments.poem_losses(last, scale, seed))
        model = module.recall_model(seed, scale)
        step = module.train_step
        losses = pair_losses(page, label, side, model, step, last)
        pairs.append(
            [
                module.accuracy(model, test)
                for count, _ in losses
                if count in steps
            ]
        )
    return Curves(steps, poem, pairs)


def show_curves(page: Page, curves: Curves) -> None:
    """Print the loss of the poem and the accuracy on pairs, by step."""
    page.console.print()
    page.say(
        "Loss on the poem, and accuracy on the pairs, after so many steps. "
        "The poem is\nlearned by heart either way: positions are enough. "
        "Looking back by content is\nnot: with seed 0 it takes 200 steps "
        "with the division, and 3000 are not enough\nwithout it. Other seeds "
        "take 150 to 800: see --steps."
    )
    undivided = page.word("undivided")
    poem, pairs = page.word("poem, loss"), page.word("pairs, accuracy")
    rows = [[page.word("steps"), poem, undivided, pairs, undivided]]
    for number, step in enumerate(curves.steps):
        losses = (f"{losses[step - 1]:.4f}" for losses in curves.poem)
        shares = (f"{shares[number]:.1%}" for shares in curves.pairs)
        rows.append([str(step), *itertools.chain(losses, shares)])
    page.table(rows)


def draw_scale(
    page: Page, path: Path, sharpness: Sharpness, curves: Curves
) -> None:
    """Write entropy, gradient and both tasks as one figure of four."""

    def draw(figure: Any) -> None:
        panels = figure.subplots(2, 2).ravel()
        names = (page.word("divided"), page.word("undivided"))
        for number, name in enumerate(names):
            for axes, measure in zip(panels, MEASURES, strict=False):
                values = [
                    getattr(pair[number], measure)
                    for pair in sharpness.values()
                ]
                axes.plot(list(sharpness), values, marker="o", label=name)
                axes.set(xscale="log", xlabel="d", ylabel=page.word(measure))
            losses, shares = curves.poem[number], curves.pairs[number]
            panels[2].plot(range(1, len(losses) + 1), losses, label=name)
            panels[3].plot(curves.steps, shares, marker="o", label=name)
        panels[2].set(yscale="log", ylabel=page.word("poem, loss"))
        panels[3].set(ylim=(0, 1.05), ylabel=page.word("pairs, accuracy"))
        for axes in panels[2:]:
            axes.set_xlabel(page.word("steps"))
        panels[0].legend()

    page.draw(path, lambda path: write_figure(path, (8, 6), draw))
