"""masks: every entry, by the definition of the mask."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..judges import bounds
from ..suite.register import Trial, check

SHAPES = [(4, 4), (2, 5), (5, 2), (1, 4), (4, 1), (6, 3)]
ALIGNED = [
    (rows, keys, align)
    for rows, keys in SHAPES
    for align in ("upper_left", "lower_right")
]


def spelled_out(
    L: int, S: int, align: str, rule: Callable[[int, int], bool]
) -> Any:
    """Return the mask whose entry (i, j) is a function of i and j."""
    shift = 0 if align == "upper_left" else S - L
    return [[rule(i + shift, j) for j in range(S)] for i in range(L)]


@check("masks", "closed form", ALIGNED)
def causal_sees_itself_and_all_before(trial: Trial) -> None:
    """Query i, moved to its corner, sees the keys 0..i."""
    L, S, align = trial.case
    mask = trial.call("masks.causal_mask", L, S, align)
    assert mask.dtype == bool, f"the mask is {mask.dtype}"
    expected = spelled_out(L, S, align, lambda i, j: j <= i)
    trial.within("mask", mask, expected)
    if align == "upper_left":
        trial.within("mask", trial.call("masks.causal_mask", L, S), expected)


@check("masks", "closed form", ALIGNED)
def window_sees_radii_to_both_sides(trial: Trial) -> None:
    """Query i sees i-left..i+right; -1 is no bound."""
    L, S, align = trial.case
    for left, right in itertools.product((-1, 0, 1, 2, 7), repeat=2):
        mask = trial.call("masks.window_mask", L, S, left, right, align)

        def rule(i: int, j: int, left: int = left, right: int = right) -> bool:
            near = left == -1 or i - j <= left
            return near and (right == -1 or j - i <= right)

        expected = spelled_out(L, S, align, rule)
        trial.within(f"window ({left}, {right})", mask, expected)


@check("masks", "closed form")
def no_queries_or_no_keys(trial: Trial) -> None:
    """Masks of no rows or no columns have their shape."""
    for L, S in ((0, 3), (3, 0), (0, 0)):
        assert trial.call("masks.causal_mask", L, S).shape == (L, S)
        window = trial.call("masks.window_mask", L, S, 1, 1)
        assert window.shape == (L, S)
    first = trial.call("masks.causal_mask", 1, 1)
    trial.within("one query, one key", first, [[True]])


@check("masks", "law")
def a_window_that_ends_at_the_query_is_causal(trial: Trial) -> None:
    """Without a bound to the left, and with 0 to the right, it is causal."""
    window = trial.call("masks.window_mask", 3, 5, -1, 0)
    causal = trial.call("masks.causal_mask", 3, 5)
    trial.within("mask", window, causal)
    assert causal.any(), "nothing is seen"


@check("masks", "closed form", ((0, 2, 3), (1,), (4, 4, 1, 2, 0)))
def padding_sees_the_first_keys(trial: Trial) -> None:
    """Each length of S keys, with axes of size 1 for heads and queries."""
    S = max(trial.case)
    mask = trial.call("masks.padding_mask", np.asarray(trial.case), S)
    expected = [[[[j < n for j in range(S)]]] for n in trial.case]
    trial.within("mask", mask, expected)


@check("masks", "law", ("float32", "float64"))
def padding_is_what_the_shorter_sequence_gives(trial: Trial) -> None:
    """The shorter of two sequences gives the same output without padding."""
    rng = np.random.default_rng(9)
    q, k, v = (
        rng.standard_normal(shape).astype(trial.case)
        for shape in ((2, 3, 2, 4), (2, 3, 5, 4), (2, 3, 5, 2))
    )
    mask = trial.call("masks.padding_mask", np.asarray([5, 3]), 5)
    path = "sdpa.scaled_dot_product_attention"
    padded = trial.call(path, q, k, v, mask)
    short = trial.call(path, q[1:], k[1:, :, :3], v[1:, :, :3])
    error = bounds.gamma(32, trial.case) * np.abs(v).max()
    trial.within("output", padded[1:], short, error)
    whole = trial.call(path, q[:1], k[:1], v[:1])
    trial.within("output", padded[:1], whole, error)
    assert whole.any(), "the output is 0"


@check("masks", "closed form")
def combining_is_the_intersection(trial: Trial) -> None:
    """Three masks of three shapes allow what all of them allow."""
    rows = np.asarray([[True], [True], [False]])
    columns = np.asarray([True, False])
    third = np.asarray([[True, True], [False, True], [True, True]])
    mask = trial.call("masks.combine_masks", rows, columns, third)
    expected = [[True, False], [False, False], [False, False]]
    trial.within("mask", mask, expected)


@check("masks", "closed form", ("float32", "float64"))
def what_is_forbidden_is_minus_infinity(trial: Trial) -> None:
    """The other scores stay as they are, to the bit; NaN is gone."""
    scores = np.asarray([[1.5, math.nan], [-0.0, 3.0]], dtype=trial.case)
    mask = np.asarray([[True, False], [True, True]])
    got = trial.call("masks.mask_scores", scores, mask)
    assert got.dtype == trial.case, f"the scores are {got.dtype}"
    trial.within("masked scores", got, [[1.5, -math.inf], [-0.0, 3.0]])
    assert np.signbit(got[1, 0]), "-0.0 lost its sign"


@check("masks", "closed form", (0, 1, 2))
def a_mask_as_numbers_to_add(trial: Trial) -> None:
    """0 where a key may be seen, else -inf, in the shape of the mask."""
    mask = np.asarray([[[True, False, True]], [[False, False, True]]])
    for _ in range(trial.case):
        mask = mask[0]
    bias = trial.call("masks.mask_to_bias", mask)
    assert bias.dtype == np.float32, f"the bias is {bias.dtype}"
    expected = [0.0 if seen else -math.inf for seen in mask.flat]
    trial.within("bias", bias, np.reshape(expected, mask.shape))


@check("masks", "law", ("float32", "float64"))
def a_bias_of_a_mask_is_the_mask(trial: Trial) -> None:
    """Added or given as booleans, a mask gives the same to the bit."""
    rng = np.random.default_rng(11)
    q, k, v = (
        rng.standard_normal(shape).astype(trial.case)
        for shape in ((2, 3, 5, 4), (2, 3, 7, 4), (2, 3, 7, 2))
    )
    mask = rng.random((3, 5, 7)) < 0.6
    mask[1, 2] = False
    bias = trial.call("masks.mask_to_bias", mask)
    path = "sdpa.scaled_dot_product_attention"
    added = trial.call(path, q, k, v, bias)
    trial.within("output", added, trial.call(path, q, k, v, mask))
    assert np.all(added[:, 0] != 0), "the output is 0"


@check("masks", "closed form", (1, 2, 4))
def any_number_of_masks_is_combined(trial: Trial) -> None:
    """Of masks of one shape, what all allow; none of them is changed."""
    rng = np.random.default_rng(trial.case)
    given = [rng.random((3, 4)) < 0.8 for _ in range(trial.case)]
    mask = trial.call("masks.combine_masks", *given)
    expected = [
        [all(m[i, j] for m in given) for j in range(4)] for i in range(3)
    ]
    trial.within("mask", mask, expected)
    assert mask.any(), "nothing is allowed"


@check("masks", "closed form", ("causal", "window"))
def positions_beyond_127_are_counted(trial: Trial) -> None:
    """200 queries and 200 keys: positions do not fit int8."""
    if trial.case == "causal":
        mask = trial.call("masks.causal_mask", 200, 200)
        expected = spelled_out(200, 200, "upper_left", lambda i, j: j <= i)
    else:
        mask = trial.call("masks.window_mask", 200, 200, 130, 2)
        expected = spelled_out(
            200, 200, "upper_left", lambda i, j: i - 130 <= j <= i + 2
        )
    trial.within("mask", mask, expected)


REFUSED = {
    "left -2": ("window_mask", (2, 2, -2, 0), "left is -2, expected -1"),
    "left -9": ("window_mask", (2, 2, -9, -1), "left is -9, expected -1"),
    "right -2": ("window_mask", (2, 2, 0, -2), "right is -2, expected -1"),
    "right -7": ("window_mask", (2, 2, -1, -7), "right is -7, expected -1"),
    "causal, left": (
        "causal_mask",
        (2, 2, "left"),
        "align is 'left', expected 'upper_left' or 'lower_right'",
    ),
    "causal, LOWER_RIGHT": (
        "causal_mask",
        (2, 2, "LOWER_RIGHT"),
        "align is 'LOWER_RIGHT', expected 'upper_left'",
    ),
    "window, upper": (
        "window_mask",
        (2, 3, 1, 1, "upper"),
        "align is 'upper', expected 'upper_left' or 'lower_right'",
    ),
}


@check("masks", "law", list(REFUSED))
def bad_radii_and_corners_are_refused(trial: Trial) -> None:
    """A radius below -1 and an unknown corner are named in the error."""
    name, arguments, text = REFUSED[trial.case]
    trial.refuses(ValueError, text, f"masks.{name}", *arguments)
