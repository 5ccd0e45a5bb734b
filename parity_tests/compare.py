"""One comparison for the whole suite, and what it says when it fails."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


def assert_within(
    name: str, got: Any, expected: Any, bound: Any = 0.0
) -> None:
    """Assert |got - expected| ≤ bound, element by element.

    Infinities and NaN must stand at the same places. Raises AssertionError
    that names the tensor, the worst index, both values and the bound.
    """
    got = np.asarray(got)
    expected = np.asarray(expected)
    assert got.shape == expected.shape, (
        f"{name}: shape {got.shape}, expected {expected.shape}"
    )
    excess = excess_over(got, expected, bound)
    if not np.any(excess > 0):
        return
    index = tuple(int(i) for i in np.unravel_index(excess.argmax(), got.shape))
    limit = np.broadcast_to(bound, got.shape)[index]
    raise AssertionError(
        f"{name}{list(index)}: got {got[index]!r}, "
        f"expected {expected[index]!r} within {limit:.3g}"
    )


def excess_over(
    got: NDArray[Any], expected: NDArray[Any], bound: Any
) -> NDArray[np.float64]:
    """Return by how much each element misses; 0 or less is within."""
    same = (got == expected) | (np.isnan(got) & np.isnan(expected))
    both_finite = np.isfinite(got) & np.isfinite(expected)
    wide = np.where(both_finite, got, 0).astype(np.float64)
    distance = np.abs(wide - np.where(both_finite, expected, 0))
    excess = np.where(both_finite, distance - bound, np.inf)
    return np.where(same, -np.inf, excess)


def assert_steps_within(
    got: Mapping[str, Any],
    expected: Mapping[str, Any],
    bounds: Mapping[str, Any],
) -> None:
    """Compare step by step, so that the first that differs is named."""
    assert list(got) == list(expected) == list(bounds)
    for name, value in got.items():
        assert_within(name, value, expected[name], bounds[name])
