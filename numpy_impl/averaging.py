"""Averaging: every position takes the mean of itself and all before it.

The simplest way to use the past is to give every token the same weight. A
mean is a weighted sum with equal weights, so all T means together are one
product of a lower-triangular (T, T) matrix with x. Attention is the same
product, with weights that depend on the tokens.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array


def averaging_weights(T: int) -> Array:
    """Return the weights of the running mean, (T, T), in float64.

    Row i is 1/(i + 1) for the positions 0..i and 0 for those after.
    """
    triangle = np.tril(np.ones((T, T), dtype=np.float64))
    weights: Array = triangle / np.sum(triangle, axis=-1, keepdims=True)
    return weights


def running_mean(x: Array) -> Array:
    """Return for each position the mean of x[0..i]: (T, M) to (T, M)."""
    weights = averaging_weights(x.shape[-2])
    means: Array = np.astype(weights, x.dtype) @ x
    return means


def running_mean_backward(d_means: Array) -> Array:
    """Return the gradient of x, (T, M), from that of its running mean.

    means = A x with A the weights, and so dx = Aᵀ d_means: position j gets a
    gradient from its own mean and from every later one.
    """
    weights = averaging_weights(d_means.shape[-2])
    dx: Array = np.astype(weights, d_means.dtype).mT @ d_means
    return dx
