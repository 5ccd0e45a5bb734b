"""Attention without the table of scores: memory that grows with T alone.

The scores of T positions are a table of T². They are needed for a moment
only: a tile of them is computed, put through exp, multiplied with its
values, and forgotten. What a row keeps from tile to tile is its maximum m so
far, the sum l of its exponentials, and the sum o of its values times those.
For the next tile of scores s,

    m' = max(m, max s)
    l' = l exp(m - m') + Σ exp(s - m')
    o' = o exp(m - m') + exp(s - m') V

and in the end the output is o/l and the log-sum-exp m + log l. It is exact:
the factor exp(m - m') brings old sums from the old maximum to the new one
(Milakov and Gimelshein 2018, arXiv:1805.02867; Rabe and Staats 2021,
arXiv:2112.05682; Dao et al. 2022, arXiv:2205.14135, who divide after every
tile; Dao 2023, arXiv:2307.08691, who divides once, as here).

The way back computes each tile once more. With m and l at hand the weights
need no second softmax, P = exp(S - m) / l, and the row sum that the
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
from .attention import attention_scores_backward, weighted_sum_backward
from .masks import combine_masks, first_position
from .merge import (
    Partial,
    RunningSoftmax,
    combine,
    finite,
    normalize,
    partial_sums,
)
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

# Queries and keys of one tile: what a cache holds, and some of each.
QUERIES = 256
KEYS = 512


class Visibility(NamedTuple):
    """What a score becomes, and which keys a query sees by its position.

    Query i sees the keys i + shift - left .. i + shift + right; None is no
    bound.
    """

    attn_mask: Array | Mask | None
    scale: float | None
    soft_cap: float | None
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

    The arguments are those of `scaled_dot_product_attention`, without
    dropout, and so is what is raised. `align` lays the triangle of
    `is_causal` and the band of `window` into a corner, as in
    `masks.causal_mask`.
    """
    sight = make_visibility(
        query,
        key,
        value,
        attn_mask,
        is_causal,
        scale,
        enable_gqa,
        window,
        soft_cap,
        align,
    )
    forward = flash_forward(query, key, value, sight)
    return Partial(cast(forward.output, query), forward.log_sum_exp)


def make_visibility(
    query: Array,
    key: Array,
    value: Array,
    attn_mask: Array | Mask | None,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
    window: tuple[int, int] | None,
    soft_cap: float | None,
    align: str,
) -> Visibility:
    """Check every argument; return what the tiles need of them."""
    options = Options(
        attn_mask,
        is_causal=is_causal,
        scale=scale,
        enable_gqa=enable_gqa,
        window=window,
        soft_cap=soft_cap,
    )
    check_arguments(query, key, value, options)
    shift = first_position(query.shape[-2], key.shape[-2], align)
    left, right = (
        None if radius == -1 else int(radius) for radius in window or (-1, -1)
    )
    right = 0 if is_causal else right
    return Visibility(attn_mask, scale, soft_cap, left, right, shift)


class Forward(NamedTuple):
    """What comes of the way there, in the dtype of computation.

    `row_max` and `row_sum`, (..., H, L, 1), are those of each row's
    softmax: the way back makes its weights from them, with fewer roundings
    than from the log-sum-exp.
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


def tiles(start: int, stop: int, size: int) -> list[slice]:
    """Return the stretches of a range, each of `size` but the last."""
    firsts = range(start, stop, size)
    return [slice(first, min(first + size, stop)) for first in firsts]


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


def row_of_tiles(
    query: Array, key: Array, value: Array, sight: Visibility, rows: slice
) -> Forward:
    """Return the attention of some of the queries over all keys."""
    query_tile = upcast(query[..., rows, :])
    running = empty_sums(query_tile, value)
    for columns in tiles_in_sight(sight, rows, key.shape[-2], KEYS):
        key_tile, value_tile = tile_of_keys(query, key, value, columns)
        steps = tile_steps(query_tile, key_tile, sight, rows, columns)
        if steps is not None:
            part = partial_sums(steps.masked_scores, value_tile)
            running = combine(running, part)
    output, lse = normalize(running)
    return Forward(output, lse, running.row_max, running.row_sum)


def empty_sums(query: Array, value: Array) -> RunningSoftmax:
    """Return the sums over no key: 0, with the maximum -inf."""
    zeros = np.zeros_like(np.sum(query, axis=-1, keepdims=True))
    E = value.shape[-1]
    numerator = np.broadcast_to(zeros, (*zeros.shape[:-1], E))
    return RunningSoftmax(zeros - np.inf, zeros, numerator)


def tile_of_keys(
    query: Array, key: Array, value: Array, columns: slice
) -> tuple[Array, Array]:
    """Return some of the keys and values, with a head for each of query's."""
    H = heads(query)
    key_tile = repeat_heads(upcast(key[..., columns, :]), H)
    value_tile = repeat_heads(upcast(value[..., columns, :]), H)
    return key_tile, value_tile


class TileSteps(NamedTuple):
    """The scores of a tile before the mask and after it."""

    capped_scores: Array
    masked_scores: Array


