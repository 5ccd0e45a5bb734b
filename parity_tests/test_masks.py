"""masks: every entry, by the sentence that defines it."""

from __future__ import annotations

import itertools
import math
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from parity_tests.compare import assert_within

SHAPES = [(4, 4), (2, 5), (5, 2), (1, 4), (4, 1), (0, 3), (3, 0)]
ALIGNS = ["upper_left", "lower_right"]


def shift(L: int, S: int, align: str) -> int:
    return 0 if align == "upper_left" else S - L


@pytest.mark.parametrize("align", ALIGNS)
@pytest.mark.parametrize(("L", "S"), SHAPES)
def test_causal(side: ModuleType, L: int, S: int, align: str) -> None:
    mask = side.to_numpy(side.masks.causal_mask(L, S, align))
    d = shift(L, S, align)
    expected = [[j <= i + d for j in range(S)] for i in range(L)]
    assert mask.dtype == np.bool_
    assert_within("mask", mask, np.reshape(expected, (L, S)))


def test_causal_is_upper_left_unless_told(side: ModuleType) -> None:
    mask = side.to_numpy(side.masks.causal_mask(1, 4))
    assert mask.tolist() == [[True, False, False, False]]


@pytest.mark.parametrize("align", ALIGNS)
@pytest.mark.parametrize(("L", "S"), SHAPES)
def test_window(side: ModuleType, L: int, S: int, align: str) -> None:
    d = shift(L, S, align)
    for left, right in itertools.product((-1, 0, 1, 2), repeat=2):
        mask = side.masks.window_mask(L, S, left, right, align)
        expected = [
            [
                (left < 0 or j >= i + d - left)
                and (right < 0 or j <= i + d + right)
                for j in range(S)
            ]
            for i in range(L)
        ]
        name = f"left {left}, right {right}"
        got = side.to_numpy(mask)
        assert_within(name, got, np.reshape(expected, (L, S)))


def test_window_without_bounds_on_the_left_is_causal(
    side: ModuleType,
) -> None:
    window = side.to_numpy(side.masks.window_mask(3, 5, -1, 0))
    causal = side.to_numpy(side.masks.causal_mask(3, 5))
    assert_within("mask", window, causal)


def test_padding(side: ModuleType) -> None:
    lengths = side.from_numpy(np.asarray([0, 2, 3]))
    mask = side.to_numpy(side.masks.padding_mask(lengths, 3))
    assert mask.shape == (3, 1, 1, 3)
    expected = [[0, 0, 0], [1, 1, 0], [1, 1, 1]]
    assert mask[:, 0, 0].astype(int).tolist() == expected


def test_combining_is_the_intersection(side: ModuleType) -> None:
    rows = np.asarray([[True], [True], [False]])
    columns = np.asarray([True, False])
    third = np.asarray([[True, True], [False, True], [True, True]])
    masks = (side.from_numpy(m) for m in (rows, columns, third))
    combined = side.to_numpy(side.masks.combine_masks(*masks))
    assert combined.tolist() == [[True, False], [False, False], [False] * 2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_masked_scores(side: ModuleType, dtype: type) -> None:
    scores: Any = np.asarray([[1.0, math.nan], [-0.0, 3.0]], dtype=dtype)
    mask = np.asarray([[True, False], [True, True]])
    got = side.to_numpy(
        side.masks.mask_scores(side.from_numpy(scores), side.from_numpy(mask))
    )
    assert got.dtype == dtype
    assert_within("masked", got, [[1.0, -math.inf], [-0.0, 3.0]])


def test_mask_as_a_bias(side: ModuleType) -> None:
    mask = side.from_numpy(np.asarray([True, False]))
    bias = side.to_numpy(side.masks.mask_to_bias(mask))
    assert bias.dtype == np.float32
    assert_within("bias", bias, [0.0, -math.inf])


@pytest.mark.parametrize("radius", [-2, -7])
def test_a_radius_below_minus_one_is_refused(
    side: ModuleType, radius: int
) -> None:
    with pytest.raises(ValueError, match=f"right is {radius}, expected -1"):
        side.masks.window_mask(2, 2, 0, radius)
    with pytest.raises(ValueError, match=f"left is {radius}, expected -1"):
        side.masks.window_mask(2, 2, radius, 0)


def test_an_unknown_corner_is_refused(side: ModuleType) -> None:
    with pytest.raises(ValueError, match="align is 'left', expected 'upper"):
        side.masks.causal_mask(2, 2, "left")
