"""The language model by its definition: scalars in loops, nothing else.

It shares no line with either version. It loops
over positions, heads and characters, and a later key occurs in no sum. Over
numbers that record how they were computed it also gives every gradient.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import gmpy2
import numpy as np
from numpy.typing import NDArray

from .definition import (
    PRECISION,
    Node,
    Numbers,
    exp,
    log,
    numbers,
    propagate,
    root,
    total,
)

Row = list[Any]
EPSILON = 1e-5


def constant(number: float) -> Node:
    """Return a number without parents."""
    return Node(gmpy2.mpfr(number))


def minus(a: Node, b: Node) -> Node:
    """Return a - b."""
    negative: Node = b * gmpy2.mpfr(-1)
    return a + negative


def by_matrix(row: Row, matrix: Numbers) -> Row:
    """Return a row times a matrix."""
    return [
        total(x * matrix[i, j] for i, x in enumerate(row))
        for j in range(matrix.shape[1])
    ]


def plus(one: Iterable[Any], other: Iterable[Any]) -> Row:
    """Return the sum of two rows."""
    return [a + b for a, b in zip(one, other, strict=True)]


def normal(row: Row, parts: dict[str, Numbers], name: str) -> Row:
    """Return a row normalized, times weight, plus bias."""
    count = constant(len(row))
    mean = total(row) / count
    centred = [minus(x, mean) for x in row]
    variance = total(c * c for c in centred) / count
    std = root(variance + constant(EPSILON))
    scaled = [
        c / std * g
        for c, g in zip(centred, parts[f"{name}.weight"], strict=True)
    ]
    return plus(scaled, parts[f"{name}.bias"])


def attention(rows: list[Row], parts: dict[str, Numbers], H: int) -> list[Row]:
    """Return the attention of each position, over all heads."""
    query, key, value = (
        [by_matrix(row, parts[f"attention.w_{n}"]) for row in rows]
        for n in "qkv"
    )
    D = len(query[0]) // H
    scale = 1 / gmpy2.sqrt(D)
    gathered = []
    for i in range(len(rows)):
        heads: Row = []
        for columns in (range(h * D, h * D + D) for h in range(H)):
            exponentials = [
                exp(total(query[i][d] * key[j][d] for d in columns) * scale)
                for j in range(i + 1)
            ]
            everything = total(exponentials)
            heads += [
                total(
                    p / everything * value[j][d]
                    for j, p in enumerate(exponentials)
                )
                for d in columns
            ]
        gathered.append(by_matrix(heads, parts["attention.w_o"]))
    return gathered


def block(rows: list[Row], parts: dict[str, Numbers], H: int) -> list[Row]:
    """Return the output of a block for the rows of one sequence."""
    seen = [normal(row, parts, "norm_1") for row in rows]
    rows = [
        plus(*p) for p in zip(rows, attention(seen, parts, H), strict=True)
    ]
    made = []
    for row in rows:
        hidden = by_matrix(
            normal(row, parts, "norm_2"), parts["feed_forward.w_1"]
        )
        hidden = plus(hidden, parts["feed_forward.b_1"])
        hidden = [x if x.value > 0 else constant(0) for x in hidden]
        result = by_matrix(hidden, parts["feed_forward.w_2"])
        made.append(plus(row, plus(result, parts["feed_forward.b_2"])))
    return made


def logits(parts: dict[str, Numbers], ids: Sequence[int], H: int) -> list[Row]:
    """Return the scores of every character at every position."""
    rows = [
        plus(parts["token_embedding"][c], parts["position_embedding"][t])
        for t, c in enumerate(ids)
    ]
    count = 0
    while any(name.startswith(f"blocks.{count}.") for name in parts):
        prefix = f"blocks.{count}."
        parts_of_block = {
            name.removeprefix(prefix): array
            for name, array in parts.items()
            if name.startswith(prefix)
        }
        rows = block(rows, parts_of_block, H)
        count += 1
    output = (
        parts["lm_head"] if "lm_head" in parts else parts["token_embedding"].T
    )
    return [by_matrix(normal(row, parts, "norm"), output) for row in rows]


def loss_and_gradients(
    arrays: dict[str, NDArray[Any]],
    ids: NDArray[Any],
    targets: NDArray[Any],
    H: int,
) -> tuple[NDArray[Any], float, dict[str, NDArray[Any]]]:
    """Return the logits, the loss, and its gradient for every parameter."""
    with gmpy2.context(precision=PRECISION):
        parts = {name: numbers(array, Node) for name, array in arrays.items()}
        all_logits = [logits(parts, row.tolist(), H) for row in ids]
        costs = [
            minus(log(total(exp(x) for x in scores)), scores[target])
            for rows, asked in zip(all_logits, targets.tolist(), strict=True)
            for scores, target in zip(rows, asked, strict=True)
            if target >= 0
        ]
        loss = total(costs) / constant(len(costs))
        propagate([(loss, 1.0)])
        gradients = {
            name: np.vectorize(lambda n: float(n.gradient))(array)
            for name, array in parts.items()
        }
        values = np.vectorize(lambda n: float(n.value))(np.asarray(all_logits))
        return values, float(loss.value), gradients
