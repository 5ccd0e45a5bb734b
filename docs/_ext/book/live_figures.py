"""The pictures of the live figures, as they stand without a script.

Their numbers are computed by numpy_impl, their HTML is in `templates/live/`.
`live/figures.mjs` moves them, and enables their fieldsets.
"""

from __future__ import annotations

import functools
import json
import math
import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from attention_twice.words import N_, translations
from numpy_impl import lesson, masks, merge, softmax, training
from numpy_impl.adam import AdamW
from numpy_impl.arrays import Array, Indices
from numpy_impl.language_model import LanguageModel

CAPTIONS = {
    "query": N_(
        "The points are keys, the disc is the query of 光, the bars are its "
        "weights."
    ),
    "scale": N_("The weights of 光, its scores times a factor."),
    "mask": N_(
        "A row for each query, a column for each key. A dot is a weight of "
        "exactly 0."
    ),
    "tiles": N_(
        "A score of −∞ is masked. The exponentials of a tile have the "
        "maximum at its step; the factor rescales the sums before it."
    ),
    "maps": N_(
        "Rows and columns of a map are the characters of the poem, in "
        "order: the row's character attends to the column's. The framed row "
        "is that of the chosen character. Below are its weights in the "
        "chosen head."
    ),
}

FOLDER = Path(__file__).parent / "templates" / "live"
TEMPLATES = Environment(
    loader=FileSystemLoader(FOLDER),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)


def shown(weight: float) -> str:
    """Return a weight as the lesson prints it: exactly 0 is a dot."""
    return f"{weight:.2f}" if weight > 0 else "·"


def as_json(data: Any) -> Markup:
    """Return data for an attribute; nothing in them needs an escape."""
    return Markup(json.dumps(data))


TEMPLATES.filters |= {"json": as_json, "shown": shown}


def drawn(name: str, tag: str, **data: Any) -> str:
    """Return a template with data and words in it, in one line."""
    text = TEMPLATES.get_template(f"{name}.html").render(
        data, _=translations(tag).gettext
    )
    # A tag goes on after a space, and what follows a tag without one.
    return re.sub(r"(>?)\s*\n\s*", lambda m: m[1] or " ", text.strip())


BAR = 180


def query(tag: str) -> str:
    """Return 光's query among the keys, and the weights beside it."""
    keys, asked = np.asarray(lesson.KEYS), np.asarray(lesson.QUERY)
    return drawn(
        "query",
        tag,
        frame={"x0": 80, "y0": 220, "unit": 140, "bar": BAR},
        tokens=lesson.TOKENS,
        keys=keys.tolist(),
        query=asked.tolist(),
        weights=softmax.softmax(keys @ asked).tolist(),
    )


def scale(tag: str) -> str:
    """Return the weights of the lesson's scores, and a slider."""
    scores = np.asarray(lesson.KEYS) @ np.asarray(lesson.QUERY)
    return drawn(
        "scale",
        tag,
        bar=BAR,
        tokens=lesson.TOKENS,
        scores=scores.tolist(),
        weights=softmax.softmax(scores).tolist(),
    )


def mask(tag: str) -> str:
    """Return the weights of a causal mask, and its switches."""
    seen = masks.causal_mask(4, 6)
    weights = softmax.softmax(masks.mask_scores(0.0 * seen, seen))
    return drawn("mask", tag, weights=weights.tolist())


# Twice the maximum grows, and the second tile of two is masked.
SCORES = (1.0, 2.0, -np.inf, -np.inf, 4.0, 3.0, 5.0, 3.0)
VALUES = (8.0, 2.0, 7.0, 1.0, 4.0, 6.0, 3.0, 5.0)
SIZES = (1, 2, 4, 8)
TILE = 2


class Step(NamedTuple):
    """The sums of a row after a tile, and its exponentials and factor."""

    columns: slice
    exponentials: list[float]
    running: merge.RunningSoftmax
    factor: float


