"""The pictures of the live figures, as they stand without a script.

Their numbers are numpy_impl's; `live/figures.mjs` moves them.
"""

from __future__ import annotations

import json

import numpy as np

from numpy_impl import lesson, softmax

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
