"""Masks: which query may attend to which key.

True means: this query attends to this key. A masked score is set to -inf
*before* the softmax: exp(-inf) = 0 gives the key the weight 0 and leaves it
out of the denominator. Weights set to 0 after the softmax would have to be
divided by their new sum.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array, Indices, Mask


def causal_mask(L: int, S: int, align: str = "upper_left") -> Mask:
    """Return which of S keys each of L queries sees, (L, S): a triangle.

    Query i sees the keys 0..i and none after. For L = S = 3 that is, with 1
    for True,

        [[1, 0, 0],
         [1, 1, 0],
         [1, 1, 1]].

    When L and S differ, the triangle can be aligned to either corner:
    "upper_left" starts it at key 0; "lower_right" lets the last query see the
    last key, so that query i sees the keys 0..S-L+i, as decoding with a KV
    cache needs it.

    Raises ValueError for any other `align`.
    """
    query, key = query_key_positions(L, S, align)
    return key <= query


def window_mask(
    L: int, S: int, left: int, right: int, align: str = "upper_left"
) -> Mask:
    """Return the sliding window: query i sees keys i-left..i+right, (L, S).

    Both numbers are radii, not counts of keys, and -1 is no bound on that
    side. `align` moves i as it does for `causal_mask`. (Longformer,
    arXiv:2004.05150, section 3.1.)

    Raises ValueError for a radius below -1 and for any other `align`.
    """
    for name, radius in (("left", left), ("right", right)):
        if radius < -1:
            raise ValueError(f"{name} is {radius}, expected -1 or more")
    query, key = query_key_positions(L, S, align)
    not_before = (left == -1) | (key >= query - left)
    not_after = (right == -1) | (key <= query + right)
    return not_before & not_after


def padding_mask(lengths: Indices, S: int) -> Mask:
    """Return for each sequence its first `lengths` of S keys: (B, 1, 1, S).

    `lengths` is (B,), integers. The axes of size 1 stand for the heads
    and the queries, which all see the same keys.
    """
    key = np.arange(S)
    return key < lengths[:, None, None, None]


def combine_masks(*masks: Mask) -> Mask:
    """Return what all masks allow; their shapes broadcast."""
    combined = masks[0]
    for mask in masks[1:]:
        combined = combined & mask
    return combined


def mask_scores(scores: Array, mask: Mask) -> Array:
    """Return the scores, (..., L, S), with -inf where the mask is False."""
    return np.where(mask, scores, -np.inf)


def mask_to_bias(mask: Mask) -> Array:
    """Return 0 where the mask is True and -inf where it is False, float32.

    Added to the scores, it hides the keys that the mask hides.
    """
    zeros = np.zeros(mask.shape, dtype=np.float32)
    return np.where(mask, zeros, -np.inf)


def query_key_positions(L: int, S: int, align: str) -> tuple[Indices, Indices]:
    """Return the positions of queries, (L, 1), and of keys, (1, S)."""
    query = np.arange(L)[:, None] + first_position(L, S, align)
    key = np.arange(S)[None, :]
    return query, key


def first_position(L: int, S: int, align: str) -> int:
    """Return the position of the first of L queries among S keys.

    Raises ValueError for an `align` that is neither of the two.
    """
    first = {"upper_left": 0, "lower_right": S - L}
    if align not in first:
        raise ValueError(
            f"align is {align!r}, expected 'upper_left' or 'lower_right'"
        )
    return first[align]
