"""scaled_dot_product_attention with all its arguments, step by step.

The order of the steps: scores = query · keyᵀ · scale; soft cap; mask;
softmax; dropout; weighted sum of value. Names, order and defaults of the
arguments are those of `torch.nn.functional.scaled_dot_product_attention`;
`window`, `soft_cap` and `dropout_mask` are added at the end.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .arguments import (
    Options,
    check_arguments,
    check_arguments_backward,
    heads,
    scores_shape,
)
from .arrays import (
    Array,
    Mask,
    cast,
    is_boolean,
    is_half,
    to_device_of,
    to_float32,
)
from .attention import (
    attention_scores,
    attention_scores_backward,
    weighted_sum,
    weighted_sum_backward,
)
from .broadcasting import broadcast_backward
from .dropout import draw_dropout_mask, dropout, dropout_backward
from .masks import causal_mask, combine_masks, mask_scores, window_mask
from .softmax import (
    log_sum_exp,
    log_sum_exp_backward,
    softmax,
    softmax_backward,
)

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
    query = np.broadcast_to(query, (*shape[:-1], query.shape[-1]))
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
    return np.repeat(array, H // G, axis=-3)


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
    capped: Array = cap * np.tanh(scores / cap)
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
        scores = mask_scores(scores + bias, bias != -np.inf)
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


# The backward pass, derived by hand. On the PyTorch side autograd does this.


class Gradients(NamedTuple):
    """The gradients of attention, in the order of the backward pass.

    `weights` and `scores` are dP and dS, (..., H, L, S), where dS is that
    of the masked scores; the others have the shape and dtype of what they
    belong to. `attn_mask` is None unless a floating mask was given.
    """

    weights: Array
    scores: Array
    query: Array
    key: Array
    value: Array
    attn_mask: Array | None


def scaled_dot_product_attention_backward(
    d_output: Array,
    query: Array,
    key: Array,
    value: Array,
    options: Options = Options(),
    d_log_sum_exp: Array | None = None,
) -> Gradients:
    """Return the gradients of scaled_dot_product_attention.

    d_output is (..., H, L, E) and d_log_sum_exp, if any, (..., H, L): the
    gradients of the output and of the log-sum-exp of the masked scores. The
    other arguments are those of `attention_steps`. Dropout needs
    `dropout_mask`, the same that the forward pass had.

    Raises:
        TypeError: an argument is of the wrong kind, or the dtypes differ.
        ValueError: a shape does not fit, a number is out of range, or there
            is dropout without its mask.
    """
    steps = attention_steps(query, key, value, options)
    check_arguments_backward(d_output, d_log_sum_exp, steps, options)
    return attention_steps_backward(
        d_output, steps, query, key, value, options, d_log_sum_exp
    )


def attention_steps_backward(
    d_output: Array,
    steps: Steps,
    query: Array,
    key: Array,
    value: Array,
    options: Options = Options(),
    d_log_sum_exp: Array | None = None,
) -> Gradients:
    """Return the gradients, given the steps of the forward pass.

    The steps in reverse, with O = P' V, P' the dropped weights, P = softmax
    of the masked scores X, X = C + mask, C = cap tanh(S / cap) and
    S = scale · Q Kᵀ:

        dV = P'ᵀ dO              dP' = dO Vᵀ
        dP = dropout_mask ∘ dP' / (1 - p)
        dX = P ∘ (dP - rowsum(P ∘ dP)) + d_lse P
        dmask = dX, summed over the axes along which it was broadcast
        dS = dX ∘ (1 - (C / cap)²)
        dQ = scale · dS K        dK = scale · dSᵀ Q

    Where a key is masked P = 0, so dX = 0; likewise in a dead row. The
    gradient of a key or value head is the sum over the query heads that
    read it.
    """
    H = heads(query)
    wide_query, wide_key, wide_value = map(upcast, (query, key, value))
    d_weights, d_value = weighted_sum_backward(
        upcast(d_output), steps.dropped_weights, repeat_heads(wide_value, H)
    )
    if options.dropout_mask is not None:
        d_weights = dropout_backward(
            d_weights, float(options.dropout_p), options.dropout_mask
        )
    d_masked = softmax_backward(d_weights, steps.weights)
    if d_log_sum_exp is not None:
        d_lse = upcast(d_log_sum_exp)
        d_masked = d_masked + log_sum_exp_backward(d_lse, steps.weights)
    attn_mask, d_mask = options.attn_mask, None
    if attn_mask is not None and not is_boolean(attn_mask):
        d_mask = cast(broadcast_backward(d_masked, attn_mask.shape), attn_mask)
    d_scores = cap_scores_backward(
        d_masked, steps.capped_scores, options.soft_cap
    )
    d_query, d_key = attention_scores_backward(
        d_scores,
        wide_query,
        repeat_heads(wide_key, H),
        scale_of(query, options.scale),
    )
    return Gradients(
        d_weights,
        d_masked,
        cast(d_query, query),
        cast(repeat_heads_backward(d_key, key.shape), key),
        cast(repeat_heads_backward(d_value, value.shape), value),
        d_mask,
    )


def repeat_heads_backward(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Return the gradient of key or value: the sum over each group.

    (..., H, S, D) gives `shape`, (..., G, S, D).
    """
    if gradient.shape == shape:
        return gradient
    *batch, G, S, D = shape
    group = gradient.shape[-3] // G
    grouped = np.reshape(gradient, (*batch, G, group, S, D))
    summed: Array = np.sum(grouped, axis=-3)
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
