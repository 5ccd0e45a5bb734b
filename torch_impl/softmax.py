"""Softmax: a row of numbers becomes a row of weights that sum to one.

    softmax(x)_i = exp(x_i) / Σ_j exp(x_j)

Written down as it stands, that is two lines:

    exponentials = torch.exp(x)
    return exponentials / torch.sum(exponentials, dim=-1, keepdim=True)

They fail twice. exp(1000) overflows, and a row of -inf alone is 0/0, which
is NaN. So no function here takes exp of x itself: the row's maximum is
subtracted first. That changes nothing, as exp(-max) cancels between numerator
and denominator, and the largest exponential is then exp(0) = 1. `safe_max`
and `safe_sum` take care of rows without a finite entry.

`torch.softmax` does all of this in one call; here its steps can be read.
"""

from __future__ import annotations

import torch

from .arrays import Array


def softmax(x: Array) -> Array:
    """Return the weights of each row of x: (..., S) to (..., S).

    The weights of a row sum to one. In a row of -inf alone they are all 0.
    """
    exponentials = torch.exp(x - safe_max(x))
    return exponentials / safe_sum(exponentials)


def log_softmax(x: Array) -> Array:
    """Return log(softmax(x)), (..., S), without ever taking log(0)."""
    shifted = x - safe_max(x)
    total = safe_sum(torch.exp(shifted))
    log_weights: Array = shifted - torch.log(total)
    return log_weights


def log_sum_exp(x: Array) -> Array:
    """Return log(Σ_j exp(x_j)) of each row: (..., S) to (...).

    It is -inf for a row of nothing but -inf: the log of an empty sum.
    """
    row_max = safe_max(x)
    total = safe_sum(torch.exp(x - row_max))
    log_total = row_max + torch.log(total)
    empty = torch.all(x == -torch.inf, dim=-1, keepdim=True)
    return torch.where(empty, -torch.inf, log_total)[..., 0]


def safe_max(x: Array) -> Array:
    """Return the maximum of each row, (..., 1), with 0 in place of -inf.

    In a row of -inf, -inf - (-inf) would be NaN; a row without entries has
    no maximum at all.
    """
    if x.shape[-1] == 0:
        return torch.zeros((*x.shape[:-1], 1), dtype=x.dtype, device=x.device)
    # The maximum cancels out, and with it its gradient: nothing to record.
    row_max = torch.amax(x.detach(), dim=-1, keepdim=True)
    return finite(row_max)


def finite(row_max: Array) -> Array:
    """Return a maximum with 0 in place of -inf: -inf - (-inf) is NaN."""
    return torch.where(row_max == -torch.inf, 0.0, row_max)


def safe_sum(exponentials: Array) -> Array:
    """Return the sum of each row, (..., 1), with 1 in place of 0.

    The sum is 0 only for a row of -inf. Then 0/1 is 0, as it should be, and
    0/0 would be NaN.
    """
    total = torch.sum(exponentials, dim=-1, keepdim=True)
    return torch.where(total == 0, 1.0, total)
