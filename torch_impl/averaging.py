"""Averaging: every position takes the mean of itself and all before it.

The simplest way to use the past is to give every token the same weight. A
mean is a weighted sum with equal weights, so all T means together are one
product of a lower-triangular (T, T) matrix with x. Attention is the same
product, with weights that depend on the tokens.
"""

from __future__ import annotations

import torch

from .arrays import Array


def averaging_weights(T: int) -> Array:
    """Return the weights of the running mean, (T, T), in float64.

    Row i is 1/(i + 1) for the positions 0..i and 0 for those after.
    """
    triangle = torch.tril(torch.ones((T, T), dtype=torch.float64))
    weights: Array = triangle / torch.sum(triangle, dim=-1, keepdim=True)
    return weights


def running_mean(x: Array) -> Array:
    """Return for each position the mean of x[0..i]: (T, M) to (T, M)."""
    weights = averaging_weights(x.shape[-2])
    means: Array = weights.to(x) @ x
    return means
