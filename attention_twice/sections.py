"""The lesson: five sections, from the mean of the past to one head."""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.text import Text

from .figures import HeatMap
from .page import Page, Rows
from .sides import NAMES, Side, largest_difference, sdpa_difference
from .words import N_


class Section(NamedTuple):
    """A section of the lesson: its words, and what prints its numbers."""

    title: str
    text: str
    show: Callable[[Page, Side], None]


def run_lesson(
    page: Page, sides: Sequence[Side], sections: Sequence[int] = range(1, 6)
) -> None:
    """Print the sections, and after each how far the two sides differ."""
    lesson = sides[0].lesson
    page.title("Attention, written twice")
    page.say(
        "The tokens are five characters of a poem by Li Bai:\n"
        "床 bed, 前 before, 明 bright, 月 moon, 光 light."
    )
    show_sides(page, sides)
    for number in sorted(set(sections)):
        section = SECTIONS[number - 1]
        page.title(section.title)
        page.say(
            section.text,
            token=lesson.TOKENS[-1],
            query=vector(lesson.QUERY),
        )
        section.show(page, sides[0])
        if number == 5:
            show_sdpa(page, sides, causal=True)
        if len(sides) == 2:
            one, other = (side.section(number) for side in sides)
            show_difference(page, largest_difference(one, other))
        if number == 5:
            page.say(
                "The score matrix is T × T: twice the length, four times the "
                "entries.\nExercise 3 measures it."
            )
    page.console.print()
    page.say(
        "Go on: {program} exercise 1 (or 2, 3), or quiz", program=page.program
    )


def show_sides(page: Page, sides: Sequence[Side]) -> None:
    """Print which side computes."""
    names = [side.name for side in sides]
    if NAMES["torch"] not in names:
        page.say("Computed by NumPy.")
        return
    import torch

    if len(names) == 1:
        page.say("Computed by PyTorch {version}.", version=torch.__version__)
        return
    page.say(
        "Each number is computed twice, by NumPy and by PyTorch {version}.",
        version=torch.__version__,
    )


def show_difference(page: Page, largest: float) -> None:
    """Print how far the two sides differ."""
    page.say(
        "Largest difference between NumPy and PyTorch: {largest:.1e}",
        largest=largest,
    )


def show_sdpa(page: Page, sides: Sequence[Side], causal: bool) -> None:
    """Print how far each side's head lies from PyTorch's function."""
    if any(side.name == NAMES["torch"] for side in sides):
        page.say(
            "Largest difference from PyTorch's scaled_dot_product_attention:"
        )
        for side in sides:
            steps = side.to_numpy(side.head(causal))
            difference = sdpa_difference(steps, causal)
            page.line(Text(f"  {side.name} {difference:.1e}"))
    elif importlib.util.find_spec("torch") is None:
        page.say(
            "Install torch to compare it with PyTorch's own function:\n"
            ".venv/bin/python -m pip install torch"
        )
    elif not page.torch_fails:
        page.say(
            "Compare it with PyTorch's scaled_dot_product_attention: "
            "--impl both"
        )


def show_averaging(page: Page, side: Side) -> None:
    """Print section 1."""
    tokens = side.lesson.TOKENS
    numbers = side.section(1)
    title = page.word(SECTIONS[0].title)
    page.heat_map(
        "section-1", HeatMap(title, numbers["weights"], tokens, tokens)
    )
    past = side.package.to_numpy(side.inputs.past)
    page.compare(
        {
            page.word("row 3 of the product"): numbers["means"][2],
            page.word("mean of the first three"): past[:3].mean(axis=0),
        }
    )


def show_query_and_key(page: Page, side: Side) -> None:
    """Print section 2."""
    numbers = side.section(2)
    drawn = HeatMap(
        page.word(SECTIONS[1].title),
        np.stack([numbers["weights"], numbers["sharp_weights"]]),
        [page.word("weight"), sharp_weight(page, side)],
        side.lesson.TOKENS,
    )
    page.heat_map(
        "section-2", drawn, above=key_rows(page, side, numbers["scores"])
    )


def sharp_weight(page: Page, side: Side) -> str:
    """Return the label of the weights of multiplied scores."""
    times = side.lesson.SHARPNESS
    return page.word("weight, scores × {times:g}", times=times)


