"""softmax, log_softmax, log_sum_exp: closed forms, laws, each other, torch."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch

import numpy_impl
import torch_impl
from parity_tests import bounds
from parity_tests.compare import assert_within

WITNESSES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "softmax": lambda x: torch.softmax(x, dim=-1),
    "log_softmax": lambda x: torch.log_softmax(x, dim=-1),
    "log_sum_exp": lambda x: torch.logsumexp(x, dim=-1),
}


def call(side: ModuleType, name: str, x: Any) -> Any:
    function = getattr(side.softmax, name)
    return side.to_numpy(function(side.from_numpy(np.asarray(x))))


def bound(name: str, x: Any, dtype: Any) -> bounds.Bounded:
    found: bounds.Bounded = getattr(bounds, name)(bounds.exact(x), dtype)
    if name == "log_sum_exp":
        return bounds.Bounded(found.value[..., 0], found.error[..., 0])
    return found


def drawn(rng: np.random.Generator, spread: float, dtype: Any) -> Any:
    """Return rows with ties, two far apart, one with -inf, one dead."""
    x = spread * rng.standard_normal((2, 5, 7))
    x[0, 1] += 1e4
    x[0, 2, 1:4] = -math.inf
    x[1, 3] = -math.inf
    x[1, 4, :3] = x[1, 4].max()
    return x.astype(dtype)


@pytest.mark.parametrize("name", WITNESSES)
@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 1000.0])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_both_sides_torch_and_the_definition(
    name: str, spread: float, dtype: Any, rng: np.random.Generator
) -> None:
    x = drawn(rng, spread, dtype)
    within = bound(name, x, dtype)
    one, other = (call(side, name, x) for side in (numpy_impl, torch_impl))
    assert one.dtype == other.dtype == dtype
    assert_within("numpy", one, within.value, within.error)
    assert_within("torch", other, within.value, within.error)
    assert_within("numpy and torch", one, other, 2 * within.error)
    witness = WITNESSES[name](torch.tensor(x)).numpy()
    dead = np.isneginf(x).all(axis=-1)
    # torch's own softmax of a row of -inf is NaN; ours is an empty sum.
    assert name == "log_sum_exp" or np.isnan(witness[dead]).all()
    assert_within("own", one[~dead], witness[~dead], 2 * within.error[~dead])


def test_values_in_closed_form(side: ModuleType) -> None:
    assert_within("half", call(side, "softmax", [1000.0, 1000.0]), [0.5, 0.5])
    assert_within("one", call(side, "softmax", [-60000.0]), [1.0])
    assert_within("lse", call(side, "log_sum_exp", [-60000.0]), -60000.0)
    assert_within("log", call(side, "log_softmax", [-60000.0]), [0.0])
    uniform = call(side, "softmax", np.zeros((3, 8), dtype=np.float32))
    assert_within("eighths", uniform, np.full((3, 8), 1 / 8))


def test_a_row_of_minus_infinity_is_an_empty_sum(side: ModuleType) -> None:
    x = np.full((2, 3), -math.inf)
    assert_within("weights", call(side, "softmax", x), np.zeros((2, 3)))
    assert_within("logs", call(side, "log_softmax", x), x)
    assert_within("lse", call(side, "log_sum_exp", x), [-math.inf] * 2)


def test_a_constant_added_changes_nothing(
    side: ModuleType, rng: np.random.Generator
) -> None:
    x = np.round(64 * rng.standard_normal((5, 7))) / 64
    # Sixty-fourths and 4096 add without rounding: nothing may change.
    one, other = (call(side, "softmax", y) for y in (x, x + 4096.0))
    assert_within("weights", one, other)


def test_rows_sum_to_one_and_order_is_kept(
    side: ModuleType, rng: np.random.Generator
) -> None:
    x = rng.standard_normal((5, 7))
    weights = call(side, "softmax", x)
    within = bound("softmax", x, np.float64)
    rounding = within.error.sum(axis=-1) + bounds.gamma(7, np.float64)
    assert_within("sums", weights.sum(axis=-1), np.ones(5), rounding)
    assert_within("order", weights.argsort(axis=-1), x.argsort(axis=-1))


def test_nan_stays_in_its_row(side: ModuleType) -> None:
    x = np.asarray([[0.0, math.nan], [0.0, 0.0]])
    weights = call(side, "softmax", x)
    assert np.isnan(weights[0]).all()
    assert_within("other row", weights[1], [0.5, 0.5])
