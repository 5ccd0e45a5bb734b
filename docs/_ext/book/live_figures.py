"""The pictures of the live figures, as they stand without a script.

Their numbers are numpy_impl's; `live/figures.mjs` moves them, and puts them
to work by enabling their fieldsets.
"""

from __future__ import annotations

import functools
import json
import math
from typing import NamedTuple

import numpy as np

from numpy_impl import lesson, masks, merge, softmax, training
from numpy_impl.adam import AdamW
from numpy_impl.arrays import Array, Indices
from numpy_impl.language_model import LanguageModel

CAPTIONS = {
    "query": {
        "en": "The points are keys, the disc is the query of 光, the bars "
        "are its weights.",
        "zh_Hant": "點是鍵，圓盤是「光」的查詢，長條是它的權重。",
    },
    "scale": {
        "en": "The weights of 光, its scores times a factor.",
        "zh_Hant": "分數乘上倍數之後，「光」的權重。",
    },
    "mask": {
        "en": "A row for each query, a column for each key. A dot is a "
        "weight of exactly 0.",
        "zh_Hant": "每列是一個查詢，每欄是一個鍵；點表示權重正好是 0。",
    },
    "tiles": {
        "en": "A score of −∞ is masked. The powers are those of the step "
        "in which their tile came.",
        "zh_Hant": "分數 −∞ 表示被遮住；次方是那一塊加進來時的次方。",
    },
    "maps": {
        "en": "In a map, row and column follow the poem: the row's character "
        "looks at the column's. The framed row is the chosen character's, "
        "and below are its weights in the chosen head.",
        "zh_Hant": "每張圖的列與欄都照詩的順序：列上的字看欄上的字。框起來的"
        "是所選的字那一列，下面是它在所選的頭裡的權重。",
    },
}

BAR, ROW = 180, 26
UNIT = 140


def query(language: str) -> str:
    """Return 光's query among the keys, and the weights beside it."""
    keys = np.asarray(lesson.KEYS)
    asked = np.asarray(lesson.QUERY)
    weights = softmax.softmax(keys @ asked)
    light, place = {
        "en": ("light", "place"),
        "zh_Hant": ("光亮", "地點"),
    }[language]
    name = {"en": "the query of 光", "zh_Hant": "「光」的查詢"}[language]
    x0, y0 = 80, 220
    parts = [
        f'<line x1="0" y1="{y0}" x2="300" y2="{y0}" stroke="currentColor"/>',
        f'<line x1="{x0}" y1="0" x2="{x0}" y2="300" stroke="currentColor"/>',
        f'<text x="298" y="{y0 + 20}" text-anchor="end">{light}</text>',
        f'<text x="{x0 + 6}" y="16">{place}</text>',
    ]
    for token, key in zip(lesson.TOKENS, keys.tolist(), strict=True):
        x, y = x0 + UNIT * key[0], y0 - UNIT * key[1]
        parts.append(
            f'<g data-key="{json.dumps(key)}"><circle cx="{x:.0f}" '
            f'cy="{y:.0f}" r="4" fill="currentColor"/>'
            f'<text x="{x + 9:.0f}" y="{y - 7:.0f}">{token}</text></g>'
        )
    x, y = x0 + UNIT * asked[0], y0 - UNIT * asked[1]
    # The stroke that is not seen makes room for a finger.
    parts.append(
        f'<circle class="handle" role="slider" aria-label="{name}" '
        f'aria-valuenow="{asked[0]:.2f}" '
        f'aria-valuetext="{asked[0]:.2f}, {asked[1]:.2f}" '
        f'data-query="{json.dumps(asked.tolist())}" cx="{x:.0f}" '
        f'cy="{y:.0f}" r="10" fill="#c2410c" fill-opacity="0.8" '
        'stroke="transparent" stroke-width="24"/>'
    )
    frame = json.dumps({"x0": x0, "y0": y0, "unit": UNIT, "bar": BAR})
    return (
        f'<svg viewBox="0 0 300 300" width="300" height="300" '
        f'data-frame=\'{frame}\' font-size="16" fill="currentColor">'
        + "".join(parts)
        + "</svg>"
        + bars(list(lesson.TOKENS), weights.tolist())
    )


