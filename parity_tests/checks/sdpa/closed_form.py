"""sdpa in closed form: known to the bit, or worked out by hand."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from ...cases.closed_forms import LN3, VALUES, Value, column
from ...cases.recipe import Case, build
from ...judges.definition import at, read_by
from ...judges.one_over_seen import STRUCTURAL, seen_by, within_one_over_seen
from ...suite.register import Trial, check
from ...suite.versions import ATTENTION, STEPS


@check("sdpa", "closed form", STRUCTURAL)
def the_output_is_one_over_the_keys_seen(trial: Trial) -> None:
    """Weights and output are 1/n on the keys that are seen, else 0."""
    case: Case = trial.case
    got = trial.version.steps(build(case), case.dtype)
    within_one_over_seen(trial, got)


@check("sdpa", "closed form", [c for c in STRUCTURAL if c.mask is None])
def heads_and_batches_read_their_own_values(trial: Trial) -> None:
    """Every row of value is another integer.

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
        group = read_by(h, inputs.heads, value)
        rows = [at(value, (*batch, group, j, 0)) for j in keys]
        if rows:
            expected[index] = sum(rows) / len(rows)
            spacing[index] = len(rows) * max(abs(row) for row in rows)
    expected = inputs.without_heads(expected)[..., None]
    error = inputs.without_heads(spacing)[..., None] * 2.0**-22
    return value, expected, error


@check("sdpa", "closed form", VALUES)
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
    result = trial.call(trial.case, *arguments)
    output = result if trial.case == ATTENTION else result["output"]
    trial.within("output", output, [[0.75]], 4 * np.spacing(1.0))
    causal = (query, key, key, None, 0.0, True, LN3, False)
    result = trial.call(trial.case, *causal)
    output = result if trial.case == ATTENTION else result["output"]
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
    """Their value comes out, to 1 part in 10¹², in float64.

    The limit is chosen, not derived: a million roundings one after the other
    may make 10⁻¹⁰. Both libraries sum in pairs or blocks.
    """
    query, key = np.ones((1, 1)), np.full((10**6, 1), 0.5)
    value = np.full((10**6, trial.case), 0.1)
    got = trial.call(ATTENTION, query, key, value)
    trial.within("output", got, np.full((1, trial.case), 0.1), 1e-13)


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
