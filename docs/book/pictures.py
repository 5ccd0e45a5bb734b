"""The pictures of the live figures, as they stand without a script.

Their numbers are numpy_impl's; `live/figures.mjs` moves them.
"""

from __future__ import annotations

import json

import numpy as np

from numpy_impl import lesson, masks, softmax

BAR, ROW = 180, 26
UNIT = 120


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
    x0, y0 = 80, 210
    parts = [
        f'<line x1="20" y1="{y0}" x2="270" y2="{y0}" stroke="currentColor"/>',
        f'<line x1="{x0}" y1="20" x2="{x0}" y2="280" stroke="currentColor"/>',
        f'<text x="265" y="{y0 + 18}" text-anchor="end">{light}</text>',
        f'<text x="{x0 + 6}" y="30">{place}</text>',
    ]
    for token, key in zip(lesson.TOKENS, keys.tolist(), strict=True):
        x, y = x0 + UNIT * key[0], y0 - UNIT * key[1]
        parts.append(
            f'<g data-key="{json.dumps(key)}"><circle cx="{x:.0f}" '
            f'cy="{y:.0f}" r="4" fill="currentColor"/>'
            f'<text x="{x + 7:.0f}" y="{y - 5:.0f}">{token}</text></g>'
        )
    x, y = x0 + UNIT * asked[0], y0 - UNIT * asked[1]
    parts.append(
        f'<circle class="handle" role="slider" aria-label="{name}" '
        f'aria-valuetext="{asked[0]:.2f}, {asked[1]:.2f}" '
        f'data-query="{json.dumps(asked.tolist())}" cx="{x:.0f}" '
        f'cy="{y:.0f}" r="9" fill="#c2410c" fill-opacity="0.8"/>'
    )
    parts += bars(list(lesson.TOKENS), weights.tolist(), 330, 70)
    frame = json.dumps({"x0": x0, "y0": y0, "unit": UNIT, "bar": BAR})
    return (
        f'<svg viewBox="0 0 620 290" width="620" height="290" '
        f'data-frame=\'{frame}\' font-size="16" fill="currentColor">'
        + "".join(parts)
        + "</svg>"
    )


def scale(language: str) -> str:
    """Return the weights of the lesson's scores, and a slider."""
    keys = np.asarray(lesson.KEYS)
    scores = keys @ np.asarray(lesson.QUERY)
    weights = softmax.softmax(scores)
    label = {"en": "scores times", "zh_Hant": "分數乘以"}[language]
    drawn = "".join(bars(list(lesson.TOKENS), weights.tolist(), 10, 10))
    return (
        f'<label>{label} <input type="range" min="0" max="20" step="0.1" '
        'value="1" disabled></label><output>× 1.0</output>'
        f'<svg viewBox="0 0 320 150" width="320" height="150" '
        f'data-scores="{json.dumps(scores.tolist())}" data-bar="{BAR}" '
        f'font-size="16" fill="currentColor">{drawn}</svg>'
    )


QUERIES, KEYS, CELL = 4, 6, 44
SWITCHES = {
    "en": {
        "causal": "causal",
        "right": "lower right corner",
        "left": "window to the left",
        "hidden": "last keys are padding",
        "table": "weights of 4 queries over 6 keys, all scores 0",
    },
    "zh_Hant": {
        "causal": "因果",
        "right": "靠右下角",
        "left": "左邊的視窗",
        "hidden": "最後幾個鍵是填充",
        "table": "4 個查詢對 6 個鍵的權重，所有分數都是 0",
    },
}


def mask(language: str) -> str:
    """Return the weights of a causal mask, and its switches."""
    words = SWITCHES[language]
    seen = masks.causal_mask(QUERIES, KEYS)
    weights = softmax.softmax(masks.mask_scores(0.0 * seen, seen))
    box = '<label><input type="checkbox" name="{0}"{2} disabled> {1}</label> '
    number = (
        '<label>{1} <input type="number" name="{0}" value="{2}" min="{3}" '
        'max="5" disabled></label> '
    )
    parts = [
        "<form>",
        box.format("causal", words["causal"], " checked"),
        box.format("right", words["right"], ""),
        number.format("left", words["left"], -1, -1),
        number.format("hidden", words["hidden"], 0, 0),
        "</form>",
        f'<svg viewBox="0 0 {KEYS * CELL} {QUERIES * CELL}" '
        f'width="{KEYS * CELL}" height="{QUERIES * CELL}" font-size="14" '
        f'role="img" aria-label="{words["table"]}">',
    ]
    for i, row in enumerate(weights.tolist()):
        for j, weight in enumerate(row):
            x, y = CELL * j, CELL * i
            parts.append(
                f'<rect data-cell="{i} {j}" x="{x}" y="{y}" width="{CELL}" '
                f'height="{CELL}" fill="#0369a1" fill-opacity="{weight:.2f}" '
                'stroke="currentColor" stroke-opacity="0.3"/>'
                f'<text data-weight="{i} {j}" x="{x + CELL / 2}" '
                f'y="{y + CELL / 2 + 5}" text-anchor="middle" '
                f'fill="currentColor">{shown(weight)}</text>'
            )
    return "".join([*parts, "</svg>"])


def shown(weight: float) -> str:
    """Return a weight as the lesson prints it: exactly 0 is a dot."""
    return f"{weight:.2f}" if weight > 0 else "·"


def bars(names: list[str], weights: list[float], x: int, y: int) -> list[str]:
    """Return a bar for each weight, with its number."""
    parts = []
    for number, (name, weight) in enumerate(zip(names, weights, strict=True)):
        top = y + ROW * number
        parts.append(
            f'<text x="{x}" y="{top + 16}">{name}</text>'
            f'<rect data-bar="{number}" x="{x + 30}" y="{top}" '
            f'width="{BAR * weight:.1f}" height="18" fill="#0369a1"/>'
            f'<text data-weight="{number}" x="{x + BAR + 45}" '
            f'y="{top + 15}">{weight:.2f}</text>'
        )
    return parts
