"""Scaled dot-product attention: weighted sums of values.

The weights come from the dot products of queries and keys.

    Attention(Q, K, V) = softmax(Q Kᵀ / √D) V

(Vaswani et al. 2017, arXiv:1706.03762, equation 1.)
"""

from __future__ import annotations

import math

from .arrays import Array, Mask
from .broadcasting import broadcast_backward
from .masks import mask_scores
from .softmax import softmax, softmax_backward


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


def attention_scores_backward(
    d_scores: Array, query: Array, key: Array, scale: float | None = None
) -> tuple[Array, Array]:
    """Return the gradients of query, (..., L, D), and key, (..., S, D).

    S = scale · Q Kᵀ, and so dQ = scale · dS K and dK = scale · dSᵀ Q.
    """
    if scale is None:
        scale = 1 / math.sqrt(query.shape[-1])
    d_query = scale * (d_scores @ key)
    d_key = scale * (d_scores.mT @ query)
    return (
        broadcast_backward(d_query, query.shape),
        broadcast_backward(d_key, key.shape),
    )


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


def weighted_sum_backward(
    d_output: Array, weights: Array, value: Array
) -> tuple[Array, Array]:
    """Return the gradients of the weights and of value, (..., S, E).

    O = P V, and so dP = dO Vᵀ and dV = Pᵀ dO.
    """
    d_weights = d_output @ value.mT
    d_value = weights.mT @ d_output
    return (
        broadcast_backward(d_weights, weights.shape),
        broadcast_backward(d_value, value.shape),
    )


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


def attention_backward(
    d_output: Array,
    query: Array,
    key: Array,
    value: Array,
    mask: Mask | None = None,
) -> tuple[Array, Array, Array]:
    """Return the gradients of query, key and value, in their shapes.

    The three steps of `attention`, in reverse. The mask needs no step: where
    it is False the weight P is 0, and so dS = P (dP - Σ P dP) is 0 as well.
    """
    weights = attention_weights(attention_scores(query, key), mask)
    d_weights, d_value = weighted_sum_backward(d_output, weights, value)
    d_scores = softmax_backward(d_weights, weights)
    d_query, d_key = attention_scores_backward(d_scores, query, key)
    return d_query, d_key, d_value