def scale(language: str) -> str:
    """Return the weights of the lesson's scores, and a slider."""
    keys = np.asarray(lesson.KEYS)
    scores = keys @ np.asarray(lesson.QUERY)
    weights = softmax.softmax(scores)
    label = {"en": "scores times", "zh_Hant": "分數乘以"}[language]
    return (
        '<fieldset class="controls" disabled>'
        f'<label>{label} <input type="range" min="0" max="20" step="0.1" '
        f'value="1" data-scores="{json.dumps(scores.tolist())}" '
        f'data-bar="{BAR}"></label><output>1.0</output></fieldset>'
        + bars(list(lesson.TOKENS), weights.tolist())
    )


def bars(names: list[str], weights: list[float]) -> str:
    """Return a bar for each weight, with its number."""
    height = ROW * len(names)
    parts = [
        f'<svg viewBox="0 0 280 {height}" width="280" height="{height}" '
        'font-size="16" fill="currentColor">'
    ]
    for number, (name, weight) in enumerate(zip(names, weights, strict=True)):
        top = ROW * number
        parts.append(
            f'<text y="{top + 18}">{name}</text>'
            f'<rect class="weight" data-bar="{number}" x="30" y="{top + 3}" '
            f'width="{BAR * weight:.1f}" height="18"/>'
            f'<text data-weight="{number}" x="{BAR + 45}" '
            f'y="{top + 18}">{weight:.2f}</text>'
        )
    return "".join([*parts, "</svg>"])


QUERIES, KEYS, CELL, EDGE = 4, 6, 44, 24
SWITCHES = {
    "en": {
        "causal": "causal",
        "right": "lower right corner",
        "left": "keys back beside its own (−1: no bound)",
        "hidden": "padding keys at the end",
        "table": "weights of 4 queries over 6 keys, all scores 0",
    },
    "zh_Hant": {
        "causal": "因果",
        "right": "靠右下角",
        "left": "往回看幾格，自己不算（−1：不限）",
        "hidden": "最後有幾個鍵是填充",
        "table": "4 個查詢對 6 個鍵的權重，所有分數都是 0",
    },
}


def mask(language: str) -> str:
    """Return the weights of a causal mask, and its switches."""
    words = SWITCHES[language]
    seen = masks.causal_mask(QUERIES, KEYS)
    weights = softmax.softmax(masks.mask_scores(0.0 * seen, seen))
    box = '<label><input type="checkbox" name="{0}"{2}> {1}</label>'
    number = (
        '<label>{1} <input type="number" name="{0}" value="{2}" min="{2}" '
        'max="5"></label>'
    )
    width, height = EDGE + KEYS * CELL, EDGE + QUERIES * CELL
    parts = [
        '<form><fieldset class="controls" disabled>',
        box.format("causal", words["causal"], " checked"),
        box.format("right", words["right"], ""),
        number.format("left", words["left"], -1),
        number.format("hidden", words["hidden"], 0),
        "</fieldset></form>",
        f'<svg viewBox="0 0 {width} {height}" width="{width}" '
        f'height="{height}" font-size="14" fill="currentColor" '
        f'text-anchor="middle" role="img" aria-label="{words["table"]}">',
    ]
    for j in range(KEYS):
        x = EDGE + CELL * (j + 0.5)
        parts.append(f'<text x="{x}" y="16">{j}</text>')
    for i, row in enumerate(weights.tolist()):
        y = EDGE + CELL * i
        parts.append(f'<text x="10" y="{y + CELL / 2 + 5}">{i}</text>')
        for j, weight in enumerate(row):
            x = EDGE + CELL * j
            parts.append(
                f'<rect data-cell="{i} {j}" x="{x}" y="{y}" width="{CELL}" '
                f'height="{CELL}" fill="#0369a1" fill-opacity="{weight:.2f}" '
                'stroke="currentColor" stroke-opacity="0.3"/>'
                f'<text data-weight="{i} {j}" x="{x + CELL / 2}" '
                f'y="{y + CELL / 2 + 5}">{shown(weight)}</text>'
            )
    return "".join([*parts, "</svg>"])


