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

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..suite.computation import computation

Float64 = NDArray[np.float64]

# An exp, log, cos or tanh of a library, in units of the last place: what
# the libraries promise for theirs is 4 or less.
FUNCTION_ULPS = 4
HALF = ("float16", "bfloat16")


class Bounded(NamedTuple):
    """Values, and for each of them a bound on a computation's error."""

    value: Float64
    error: Float64


class Format(NamedTuple):
    """A floating-point type: unit roundoff, smallest normal, smallest."""

    u: float
    tiny: float
    smallest: float


def format_of(dtype: Any) -> Format:
    """Return the numbers that describe a type, bfloat16 included."""
    if dtype == "bfloat16":
        numbers = Format(2.0**-8, 2.0**-126, 2.0**-133)
    else:
        info = np.finfo(dtype)
        smallest = float(info.smallest_subnormal)
        numbers = Format(float(info.eps) / 2, float(info.tiny), smallest)
    if computation().subnormals:
        return numbers
    return numbers._replace(smallest=numbers.tiny)


def exact(array: Any) -> Bounded:
    """Return numbers without an error."""
    value = np.asarray(array, dtype=np.float64)
    return Bounded(value, np.zeros_like(value))


# The largest error that a bound may allow, as a share of the largest value
# of its tensor.
WIDEST = 1 / 64


def unit_roundoff(dtype: Any) -> float:
    """Return u: half the distance from 1 to the next number."""
    return format_of(dtype).u


def gamma(roundings: float, dtype: Any) -> float:
    """Return γ(n): what n roundings may do to a number, relatively."""
    nu = roundings * unit_roundoff(dtype)
    assert nu < 1, f"{roundings} roundings leave nothing of {dtype}"
    return nu / (1 - nu)


def times(a: Bounded, factor: float, dtype: Any) -> Bounded:
    """Bound a · factor, where the factor is rounded to the type too."""
    value = a.value * factor
    rounding = gamma(2, dtype) * (np.abs(value) + a.error * abs(factor))
    rounding = rounding + format_of(dtype).smallest
    return Bounded(value, a.error * abs(factor) + rounding)


def multiply(a: Bounded, b: Bounded, dtype: Any, roundings: int) -> Bounded:
    """Bound a · b, element by element, after so many roundings."""
    value = a.value * b.value
    greatest_a, greatest_b = np.abs(a.value), np.abs(b.value)
    greatest = (greatest_a + a.error) * (greatest_b + b.error)
    rounding = gamma(roundings, dtype) * greatest + format_of(dtype).smallest
    return Bounded(value, greatest - greatest_a * greatest_b + rounding)


def add(a: Bounded, b: Bounded, dtype: Any) -> Bounded:
    """Bound a + b."""
    value = a.value + b.value
    error = a.error + b.error
    return Bounded(value, error + gamma(1, dtype) * (np.abs(value) + error))


def matmul(a: Bounded, b: Bounded, dtype: Any) -> Bounded:
    """Bound a @ b: n products and sums in any order, fused or not.

    |fl(Σ aᵢbᵢ) - Σ aᵢbᵢ| ≤ γ(n) Σ |aᵢ||bᵢ| (Higham, equation 3.5), here
    with the greatest |aᵢ| and |bᵢ| that their own errors allow.
    """
    value = a.value @ b.value
    greatest_a, greatest_b = np.abs(a.value), np.abs(b.value)
    without = greatest_a @ greatest_b
    greatest = (greatest_a + a.error) @ (greatest_b + b.error)
    n = a.value.shape[-1]
    rounding = gamma(n + 1, dtype) * greatest
    rounding = rounding + n * format_of(dtype).smallest
    return Bounded(value, greatest - without + rounding)


def total(a: Bounded, dtype: Any) -> Bounded:
    """Bound the sum of each row, kept as an axis of size 1."""
    value = a.value.sum(axis=-1, keepdims=True)
    greatest = (np.abs(a.value) + a.error).sum(axis=-1, keepdims=True)
    inherited = a.error.sum(axis=-1, keepdims=True)
    return Bounded(
        value, inherited + gamma(a.value.shape[-1], dtype) * greatest
    )


def masked(a: Bounded, mask: Any) -> Bounded:
    """Bound the scores with -inf where the mask is False: no error there."""
    value = np.where(mask, a.value, -np.inf)
    return Bounded(value, np.where(mask, a.error, 0.0))


