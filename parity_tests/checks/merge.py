"""merge: attention over two parts of the keys, merged."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..judges import bounds
from ..suite.register import Trial, check
from ..suite.versions import Version

STEPS = "sdpa.attention_steps"


def partial(version: Version, output: Any, lse: Any) -> Any:
    """Return a partial result of a version."""
    arrays = (np.asarray(a) for a in (output, lse))
    return version.function("merge.Partial")(*map(version.array, arrays))


def merged(trial: Trial, one: Any, other: Any) -> dict[str, Any]:
    """Merge two partial results given as (output, log-sum-exp)."""
    parts = [partial(trial.version, *part) for part in (one, other)]
    result = trial.version.function("merge.merge")(*parts)
    whole: dict[str, Any] = trial.version.numpy(result)
    return whole


def halves(seed: int, dtype: str) -> tuple[list[Any], list[Any]]:
    """Draw scores (2, 3, 5, 9) and values (2, 3, 9, 4), cut in three."""
    rng = np.random.default_rng(seed)
    scores = 5 * rng.standard_normal((2, 3, 5, 9))
    scores[0, 1, 2, :4] = -np.inf
    scores[1, 2, 3, 4:] = -np.inf
    scores[1, 1, 1] = -np.inf
    value = rng.standard_normal((2, 3, 9, 4))
    cuts = (slice(0, 4), slice(4, 5), slice(5, 9))
    return (
        [scores[..., cut].astype(dtype) for cut in cuts],
        [value[..., cut, :].astype(dtype) for cut in cuts],
    )


def attended(scores: Any, value: Any) -> tuple[Any, Any]:
    """Return output and log-sum-exp of scores in float64."""
    scores, value = scores.astype(np.float64), value.astype(np.float64)
    row_max = scores.max(axis=-1, keepdims=True)
    row_max = np.where(np.isneginf(row_max), 0, row_max)
    exponentials = np.exp(scores - row_max)
    total = exponentials.sum(axis=-1, keepdims=True)
    empty = total == 0
    lse = np.log(np.where(empty, 1, total)) + row_max
    output = exponentials / np.where(empty, 1, total) @ value
    return output, np.where(empty, -np.inf, lse)[..., 0]


@check("merge", "definition", ("float32", "float64"))
def parts_merge_to_the_whole(trial: Trial) -> None:
    """Three parts of the keys, one after the other, dead rows among them."""
    scores, values = halves(41, trial.case)
    output, lse = attended(np.concat(scores, -1), np.concat(values, -2))
    parts = [attended(s, v) for s, v in zip(scores, values, strict=True)]
    parts = [(o.astype(trial.case), x.astype(trial.case)) for o, x in parts]
    whole = merged(trial, parts[0], parts[1])
    whole = merged(trial, tuple(whole.values()), parts[2])
    error = bounds.gamma(16 * bounds.FUNCTION_ULPS, trial.case)
    error = error * (4 + np.abs(np.concat(values, -2)).max())
    spread = np.abs(np.where(np.isneginf(lse), 0, lse)).max()
    for name, got, must in zip(
        whole, whole.values(), (output, lse), strict=True
    ):
        assert got.dtype == trial.case, f"{name} is {got.dtype}"
        trial.within(name, got, must, error * (1 + spread))


@check("merge", "closed form", ("float32", "float64"))
def the_empty_part_changes_nothing(trial: Trial) -> None:
    """(0, -inf) on either side: the other part to the bit, -0.0 included."""
    rng = np.random.default_rng(43)
    output = rng.standard_normal((2, 3, 4)).astype(trial.case)
    output[0, 0, 0] = -0.0
    lse = (100 * rng.standard_normal((2, 3))).astype(trial.case)
    lse[0, 1], lse[1, 1] = -0.0, -1e30
    empty = np.zeros_like(output), np.full_like(lse, -np.inf)
    for pair in (((output, lse), empty), (empty, (output, lse))):
        whole = merged(trial, *pair)
        trial.within("output", whole["output"], output)
        trial.within("log_sum_exp", whole["log_sum_exp"], lse)
        same = np.signbit(whole["output"]) == np.signbit(output)
        assert same.all(), "-0.0 lost its sign"
        assert np.signbit(whole["log_sum_exp"][0, 1]), "-0.0 lost its sign"


@check("merge", "closed form", ("float32", "float64"))
def two_empty_parts_are_empty(trial: Trial) -> None:
    """(0, -inf) and (0, -inf): no NaN; a third part is not lost."""
    empty = np.zeros((2, 3), trial.case), np.full(2, -np.inf, trial.case)
    whole = merged(trial, empty, empty)
    trial.within("output", whole["output"], np.zeros((2, 3)))
    trial.within("log_sum_exp", whole["log_sum_exp"], np.full(2, -np.inf))
    one = np.ones((2, 3), trial.case), np.full(2, 5, trial.case)
    whole = merged(trial, tuple(whole.values()), one)
    trial.within("output", whole["output"], np.ones((2, 3)))


@check("merge", "closed form", (0.0, 1000.0, -1000.0))
def parts_count_by_the_sum_of_their_exponentials(trial: Trial) -> None:
    """Two parts with denominators 1 and 3: outputs 0 and 8 give 6."""
    lse = trial.case + np.asarray([0.0])
    whole = merged(trial, ([[0.0]], lse), ([[8.0]], lse + math.log(3)))
    error = 16 * np.spacing(np.asarray(1008.0))
    trial.within("output", whole["output"], [[6.0]], error)
    must = trial.case + math.log(4)
    trial.within("log_sum_exp", whole["log_sum_exp"], [must], error)


@check("merge", "law", ("float32", "float64"))
def the_order_of_merging_does_not_matter(trial: Trial) -> None:
    """(a, b), c and a, (b, c), and c, (b, a): within rounding."""
    scores, values = halves(47, trial.case)
    parts = [attended(s, v) for s, v in zip(scores, values, strict=True)]
    a, b, c = ((o.astype(trial.case), x.astype(trial.case)) for o, x in parts)

    def pair(one: Any, other: Any) -> tuple[Any, ...]:
        return tuple(merged(trial, one, other).values())

    left, right = pair(pair(a, b), c), pair(a, pair(b, c))
    turned = pair(c, pair(b, a))
    error = bounds.gamma(32 * bounds.FUNCTION_ULPS, trial.case)
    for name, x, y, z in zip(
        ("output", "log_sum_exp"), left, right, turned, strict=True
    ):
        size = np.abs(np.where(np.isneginf(x), 0, x)).max() + 1
        trial.within(name, x, y, error * size)
        trial.within(f"{name}, turned", x, z, error * size)
        assert np.any(x != 0), "all is 0"


@check("merge", "each other", ("float32", "float64"))
def both_versions_merge_alike(trial: Trial) -> None:
    """The same parts, within rounding."""
    scores, values = halves(53, trial.case)
    parts = [attended(s, v) for s, v in zip(scores, values, strict=True)]
    one, other, _ = (
        (o.astype(trial.case), x.astype(trial.case)) for o, x in parts
    )
    whole = merged(trial, one, other)
    pair = [partial(trial.other, *part) for part in (one, other)]
    must = trial.other.numpy(trial.other.function("merge.merge")(*pair))
    error = bounds.gamma(16 * bounds.FUNCTION_ULPS, trial.case)
    for name, got in whole.items():
        finite = np.where(np.isneginf(got), 0, got)
        trial.within(name, got, must[name], error * (1 + np.abs(finite).max()))