def shown(weight: float) -> str:
    """Return a weight as the lesson prints it: exactly 0 is a dot."""
    return f"{weight:.2f}" if weight > 0 else "·"


# Twice the maximum grows, and the second tile of two is masked.
SCORES = (1.0, 2.0, -np.inf, -np.inf, 4.0, 3.0, 5.0, 3.0)
VALUES = (8.0, 2.0, 7.0, 1.0, 4.0, 6.0, 3.0, 5.0)
SIZES = (1, 2, 4, 8)
TILE = 2
SUMS = ("<i>l</i>", "<i>o</i>", "<i>o</i> / <i>l</i>")
STEPS = {
    "en": {
        "back": "Back",
        "next": "Next tile",
        "size": "keys in a tile",
        "place": "tile {tile} of {count}",
        "score": "score",
        "power": "power",
        "value": "value",
        "keys": "keys",
        "factor": "factor",
        "whole": "in one piece",
    },
    "zh_Hant": {
        "back": "上一塊",
        "next": "下一塊",
        "size": "一塊有幾個鍵",
        "place": "第 {tile} 塊，共 {count} 塊",
        "score": "分數",
        "power": "次方",
        "value": "值",
        "keys": "鍵",
        "factor": "因子",
        "whole": "不分塊",
    },
}


class Step(NamedTuple):
    """What a row has when a tile has been added, and how it came to it."""

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
        row_max = merge.finite(running.row_max)
        exponentials = np.exp(scores[columns] - row_max).tolist()
        factor = float(np.exp(old.row_max - row_max)[0])
        found.append(Step(columns, exponentials, running, factor))
    return found


def tiles(language: str) -> str:
    """Return a row of scores, and what it has gathered after each tile."""
    words = STEPS[language]
    done = steps(TILE)
    numbers = [str(key) for key in range(len(SCORES))]
    rows = {
        words["score"]: [f"{score:.0f}" for score in SCORES],
        words["power"]: [shown(p) for step in done for p in step.exponentials],
        words["value"]: [f"{value:.0f}" for value in VALUES],
    }
    head = cells("th", [words["keys"], *numbers])
    above = "".join(
        f"<tr><th>{name}</th>{cells('td', row)}</tr>".replace("-inf", "−∞")
        for name, row in rows.items()
    )
    names = [words["keys"], "<i>m</i>", words["factor"], *SUMS]
    below = "".join(row_of_step(step) for step in done)
    whole = softmax.softmax(np.asarray(SCORES)) @ np.asarray(VALUES)
    data = json.dumps(
        {
            "scores": [s if math.isfinite(s) else None for s in SCORES],
            "values": VALUES,
        }
    )
    columns = "<colgroup>" + f'<colgroup span="{TILE}">' * len(done)
    return (
        f"{step_controls(words)}"
        f"<table class=\"keys\" data-row='{data}'>{columns}<thead><tr>{head}"
        f"</tr></thead><tbody>{above}</tbody></table>"
        f'<table class="steps"><thead><tr>{cells("th", names)}</tr></thead>'
        f'<tbody>{below}</tbody><tfoot><tr><th colspan="5">{words["whole"]}'
        f"</th><td>{whole:.3f}</td></tr></tfoot></table>"
    )


def step_controls(words: dict[str, str]) -> str:
    """Return the buttons that walk through the tiles, and their size."""
    options = "".join(
        f"<option{' selected' * (size == TILE)}>{size}</option>"
        for size in SIZES
    )
    return (
        '<form><fieldset class="controls" disabled>'
        f'<button type="button" name="back">{words["back"]}</button>'
        f'<output data-words="{words["place"]}"></output>'
        f'<button type="button" name="next">{words["next"]}</button>'
        f'<label>{words["size"]} <select name="size">{options}</select>'
        "</label></fieldset></form>"
    )


