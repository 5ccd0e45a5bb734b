"""Dropout: some weights are set to 0, and the others scaled up.

A weight is kept with probability 1 - p and then divided by 1 - p, so that
its mean does not change (Srivastava et al. 2014, JMLR 15, section 10). The
dropout mask is an argument, and not a hidden draw: two versions with the
same mask can be compared exactly.
"""

from __future__ import annotations

import torch

from .arrays import Array, Mask, uniform


def dropout(weights: Array, dropout_p: float, dropout_mask: Mask) -> Array:
    """Return the weights that are kept, divided by 1 - p; the others 0.

    `dropout_mask` is True for the weights to keep and broadcasts to the
    weights, (..., L, S). With p = 1 all results are 0.
    """
    if dropout_p == 1:
        return 0 * weights
    return torch.where(dropout_mask, weights / (1 - dropout_p), 0.0)


def draw_dropout_mask(shape: tuple[int, ...], dropout_p: float) -> Mask:
    """Draw a dropout mask: True, for keep, with probability 1 - p."""
    return uniform(shape) >= dropout_p
