"""Scaled dot-product attention: weighted sums of values.

The weights come from the dot products of queries and keys.

    Attention(Q, K, V) = softmax(Q Kᵀ / √D) V

(Vaswani et al. 2017, arXiv:1706.03762, equation 1.)
"""

from __future__ import annotations

import math

from .arrays import Array, Mask
from .masks import mask_scores
from .softmax import softmax


def attention_scores(
    query: Array, key: Array, scale: float | None = None
) -> Array:
    """Return the score (logit) of each query for each key.

    query (..., L, D) and key (..., S, D) give (..., L, S): the dot product
    of every query with every key, times `scale`, which is 1/√D for None.
    """
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1])
    # Scaled before the product: q·k may overflow where q·k/√D does not.
    return (query * scale) @ key.mT


def attention_weights(scores: Array, mask: Mask | None = None) -> Array:
    """Return the attention weights, (..., L, S).

    Each row is the softmax of its scores over the keys that the mask
    allows: True = attend, broadcast to (..., L, S).
    """
    if mask is not None:
        scores = mask_scores(scores, mask)
    return softmax(scores)


def weighted_sum(weights: Array, value: Array) -> Array:
    """Return the weighted sum of values, (..., S, E): (..., L, E)."""
    return weights @ value


def attention(
    query: Array, key: Array, value: Array, mask: Mask | None = None
) -> Array:
    """Return the attention of every query over all keys: (..., L, E).

    query (..., L, D), key (..., S, D), value (..., S, E); mask True where
    the query attends to the key, broadcast to (..., L, S).
    """
    scores = attention_scores(query, key)
    weights = attention_weights(scores, mask)
    return weighted_sum(weights, value)
