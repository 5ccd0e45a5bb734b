"""Softmax: a row of numbers becomes a row of weights that sum to one.

    softmax(x)_i = exp(x_i) / Σ_j exp(x_j)

Written down as it stands, that is two lines:

    exponentials = np.exp(x)
    return exponentials / np.sum(exponentials, axis=-1, keepdims=True)

They fail twice. exp(1000) overflows, and a row of -inf alone is 0/0, which
is NaN. So no function here takes exp of x itself: the row's maximum is
subtracted first. That changes nothing, as exp(-max) cancels between numerator
and denominator, and the largest exponential is then exp(0) = 1. `safe_max`
and `safe_sum` take care of rows without a finite entry.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array


def softmax(x: Array) -> Array:
    """Return the weights of each row of x: (..., S) to (..., S).

    The weights of a row sum to one. In a row of -inf alone they are all 0.
    """
    exponentials = np.exp(x - safe_max(x))
    return exponentials / safe_sum(exponentials)


def softmax_backward(d_weights: Array, weights: Array) -> Array:
    """Return the gradient of x, (..., S), from that of softmax(x) = P.

    ∂P_i/∂x_j = P_i (δ_ij - P_j), and so, with dP the gradient of P,

        dx_j = Σ_i dP_i P_i (δ_ij - P_j) = P_j (dP_j - Σ_i P_i dP_i).

    Each row of dx sums to 0, because adding a constant to x changes nothing.
    """
    inner: Array = np.sum(weights * d_weights, axis=-1, keepdims=True)
    return weights * (d_weights - inner)


def log_softmax(x: Array) -> Array:
    """Return log(softmax(x)), (..., S), without ever taking log(0)."""
    shifted = x - safe_max(x)
    total = safe_sum(np.exp(shifted))
    log_weights: Array = shifted - np.log(total)
    return log_weights


def log_softmax_backward(d_log: Array, weights: Array) -> Array:
    """Return the gradient of x, (..., S), from that of log_softmax(x).

    ∂(log P_i)/∂x_j = δ_ij - P_j, and so dx_j = d_j - P_j Σ_i d_i.
    """
    total: Array = np.sum(d_log, axis=-1, keepdims=True)
    return d_log - weights * total


def log_sum_exp(x: Array) -> Array:
    """Return log(Σ_j exp(x_j)) of each row: (..., S) to (...).

    It is -inf for a row of nothing but -inf: the log of an empty sum.
    """
    row_max = safe_max(x)
    total = safe_sum(np.exp(x - row_max))
    log_total = row_max + np.log(total)
    empty = np.all(x == -np.inf, axis=-1, keepdims=True)
    return np.where(empty, -np.inf, log_total)[..., 0]


def log_sum_exp_backward(d_log: Array, weights: Array) -> Array:
    """Return the gradient of x, (..., S), from that of its log-sum-exp.

    ∂(log Σ exp x)/∂x_j = exp(x_j) / Σ exp x = P_j, so dx_j = d P_j.
    """
    return d_log[..., None] * weights


def safe_max(x: Array) -> Array:
    """Return the maximum of each row, (..., 1), with 0 in place of -inf.

    In a row of -inf, -inf - (-inf) would be NaN; a row without entries has
    no maximum at all.
    """
    if x.shape[-1] == 0:
        return np.zeros((*x.shape[:-1], 1), dtype=x.dtype)
    row_max = np.max(x, axis=-1, keepdims=True)
    return finite(row_max)


def finite(row_max: Array) -> Array:
    """Return a maximum with 0 in place of -inf: -inf - (-inf) is NaN."""
    return np.where(row_max == -np.inf, 0.0, row_max)


def safe_sum(exponentials: Array) -> Array:
    """Return the sum of each row, (..., 1), with 1 in place of 0.

    The sum is 0 only for a row of -inf. Then 0/1 is 0, as it should be, and
    0/0 would be NaN.
    """
    total = np.sum(exponentials, axis=-1, keepdims=True)
    return np.where(total == 0, 1.0, total)
