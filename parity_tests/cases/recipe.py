"""A case: how one is written down, and how its arrays are drawn.

`build` draws the arrays from the case's own name, so that a case is the same
in every process and no seed can be chosen for it. A case that is renamed
gets other numbers.

Sizes are all different wherever they can be: B 2, H 6, G 3, L 5, S 7, D 4,
E 3. With equal sizes, a single head or a gradient of ones most mistakes
cannot be seen.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import gmpy2
import numpy as np

from numpy_impl.arguments import Options

from .draw import Array, Drawn, Shape, filled, rounded

B, H, G, L, S, D, E = 2, 6, 3, 5, 7, 4, 3


QUERY, KEY, VALUE = (B, H, L, D), (B, H, S, D), (B, H, S, E)


@dataclass(frozen=True)
class Mask:
    """How a mask is drawn.

    `fill` is the entry of a floating mask where a key is masked; a boolean
    mask has False there. `share` is the share of entries that are masked.
    `dead` says which rows may see no key: "row" one row, "head" those of
    one head, "all" every row. With `lengths` the last keys of each sequence
    are masked too, more of them for each further sequence.
    """

    kind: str
    shape: Shape
    fill: float = -np.inf
    dead: str = ""
    share: float = 0.4
    lengths: bool = False


@dataclass(frozen=True)
class Case:
    """One row of the table."""

    name: str
    query: Shape = QUERY
    key: Shape = KEY
    value: Shape = VALUE
    dtype: str = "float32"
    fill: str = "normal"
    mask: Mask | None = None
    dropout_p: float = 0.0
    is_causal: bool = False
    scale: float | None = None
    enable_gqa: bool = False
    window: tuple[int, int] | None = None
    soft_cap: float | None = None
    dropout_mask: Shape | None = None
    gradient: bool = True

    def __str__(self) -> str:
        """Return the name."""
        return self.name


@dataclass(frozen=True, eq=False)
class Inputs:
    """The arrays and options of a case, and the sizes of its axes."""

    query: Array
    key: Array
    value: Array
    options: Options
    d_output: Array
    d_log_sum_exp: Array
    batch: Shape
    heads: int

    @property
    def L(self) -> int:
        """Return the number of queries."""
        return int(self.query.shape[-2])

    @property
    def S(self) -> int:
        """Return the number of keys."""
        return int(self.key.shape[-2])

    @property
    def E(self) -> int:
        """Return the dimension of value."""
        return int(self.value.shape[-1])

    def without_heads(self, array: Array) -> Array:
        """Return a tensor of (1, ...) without its axis, if none has heads."""
        ranks = (self.query.ndim, self.key.ndim, self.value.ndim)
        return array if max(ranks) > 2 else array[0]

    def exact_scale(self) -> Any:
        """Return the scale in high precision."""
        if self.options.scale is not None:
            return gmpy2.mpfr(self.options.scale)
        width = self.query.shape[-1]
        return 1 / gmpy2.sqrt(width) if width else gmpy2.mpfr(1)

    def exact_growth(self) -> Any:
        """Return the factor of a kept weight, 1 / (1 - p)."""
        return 1 / (1 - gmpy2.mpfr(self.options.dropout_p))

    def keeps(self, index: Sequence[int]) -> bool:
        """Return whether dropout keeps a weight: (..., h, i, j)."""
        if self.options.dropout_p == 1:
            return False
        if self.options.dropout_mask is None:
            return True
        inner = index[len(index) - self.options.dropout_mask.ndim :]
        place = zip(inner, self.options.dropout_mask.shape, strict=True)
        return bool(
            self.options.dropout_mask[
                tuple(0 if n == 1 else i for i, n in place)
            ]
        )

    def with_options(self, **changes: Any) -> Inputs:
        """Return the same arrays with other options."""
        return replace(self, options=self.options._replace(**changes))


@cache
def build(case: Case) -> Inputs:
    """Draw the arrays of a case; they are read-only."""
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    batch = np.broadcast_shapes(
        case.query[:-3], case.key[:-3], case.value[:-3]
    )
    heads = case.query[-3] if len(case.query) > 2 else 1
    draw = rng.standard_normal
    normal = Drawn(
        draw(case.query), draw(case.key), draw(case.value), case.dtype
    )
    query, key, value = filled(normal, case.fill)
    rank = max(len(case.query), len(case.key), len(case.value))
    middle = (heads,) if rank > 2 else ()
    table = (*batch, *middle, case.query[-2], case.key[-2])
    dropout_mask = None
    if case.dropout_p > 0 or case.dropout_mask is not None:
        drawn = rng.random(
            table if case.dropout_mask is None else case.dropout_mask
        )
        dropout_mask = np.asarray(drawn >= max(case.dropout_p, 0.3))
    attn_mask = draw_mask(case, rng)
    d_output = rng.standard_normal((*table[:-1], case.value[-1]))
    d_log_sum_exp = rng.standard_normal(table[:-1])
    d_output = rounded(d_output, case.dtype)
    # The log-sum-exp and its gradient stay in the compute dtype.
    half = case.dtype in ("float16", "bfloat16")
    wide = "float32" if half else case.dtype
    d_log_sum_exp = rounded(d_log_sum_exp, wide)
    for array in (query, key, value, attn_mask, dropout_mask, d_output):
        if array is not None:
            array.flags.writeable = False
    options = Options(
        attn_mask,
        case.dropout_p,
        case.is_causal,
        case.scale,
        case.enable_gqa,
        case.window,
        case.soft_cap,
        dropout_mask,
    )
    return Inputs(
        query=query,
        key=key,
        value=value,
        options=options,
        d_output=d_output,
        d_log_sum_exp=d_log_sum_exp,
        batch=tuple(batch),
        heads=heads,
    )


def draw_mask(case: Case, rng: np.random.Generator) -> Array | None:
    """Draw the mask of a case by its recipe."""
    recipe = case.mask
    if recipe is None:
        return None
    forbidden = np.asarray(rng.random(recipe.shape) < recipe.share)
    dead = np.zeros(recipe.shape, dtype=bool)
    if recipe.dead == "row":
        dead[..., 1, :] = True
    elif recipe.dead == "head":
        dead[..., 1, :, :] = True
    elif recipe.dead == "all":
        dead[...] = True
    elif recipe.shape and recipe.shape[-1] > 1:
        # Without `dead`, every row that is drawn sees its first key.
        forbidden[..., 0] = False
    forbidden = forbidden | dead
    if recipe.lengths:
        ends = S - 3 - np.arange(B)[:, None, None, None]
        forbidden = forbidden | (np.arange(S) >= ends)
    if recipe.kind.endswith("poison"):
        forbidden = np.zeros(recipe.shape, dtype=bool)
        forbidden[..., [1, 4]] = True
    if recipe.kind in ("bool", "poison"):
        return np.asarray(~forbidden)
    bias = rng.standard_normal(recipe.shape)
    filled = np.where(forbidden, recipe.fill, bias)
    dtype = "float64" if recipe.kind == "float64" else case.dtype
    return rounded(filled, dtype)