def row_of_step(step: Step) -> str:
    """Return what a row has gathered, as a row of the table."""
    output = merge.normalize(step.running).output
    numbers = [
        step.factor,
        *step.running.row_sum,
        *step.running.numerator,
        *output,
    ]
    row_max = f"{step.running.row_max[0]:.0f}"
    last = step.columns.stop - 1
    keys = f"{step.columns.start}\N{EN DASH}{last}"
    row = [row_max, *(f"{number:.3f}" for number in numbers)]
    return f"<tr><th>{keys}</th>{cells('td', row)}</tr>"


def cells(tag: str, texts: list[str]) -> str:
    """Return a cell of a table for each text."""
    return "".join(f"<{tag}>{text}</{tag}>" for text in texts)


# What is chosen in the still picture: 光, which looks at 明 in this head.
CHARACTER, HEAD = 4, 5
CHOICES = {
    "en": {
        "head": "Block and head",
        "one head": "block {block}, head {head}",
        "character": "Character",
    },
    "zh_Hant": {
        "head": "層與頭",
        "one head": "第 {block} 層，頭&nbsp;{head}",
        "character": "字",
    },
}


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


def maps(language: str) -> str:
    """Return each head's map of the poem, and one character's weights."""
    words = CHOICES[language]
    model, ids = learned()
    weights = np.concat(model.weights(ids))
    own = weights[HEAD, CHARACTER].tolist()
    # A third decimal is more than a figure shows; so few make a small page.
    data = [
        {"query": rounded(query), "key": rounded(key)}
        for query, key in queries_and_keys()
    ]
    H = model.blocks[0].attention.H
    labels = [
        words["one head"].format(block=1 + number // H, head=1 + number % H)
        for number in range(len(weights))
    ]
    heads = "".join(
        choice("head", number, HEAD, f"{label}{heat_map(table)}")
        for number, (label, table) in enumerate(
            zip(labels, weights, strict=True)
        )
    )
    text = "".join(
        choice(
            "character",
            place,
            CHARACTER,
            f"{training.POEM[place]}<small data-weight>{shown(weight)}"
            "</small>",
            f' style="--weight: {weight:.2f}"',
        )
        for place, weight in enumerate(own)
    )
    return (
        f"<form data-heads='{json.dumps(data, separators=(',', ':'))}'>"
        f'<fieldset class="heads" disabled><legend>{words["head"]}</legend>'
        f'{heads}</fieldset><fieldset class="poem" disabled>'
        f"<legend>{words['character']}</legend>{text}</fieldset></form>"
    )


def rounded(array: Array) -> list[list[float]]:
    """Return numbers with three decimals."""
    return [[round(number, 3) for number in row] for row in array.tolist()]


def choice(
    name: str, number: int, chosen: int, content: str, more: str = ""
) -> str:
    """Return one of several to choose from: the arrow keys come with it."""
    checked = " checked" * (number == chosen)
    return (
        f'<label{more}><input type="radio" name="{name}" value="{number}"'
        f"{checked}>{content}</label>"
    )


def heat_map(weights: Array) -> str:
    """Return a map of weights, (T, T), with the chosen character's row."""
    T = len(weights)
    squares = "".join(
        f'<rect x="{j}" y="{i}" width="1" height="1" '
        f'opacity="{weights[i, j]:.2f}"/>'
        for i in range(T)
        for j in range(i + 1)
    )
    return (
        f'<svg viewBox="-0.5 -0.5 {T + 1} {T + 1}" width="120" height="120" '
        f'aria-hidden="true"><g class="weight">{squares}</g>'
        f'<rect class="lit" data-row y="{CHARACTER}" width="{T}" height="1"/>'
        f'<rect width="{T}" height="{T}"/></svg>'
    )