def key_rows(page: Page, side: Side, scores: NDArray[Any]) -> Rows:
    """Return the keys and the scores of section 2 as rows of text."""
    light, place = np.asarray(side.lesson.KEYS).T
    rows = (
        (page.word("key: light"), light),
        (page.word("key: place"), place),
        (page.word("score"), scores),
    )
    return [(label, [score(x) for x in row]) for label, row in rows]


def score(x: float) -> str:
    """Return a score as text that fits a column, whatever the query."""
    return format(x, ".2f" if abs(x) < 1000 else ".1e")


def show_causal_mask(page: Page, side: Side) -> None:
    """Print section 3."""
    tokens = side.lesson.TOKENS
    title = page.word(SECTIONS[2].title)
    weights = side.section(3)["weights"]
    page.heat_map("section-3", HeatMap(title, weights, tokens, tokens))


def show_scale(page: Page, side: Side) -> None:
    """Print section 4."""
    numbers = side.section(4)
    page.say(
        "Standard deviation of q·k; greatest weight, undivided and divided:"
    )
    head = [
        "d",
        page.word("standard deviation"),
        "√d",
        page.word("undivided"),
        page.word("divided"),
    ]
    names = ("deviation", "unscaled", "scaled")
    columns = zip(*(numbers[name] for name in names), strict=True)
    rows = [
        [str(d), *(f"{x:.2f}" for x in (deviation, math.sqrt(d), *weights))]
        for d, (deviation, *weights) in zip(
            side.lesson.WIDTHS, columns, strict=True
        )
    ]
    page.table([head, *rows], width=10)


def show_head(page: Page, side: Side) -> None:
    """Print section 5."""
    tokens = side.lesson.TOKENS
    numbers = side.section(5)
    page.say(
        "x {x} → query, key, value {query} → output {output}",
        x=tuple(side.inputs.x.shape),
        query=numbers["query"].shape,
        output=numbers["output"].shape,
    )
    weights, value = numbers["weights"], numbers["value"]
    title = page.word(SECTIONS[4].title)
    page.heat_map("section-5", HeatMap(title, weights, tokens, tokens))
    summed = sum(w * v for w, v in zip(weights[-1], value, strict=True))
    rows = (
        (
            page.word("row 5 of the output, first 4 of 8"),
            numbers["output"][-1],
        ),
        (page.word("values times the weights of 光, summed"), summed),
    )
    page.compare({label: np.asarray(row)[:4] for label, row in rows})


def vector(numbers: Iterable[float]) -> str:
    """Return numbers as they are written in a text: [1, 0]."""
    return f"[{', '.join(format(x, 'g') for x in numbers)}]"


SECTIONS = (
    Section(
        N_("1  Averaging: every past position gets the same weight"),
        N_(
            "Each position takes the mean of itself and all before it.\n"
            "All means at once are one product: a lower-triangular matrix "
            "of\nweights times x."
        ),
        show_averaging,
    ),
    Section(
        N_("2  Query and key: weights that depend on the content"),
        N_(
            "{token} asks with its query {query}; each token offers a key.\n"
            "The dot product of query and key is a score, and softmax turns "
            "the\nscores into weights that sum to one. Scores × 5 keep their "
            "order\nbut lie further apart, and the weights get sharper."
        ),
        show_query_and_key,
    ),
    Section(
        N_("3  Causal mask: no position sees a later one"),
        N_(
            "A score that must not count becomes -inf before the softmax, "
            "and\nexp(-inf) = 0. Query and key are random here: the weights "
            "have no\nmeaning until they are trained."
        ),
        show_causal_mask,
    ),
    Section(
        N_("4  Dividing by √d: scores that do not grow with the dimension"),
        N_(
            "The dot product of two random vectors of dimension d, whose\n"
            "components have mean 0 and variance 1, has standard deviation "
            "√d.\nUndivided, the greatest weight of a row nears 1: the "
            "softmax is\nsaturated, and hardly any gradient passes through "
            "it. The weights\nbelow are means over five rows of one random "
            "draw, so they wobble."
        ),
        show_scale,
    ),
    Section(
        N_("5  One complete head"),
        N_(
            "Three matrices project x to query, key and value: what a "
            "position\nlooks for, what it is compared by, and what it hands "
            "over. Training\nlearns these three matrices. The output of a "
            "position is the sum of\nall values, each times its weight."
        ),
        show_head,
    ),
)
