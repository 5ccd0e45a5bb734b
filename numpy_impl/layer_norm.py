"""Layer normalization: every position gets mean 0 and variance 1.

    y = weight ∘ (x - μ) / σ + bias

μ is the mean of the position's M numbers and σ² their variance, plus a tiny
ε to avoid a division by 0; weight and bias are learned (Ba et al. 2016,
arXiv:1607.06450, equation 4).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arrays import Array
from .broadcasting import broadcast_backward

# ε, as in torch.nn.LayerNorm.
EPSILON = 1e-5


class LayerNorm:
    """Layer normalization with a learned `weight` and `bias`, both (M,)."""

    def __init__(self, weight: Array, bias: Array) -> None:
        self.weight = weight
        self.bias = bias

    def __call__(self, x: Array) -> Array:
        """Return x normalized, times weight, plus bias: (..., M)."""
        return self.weight * normalize(x) + self.bias


def normalize(x: Array) -> Array:
    """Return x with mean 0 and standard deviation 1: (..., M)."""
    centred = x - np.mean(x, axis=-1, keepdims=True)
    normal: Array = centred / std(x)
    return normal


def std(x: Array) -> Array:
    """Return σ = √(variance + ε) of each position: (..., 1)."""
    variance = np.var(x, axis=-1, keepdims=True)
    root: Array = np.sqrt(variance + EPSILON)
    return root


# The backward pass, derived by hand. On the PyTorch side autograd does this.


class LayerNormGradients(NamedTuple):
    """The gradients of x, (..., M), and of weight and bias, (M,)."""

    x: Array
    weight: Array
    bias: Array


def layer_norm_backward(
    d_result: Array, layer: LayerNorm, x: Array
) -> LayerNormGradients:
    """Return the gradients of x, weight and bias, from that of y.

    With n = (x - μ) / σ and dn = weight ∘ dy,

        dx = (dn - mean(dn) - n mean(n ∘ dn)) / σ.

    The two means come from μ and σ, which depend on every x_i:
    ∂μ/∂x_i = 1/M and ∂σ/∂x_i = n_i/M. Each row of dx sums to 0, because
    adding a constant to x changes nothing. Σ dy ∘ n and Σ dy over all
    positions are the gradients of weight and bias.
    """
    n = normalize(x)
    dn = layer.weight * d_result
    mean = np.mean(dn, axis=-1, keepdims=True)
    along = np.mean(n * dn, axis=-1, keepdims=True)
    return LayerNormGradients(
        (dn - mean - n * along) / std(x),
        broadcast_backward(d_result * n, layer.weight.shape),
        broadcast_backward(d_result, layer.bias.shape),
    )
