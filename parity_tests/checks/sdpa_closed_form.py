"""sdpa in closed form: structure apart from arithmetic, with no tolerance.

With query = 0 the scores vanish, and with value = identity the output *is*
the weight matrix: 1/n on the n keys that are seen, rounded once, and exactly
0 on the others. What goes wrong with masks, corners, windows, heads, axes
and layout shows here to the bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
import torch

from ..cases.table import CASES, Case, build
from ..judges.definition import at, read_by, sees
from ..suite.register import Trial, check

ATTENTION = "sdpa.scaled_dot_product_attention"
STEPS = "sdpa.attention_steps"
LN3 = math.log(3)
F32 = np.float32


def structural(case: Case) -> Case | None:
    """Return a case with its scores at 0, or None where that has no sense."""
    sizes = (*case.query, *case.key, *case.value)
    boolean = case.mask is None or case.mask.kind == "bool"
    if 0 in sizes or not boolean or case.fill != "normal":
        return None
    if case.dropout_p or case.dropout_mask is not None:
        return None
    if case.scale is not None and math.isnan(case.scale):
        return None
    value = (*case.value[:-1], case.value[-2])
    name = f"{case.name}, no scores"
    return replace(case, name=name, value=value, fill="zero scores")


STRUCTURAL = [case for case in map(structural, CASES) if case is not None]


@cache
def seen_by(case: Case) -> Any:
    """Return which keys each query sees, one by one: (..., H, L, S)."""
    inputs = build(case)
    table = (*inputs.batch, inputs.heads, inputs.L, inputs.S)
    seen = np.zeros(table, dtype=bool)
    for index in np.ndindex(*table):
        seen[index] = sees(inputs, index)
    return seen


@check("sdpa", "closed form", STRUCTURAL)
def the_output_is_one_over_the_keys_seen(trial: Trial) -> None:
    """Weights and output are 1/n on the keys that are seen, else 0."""
    case: Case = trial.case
    got = trial.version.steps(build(case), case.dtype)
    within_one_over_seen(trial, got)


def within_one_over_seen(trial: Trial, got: dict[str, Any]) -> None:
    """Assert that a result is 1/n on the n keys seen, its lse log n."""
    case: Case = trial.case
    inputs, seen = build(case), seen_by(case)
    number = seen.sum(axis=-1, keepdims=True)
    expected = seen / np.maximum(number, 1)
    expected = inputs.without_heads(rounded_once(expected, case.dtype))
    trial.within("output", got["output"], expected)
    lse = np.log(np.where(number == 0, 1, number))
    lse = np.where(number == 0, -np.inf, lse)[..., 0]
    error = 8 * np.spacing(np.abs(lse).astype("float32"))
    lse = inputs.without_heads(lse)
    error = np.nan_to_num(error).max()
    trial.within("log_sum_exp", got["log_sum_exp"], lse, error)


def rounded_once(weights: Any, dtype: str) -> Any:
    """Return weights as one division in the dtype of computation gives."""
    computed = "float32" if dtype in ("float16", "bfloat16") else dtype
    once = weights.astype(computed)
    if dtype == "bfloat16":
        return torch.tensor(once).bfloat16().float().numpy()
    return once.astype(dtype)


@check("sdpa", "closed form", [c for c in STRUCTURAL if c.mask is None])
def heads_and_batches_read_their_own_values(trial: Trial) -> None:
    """Every row of value is a whole number of its own.

    The output is the mean of the numbers seen by each query: of the right
    batch, of key/value head h // (H/G), of the right positions.
    """
    case: Case = trial.case
    inputs = build(case)
    value, expected, error = means_of_own_values(case)
    arguments = trial.version.arguments(inputs, case.dtype)
    arguments["value"] = trial.version.array(value.astype(np.float32))
    for name in ("query", "key"):
        array = np.zeros_like(getattr(inputs, name), dtype=np.float32)
        arguments[name] = trial.version.array(array)
    output = trial.version.numpy(
        trial.version.function(ATTENTION)(**arguments)
    )
    trial.within("output", output, expected, error)


@cache
def means_of_own_values(case: Case) -> tuple[Any, Any, Any]:
    """Return a value of whole numbers, the means seen, and their rounding."""
    inputs = build(case)
    sizes = inputs.value.shape[:-1]
    numbers = np.arange(math.prod(sizes), dtype=np.float64).reshape(sizes)
    value = numbers[..., None] * 8.0
    seen = seen_by(case)
    expected, spacing = np.zeros(seen.shape[:-1]), np.zeros(seen.shape[:-1])
    for index in np.ndindex(*seen.shape[:-1]):
        *batch, h, _ = index
        keys = np.flatnonzero(seen[index]).tolist()
        own = read_by(h, inputs.heads, value)
        rows = [at(value, (*batch, own, j, 0)) for j in keys]
        if rows:
            expected[index] = sum(rows) / len(rows)
            spacing[index] = len(rows) * max(abs(row) for row in rows)
    expected = inputs.without_heads(expected)[..., None]
    error = inputs.without_heads(spacing)[..., None] * 2.0**-22
    return value, expected, error


@dataclass(frozen=True)
class Value:
    """Arguments written out, and what must come of them."""

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
    """Return numbers below each other: S keys or values of width 1."""
    return [[number] for number in numbers]


def mask(*rows: str) -> Any:
    """Return a boolean mask: T for True."""
    return np.asarray([[sign == "T" for sign in row] for row in rows])


def values() -> list[Value]:
    """Return the values that are known in closed form."""
    zeros4, eights = column(0, 0, 0, 0), column(1, 2, 4, 8)
    ln3, u = column(0, LN3), 4 * 2.0**-24
    two, pair = column(0, 0), column(0, 1)
    causal = {"is_causal": True}
    third = 7 / 3
    heads = np.asarray([[[10.0]], [[20.0]]])
    low = float(np.finfo(np.float32).min)
    found = [
        Value(
            "causal",
            zeros4,
            zeros4,
            eights,
            column(1, 1.5, third, 3.75),
            causal,
            error=2 * u,
        ),
        Value("causal, one query", [[0]], zeros4, eights, [[1]], causal),
        Value(
            "causal, more queries than keys",
            zeros4,
            two,
            column(1, 3),
            column(1, 2, 2, 2),
            causal,
        ),
        Value(
            "window to the left",
            zeros4,
            zeros4,
            eights,
            column(1, 1.5, 3, 6),
            {"window": (1, 0)},
        ),
        Value(
            "window to the right",
            zeros4,
            zeros4,
            eights,
            column(1.5, 3, 6, 8),
            {"window": (0, 1)},
        ),
        Value("ln 3", [[1]], ln3, pair, [[0.75]], error=u),
        Value(
            "scale -1", [[1]], ln3, pair, [[0.25]], {"scale": -1.0}, error=u
        ),
        Value("scale 0", [[1]], ln3, pair, [[0.5]], {"scale": 0.0}),
        Value(
            "divided by √4",
            [[2, 0, 0, 0]],
            [[0, 0, 0, 0], [LN3, 0, 0, 0]],
            pair,
            [[0.75]],
            error=u,
        ),
        Value(
            "√ of the head's width",
            [[[1]]] * 4,
            [[[0], [LN3]]] * 4,
            [[[0], [1]]] * 4,
            [[[0.75]]] * 4,
            error=u,
        ),
        Value("1000, 1000", [[1000]], column(1, 1), pair, [[0.5]]),
        Value(
            "forbidden key",
            [[0]],
            two,
            pair,
            [[0]],
            {"attn_mask": mask("TF")},
        ),
        Value(
            "forbidden key, as a number",
            [[0]],
            two,
            pair,
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
            pair,
            [[0]],
            {"attn_mask": mask("TF")},
        ),
        Value(
            "a dead row",
            two,
            two,
            column(1, 3),
            column(2, 0),
            {"attn_mask": mask("TT", "FF")},
        ),
        Value(
            "a mask that is its own product",
            two,
            two,
            column(1, 3),
            column(1, 0),
            {"attn_mask": mask("TF", "FF")},
        ),
        Value(
            "the second half of the keys",
            [[0]],
            zeros4,
            eights,
            [[6]],
            {"attn_mask": mask("FFTT")},
        ),
        Value(
            "mask and causal",
            two,
            two,
            column(1, 3),
            column(1, 3),
            {"attn_mask": mask("TT", "FT"), "is_causal": True},
        ),
        Value(
            "mask and window",
            zeros4,
            zeros4,
            eights,
            column(1, 1, 4, 6),
            {
                "attn_mask": mask("TTTT", "TFTT", "TFTT", "TTTT"),
                "window": (1, 0),
            },
        ),
        Value(
            "a row dead by mask and causal together",
            two,
            two,
            column(1, 3),
            column(0, 2),
            {"attn_mask": mask("FT", "TT"), "is_causal": True},
        ),
        Value(
            "soft cap before the mask",
            [[0]],
            two,
            pair,
            [[0]],
            {"attn_mask": np.asarray([[0, -np.inf]]), "soft_cap": 1.0},
        ),
        Value(
            "soft cap",
            [[1]],
            column(-1e6, 1e6),
            pair,
            [[0.75]],
            {"soft_cap": LN3 / 2},
            error=u,
        ),
        Value(
            "bias and not factor",
            [[0]],
            two,
            pair,
            [[0.75]],
            {"attn_mask": np.asarray([[0, LN3]])},
            error=u,
        ),
        Value(
            "a row of the lowest finite number",
            [[1]],
            column(-1, 1),
            pair,
            [[0.5]],
            {"attn_mask": np.asarray([[low, low]])},
        ),
        Value(
            "two masks of the lowest number, summed: -inf",
            two,
            two,
            column(1, 3),
            column(1, 0),
            {"attn_mask": np.asarray([[0, 2 * low], [2 * low, 2 * low]])},
        ),
        Value(
            "two masks of -10⁴, summed",
            [[0]],
            two,
            pair,
            [[0]],
            {"attn_mask": np.asarray([[0.0, -2e4]])},
        ),
        Value(
            "grouped heads",
            [[[0]]] * 4,
            [[[0]]] * 2,
            heads,
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
        Value("no width", np.zeros((1, 0)), np.zeros((2, 0)), pair, [[0.5]]),
        Value(
            "40 everywhere",
            np.full((1, 64), 40),
            np.full((4, 64), 40),
            eights,
            [[3.75]],
            dtype="float16",
        ),
        Value(
            "a product beyond the range",
            np.full((1, 4), 2.0**64),
            np.full((4, 4), 2.0**62),
            eights,
            [[3.75]],
        ),
        Value(
            "a scale above 1 beyond the range",
            [[2.0**126]],
            np.full((4, 1), 2.0**-120),
            eights,
            [[3.75]],
            {"scale": 2.0**20},
        ),
        Value(
            "a scale above 1 beyond the range of key",
            [[2.0**-120]],
            np.full((4, 1), 2.0**126),
            eights,
            [[3.75]],
            {"scale": 2.0**20},
        ),
        Value(
            "a negative scale beyond the range",
            [[2.0**126]],
            np.full((4, 1), 2.0**-120),
            eights,
            [[3.75]],
            {"scale": -(2.0**20)},
        ),
        Value(
            "a negative scale beyond the range, of heads",
            np.full((2, 1, 1), 2.0**126),
            np.full((2, 4, 1), 2.0**-120),
            [eights, eights],
            [[[3.75]], [[3.75]]],
            {"scale": -(2.0**20)},
        ),
        Value(
            "a small scale and a product beyond the range",
            np.full((2, 1, 1), 2.0**100),
            np.full((2, 4, 1), 2.0**100),
            [eights, eights],
            [[[3.75]], [[3.75]]],
            {"scale": 2.0**-100},
        ),
        Value(
            "a tiny scale",
            np.full((1, 1), 2.0**127),
            np.full((4, 1), 2.0**126),
            eights,
            [[3.75]],
            {"scale": 2.0**-130},
        ),
        Value(
            "dropout of all but one",
            [[0]],
            zeros4,
            eights,
            [[4]],
            {
                "dropout_p": 0.75,
                "dropout_mask": mask("FFTF"),
            },
        ),
        Value(
            "dropout of everything",
            [[0]],
            zeros4,
            eights,
            [[0]],
            {"dropout_p": 1.0},
        ),
        Value(
            "dropout after the mask",
            [[0]],
            zeros4,
            eights,
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
    wide = [v for v in found if v.dtype == "float32"]
    return [
        *found,
        *(
            replace(v, name=f"{v.name}, float64", dtype="float64")
            for v in wide
            if "range" not in v.name and "lowest" not in v.name
        ),
        *(
            replace(v, name=f"{v.name}, half", dtype="float16", error=2**-10)
            for v in wide
            if representable(v)
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


@check("sdpa", "closed form", values())
def values_in_closed_form(trial: Trial) -> None:
    """The numbers that a reader can work out by hand."""
    case: Value = trial.case
    arrays = [
        np.asarray(array, dtype=case.dtype)
        for array in (case.query, case.key, case.value)
    ]
    options = dict(case.options)
    bias = options.get("attn_mask")
    if bias is not None and bias.dtype != bool:
        options["attn_mask"] = bias.astype(case.dtype)
    got = trial.call(ATTENTION, *arrays, **options)
    assert got.dtype == case.dtype, f"the output is {got.dtype}"
    size = np.maximum(np.abs(np.asarray(case.expected, dtype=float)), 1)
    trial.within("output", got, case.expected, case.error * size)
    weights = trial.call(STEPS, *arrays, **options)["weights"]
    sums = weights.astype(float).sum(axis=-1)
    alive = (weights != 0).any(axis=-1)
    trial.within("row sums", sums, alive, 4 * np.spacing(np.float32(1)))
    assert alive.any(), "every weight is 0"


@check("sdpa", "closed form", (ATTENTION, STEPS))
def arguments_stand_in_torchs_order(trial: Trial) -> None:
    """Query 1, keys 0 and 1, scale ln 3, all by position: ¾."""
    query, key = np.asarray([[1.0]]), np.asarray(column(0.0, 1.0))
    arguments = (query, key, key, None, 0.0, False, LN3, True)
    found = trial.call(trial.case, *arguments)
    output = found if trial.case == ATTENTION else found["output"]
    trial.within("output", output, [[0.75]], 4 * np.spacing(1.0))
    causal = (query, key, key, None, 0.0, True, LN3, False)
    found = trial.call(trial.case, *causal)
    output = found if trial.case == ATTENTION else found["output"]
    trial.within("causal output", output, [[0.0]])


@check("sdpa", "closed form", ("float32", "float64"))
def the_lower_right_corner_is_a_mask(trial: Trial) -> None:
    """The last query sees every key, as a cache needs it."""
    value = np.asarray(column(1, 2, 4, 8), dtype=trial.case)
    key = np.zeros((4, 1), dtype=trial.case)
    for queries, expected in ((1, [3.75]), (2, [7 / 3, 3.75])):
        query = np.zeros((queries, 1), dtype=trial.case)
        corner = (queries, 4, "lower_right")
        seen = trial.call("masks.causal_mask", *corner)
        got = trial.call(ATTENTION, query, key, value, seen)
        error = 8 * np.spacing(np.asarray(1, dtype=trial.case))
        trial.within("output", got[:, 0], expected, error)
    past = trial.call(ATTENTION, query, key, value, is_causal=True)
    trial.within("upper left", past, column(1, 1.5))


@check("sdpa", "closed form", ("float32", "float64"))
def no_keys_have_a_log_sum_exp_of_minus_infinity(trial: Trial) -> None:
    """S = 0: output 0 of the right shape, log-sum-exp -inf."""
    query, key, value = (
        np.ones(shape, dtype=trial.case)
        for shape in ((2, 3, 4), (2, 0, 4), (2, 0, 5))
    )
    steps = trial.call(STEPS, query, key, value)
    trial.within("output", steps["output"], np.zeros((2, 3, 5)))
    lse = np.full((2, 3), -np.inf)
    trial.within("log_sum_exp", steps["log_sum_exp"], lse)


@check("sdpa", "closed form", (1, 3))
def a_million_keys_that_are_the_same(trial: Trial) -> None:
    """Their value comes out, to 1 part in 10¹², in float64."""
    query, key = np.ones((1, 1)), np.full((10**6, 1), 0.5)
    value = np.full((10**6, trial.case), 0.1)
    got = trial.call(ATTENTION, query, key, value)
    trial.within("output", got, np.full((1, trial.case), 0.1), 1e-13)


@check("sdpa", "law", ("plain", "causal", "groups", "one group", "values"))
def a_drawn_dropout_is_each_weights_own(trial: Trial) -> None:
    """Scores 0, p = ¼: a weight is 0 or 1/n/¾, drawn apart from all others.

    No head, batch or query has the draw of its neighbour.
    """
    shapes = {
        "groups": [(4, 6, 33, 2), (4, 3, 33, 2), (4, 3, 33, 33)],
        "one group": [(4, 6, 33, 2), (4, 1, 33, 2), (4, 1, 33, 33)],
        "values": [(1, 6, 33, 2), (1, 6, 33, 2), (4, 6, 33, 33)],
    }
    same = [(4, 6, 33, 2), (4, 6, 33, 2), (4, 6, 33, 33)]
    drawn = [np.zeros(s, F32) for s in shapes.get(trial.case, same)]
    options = {
        "dropout_p": 0.25,
        "is_causal": trial.case == "causal",
        "enable_gqa": "group" in trial.case,
    }
    drawn[2] = drawn[2] + np.eye(33, dtype=F32)
    output = trial.call(ATTENTION, *drawn, **options)
    number = np.full((33, 1), 33)
    seen = np.ones((33, 33), dtype=bool)
    if trial.case == "causal":
        number, seen = np.arange(1, 34)[:, None], np.tri(33, dtype=bool)
    kept = output != 0
    expected = kept * (1 / number / 0.75)
    trial.within("output", output, expected, 4 * np.spacing(F32(1)))
    assert not np.any(kept & ~seen), "a key that is not seen has a weight"
    for axis in (0, 1) if trial.case == "causal" else range(4):
        agree = (kept == np.roll(kept, 1, axis=axis))[..., seen]
        chance = 0.75**2 + 0.25**2
        deviation = math.sqrt(chance * (1 - chance) / agree.size)
        trial.within("agree", agree.mean(), chance, 12 * deviation)


@check("sdpa", "law", (0.1, 0.5))
def dropout_is_drawn_where_it_is_not_given(trial: Trial) -> None:
    """The share of weights that are kept lies within 6 deviations."""
    p, shape = trial.case, (100, 64)
    query = np.zeros((shape[0], 1), dtype=np.float32)
    key, value = (np.zeros((shape[1], 1), dtype=np.float32) for _ in "kv")
    steps = trial.call(STEPS, query, key, value, dropout_p=p)
    kept = (steps["dropped_weights"] != 0).mean()
    deviation = math.sqrt(p * (1 - p) / math.prod(shape))
    trial.within("share that is kept", kept, 1 - p, 6 * deviation)
    again = trial.call(STEPS, query, key, value, dropout_p=p)
    same = steps["dropped_weights"] == again["dropped_weights"]
    assert not same.all(), "two calls draw the same"


@check("sdpa", "closed form", ("bool", "float32"))
def a_masked_value_leaks_as_declared(trial: Trial) -> None:
    """A weight of 0 times NaN: NaN, or 0 where a version says it is.

    The key whose value it is has a weight of 0 exactly, either way.
    """
    mask = np.asarray([[True, False]])
    if trial.case == "float32":
        mask = np.where(mask, np.float32(0), np.float32(-np.inf))
    zeros = np.zeros((2, 1), dtype=np.float32)
    value = np.asarray(column(5, np.nan), dtype=np.float32)
    leaks = trial.version.declared("MASKED_VALUES_LEAK", True)
    steps = trial.call(STEPS, zeros[:1], zeros, value, mask)
    expected = np.nan if leaks else 5.0
    trial.within("output", steps["output"], [[expected]])
    trial.within("weights", steps["weights"], [[1, 0]])
