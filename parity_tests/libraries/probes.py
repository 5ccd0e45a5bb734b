"""The convention card: calls whose results tell conventions apart.

Each reading of a probe is a result that is known in closed form. So another
convention can be told from a mistake.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attention_twice.words import N_

from .adapters import Asked

Array = NDArray[Any]


# What a reading is: as the contract has it, a convention, a mistake.
CONTRACT, OTHER, WRONG = "contract", "convention", "wrong"


LACKS, REFUSED = N_("not offered"), N_("refused")


KINDS = (CONTRACT, OTHER, LACKS, REFUSED, WRONG)


NAN = math.nan


class Reading(NamedTuple):
    """What a result says, and the result."""

    says: str
    kind: str
    output: Any


@dataclass(frozen=True, eq=False)
class Probe:
    """A call, and what its result may say."""

    name: str
    asked: Asked
    readings: tuple[Reading, ...]
    expected: str = ""

    def __str__(self) -> str:
        """Return the name."""
        return self.name


def column(*numbers: float) -> Array:
    """Return numbers as the rows of one head, (1, 1, n, 1)."""
    return np.asarray(numbers, dtype=np.float32).reshape(1, 1, -1, 1)


def rows(*numbers: list[float]) -> Array:
    """Return rows of numbers or of truth, (1, 1, L, S)."""
    table = np.asarray([[numbers]])
    return table if table.dtype == bool else table.astype(np.float32)


def flat(L: int, *values: float, **more: Any) -> Asked:
    """Return L queries of 0: the output is the mean of visible values."""
    value = column(*values)
    return Asked(column(*[0] * L), 0 * value, value, **more)


T, F, INF = True, False, math.inf
TWO_GROUPS = np.asarray([10, 20], dtype=np.float32).reshape(1, 2, 1, 1)
FORTY = np.full((1, 1, 4, 64), 40, dtype=np.float16)
MEANS = np.asarray([1, 2, 3, 6], np.float16).reshape(1, 1, 4, 1)
NOTHING_SEEN = (
    Reading("0", CONTRACT, [2, 0]),
    Reading("NaN", OTHER, [2, NAN]),
    Reading("mean of all values", OTHER, [2, 2]),
)
# The card's lines, in order.
PROBES: tuple[Probe, ...] = (
    Probe(
        "mask polarity",
        flat(1, 0, 1, attn_mask=rows([T, F])),
        (
            Reading("True attends", CONTRACT, [0]),
            Reading("True ignores", OTHER, [1]),
            Reading("added as 0 and 1", WRONG, [1 / (1 + math.e)]),
        ),
    ),
    Probe(
        "causal corner, L 1, S 4",
        flat(1, 1, 2, 4, 8, is_causal=True),
        (
            Reading("upper left", CONTRACT, [1]),
            Reading("lower right", OTHER, [3.75]),
        ),
    ),
    Probe(
        "causal corner, L 4, S 2",
        flat(4, 1, 2, is_causal=True),
        (
            Reading("upper left", CONTRACT, [1, 1.5, 1.5, 1.5]),
            Reading("lower right, 0 above", OTHER, [0, 0, 1, 1.5]),
            Reading("lower right, NaN above", OTHER, [NAN, NAN, 1, 1.5]),
            Reading("lower right, mean above", OTHER, [1.5, 1.5, 1, 1.5]),
        ),
    ),
    Probe(
        "nothing to see, boolean",
        flat(2, 1, 3, attn_mask=rows([T, T], [F, F])),
        NOTHING_SEEN,
    ),
    Probe(
        "nothing to see, -inf",
        flat(2, 1, 3, attn_mask=rows([0, 0], [-INF, -INF])),
        NOTHING_SEEN,
    ),
    Probe(
        "mask with causal",
        flat(2, 1, 3, attn_mask=rows([T, T], [F, T]), is_causal=True),
        (
            Reading("both hold", CONTRACT, [1, 3]),
            Reading("causal is dropped", WRONG, [2, 3]),
            Reading("mask is dropped", WRONG, [1, 2]),
        ),
    ),
    Probe(
        "H 4 over G 2",
        Asked(np.zeros((1, 4, 1, 1), np.float32), 0 * TWO_GROUPS, TWO_GROUPS),
        (
            Reading("head h reads h // 2", CONTRACT, [10, 10, 20, 20]),
            Reading("head h reads h % 2", WRONG, [10, 20, 10, 20]),
        ),
    ),
    Probe(
        "NaN in a masked key",
        Asked(column(0), column(0, NAN), column(5, 7), attn_mask=rows([T, F])),
        (
            Reading("kept out", CONTRACT, [5]),
            Reading("leaks", WRONG, [NAN]),
        ),
    ),
    Probe(
        "NaN in a masked value",
        flat(1, 5, NAN, attn_mask=rows([T, F]))._replace(key=column(0, 0)),
        (
            Reading("leaks, as 0 · NaN", CONTRACT, [NAN]),
            Reading("kept out", CONTRACT, [5]),
        ),
    ),
    Probe(
        "no keys",
        Asked(column(0, 0), column(), column()),
        (
            Reading("0", CONTRACT, [0, 0]),
            Reading("NaN", OTHER, [NAN, NAN]),
        ),
    ),
    Probe(
        "5 keys, 6 values",
        Asked(column(0), column(*[0] * 5), column(*[1] * 6)),
        (Reading("accepted", WRONG, [1]),),
        expected=REFUSED,
    ),
    Probe(
        "negative scale",
        Asked(column(1), column(0, math.log(3)), column(0, 1), scale=-1.0),
        (
            Reading("taken", CONTRACT, [0.25]),
            Reading("sign is lost", WRONG, [0.75]),
        ),
    ),
    Probe(
        "soft cap, -inf in the mask",
        flat(1, 0, 1, attn_mask=rows([0, -INF]), soft_cap=1.0),
        (
            Reading("cap before mask", CONTRACT, [0]),
            Reading("mask before cap", WRONG, [1 / (1 + math.e)]),
        ),
    ),
    Probe(
        "window (1, 0), not causal",
        flat(4, 1, 2, 4, 8, window=(1, 0)),
        (
            Reading("a radius", CONTRACT, [1, 1.5, 3, 6]),
            Reading("counts keys", OTHER, [1, 2, 4, 8]),
            Reading("sees the future", WRONG, [3.75, 14 / 3 + 1 / 3, 6, 8]),
        ),
    ),
    Probe(
        "float16, q·k = 102 400",
        Asked(FORTY[:, :, :1], FORTY, MEANS + 0 * FORTY),
        (
            Reading("the mean", CONTRACT, [3]),
            Reading("overflows", WRONG, [NAN]),
        ),
    ),
    Probe(
        "one key, at -60000",
        Asked(
            column(1),
            column(-60000, 0),
            column(7, 1),
            attn_mask=rows([T, F]),
            scale=1.0,
        ),
        (
            Reading("found", CONTRACT, [7]),
            Reading("lost", WRONG, [1]),
        ),
    ),
)
