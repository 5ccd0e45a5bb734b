"""Layer normalization: every position gets mean 0 and variance 1.

    y = weight ∘ (x - μ) / σ + bias

μ is the mean of the position's M numbers and σ² their variance, plus a tiny
ε to avoid a division by 0; weight and bias are learned (Ba et al. 2016,
arXiv:1607.06450, equation 4).
"""

from __future__ import annotations

import torch
from torch import nn

from .arrays import Array

# ε, as in torch.nn.LayerNorm.
EPSILON = 1e-5


class LayerNorm(nn.Module):
    """Layer normalization with a learned `weight` and `bias`, both (M,)."""

    def __init__(self, weight: Array, bias: Array) -> None:
        super().__init__()
        self.weight = nn.Parameter(weight)
        self.bias = nn.Parameter(bias)

    def forward(self, x: Array) -> Array:
        """Return x normalized, times weight, plus bias: (..., M)."""
        return self.weight * normalize(x) + self.bias


def normalize(x: Array) -> Array:
    """Return x with mean 0 and standard deviation 1: (..., M)."""
    centred = x - torch.mean(x, dim=-1, keepdim=True)
    normal: Array = centred / std(x)
    return normal


def std(x: Array) -> Array:
    """Return σ = √(variance + ε) of each position: (..., 1)."""
    variance = torch.var(x, dim=-1, keepdim=True, correction=0)
    root: Array = torch.sqrt(variance + EPSILON)
    return root
