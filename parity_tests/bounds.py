"""How far rounding may carry a result: derived, element by element.

Every quantity here is a pair of the exact value, as good as float64 gives
it, and a bound on how far a computation in a shorter type may lie from it.
A step takes the pairs of its inputs and returns the pair of its result, so
that the error of the scores becomes a part of the error of the weights, and
so on to the output. With u the unit roundoff of the type, one rounding is a
factor of 1 + δ with |δ| ≤ u, and n of them in any order at most

    γ(n) = n u / (1 - n u)

(Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., lemma 3.1).
Two computations may lie twice their bound apart.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Float64 = NDArray[np.float64]

# An exp, log, cos or tanh of a library, in units of the last place: what
# the libraries promise for theirs is 4 or less.
FUNCTION_ULPS = 4


class Bounded(NamedTuple):
    """Values, and for each of them a bound on a computation's error."""

    value: Float64
    error: Float64


def exact(array: Any) -> Bounded:
    """Return what is given, which has no error yet."""
    value = np.asarray(array, dtype=np.float64)
    return Bounded(value, np.zeros_like(value))


def unit_roundoff(dtype: Any) -> float:
    """Return u: half the distance from 1 to the next number."""
    return float(np.finfo(dtype).eps) / 2


def gamma(roundings: float, dtype: Any) -> float:
    """Return γ(n): what n roundings may do to a number, relatively."""
    nu = roundings * unit_roundoff(dtype)
    assert nu < 1, f"{roundings} roundings leave nothing of {dtype}"
    return nu / (1 - nu)


def times(a: Bounded, factor: float, dtype: Any) -> Bounded:
    """Bound a · factor, where the factor is rounded to the type too."""
    value = a.value * factor
    rounding = gamma(2, dtype) * (np.abs(value) + a.error * abs(factor))
    return Bounded(value, a.error * abs(factor) + rounding)


def matmul(a: Bounded, b: Bounded, dtype: Any) -> Bounded:
    """Bound a @ b: n products and sums in any order, fused or not.

    |fl(Σ aᵢbᵢ) - Σ aᵢbᵢ| ≤ γ(n) Σ |aᵢ||bᵢ| (Higham, equation 3.5), here
    with the greatest |aᵢ| and |bᵢ| that their own errors allow.
    """
    value = a.value @ b.value
    greatest_a, greatest_b = np.abs(a.value), np.abs(b.value)
    without = greatest_a @ greatest_b
    greatest = (greatest_a + a.error) @ (greatest_b + b.error)
    rounding = gamma(a.value.shape[-1] + 1, dtype) * greatest
    return Bounded(value, greatest - without + rounding)


def total(a: Bounded, dtype: Any) -> Bounded:
    """Bound the sum of each row, kept as an axis of size 1."""
    value = a.value.sum(axis=-1, keepdims=True)
    greatest = (np.abs(a.value) + a.error).sum(axis=-1, keepdims=True)
    own = a.error.sum(axis=-1, keepdims=True)
    return Bounded(value, own + gamma(a.value.shape[-1], dtype) * greatest)


def masked(a: Bounded, mask: Any) -> Bounded:
    """Bound the scores with -inf where the mask is False: no error there."""
    value = np.where(mask, a.value, -np.inf)
    return Bounded(value, np.where(mask, a.error, 0.0))


def exponentials(x: Bounded, dtype: Any) -> tuple[Float64, Bounded]:
    """Bound exp(x - max); return the maximum too, 0 for a row of -inf.

    An error ε of x makes a factor of exp(ε). The maximum's own error is
    left out: the same number is taken from the whole row, and softmax does
    not change. Below the smallest normal number anything may become 0.
    """
    highest = x.value.max(axis=-1, keepdims=True)
    highest = np.where(np.isneginf(highest), 0.0, highest)
    shifted = x.value - highest
    value = np.exp(shifted)
    finite = np.isfinite(shifted)
    distance = np.where(finite, np.abs(shifted), 0.0) + x.error
    off = x.error + x.error.max(axis=-1, keepdims=True) * finite
    off = off + unit_roundoff(dtype) * (distance + 2 * FUNCTION_ULPS)
    error = value * np.expm1(off)
    tiny = float(np.finfo(dtype).tiny) * finite
    return highest, Bounded(value, error + tiny)


def softmax(x: Bounded, dtype: Any) -> Bounded:
    """Bound the weights of each row; a row of -inf has weights 0."""
    _, powers = exponentials(x, dtype)
    sums = total(powers, dtype)
    floor = np.where(sums.value == 0, 1.0, sums.value - sums.error)
    value = powers.value / np.where(sums.value == 0, 1.0, sums.value)
    greatest = (powers.value + powers.error) / floor
    return Bounded(value, greatest - value + unit_roundoff(dtype) * greatest)


def log_sum_exp(x: Bounded, dtype: Any) -> Bounded:
    """Bound log Σ exp(x) of each row, kept as an axis of size 1."""
    highest, powers = exponentials(x, dtype)
    sums = total(powers, dtype)
    empty = sums.value == 0
    log = np.log(np.where(empty, 1.0, sums.value))
    floor = np.where(empty, 1.0, sums.value - sums.error)
    value = np.where(empty, -np.inf, highest + log)
    error = sums.error / floor + x.error.max(axis=-1, keepdims=True)
    u = unit_roundoff(dtype)
    rounding = u * (2 * FUNCTION_ULPS * np.abs(log) + np.abs(highest + log))
    return Bounded(value, np.where(empty, 0.0, error + rounding))


def log_softmax(x: Bounded, dtype: Any) -> Bounded:
    """Bound log softmax(x)."""
    lse = log_sum_exp(x, dtype)
    lost = np.isneginf(x.value)
    value = x.value - np.where(np.isneginf(lse.value), 0.0, lse.value)
    distance = np.where(lost, 0.0, np.abs(value))
    error = x.error + lse.error + 2 * unit_roundoff(dtype) * distance
    return Bounded(value, np.where(lost, 0.0, error))


def normal_numbers(size: int) -> float:
    """Bound how far two libraries' normal numbers in float32 lie apart.

    Both take the same u₁ and u₂. The logarithm, the root, the angle, its
    cosine and the product each round on their own, and θ, below 2π, turns
    its rounding into one of r: that many units in the last place of the
    greatest r there is, √(-2 ln 2⁻²⁴). Below 16 numbers both compute in
    double and round once: they are equal.
    """
    greatest = float(np.sqrt(48 * np.log(2)))
    unit = unit_roundoff(np.float32) * greatest
    return unit * (2 * FUNCTION_ULPS + 4) if size >= 16 else 0.0
