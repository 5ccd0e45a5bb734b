"""The only comparison of the suite, and its message when it fails."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Comparison(NamedTuple):
    """How a tensor compares.

    `share` is the largest error as a share of its bound: 1 is the limit.
    `failure` says what is wrong, or is None.
    """

    share: float
    failure: str | None


def compare(
    name: str, got: Any, expected: Any, bound: Any = 0.0, missing: Any = 0.0
) -> Comparison:
    """Compare a tensor with what is expected, element by element.

    `expected` and `missing` together are the expected value: `missing` is
    the part that float64 could not hold. Without a bound the two must be
    equal. Infinities and NaN must have the same indices.
    """
    got, expected = np.asarray(got), np.asarray(expected)
    if got.shape != expected.shape:
        text = f"{name} has shape {got.shape}, expected {expected.shape}"
        return Comparison(np.inf, text)
    if got.size == 0:
        return Comparison(0.0, None)
    bound = np.broadcast_to(np.asarray(bound, dtype=np.float64), got.shape)
    shares = shares_of_bound(got, expected, bound, missing)
    worst = int(shares.argmax())
    share = float(shares.flat[worst])
    if share <= 1:
        return Comparison(share, None)
    index = tuple(int(i) for i in np.unravel_index(worst, got.shape))
    text = (
        f"{name}{list(index)} is {got[index]!s}, expected "
        f"{expected[index]!s} within {bound[index]:.3g}; "
        f"{int((shares > 1).sum())} of {got.size} differ"
    )
    return Comparison(share, text)


def shares_of_bound(
    got: NDArray[Any],
    expected: NDArray[Any],
    bound: NDArray[np.float64],
    missing: Any,
) -> NDArray[np.float64]:
    """Return each error as a share of its bound; equal is 0."""
    same_nan = np.isnan(got) & np.isnan(expected)
    same = same_nan | ((got == expected) & np.isinf(expected))
    finite = np.isfinite(got) & np.isfinite(expected)
    wide = np.where(finite, got, 0).astype(np.float64)
    nearest = np.where(finite, expected, 0).astype(np.float64)
    distance = np.abs((wide - nearest) - np.where(finite, missing, 0.0))
    # Without a bound, the nearest float64 is as good as the exact value.
    distance = np.where((bound == 0) & (wide == nearest), 0.0, distance)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.where(distance == 0, 0.0, distance / bound)
    return np.where(same, 0.0, np.where(finite, share, np.inf))


def assert_within(
    name: str, got: Any, expected: Any, bound: Any = 0.0
) -> None:
    """Assert that a tensor compares, or raise AssertionError."""
    failure = compare(name, got, expected, bound).failure
    assert failure is None, failure