def tile_steps(
    query: Array, key: Array, sight: Visibility, rows: slice, columns: slice
) -> TileSteps | None:
    """Return the scores of a tile, None where no key of it is seen."""
    mask = mask_of_tile(sight.attn_mask, rows, columns)
    if is_empty(sight, mask, rows, columns):
        return None
    allowed = allowed_keys_of_tile(sight, rows, columns)
    scores = scaled_scores(query, key, sight.scale)
    capped_scores = cap_scores(scores, sight.soft_cap)
    return TileSteps(capped_scores, apply_mask(capped_scores, mask, allowed))


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
    sight: Visibility, mask: Array | Mask | None, rows: slice, columns: slice
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
    """Return which keys position allows in a tile, (L, S); None is all."""
    query = np.arange(rows.start, rows.stop)[:, None] + sight.shift
    key = np.arange(columns.start, columns.stop)[None, :]
    masks = []
    first, last = rows.start + sight.shift, rows.stop - 1 + sight.shift
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
    attn_mask: Array | Mask | None = None,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    window: tuple[int, int] | None = None,
    soft_cap: float | None = None,
    align: str = "upper_left",
    d_log_sum_exp: Array | None = None,
) -> FlashGradients:
    """Return the gradients of flash_attention.

    d_output is (..., H, L, E), d_log_sum_exp, if any, (..., H, L). A mask
    has no gradient here: it would be a table of T². The arguments are those
    of the way there, and so is what is raised.
    """
    sight = make_visibility(
        query,
        key,
        value,
        attn_mask,
        is_causal,
        scale,
        enable_gqa,
        window,
        soft_cap,
        align,
    )
    forward = flash_forward(query, key, value, sight)
    like = Partial(cast(forward.output, query), forward.log_sum_exp)
    check_arguments_backward(d_output, d_log_sum_exp, like, Options())
    inner = row_sums(d_output, forward.output, d_log_sum_exp)
    gradients = flash_backward(
        d_output, inner, forward, query, key, value, sight
    )
    return FlashGradients(*gradients)


def row_sums(
    d_output: Array, output: Array, d_log_sum_exp: Array | None
) -> Array:
    """Return what each row of dS takes away from dP: (..., H, L, 1).

    Σ_j P_ij dP_ij = Σ_j P_ij Σ_e dO_ie V_je = Σ_e dO_ie O_ie, less what
    comes back to the log-sum-exp, as ∂lse_i/∂s_ij = P_ij.
    """
    inner: Array = np.sum(upcast(d_output) * output, axis=-1, keepdims=True)
    if d_log_sum_exp is not None:
        inner = inner - d_log_sum_exp[..., None]
    return inner


def flash_backward(
    d_output: Array,
    inner: Array,
    forward: Forward,
    query: Array,
    key: Array,
    value: Array,
    sight: Visibility,
) -> tuple[Array, Array, Array]:
    """Return the gradients of query, key and value, tile by tile.

    A tile of keys gathers from all queries, and a tile of queries from all
    keys: the sums of the first are done when the inner loop ends, those of
    the second when the outer one does.
    """
    all_rows = tiles(0, query.shape[-2], QUERIES) or [slice(0, 0)]
    all_columns = tiles(0, key.shape[-2], KEYS) or [slice(0, 0)]
    d_query = [np.zeros_like(upcast(query[..., r, :])) for r in all_rows]
    d_key, d_value = [], []
    for columns in all_columns:
        d_key.append(np.zeros_like(upcast(key[..., columns, :])))
        d_value.append(np.zeros_like(upcast(value[..., columns, :])))
        for number, rows in enumerate(all_rows):
            parts = tile_backward(
                upcast(d_output[..., rows, :]),
                inner[..., rows, :],
                forward.row_max[..., rows, :],
                forward.row_sum[..., rows, :],
                query,
                key,
                value,
                sight,
                rows,
                columns,
            )
            if parts is not None:
                d_query[number] = d_query[number] + parts[0]
                d_key[-1] = d_key[-1] + parts[1]
                d_value[-1] = d_value[-1] + parts[2]
    return (
        cast(np.concat(d_query, axis=-2), query),
        cast(np.concat(d_key, axis=-2), key),
        cast(np.concat(d_value, axis=-2), value),
    )


def tile_backward(
    d_output: Array,
    inner: Array,
    row_max: Array,
    row_sum: Array,
    query: Array,
    key: Array,
    value: Array,
    sight: Visibility,
    rows: slice,
    columns: slice,
) -> tuple[Array, Array, Array] | None:
    """Return what a tile gives to its queries, keys and values.

    P = exp(S - m) / l, dV = Pᵀ dO, dP = dO Vᵀ, dS = P ∘ (dP - inner), and
    from there on as in `sdpa`. None where no key is seen.
    """
    query_tile = upcast(query[..., rows, :])
    key_tile, value_tile = tile_of_keys(query, key, value, columns)
    steps = tile_steps(query_tile, key_tile, sight, rows, columns)
    if steps is None:
        return None
    exponentials = np.exp(steps.masked_scores - finite(row_max))
    weights = exponentials / np.where(row_sum == 0, 1.0, row_sum)
    d_weights, d_value = weighted_sum_backward(d_output, weights, value_tile)
    d_masked = weights * (d_weights - inner)
    d_scores = cap_scores_backward(
        d_masked, steps.capped_scores, sight.soft_cap
    )
    d_query, d_key = attention_scores_backward(
        d_scores, query_tile, key_tile, scale_of(query, sight.scale)
    )
    key_shape = key[..., columns, :].shape
    value_shape = value[..., columns, :].shape
    return (
        d_query,
        repeat_heads_backward(d_key, key_shape),
        repeat_heads_backward(d_value, value_shape),
    )
