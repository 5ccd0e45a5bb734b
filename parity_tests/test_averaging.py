"""averaging: the running mean against its definition and in closed form."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

import numpy_impl
import torch_impl
from parity_tests import bounds
from parity_tests.compare import assert_within


def test_each_row_is_one_over_its_length(side: ModuleType) -> None:
    weights = side.to_numpy(side.averaging.averaging_weights(5))
    expected = [[1 / (i + 1) * (j <= i) for j in range(5)] for i in range(5)]
    assert_within("weights", weights, expected)


def test_powers_of_two_come_out_exactly(side: ModuleType) -> None:
    x = np.asarray([[1.0], [2.0], [3.0], [6.0]])
    means = side.averaging.running_mean(side.from_numpy(x))
    assert_within("means", side.to_numpy(means), [[1], [1.5], [2], [3]])


def test_no_position_sees_a_later_one(
    side: ModuleType, rng: np.random.Generator
) -> None:
    x = rng.standard_normal((6, 3))
    changed = np.concat([x[:4], rng.standard_normal((2, 3))])
    means, others = (
        side.to_numpy(side.averaging.running_mean(side.from_numpy(a)))
        for a in (x, changed)
    )
    assert_within("first rows", means[:4], others[:4])
    assert np.all(means[4:] != others[4:])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_both_sides_and_the_definition(
    dtype: Any, rng: np.random.Generator
) -> None:
    x = rng.standard_normal((2, 7, 3)).astype(dtype)
    exact_weights = bounds.exact(
        np.tril(np.ones((7, 7))) / np.arange(1, 8)[:, None]
    )
    # A weight is rounded once to float64 and once to the type of x.
    weights = bounds.times(exact_weights, 1.0, dtype)
    bound = bounds.matmul(weights, bounds.exact(x), dtype)
    one = numpy_impl.averaging.running_mean(x)
    other = torch_impl.averaging.running_mean(torch_impl.from_numpy(x))
    expected = [[x[b, : i + 1].mean(axis=0) for i in range(7)] for b in (0, 1)]
    assert one.dtype == dtype
    assert_within("numpy", one, bound.value, bound.error)
    assert_within("torch", torch_impl.to_numpy(other), one, 2 * bound.error)
    assert_within("mean", one, np.asarray(expected), 2 * bound.error)