def steps(size: int) -> list[Step]:
    """Return the row's steps, in tiles of `size`."""
    scores, values = np.asarray(SCORES), np.asarray(VALUES)[:, None]
    running = merge.RunningSoftmax(
        np.asarray([-np.inf]), np.zeros(1), np.zeros(1)
    )
    found = []
    for first in range(0, len(SCORES), size):
        columns = slice(first, first + size)
        part = merge.partial_sums(scores[columns], values[columns])
        old, running = running, merge.combine(running, part)
        row_max = softmax.finite(running.row_max)
        exponentials = np.exp(scores[columns] - row_max).tolist()
        factor = float(np.exp(old.row_max - row_max)[0])
        found.append(Step(columns, exponentials, running, factor))
    return found


def tiles(tag: str) -> str:
    """Return a row of scores, and its sums after each tile."""
    done = steps(TILE)
    whole = softmax.softmax(np.asarray(SCORES)) @ np.asarray(VALUES)
    finite = [score if math.isfinite(score) else None for score in SCORES]
    return drawn(
        "tiles",
        tag,
        row={"scores": finite, "values": VALUES},
        scores=[f"{score:.0f}".replace("-inf", "−∞") for score in SCORES],
        values=[f"{value:.0f}" for value in VALUES],
        exponentials=[shown(e) for step in done for e in step.exponentials],
        sizes=SIZES,
        tile=TILE,
        steps=[(keys_of(step), sums_of(step)) for step in done],
        whole=f"{whole:.3f}",
    )


def keys_of(step: Step) -> str:
    """Return the first and last key of a step's tile."""
    return f"{step.columns.start}\N{EN DASH}{step.columns.stop - 1}"


def sums_of(step: Step) -> list[str]:
    """Return the sums of a row: m, the factor, l, o and o / l."""
    numbers = [
        step.factor,
        *step.running.row_sum,
        *step.running.numerator,
        *merge.normalize(step.running).output,
    ]
    row_max = f"{step.running.row_max[0]:.0f}"
    return [row_max, *(f"{number:.3f}" for number in numbers)]


# What is chosen in the still picture: 光, which looks at 明 in this head.
CHARACTER, HEAD = 4, 5


@functools.cache
def learned() -> tuple[LanguageModel, Indices]:
    """Return a model that knows the poem, and the ids that it is shown.

    As `attention.py train` has it with seed 0.
    """
    characters = training.vocabulary(training.POEM)
    text = training.encode(training.POEM, characters)
    T = len(text) - 1
    batch = training.text_batch(text, T, 1, seed=0)
    model = training.poem_model(len(characters), T)
    optimizer = AdamW(model, training.LEARNING_RATE)
    while training.accuracy(model, batch) < 1:
        training.train_step(model, optimizer, batch)
    return model, batch.ids[0]


def queries_and_keys() -> list[tuple[Array, Array]]:
    """Return query and key, (T, D), of every head, block by block."""
    model, ids = learned()
    x = model.embed(ids)
    found: list[tuple[Array, Array]] = []
    for block in model.blocks:
        query, key, _ = block.attention.project(block.norm_1(x))
        found += zip(query, key, strict=True)
        x = block(x)
    return found


def maps(tag: str) -> str:
    """Return each head's map of the poem, and one character's weights."""
    model, ids = learned()
    # A third decimal is more than a figure shows; so few make a small page.
    vectors = [
        {"query": rounded(query), "key": rounded(key)}
        for query, key in queries_and_keys()
    ]
    return drawn(
        "maps",
        tag,
        vectors=json.dumps(vectors, separators=(",", ":")),
        heads=np.concat(model.weights(ids)).tolist(),
        per_block=model.blocks[0].attention.H,
        poem=training.POEM,
        chosen=CHARACTER,
        chosen_head=HEAD,
    )


def rounded(array: Array) -> list[list[float]]:
    """Return numbers with three decimals."""
    return [[round(number, 3) for number in row] for row in array.tolist()]
