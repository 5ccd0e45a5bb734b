"""FlashAttention: memory that grows with T, not T², by tiles of the scores.

The score matrix of T positions has T² numbers, and each is needed only once.
So one tile of it at a time is computed, used and discarded. The **online
softmax** keeps for each row the maximum m so far, the sum l of the
exponentials, and the sum o of the values times their exponentials. For the
next tile of scores s,

    m' = max(m, max s)
    l' = l exp(m - m') + Σ exp(s - m')
    o' = o exp(m - m') + exp(s - m') V

and at the end the output is o/l and the log-sum-exp m + log l. It is exact:
the factor exp(m - m') rescales the old sums from the old maximum to the new
one (Milakov and Gimelshein 2018, arXiv:1805.02867; Rabe and Staats 2021,
arXiv:2112.05682; Dao et al. 2022, arXiv:2205.14135, who divide after every
tile; Dao 2023, arXiv:2307.08691, who divides once, as here).
`online_attention` is the algorithm and nothing else. The rest of the module
adds tiles of queries, masks, groups of heads and the backward pass.

The backward pass computes each tile once more. With m and l at hand the
weights need no second softmax, P = exp(S - m) / l, and the row sum that the
softmax's gradient needs is Σ_j P_ij dP_ij = Σ_e O_ie dO_ie.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .arguments import (
    Options,
    check_arguments,
    check_arguments_backward,
    heads,
    scores_shape,
)
from .arrays import Array, Mask, cast, is_boolean
from .attention import attention_scores
from .broadcasting import broadcast_backward
from .masks import combine_masks, first_position
from .merge import Partial, RunningSoftmax, combine, normalize, partial_sums
from .sdpa import (
    apply_mask,
    cap_scores,
    cap_scores_backward,
    repeat_heads,
    repeat_heads_backward,
    scale_of,
    scaled_scores,
    upcast,
)
from .softmax import finite

# Queries and keys of one tile. A tile of float32 scores takes half a
# megabyte, which fits a core's cache of the second level.
QUERIES = 256
KEYS = 512


def online_attention(query: Array, key: Array, value: Array) -> Partial:
    """Return the attention of all queries over all keys, by online softmax.

    query (..., L, D), key (..., S, D) and value (..., S, E) give the output,
    (..., L, E), and the log-sum-exp, (..., L). Only one tile of scores,
    (..., L, KEYS), is in memory at a time.
    """
    sums = empty_sums(query, value)
    for columns in tiles(0, key.shape[-2], KEYS):
        scores = attention_scores(query, key[..., columns, :])
        sums = combine(sums, partial_sums(scores, value[..., columns, :]))
    return normalize(sums)


def empty_sums(query: Array, value: Array) -> RunningSoftmax:
    """Return the sums over no key: 0, with the maximum -inf."""
    zeros = np.zeros_like(np.sum(query, axis=-1, keepdims=True))
    E = value.shape[-1]
    numerator = np.broadcast_to(zeros, (*zeros.shape[:-1], E))
    return RunningSoftmax(zeros - np.inf, zeros, numerator)


def tiles(start: int, stop: int, size: int) -> list[slice]:
    """Return the stretches of a range, each of `size` but the last."""
    firsts = range(start, stop, size)
    return [slice(first, min(first + size, stop)) for first in firsts]


class Visibility(NamedTuple):
    """The options of a call, and which keys a query sees by its position.

    Query i sees the keys i + shift - left .. i + shift + right; None is no
    bound.
    """

    options: Options
    left: int | None
    right: int | None
    shift: int


def flash_attention(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | Mask | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window: tuple[int, int] | None = None,
    soft_cap: float | None = None,
    align: str = "upper_left",
) -> Partial:
    """Return the output (..., H, L, E) and log-sum-exp (..., H, L).

    query is (..., H, L, D), key (..., G, S, D), value (..., G, S, E). The
    arguments are those of `scaled_dot_product_attention`, without dropout.
    `align` says in which corner the triangle of `is_causal` and the band of
    `window` lie, as in `masks.causal_mask`.

    Raises:
        TypeError: an argument is of the wrong kind, or the dtypes differ.
        ValueError: a shape does not fit, or a number is out of range.
    """
    options = Options(
        attn_mask=attn_mask,
        is_causal=is_causal,
        scale=scale,
        enable_gqa=enable_gqa,
        window=window,
        soft_cap=soft_cap,
    )
    sight = make_visibility(query, key, value, options, align)
    forward = flash_forward(query, key, value, sight)
    return Partial(cast(forward.output, query), forward.log_sum_exp)


def make_visibility(
    query: Array, key: Array, value: Array, options: Options, align: str
) -> Visibility:
    """Check every argument; return which keys a query sees.

    Raises TypeError or ValueError for the first wrong argument.
    """
    check_arguments(query, key, value, options)
    shift = first_position(query.shape[-2], key.shape[-2], align)
    left, right = (
        None if radius == -1 else int(radius)
        for radius in options.window or (-1, -1)
    )
    right = 0 if options.is_causal else right
    return Visibility(options, left, right, shift)


class Forward(NamedTuple):
    """The result of the forward pass, in the compute dtype.

    `row_max` and `row_sum`, (..., H, L, 1), are those of each row's
    softmax: the backward pass computes the weights from them, with fewer
    roundings than from the log-sum-exp.
    """

    output: Array
    log_sum_exp: Array
    row_max: Array
    row_sum: Array


def flash_forward(
    query: Array, key: Array, value: Array, sight: Visibility
) -> Forward:
    """Return the rows of all tiles of queries, one below the other."""
    shape = scores_shape(query, key, value)
    query = np.broadcast_to(query, (*shape[:-1], query.shape[-1]))
    done = [
        row_of_tiles(query, key, value, sight, rows)
        for rows in tiles(0, shape[-2], QUERIES) or [slice(0, 0)]
    ]
    return Forward(
        np.concat([row.output for row in done], axis=-2),
        np.concat([row.log_sum_exp for row in done], axis=-1),
        np.concat([row.row_max for row in done], axis=-2),
        np.concat([row.row_sum for row in done], axis=-2),
    )


def row_of_tiles(
    query: Array,
    key: Array,
    value: Array,
    sight: Visibility,
    rows: slice,
) -> Forward:
    """Return the attention of some of the queries over all keys."""
    H, query_tile = heads(query), upcast(query[..., rows, :])
    sums = empty_sums(query_tile, value)
    for columns in tiles_in_sight(sight, rows, key.shape[-2], KEYS):
        key_tile = repeat_heads(upcast(key[..., columns, :]), H)
        steps = tile_steps(query_tile, key_tile, sight, rows, columns)
        if steps is not None:
            value_tile = repeat_heads(upcast(value[..., columns, :]), H)
            part = partial_sums(steps.masked_scores, value_tile)
            sums = combine(sums, part)
    output, lse = normalize(sums)
    return Forward(output, lse, sums.row_max, sums.row_sum)


class TileSteps(NamedTuple):
    """The scores of a tile before the mask and after it."""

    capped_scores: Array
    masked_scores: Array


def tile_steps(
    query: Array,
    key: Array,
    sight: Visibility,
    rows: slice,
    columns: slice,
) -> TileSteps | None:
    """Return the scores of a tile; None if no query sees any key of it.

    query is (..., H, L, D) and key (..., H, S, D), both of the tile alone.
    """
    options = sight.options
    mask = mask_of_tile(options.attn_mask, rows, columns)
    if is_empty(sight, mask, rows, columns):
        return None
    scores = scaled_scores(query, key, options.scale)
    capped_scores = cap_scores(scores, options.soft_cap)
    allowed = allowed_keys_of_tile(sight, rows, columns)
    return TileSteps(capped_scores, apply_mask(capped_scores, mask, allowed))


def tiles_in_sight(
    sight: Visibility, rows: slice, S: int, size: int
) -> list[slice]:
    """Return tiles of keys, from the first that a query sees to the last."""
    start, stop = 0, S
    if sight.left is not None:
        start = max(0, rows.start + sight.shift - sight.left)
    if sight.right is not None:
        stop = min(S, rows.stop + sight.shift + sight.right)
    return tiles(start, stop, size)


def mask_of_tile(
    attn_mask: Array | Mask | None, rows: slice, columns: slice
) -> Array | Mask | None:
    """Return a tile of the mask; an axis that broadcasts stays as it is."""
    if attn_mask is None or len(attn_mask.shape) == 0:
        return attn_mask
    if attn_mask.shape[-1] != 1:
        attn_mask = attn_mask[..., columns]
    if len(attn_mask.shape) > 1 and attn_mask.shape[-2] != 1:
        attn_mask = attn_mask[..., rows, :]
    return attn_mask


def is_empty(
    sight: Visibility,
    mask: Array | Mask | None,
    rows: slice,
    columns: slice,
) -> bool:
    """Return whether no query of a tile sees any of its keys."""
    first, last = rows.start + sight.shift, rows.stop - 1 + sight.shift
    if sight.right is not None and columns.start > last + sight.right:
        return True
    if sight.left is not None and columns.stop - 1 < first - sight.left:
        return True
    if mask is None:
        return False
    seen = mask if is_boolean(mask) else mask != -np.inf
    return not bool(np.any(seen))


def allowed_keys_of_tile(
    sight: Visibility, rows: slice, columns: slice
) -> Mask | None:
    """Return the mask of a tile by position, (L, S); None allows all."""
    query = np.arange(rows.start, rows.stop)[:, None] + sight.shift
    key = np.arange(columns.start, columns.stop)[None, :]
    first, last = rows.start + sight.shift, rows.stop - 1 + sight.shift
    masks = []
    if sight.left is not None and columns.start < last - sight.left:
        masks.append(key >= query - sight.left)
    if sight.right is not None and columns.stop - 1 > first + sight.right:
        masks.append(key <= query + sight.right)
    return combine_masks(*masks) if masks else None


class FlashGradients(NamedTuple):
    """The gradients of query, key and value, in their shapes and dtype."""

    query: Array
    key: Array
    value: Array


def flash_attention_backward(
    d_output: Array,
    query: Array,
    key: Array,
    value: Array,
    options: Options = Options(),
    align: str = "upper_left",
    d_log_sum_exp: Array | None = None,
) -> FlashGradients:
    """Return the gradients of flash_attention.

    d_output is (..., H, L, E), d_log_sum_exp, if any, (..., H, L). A mask
    has no gradient here: it would be a matrix of L x S.

    Raises:
        TypeError: an argument is of the wrong kind, or the dtypes differ.
        ValueError: a shape does not fit, or a number is out of range.
    """
    sight = make_visibility(query, key, value, options, align)
    forward = flash_forward(query, key, value, sight)
    like = Partial(cast(forward.output, query), forward.log_sum_exp)
    check_arguments_backward(d_output, d_log_sum_exp, like, options)
    upstream = upstream_of(d_output, d_log_sum_exp, forward)
    gradients = flash_backward(upstream, query, key, value, sight)
    return FlashGradients(*gradients)


class Upstream(NamedTuple):
    """What the backward pass needs of each row.

    `d_output` is (..., H, L, E); `delta`, `row_max` and `row_sum` are
    (..., H, L, 1).
    """

    d_output: Array
    delta: Array
    row_max: Array
    row_sum: Array


def upstream_of(
    d_output: Array, d_log_sum_exp: Array | None, forward: Forward
) -> Upstream:
    """Return what the backward pass needs of each row.

    delta is subtracted from each row of dP to get dS: Σ_j P_ij dP_ij
    = Σ_j P_ij Σ_e dO_ie V_je = Σ_e dO_ie O_ie, less the gradient of the
    log-sum-exp, as ∂lse_i/∂s_ij = P_ij.
    """
    d_output = upcast(d_output)
    delta = np.sum(d_output * forward.output, axis=-1, keepdims=True)
    if d_log_sum_exp is not None:
        delta = delta - d_log_sum_exp[..., None]
    return Upstream(d_output, delta, forward.row_max, forward.row_sum)


def flash_backward(
    upstream: Upstream,
    query: Array,
    key: Array,
    value: Array,
    sight: Visibility,
) -> tuple[Array, Array, Array]:
    """Return the gradients of query, key and value, tile by tile.

    dK and dV of a tile of keys are complete after the inner loop over the
    queries, dQ only after the outer loop over the keys.
    """
    all_rows = tiles(0, query.shape[-2], QUERIES) or [slice(0, 0)]
    all_columns = tiles(0, key.shape[-2], KEYS) or [slice(0, 0)]
    d_query = [np.zeros_like(upcast(query[..., r, :])) for r in all_rows]
    d_key, d_value = [], []
    for columns in all_columns:
        key_tile = upcast(key[..., columns, :])
        value_tile = upcast(value[..., columns, :])
        d_key.append(np.zeros_like(key_tile))
        d_value.append(np.zeros_like(value_tile))
        key_tile = repeat_heads(key_tile, heads(query))
        value_tile = repeat_heads(value_tile, heads(query))
        for number, rows in enumerate(all_rows):
            query_tile = upcast(query[..., rows, :])
            steps = tile_steps(query_tile, key_tile, sight, rows, columns)
            if steps is None:
                continue
            upstream_tile = Upstream(*(a[..., rows, :] for a in upstream))
            parts = tile_backward(
                upstream_tile,
                steps,
                query_tile,
                key_tile,
                value_tile,
                sight.options,
            )
            d_query[number] = d_query[number] + parts[0]
            d_key[-1] = d_key[-1] + repeat_heads_backward(
                parts[1], d_key[-1].shape
            )
            d_value[-1] = d_value[-1] + repeat_heads_backward(
                parts[2], d_value[-1].shape
            )
    return (
        cast(np.concat(d_query, axis=-2), query),
        cast(np.concat(d_key, axis=-2), key),
        cast(np.concat(d_value, axis=-2), value),
    )


def tile_backward(
    upstream: Upstream,
    steps: TileSteps,
    query: Array,
    key: Array,
    value: Array,
    options: Options,
) -> tuple[Array, Array, Array]:
    """Return the part of a tile in the gradients of query, key and value.

    P = exp(S - m) / l, dV = Pᵀ dO, dP = dO Vᵀ, dS = P ∘ (dP - delta),
    dQ = scale · dS K, dK = scale · dSᵀ Q.
    """
    scale = scale_of(query, options.scale)
    exponentials = np.exp(steps.masked_scores - finite(upstream.row_max))
    row_sum = np.where(upstream.row_sum == 0, 1.0, upstream.row_sum)
    weights = exponentials / row_sum
    d_value = weights.mT @ upstream.d_output
    d_weights = upstream.d_output @ value.mT
    d_masked = weights * (d_weights - upstream.delta)
    d_scores = cap_scores_backward(
        d_masked, steps.capped_scores, options.soft_cap
    )
    d_query = scale * (d_scores @ key)
    d_key = scale * (d_scores.mT @ query)
    return (
        broadcast_backward(d_query, query.shape),
        broadcast_backward(d_key, key.shape),
        broadcast_backward(d_value, value.shape),
    )