def exponentials(x: Bounded, dtype: Any) -> tuple[Float64, Bounded]:
    """Bound exp(x - max); return the maximum too, 0 for a row of -inf.

    An error ε of x is a factor exp(ε) of the result. An error of the maximum
    does not matter: the same number is subtracted from every entry of the
    row. A result below the smallest normal number may become 0.
    """
    row_max = x.value.max(axis=-1, keepdims=True, initial=-np.inf)
    row_max = np.where(np.isneginf(row_max), 0.0, row_max)
    shifted = x.value - row_max
    value = np.exp(shifted)
    finite = np.isfinite(shifted)
    reduced = np.where(shifted == 0, x.error, 0.0)
    reduced = reduced.max(axis=-1, keepdims=True, initial=0.0)
    distance = np.where(finite, np.abs(shifted), 0.0) + x.error + reduced
    u = unit_roundoff(dtype)
    off = x.error + u * (distance + 2 * FUNCTION_ULPS)
    # exp(x + ε) - exp(x), without ∞ · 0 where ε is huge and exp(x) is 0.
    large = np.exp(np.minimum(np.where(finite, shifted, 0.0) + off, 700.0))
    error = np.where(off < 1, value * np.expm1(np.minimum(off, 1)), large)
    return row_max, Bounded(value, (error + format_of(dtype).tiny) * finite)


def softmax(x: Bounded, dtype: Any) -> Bounded:
    """Bound the weights of each row; a row of -inf has weights 0."""
    _, terms = exponentials(x, dtype)
    sums = total(terms, dtype)
    value = terms.value / np.where(sums.value == 0, 1.0, sums.value)
    greatest = (terms.value + terms.error) / least(sums)
    rounding = unit_roundoff(dtype) * greatest
    # A weight is never more than 1, however little is known of it.
    error = np.minimum(greatest - value + rounding, 1.0)
    return Bounded(value, error)


def least(sums: Bounded) -> Float64:
    """Return the least value that a computed sum may have; 1 if it is 0."""
    smallest = np.maximum(sums.value - sums.error, np.finfo(float).tiny)
    return np.where(sums.value == 0, 1.0, smallest)


def log_sum_exp(x: Bounded, dtype: Any) -> Bounded:
    """Bound log Σ exp(x) of each row, kept as an axis of size 1."""
    row_max, terms = exponentials(x, dtype)
    sums = total(terms, dtype)
    empty = sums.value == 0
    log = np.log(np.where(empty, 1.0, sums.value))
    value = np.where(empty, -np.inf, row_max + log)
    u = unit_roundoff(dtype)
    rounding = u * (2 * FUNCTION_ULPS * np.abs(log) + np.abs(row_max + log))
    error = sums.error / least(sums) + rounding
    return Bounded(value, np.where(empty, 0.0, error))


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

    Both use the same u₁ and u₂. Logarithm, root, angle, cosine and product
    have one rounding each, and an error of θ, which is below 2π, becomes an
    error of r cos θ. The bound is that many units in the last place of the
    largest r, √(-2 ln 2⁻²⁴). For fewer than 16 numbers both compute in
    double precision and round once, so they are equal.
    """
    greatest = float(np.sqrt(48 * np.log(2)))
    unit = unit_roundoff(np.float32) * greatest
    return unit * (2 * FUNCTION_ULPS + 4) if size >= 16 else 0.0


def rounded_to(a: Bounded, dtype: str) -> Bounded:
    """Bound the single rounding of a result to the dtype of the inputs."""
    kind = format_of(dtype)
    rounding = kind.u * (np.abs(a.value) + a.error) + kind.smallest
    return Bounded(a.value, a.error + rounding)


def summed_to(a: Bounded, shape: tuple[int, ...], dtype: Any) -> Bounded:
    """Bound the sum over the axes along which an array was broadcast."""
    rank = a.value.ndim
    padded = (1,) * (rank - len(shape)) + shape
    axes = tuple(
        axis
        for axis in range(rank)
        if padded[axis] == 1 and a.value.shape[axis] != 1
    )
    value = a.value.sum(axis=axes, keepdims=True)
    greatest = (np.abs(a.value) + a.error).sum(axis=axes, keepdims=True)
    n = math.prod(a.value.shape[axis] for axis in axes)
    error = a.error.sum(axis=axes, keepdims=True)
    error = error + gamma(n, dtype) * greatest
    return Bounded(value.reshape(shape), error.reshape(shape))


def transposed(a: Bounded) -> Bounded:
    """Swap the last two axes."""
    return Bounded(a.value.mT, a.error.mT)


def can_fail(values: Any, error: Any, dtype: str) -> bool:
    """Return whether a bound is small beside what it bounds.

    The bound of an exact 0 must be 0 or nearly 0: at most a millionth,
    where the numbers added up have size 1.
    """
    finite = np.isfinite(values)
    allowed = np.broadcast_to(error, finite.shape)[finite].max(initial=0.0)
    largest = np.abs(np.asarray(values)[finite]).max(initial=0.0)
    if largest == 0:
        return bool(allowed < 1e-6)
    # Below the smallest normal number there are no digits to hold.
    lost = largest < format_of(dtype).tiny
    # bfloat16 has 8 bits: a dozen roundings of it are allowed for.
    widest = max(WIDEST, 12 * format_of(dtype).u)
    return bool(lost or allowed <= widest * largest)
