"""A tile of scores of `fast`, keys × queries, in memory that it keeps.

The next tile is written over it.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from .arrays import Array, Mask, cast, is_boolean
from .fast_threads import buffer_for
from .flash import Visibility, is_empty
from .sdpa import upcast
from .softmax import finite

# Terms of a sum that are added one after the other.
SUMMED = 128


class Heads(NamedTuple):
    """Query heads in groups, each group with its key and value.

    query (..., G, R, L, D), key (..., G, 1, S, D), value (..., G, 1, S, E),
    and a mask, if any, that broadcasts to (..., G, R, L, S).
    """

    query: Array
    key: Array
    value: Array
    mask: Array | Mask | None
    sight: Visibility


class Steepness(NamedTuple):
    """The factors of query and of the scores, for exp2 or for exp.

    With exp2 no maximum is subtracted.
    """

    before: float
    after: float
    of_two: bool


def write_values(values: Array, exponentials: Array, out: Array) -> None:
    """Write Vᵀ p, (g, r, E, n).

    A product of matrices adds up its terms one after the other. Sums of
    SUMMED terms, and then the sum of these, have fewer roundings.
    """
    *lead, m, n = exponentials.shape
    blocks, E = m // SUMMED, values.shape[-1]
    if blocks < 2:
        np.matmul(values.mT, exponentials, out=out)
        return
    cut = blocks * SUMMED
    shape = (*values.shape[:-2], blocks, SUMMED, E)
    some = np.reshape(values[..., :cut, :], shape).mT
    of_each = np.reshape(
        exponentials[..., :cut, :], (*lead, blocks, SUMMED, n)
    )
    sums = buffer_for("sums", (*lead, blocks, E, n), exponentials.dtype)
    np.matmul(some, of_each, out=sums)
    np.add.reduce(sums, axis=-3, out=out)
    if cut < m:
        out += values[..., cut:, :].mT @ exponentials[..., cut:, :]


def transposed(query: Array, factor: float) -> Array:
    """Return rows as columns, times a factor: (..., n, D) to (..., D, n)."""
    wide = upcast(query)
    result = buffer_for("query", wide.mT.shape, wide.dtype)
    return np.multiply(wide.mT, wide.dtype.type(factor), out=result)


def in_sight(share: Heads, rows: slice, columns: slice) -> bool:
    """Return whether some of the queries see some of the keys."""
    mask = None if share.mask is None else share.mask[..., rows, columns]
    return not is_empty(share.sight, mask, rows, columns)


def write_scores(
    share: Heads,
    query: Array,
    columns: slice,
    steepness: Steepness,
    scores: Array,
) -> None:
    """Write scale · K Qᵀ, capped if there is a cap."""
    np.matmul(share.key[..., columns, :], query, out=scores)
    if steepness.after != 1.0:
        scores *= steepness.after
    if share.sight.options.soft_cap is not None:
        cap = float(share.sight.options.soft_cap)
        scores /= cap
        np.tanh(scores, out=scores)
        scores *= cap


def hide(share: Heads, rows: slice, columns: slice, scores: Array) -> None:
    """Set the scores of keys that may not be seen to -inf."""
    if share.mask is not None:
        mask = share.mask[..., rows, columns].mT
        if is_boolean(mask):
            seen = mask
        else:
            bias = cast(mask, scores)
            scores += bias
            seen = bias != -np.inf
        np.copyto(scores, -np.inf, where=~seen)
    # Only the last keys of a tile can lie too far right of a query, and only
    # the first too far left.
    m, n = columns.stop - columns.start, rows.stop - rows.start
    first, sight = columns.start - rows.start - share.sight.shift, share.sight
    if sight.right is not None:
        cut = min(max(0, sight.right + 1 - first), m)
        hidden = ahead(first + cut - sight.right, m - cut, n)
        np.copyto(scores[..., cut:, :], -np.inf, where=hidden)
    if sight.left is not None:
        cut = min(max(0, n - 1 - sight.left - first), m)
        hidden = behind(first + sight.left, cut, n)
        np.copyto(scores[..., :cut, :], -np.inf, where=hidden)


# Tiles along a diagonal have the same masks, so the last few are kept.
@lru_cache(maxsize=4)
def ahead(first: int, m: int, n: int) -> Mask:
    """Return which of m keys come after each of n queries, (m, n).

    Key 0 comes `first` positions after query 0.
    """
    places: Mask = first + np.arange(m)[:, None] > np.arange(n)
    return places


@lru_cache(maxsize=4)
def behind(first: int, m: int, n: int) -> Mask:
    """Return which of m keys come before each of n queries, (m, n)."""
    places: Mask = first + np.arange(m)[:, None] < np.arange(n)
    return places


def write_exponentials(
    scores: Array, top: Array, steepness: Steepness
) -> None:
    """Write the exponentials of scores, for exp less their row's maximum."""
    if steepness.of_two:
        np.exp2(scores, out=scores)
    else:
        scores -= finite(top)
        np.exp(scores, out=scores)


def slope_of_cap(share: Heads, capped_scores: Array) -> Array | None:
    """Return dC/dS = 1 - (C / cap)², None where there is no cap."""
    if share.sight.options.soft_cap is None:
        return None
    tanh = capped_scores / float(share.sight.options.soft_cap)
    slope: Array = 1 - tanh * tanh
    return slope
