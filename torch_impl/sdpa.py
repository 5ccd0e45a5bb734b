"""scaled_dot_product_attention with all its arguments, step by step.

The order of the steps: scores = query · keyᵀ · scale; soft cap; mask;
softmax; dropout; weighted sum of value. Names, order and defaults of the
arguments are those of `torch.nn.functional.scaled_dot_product_attention`;
`window`, `soft_cap` and `dropout_mask` are added at the end.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch

from .arguments import Options, check_arguments, heads, scores_shape
from .arrays import (
    Array,
    Mask,
    cast,
    is_boolean,
    is_half,
    to_device_of,
    to_float32,
)
from .attention import attention_scores, weighted_sum
from .dropout import draw_dropout_mask, dropout
from .masks import causal_mask, combine_masks, mask_scores, window_mask
from .softmax import log_sum_exp, softmax

# Keys that are added up at a time: 128 is long enough for a fast product
# and short enough that its roundings stay below those of the scores.
TILE = 128


class Steps(NamedTuple):
    """Every step of attention, in the compute dtype.

    All are (..., H, L, S), except `log_sum_exp`, (..., H, L), that of the
    masked scores, and `output`, (..., H, L, E), in the dtype of query.
    """

    scores: Array
    capped_scores: Array
    masked_scores: Array
    log_sum_exp: Array
    weights: Array
    dropped_weights: Array
    output: Array


def scaled_dot_product_attention(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | Mask | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window: tuple[int, int] | None = None,
    soft_cap: float | None = None,
    dropout_mask: Mask | None = None,
) -> Array:
    """Return the attention of query over key and value: (..., H, L, E).

    Args:
        query: (..., H, L, D), of a floating dtype. Half types are computed
            in float32 and rounded once, at the end.
        key: (..., G, S, D), of the same dtype.
        value: (..., G, S, E), of the same dtype. Leading axes broadcast.
        attn_mask: broadcasts to (..., H, L, S). Boolean: True = this query
            attends to this key. Floating: added to the scores; -inf there
            is exactly False.
        dropout_p: the probability, 0 to 1, of leaving a weight out.
        is_causal: query i sees the keys 0..i, also if L is not S. A mask
            and is_causal both hold.
        scale: what the dot products are multiplied by; None is 1/√D.
        enable_gqa: query head h reads key/value head h // (H/G). Without
            it G must be H or 1.
        window: (left, right): query i sees the keys i-left..i+right; -1 is
            no bound.
        soft_cap: scores become cap · tanh(scores / cap), before the mask
            (Gemma 2, arXiv:2408.00118, section 2).
        dropout_mask: the weights that dropout keeps, boolean, broadcasts to
            (..., H, L, S). None draws them.

    A query that may see no key gets 0, and adds 0 to every gradient.

    Raises:
        TypeError: an argument is of the wrong kind, or the dtypes differ.
        ValueError: a shape does not fit, or a number is out of range.
    """
    options = Options(
        attn_mask,
        dropout_p,
        is_causal,
        scale,
        enable_gqa,
        window,
        soft_cap,
        dropout_mask,
    )
    return attention_steps(query, key, value, options).output


def attention_steps(
    query: Array, key: Array, value: Array, options: Options = Options()
) -> Steps:
    """Return every step of scaled_dot_product_attention.

    The arguments are described there; the options come as one record.

    Raises:
        TypeError: an argument is of the wrong kind, or the dtypes differ.
        ValueError: a shape does not fit, or a number is out of range.
    """
    check_arguments(query, key, value, options)
    given = query
    query, key, value = aligned(query, key, value)
    scores = scaled_scores(query, key, options.scale)
    capped_scores = cap_scores(scores, options.soft_cap)
    allowed = allowed_keys(query.shape[-2], key.shape[-2], options)
    masked_scores = apply_mask(capped_scores, options.attn_mask, allowed)
    weights = softmax(masked_scores)
    dropped_weights = drop_weights(weights, options)
    output = cast(tiled_sum(dropped_weights, value), given)
    return Steps(
        scores,
        capped_scores,
        masked_scores,
        log_sum_exp(masked_scores),
        weights,
        dropped_weights,
        output,
    )


def aligned(
    query: Array, key: Array, value: Array
) -> tuple[Array, Array, Array]:
    """Return the three in the compute dtype, with the same heads.

    query becomes (..., H, L, D) with all leading axes, key (..., H, S, D)
    and value (..., H, S, E).
    """
    shape = scores_shape(query, key, value)
    query, key, value = (upcast(array) for array in (query, key, value))
    key, value = (repeat_heads(a, heads(query)) for a in (key, value))
    # A batch that key or value alone has is query's from here on.
    query = torch.broadcast_to(query, (*shape[:-1], query.shape[-1]))
    return query, key, value


def upcast(array: Array) -> Array:
    """Return an array in the compute dtype: half types as float32."""
    return to_float32(array) if is_half(array) else array


def repeat_heads(array: Array, H: int) -> Array:
    """Return key or value with a head for each of H query heads (GQA).

    (..., G, S, D) gives (..., H, S, D), each head H/G times in succession:
    query head h reads head h // (H/G) (arXiv:2305.13245).
    """
    G = heads(array)
    if G in (1, H):
        return array
    return torch.repeat_interleave(array, H // G, dim=-3)


def tiled_sum(weights: Array, value: Array) -> Array:
    """Return P V, (..., L, E), adding up the keys tile by tile.

    A sum of S products has up to S roundings one after the other; in tiles
    it has S/TILE + TILE: for 10⁴ keys about 200 instead of 10⁴.
    """
    S = weights.shape[-1]
    first = slice(0, min(TILE, S))
    total = weighted_sum(weights[..., first], value[..., first, :])
    for start in range(TILE, S, TILE):
        tile = slice(start, min(start + TILE, S))
        total = total + weighted_sum(weights[..., tile], value[..., tile, :])
    return total


def default_scale(D: int) -> float:
    """Return 1/√D; with D = 0 every score is 0, whatever the scale."""
    return 1 / math.sqrt(D) if D > 0 else 1.0


def scale_of(query: Array, scale: float | None) -> float:
    """Return the scale, or 1/√D with the dimension of query for None."""
    return default_scale(query.shape[-1]) if scale is None else float(scale)


def scaled_scores(query: Array, key: Array, scale: float | None) -> Array:
    """Return scale · Q Kᵀ, (..., L, S), without overflow on the way.

    A scale below 1 is applied before the product, one above 1 after it, so
    that no intermediate number is larger than the result.
    """
    scale = scale_of(query, scale)
    if abs(scale) <= 1:
        return attention_scores(query, key, scale)
    return attention_scores(query, key, 1.0) * scale


def cap_scores(scores: Array, soft_cap: float | None) -> Array:
    """Return cap · tanh(scores / cap), which stays within ±cap."""
    if soft_cap is None:
        return scores
    cap = float(soft_cap)
    capped: Array = cap * torch.tanh(scores / cap)
    return capped


def allowed_keys(L: int, S: int, options: Options) -> Mask | None:
    """Return the mask of is_causal and window, (L, S); None allows all."""
    masks = []
    if options.is_causal:
        masks.append(causal_mask(L, S))
    if options.window is not None:
        # No radius beyond L + S sees more, and it may be too large to add.
        left, right = (int(min(radius, L + S)) for radius in options.window)
        masks.append(window_mask(L, S, left, right))
    return combine_masks(*masks) if masks else None


def apply_mask(
    scores: Array, attn_mask: Array | Mask | None, allowed: Mask | None
) -> Array:
    """Return the scores with -inf where the key may not be seen.

    Where a floating mask is -inf the score is set, not added: a NaN in a
    masked score disappears.
    """
    if attn_mask is not None and is_boolean(attn_mask):
        scores = mask_scores(scores, attn_mask)
    elif attn_mask is not None:
        bias = cast(attn_mask, scores)
        scores = mask_scores(scores + bias, bias != -torch.inf)
    if allowed is not None:
        scores = mask_scores(scores, to_device_of(allowed, scores))
    return scores


def drop_weights(weights: Array, options: Options) -> Array:
    """Return the weights after dropout; without a mask one is drawn."""
    dropout_p, dropout_mask = float(options.dropout_p), options.dropout_mask
    if dropout_mask is None and dropout_p == 0:
        return weights
    if dropout_mask is None:
        dropout_mask = draw_dropout_mask(weights.shape, dropout_p)
    dropout_mask = to_device_of(dropout_mask, weights)
    return dropout(weights, dropout_p, dropout_mask)


# Autograd has the backward pass of all this. `flash`, which writes its own on
# both sides, needs two steps of it.


def repeat_heads_backward(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Return the gradient of key or value: the sum over each group.

    (..., H, S, D) gives `shape`, (..., G, S, D).
    """
    if gradient.shape == shape:
        return gradient
    *batch, G, S, D = shape
    group = gradient.shape[-3] // G
    grouped = torch.reshape(gradient, (*batch, G, group, S, D))
    summed: Array = torch.sum(grouped, dim=-3)
    return summed


def cap_scores_backward(
    d_capped: Array, capped_scores: Array, soft_cap: float | None
) -> Array:
    """Return the gradient of the scores, with C = cap · tanh(S / cap).

    dC/dS = 1 - tanh(S / cap)² = 1 - (C / cap)².
    """
    if soft_cap is None:
        return d_capped
    tanh = capped_scores / float(soft_cap)
    d_scores: Array = d_capped * (1 - tanh * tanh)
    return d_scores
