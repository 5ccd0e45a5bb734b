"""Arguments of attention whose result can be computed by hand."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

LN3 = math.log(3)


@dataclass(frozen=True)
class Value:
    """Arguments written out, and the expected result."""

    name: str
    query: Any
    key: Any
    value: Any
    expected: Any
    options: dict[str, Any] = field(default_factory=dict)
    dtype: str = "float32"
    error: float = 0.0

    def __str__(self) -> str:
        """Return the name."""
        return self.name


def column(*numbers: float) -> Any:
    """Return a column of numbers: S keys or values of dimension 1."""
    return [[number] for number in numbers]


def mask(*rows: str) -> Any:
    """Return a boolean mask: T for True."""
    return np.asarray([[sign == "T" for sign in row] for row in rows])


ZEROS, EIGHTS = column(0, 0, 0, 0), column(1, 2, 4, 8)
ZERO_LN3, U = column(0, LN3), 4 * 2.0**-24
TWO_ZEROS, ZERO_ONE = column(0, 0), column(0, 1)
CAUSAL = {"is_causal": True}
HEADS = np.asarray([[[10.0]], [[20.0]]])
LOWEST = float(np.finfo(np.float32).min)
BY_HAND = [
    Value(
        "causal",
        ZEROS,
        ZEROS,
        EIGHTS,
        column(1, 1.5, 7 / 3, 3.75),
        CAUSAL,
        error=2 * U,
    ),
    Value("causal, one query", [[0]], ZEROS, EIGHTS, [[1]], CAUSAL),
    Value(
        "causal, more queries than keys",
        ZEROS,
        TWO_ZEROS,
        column(1, 3),
        column(1, 2, 2, 2),
        CAUSAL,
    ),
    Value(
        "window to the left",
        ZEROS,
        ZEROS,
        EIGHTS,
        column(1, 1.5, 3, 6),
        {"window": (1, 0)},
    ),
    Value(
        "window to the right",
        ZEROS,
        ZEROS,
        EIGHTS,
        column(1.5, 3, 6, 8),
        {"window": (0, 1)},
    ),
    Value("ln 3", [[1]], ZERO_LN3, ZERO_ONE, [[0.75]], error=U),
    Value(
        "scale -1",
        [[1]],
        ZERO_LN3,
        ZERO_ONE,
        [[0.25]],
        {"scale": -1.0},
        error=U,
    ),
    Value("scale 0", [[1]], ZERO_LN3, ZERO_ONE, [[0.5]], {"scale": 0.0}),
    Value(
        "divided by √4",
        [[2, 0, 0, 0]],
        [[0, 0, 0, 0], [LN3, 0, 0, 0]],
        ZERO_ONE,
        [[0.75]],
        error=U,
    ),
    Value(
        "√ of the head's width",
        [[[1]]] * 4,
        [[[0], [LN3]]] * 4,
        [[[0], [1]]] * 4,
        [[[0.75]]] * 4,
        error=U,
    ),
    Value("1000, 1000", [[1000]], column(1, 1), ZERO_ONE, [[0.5]]),
    Value(
        "forbidden key",
        [[0]],
        TWO_ZEROS,
        ZERO_ONE,
        [[0]],
        {"attn_mask": mask("TF")},
    ),
    Value(
        "forbidden key, as a number",
        [[0]],
        TWO_ZEROS,
        ZERO_ONE,
        [[0]],
        {"attn_mask": np.asarray([[0, -np.inf]])},
    ),
    Value(
        "the only key",
        [[-60000]],
        column(1, 1),
        column(7, 9),
        [[7]],
        {"attn_mask": mask("TF")},
    ),
    Value(
        "far below the forbidden",
        [[1]],
        column(-30000, 100),
        ZERO_ONE,
        [[0]],
        {"attn_mask": mask("TF")},
    ),
    Value(
        "a dead row",
        TWO_ZEROS,
        TWO_ZEROS,
        column(1, 3),
        column(2, 0),
        {"attn_mask": mask("TT", "FF")},
    ),
    Value(
        "a mask that is its own product",
        TWO_ZEROS,
        TWO_ZEROS,
        column(1, 3),
        column(1, 0),
        {"attn_mask": mask("TF", "FF")},
    ),
    Value(
        "the second half of the keys",
        [[0]],
        ZEROS,
        EIGHTS,
        [[6]],
        {"attn_mask": mask("FFTT")},
    ),
    Value(
        "mask and causal",
        TWO_ZEROS,
        TWO_ZEROS,
        column(1, 3),
        column(1, 3),
        {"attn_mask": mask("TT", "FT"), "is_causal": True},
    ),
    Value(
        "mask and window",
        ZEROS,
        ZEROS,
        EIGHTS,
        column(1, 1, 4, 6),
        {
            "attn_mask": mask("TTTT", "TFTT", "TFTT", "TTTT"),
            "window": (1, 0),
        },
    ),
    Value(
        "a row dead by mask and causal together",
        TWO_ZEROS,
        TWO_ZEROS,
        column(1, 3),
        column(0, 2),
        {"attn_mask": mask("FT", "TT"), "is_causal": True},
    ),
    Value(
        "soft cap before the mask",
        [[0]],
        TWO_ZEROS,
        ZERO_ONE,
        [[0]],
        {"attn_mask": np.asarray([[0, -np.inf]]), "soft_cap": 1.0},
    ),
    Value(
        "soft cap",
        [[1]],
        column(-1e6, 1e6),
        ZERO_ONE,
        [[0.75]],
        {"soft_cap": LN3 / 2},
        error=U,
    ),
    Value(
        "bias and not factor",
        [[0]],
        TWO_ZEROS,
        ZERO_ONE,
        [[0.75]],
        {"attn_mask": np.asarray([[0, LN3]])},
        error=U,
    ),
    Value(
        "a row of the lowest finite number",
        [[1]],
        column(-1, 1),
        ZERO_ONE,
        [[0.5]],
        {"attn_mask": np.asarray([[LOWEST, LOWEST]])},
    ),
    Value(
        "two masks of the lowest number, summed: -inf",
        TWO_ZEROS,
        TWO_ZEROS,
        column(1, 3),
        column(1, 0),
        {"attn_mask": np.asarray([[0, 2 * LOWEST], [2 * LOWEST, 2 * LOWEST]])},
    ),
    Value(
        "two masks of -10⁴, summed",
        [[0]],
        TWO_ZEROS,
        ZERO_ONE,
        [[0]],
        {"attn_mask": np.asarray([[0.0, -2e4]])},
    ),
    Value(
        "grouped heads",
        [[[0]]] * 4,
        [[[0]]] * 2,
        HEADS,
        [[[10]], [[10]], [[20]], [[20]]],
        {"enable_gqa": True},
    ),
    Value(
        "one key head for all",
        [[[0]]] * 3,
        [[[0]]],
        [[[5]]],
        [[[5]]] * 3,
    ),
    Value("no width", np.zeros((1, 0)), np.zeros((2, 0)), ZERO_ONE, [[0.5]]),
    Value(
        "40 everywhere",
        np.full((1, 64), 40),
        np.full((4, 64), 40),
        EIGHTS,
        [[3.75]],
        dtype="float16",
    ),
    Value(
        "a product beyond the range",
        np.full((1, 4), 2.0**64),
        np.full((4, 4), 2.0**62),
        EIGHTS,
        [[3.75]],
    ),
    Value(
        "a scale above 1 beyond the range",
        [[2.0**126]],
        np.full((4, 1), 2.0**-120),
        EIGHTS,
        [[3.75]],
        {"scale": 2.0**20},
    ),
    Value(
        "a scale above 1 beyond the range of key",
        [[2.0**-120]],
        np.full((4, 1), 2.0**126),
        EIGHTS,
        [[3.75]],
        {"scale": 2.0**20},
    ),
    Value(
        "a negative scale beyond the range",
        [[2.0**126]],
        np.full((4, 1), 2.0**-120),
        EIGHTS,
        [[3.75]],
        {"scale": -(2.0**20)},
    ),
    Value(
        "a negative scale beyond the range, of heads",
        np.full((2, 1, 1), 2.0**126),
        np.full((2, 4, 1), 2.0**-120),
        [EIGHTS, EIGHTS],
        [[[3.75]], [[3.75]]],
        {"scale": -(2.0**20)},
    ),
    Value(
        "a small scale and a product beyond the range",
        np.full((2, 1, 1), 2.0**100),
        np.full((2, 4, 1), 2.0**100),
        [EIGHTS, EIGHTS],
        [[[3.75]], [[3.75]]],
        {"scale": 2.0**-100},
    ),
    Value(
        "a tiny scale",
        np.full((1, 1), 2.0**127),
        np.full((4, 1), 2.0**126),
        EIGHTS,
        [[3.75]],
        {"scale": 2.0**-130},
    ),
    Value(
        "dropout of all but one",
        [[0]],
        ZEROS,
        EIGHTS,
        [[4]],
        {
            "dropout_p": 0.75,
            "dropout_mask": mask("FFTF"),
        },
    ),
    Value(
        "dropout of everything",
        [[0]],
        ZEROS,
        EIGHTS,
        [[0]],
        {"dropout_p": 1.0},
    ),
    Value(
        "dropout after the mask",
        [[0]],
        ZEROS,
        EIGHTS,
        [[5]],
        {
            "dropout_p": 0.5,
            "dropout_mask": mask("TFTF"),
            "attn_mask": mask("TFTF"),
        },
    ),
    Value(
        "rank 3 is heads, also when B = H",
        np.zeros((2, 2, 1, 1)),
        np.zeros((2, 2, 2, 1)),
        [[column(0, 1), column(0, 1)]] * 2,
        [[[[0]], [[1]]]] * 2,
        {"attn_mask": np.asarray([[[True, False]], [[False, True]]])},
    ),
]


def representable(value: Value) -> bool:
    """Return whether float16 holds the arguments and the result."""
    arrays = [value.query, value.key, value.value]
    bias = value.options.get("attn_mask")
    if bias is not None and bias.dtype != bool:
        arrays.append(np.where(np.isinf(bias), 0, bias))
    return all(
        np.abs(np.asarray(array, dtype=float)).max(initial=0) < 60001
        and "scale" not in value.name
        and "cap" not in value.name
        for array in arrays
    )


def in_other_dtypes() -> list[Value]:
    """Return the values in float64, and in float16 where it holds them."""
    wide = [value for value in BY_HAND if value.dtype == "float32"]
    doubles = [
        replace(v, name=f"{v.name}, float64", dtype="float64")
        for v in wide
        if "range" not in v.name and "lowest" not in v.name
    ]
    halves = [
        replace(v, name=f"{v.name}, half", dtype="float16", error=2**-10)
        for v in wide
        if representable(v)
    ]
    return doubles + halves


VALUES = [*BY_HAND, *in_other_dtypes()]
