"""The tuned attention: what `flash` returns, in a fraction of its time.

`flash` is there to be read; here is what makes it fast, and nothing else:

- Scores are kept transposed, keys × queries. A query's sum over its keys is
  then a sum of whole rows, which lie in one piece of memory.
- A tile fits a core's cache, and the next tile is written over it.
- Work is split over heads and query blocks; the blocks that see the most
  keys start first.
- By the Cauchy-Schwarz inequality |q · k| ≤ |q| |k|. Where the norms prove
  that no exponential can overflow or vanish, no row maximum is computed or
  subtracted. log₂ e is then part of the scale, and exp2, which takes half the
  time of exp, computes the exponentials.
- In the backward pass dO is divided by a row's sum l, and not the
  exponentials p: P = p / l, so that dV = Pᵀ dO = pᵀ (dO / l).

`fast_threads` has the threads and the memory that they keep, `fast_scores`
makes a tile of scores.
"""

from __future__ import annotations

import math
import os
from functools import partial
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from .arguments import Options, check_arguments_backward, heads, scores_shape
from .arrays import Array, Mask, cast, is_boolean
from .broadcasting import broadcast_backward
from .fast_scores import (
    Heads,
    Steepness,
    hide,
    in_sight,
    slope_of_cap,
    transposed,
    write_exponentials,
    write_scores,
    write_values,
)
from .fast_threads import buffer_for, run
from .flash import (
    FlashGradients,
    Visibility,
    make_visibility,
    tiles,
    tiles_in_sight,
)
from .merge import Partial
from .sdpa import scale_of, upcast
from .softmax import finite

# One thread a core.
THREADS = os.cpu_count() or 1
# Queries and keys of a tile: half a megabyte of float32.
QUERIES = 256
KEYS = 512
# Where no maximum is subtracted, an exponential is from 2⁻³⁰ to 2³⁰ and a
# value between 2⁻⁴⁰ and 2⁴⁰, if it is not 0: no product or sum of them comes
# near the ends of float32, 2⁻¹²⁶ and 2¹²⁸.
STEEPEST = 30.0
LARGEST = 2.0**40
# The norm bound is tried only if L·S >= WORTH·(L + S)·D: it reads the inputs,
# and a running maximum reads every score twice.
WORTH = 1
# With fewer scores than this one thread is faster: waking another takes
# 0.1 ms.
SHARED = 2**18

Index: TypeAlias = tuple[int | slice, ...]


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

    The arguments are those of `flash.flash_attention`, and so is what is
    raised.
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
    whole = grouped(query, key, value, sight)
    result = forward(whole, query.dtype)
    shape = scores_shape(query, key, value)[:-1]
    return Partial(
        np.reshape(result.output, (*shape, value.shape[-1])),
        np.reshape(log_sum_exp(result), shape),
    )


def grouped(
    query: Array, key: Array, value: Array, sight: Visibility
) -> Heads:
    """Arrange the inputs by groups, with as few copies as possible."""
    H, groups = heads(query), max(heads(key), heads(value))
    *batch, L, S = scores_shape(query, key, value)
    batch = batch[:-1]
    lead = (*batch, groups, H // max(groups, 1))

    def alone(array: Array) -> Array:
        """Return keys or values with an axis for the heads of a group."""
        shape = (*batch, groups, *array.shape[-2:])
        return np.broadcast_to(array, shape)[..., None, :, :]

    mask: Any = sight.options.attn_mask
    if mask is not None:
        mask = np.broadcast_to(mask, (*batch, H, L, S))
        mask = np.reshape(mask, (*lead, L, S))
    wide = np.broadcast_to(query, (*batch, H, *query.shape[-2:]))
    wide = np.reshape(wide, (*lead, *query.shape[-2:]))
    return Heads(wide, alone(key), alone(value), mask, sight)


def some_of(whole: Heads, index: Index) -> Heads:
    """Return some heads, (g, r, ...), with keys and values in one piece."""
    mask = None if whole.mask is None else whole.mask[index]
    key, value = (
        np.ascontiguousarray(upcast(array[index[:-1]]))
        for array in (whole.key, whole.value)
    )
    return Heads(whole.query[index], key, value, mask, whole.sight)


class Forward(NamedTuple):
    """The output, (..., G, R, L, E), and a row's maximum and sum.

    Where no maximum was subtracted it is 0, where no key was seen -inf.
    """

    output: Array
    row_max: Array
    row_sum: Array


def forward(whole: Heads, dtype: Any) -> Forward:
    """Return the attention of all heads, the output in a dtype."""
    *lead, L, _ = whole.query.shape
    E, wide = whole.value.shape[-1], wide_dtype(whole.query)
    result = Forward(
        np.empty((*lead, L, E), dtype),
        np.empty((*lead, L), wide),
        np.empty((*lead, L), wide),
    )

    def task(rows: slice, index: Index) -> None:
        """Write the output of some queries of some heads."""
        attend(some_of(whole, index), rows, *(a[index] for a in result))

    groups, members = share_out(whole)
    places = [(*group, some) for group in groups for some in members]
    pieces = max(1, -(-4 * THREADS // max(len(places), 1)))
    size = QUERIES * max(1, -(-L // (QUERIES * pieces)))
    # Backwards: under a causal mask the last rows see most.
    chunks = reversed(tiles(0, L, size))
    tasks = [partial(task, *some) for some in product(chunks, places)]
    run(tasks, THREADS)
    return result


def wide_dtype(array: Array) -> Any:
    """Return the compute dtype."""
    return upcast(array[:0]).dtype


def share_out(whole: Heads) -> tuple[list[Index], list[slice]]:
    """Return slices of groups and of heads in each, for one task each.

    Small heads share a task, as many as fill a tile, but not so many that
    a thread has no task.
    """
    *batch, G, R, L, _ = whole.query.shape
    area = min(L, QUERIES) * min(whole.key.shape[-2], KEYS)
    heads_in_all = math.prod((*batch, G, R))
    alone = heads_in_all * L * whole.key.shape[-2] < SHARED
    most = -(-heads_in_all // (1 if alone else THREADS))
    together = max(1, min(QUERIES * KEYS // max(area, 1), most))
    groups = tiles(0, G, max(1, together // max(R, 1)))
    places = [(*i, some) for i in np.ndindex(*batch) for some in groups]
    return places, tiles(0, R, together)


def attend(
    share: Heads,
    rows: slice,
    output: Array,
    row_max: Array,
    row_sum: Array,
) -> None:
    """Write the output of some of the queries."""
    steepness = steepness_of(share, share.query[..., rows, :], share.value)
    for some in tiles(rows.start, rows.stop, QUERIES):
        top, total, gathered = row_of_tiles(share, some, steepness)
        row_max[..., some] = top[..., 0, :]
        row_sum[..., some] = total[..., 0, :]
        divisor = np.where(total == 0, 1.0, total).mT
        part = output[..., some, :]
        np.divide(gathered.mT, divisor, out=part, casting="same_kind")


def steepness_of(share: Heads, query: Array, *others: Array) -> Steepness:
    """Return the factors, by what the norms prove of the scores."""
    scale, sight = scale_of(query, share.sight.options.scale), share.sight
    floating = share.mask is not None and not is_boolean(share.mask)
    *_, L, D = query.shape
    S = share.key.shape[-2]
    pays = L * S >= WORTH * (L + S) * D
    if (
        pays
        and sight.options.soft_cap is None
        and not floating
        and abs(scale) <= 1
    ):
        steepest = abs(scale) * math.log2(math.e)
        for array in (query, share.key):
            steepest *= longest(array)
        if steepest <= STEEPEST and all(map(is_moderate, others)):
            return Steepness(scale * math.log2(math.e), 1.0, True)
    if abs(scale) <= 1:
        return Steepness(scale, 1.0, False)
    return Steepness(1.0, scale, False)


def longest(array: Array) -> float:
    """Return the greatest norm of a row; NaN or inf is passed on."""
    wide = upcast(array)
    with np.errstate(over="ignore", invalid="ignore"):
        squares = np.vecdot(wide, wide)
    return math.sqrt(float(np.max(squares, initial=0.0)))


def is_moderate(array: Array) -> bool:
    """Return whether all numbers are 0 or far from the ends of float32."""
    size = np.abs(array)
    if not np.max(size, initial=0.0) <= LARGEST:
        return False
    if np.min(size, initial=LARGEST) >= 1 / LARGEST:
        return True
    return not np.any((size < 1 / LARGEST) & (size > 0))


def row_of_tiles(
    share: Heads, rows: slice, steepness: Steepness
) -> tuple[Array, Array, Array]:
    """Return a row's maximum, its sum and the sum of its values.

    They are (g, r, 1, n), (g, r, 1, n) and (g, r, E, n): transposed, like
    the scores.
    """
    E = share.value.shape[-1]
    lead, n = share.query.shape[:-2], rows.stop - rows.start
    query = transposed(share.query[..., rows, :], steepness.before)
    top = np.full((*lead, 1, n), -np.inf, query.dtype)
    total = np.zeros((*lead, 1, n), query.dtype)
    gathered, added = (
        buffer_for(name, (*lead, E, n), query.dtype)
        for name in ("gathered", "added")
    )
    ones = np.ones((1, KEYS), query.dtype)
    first = True
    all_columns = tiles_in_sight(share.sight, rows, share.key.shape[-2], KEYS)
    for columns in all_columns:
        if not in_sight(share, rows, columns):
            continue
        m = columns.stop - columns.start
        scores = buffer_for("scores", (*lead, m, n), query.dtype)
        write_scores(share, query, columns, steepness, scores)
        hide(share, rows, columns, scores)
        if not steepness.of_two:
            higher = np.maximum(top, np.max(scores, axis=-2, keepdims=True))
            factor = np.exp(top - finite(higher))
            total *= factor
            if not first:
                gathered *= factor
            top = higher
        write_exponentials(scores, top, steepness)
        # A product with ones is BLAS's sum, and the faster one.
        total += ones[:, :m] @ scores
        values = share.value[..., columns, :]
        write_values(values, scores, gathered if first else added)
        if not first:
            gathered += added
        first = False
    if first:
        gathered.fill(0)
    if steepness.of_two:
        top[total > 0] = 0.0
    return top, total, gathered


def log_sum_exp(result: Forward) -> Array:
    """Return log Σ exp of each row's scores, -inf where no key was seen."""
    empty = result.row_sum == 0
    logs = np.log(np.where(empty, 1.0, result.row_sum))
    return np.where(empty, -np.inf, result.row_max + logs)


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

    The arguments are those of `flash.flash_attention_backward`, and so is
    what is raised.
    """
    sight = make_visibility(query, key, value, options, align)
    whole = grouped(query, key, value, sight)
    *lead, L, _ = whole.query.shape
    rows = np.broadcast_to(np.zeros((), wide_dtype(query)), (*lead, L))
    shape = scores_shape(query, key, value)[:-1]
    zero = np.zeros((), query.dtype)
    output = np.broadcast_to(zero, (*shape, value.shape[-1]))
    like = Partial(output, np.reshape(rows, shape))
    check_arguments_backward(d_output, d_log_sum_exp, like, Options())
    d_output = np.reshape(d_output, (*rows.shape, value.shape[-1]))
    d_lse = rows if d_log_sum_exp is None else d_log_sum_exp
    parts = backward(whole, d_output, np.reshape(d_lse, rows.shape))
    return FlashGradients(
        ungrouped(np.reshape(parts.query, (*shape, query.shape[-1])), query),
        ungrouped(parts.key[..., 0, :, :], key),
        ungrouped(parts.value[..., 0, :, :], value),
    )


def ungrouped(gradient: Array, like: Array) -> Array:
    """Return a gradient in the shape and dtype of what it belongs to."""
    if gradient.shape != like.shape:
        gradient = broadcast_backward(gradient, like.shape)
    return cast(gradient, like)


def backward(whole: Heads, d_output: Array, d_lse: Array) -> FlashGradients:
    """Return the gradients of grouped query, key and value."""
    arrays = (whole.query, whole.key, whole.value)
    result = FlashGradients(
        *(np.zeros(array.shape, wide_dtype(array)) for array in arrays)
    )

    def task(group: Index, members: list[slice]) -> None:
        """Add up the gradients of all heads of a group."""
        for some in members:
            index = (*group, some)
            add_gradients(
                some_of(whole, index),
                upcast(d_output[index]),
                d_lse[index],
                result.query[index],
                result.key[group],
                result.value[group],
            )
        scale = scale_of(whole.query, whole.sight.options.scale)
        result.query[group] *= scale
        result.key[group] *= scale

    groups, members = share_out(whole)
    run([partial(task, group, members) for group in groups], THREADS)
    return result


def add_gradients(
    share: Heads,
    d_output: Array,
    d_lse: Array,
    d_query: Array,
    d_key: Array,
    d_value: Array,
) -> None:
    """Add a tile's part to the gradients of query, key and value.

    With exponentials p and a denominator l, P = p / l, and with d = dO / l

        dV = pᵀ d        dS = p ∘ (d Vᵀ - (Σ_e dO_e O_e - d_lse) / l)
    """
    *lead, L, _ = share.query.shape
    S, E = share.value.shape[-2:]
    output = np.empty((*lead, L, E), share.key.dtype)
    top, total = (np.empty((*lead, L), share.key.dtype) for _ in range(2))
    attend(share, slice(0, L), output, top, total)
    total = np.where(total == 0, 1.0, total)
    inner = (np.vecdot(d_output, output) - d_lse) / total
    d = d_output / total[..., None]
    steepness = steepness_of(share, share.query, share.value, d)
    query = np.ascontiguousarray(upcast(share.query))
    columns_of_query = transposed(query, steepness.before)
    for columns in tiles(0, S, KEYS):
        keys, values = share.key[..., columns, :], share.value[..., columns, :]
        for rows in tiles(0, L, QUERIES):
            if not in_sight(share, rows, columns):
                continue
            shape = (
                *lead,
                columns.stop - columns.start,
                rows.stop - rows.start,
            )
            exponentials, d_scores = (
                buffer_for(name, shape, query.dtype)
                for name in ("scores", "d_scores")
            )
            some = columns_of_query[..., rows]
            write_scores(share, some, columns, steepness, exponentials)
            slope = slope_of_cap(share, exponentials)
            hide(share, rows, columns, exponentials)
            write_exponentials(exponentials, top[..., None, rows], steepness)
            back = d[..., rows, :]
            d_value[..., columns, :] += over_group(exponentials @ back)
            np.matmul(values, back.mT, out=d_scores)
            d_scores -= inner[..., None, rows]
            d_scores *= exponentials
            if slope is not None:
                d_scores *= slope
            d_query[..., rows, :] += d_scores.mT @ keys
            d_key[..., columns, :] += over_group(
                d_scores @ query[..., rows, :]
            )


def over_group(gradient: Array) -> Array:
    """Return the sum over the heads of a group: (g, r, ...) to (g, 1, ...)."""
    if gradient.shape[-3] == 1:
        return gradient
    summed: Array = np.sum(gradient, axis=-3, keepdims=True)
    return summed
