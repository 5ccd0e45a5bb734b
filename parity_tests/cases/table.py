"""The cases: what attention is tried on, as data and nothing else.

A case is a row of the table below: shapes, a dtype, how the numbers are
drawn, a mask, and the options of scaled_dot_product_attention. `build` draws
its arrays from the case's own name, so that a case is the same in every
process and no seed can be chosen for it. Nothing here says what must come
out.

Sizes are all different wherever they can be: B 2, H 6, G 3, L 5, S 7, D 4,
E 3. With equal sizes, one head and a gradient of ones most mistakes are
invisible.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import mpmath
import numpy as np
from numpy.typing import NDArray

Shape = tuple[int, ...]
Array = NDArray[Any]

B, H, G, L, S, D, E = 2, 6, 3, 5, 7, 4, 3
QUERY, KEY, VALUE = (B, H, L, D), (B, H, S, D), (B, H, S, E)


@dataclass(frozen=True)
class Mask:
    """How a mask is drawn.

    `fill` is what stands at the forbidden places of a floating mask; a
    boolean mask has False there. `share` is how many places are forbidden.
    `dead` lists rows with nothing to see: "row" one, "head" one head's,
    "all" every row. With `lengths`, the last keys of each sequence are
    forbidden too, more of them for each further sequence.
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
    keep: Shape | None = None
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
    attn_mask: Array | None
    dropout_p: float
    is_causal: bool
    scale: float | None
    enable_gqa: bool
    window: tuple[int, int] | None
    soft_cap: float | None
    keep: Array | None
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
        """Return the width of value."""
        return int(self.value.shape[-1])

    def without_heads(self, array: Array) -> Array:
        """Return a tensor of (1, ...) without its axis, if none has heads."""
        ranks = (self.query.ndim, self.key.ndim, self.value.ndim)
        return array if max(ranks) > 2 else array[0]

    def exact_scale(self) -> Any:
        """Return the scale in mpmath's precision."""
        if self.scale is not None:
            return mpmath.mpf(self.scale)
        width = self.query.shape[-1]
        return 1 / mpmath.sqrt(width) if width else mpmath.mpf(1)

    def exact_growth(self) -> Any:
        """Return what a kept weight is multiplied by."""
        return 1 / (1 - mpmath.mpf(self.dropout_p))

    def keeps(self, index: Sequence[int]) -> bool:
        """Return whether dropout keeps a weight: (..., h, i, j)."""
        if self.dropout_p == 1:
            return False
        if self.keep is None:
            return True
        own = index[len(index) - self.keep.ndim :]
        place = zip(own, self.keep.shape, strict=True)
        return bool(self.keep[tuple(0 if n == 1 else i for i, n in place)])

    def options(self) -> dict[str, Any]:
        """Return the arguments besides query, key and value."""
        names = ("attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa")
        more = ("window", "soft_cap", "keep")
        return {name: getattr(self, name) for name in (*names, *more)}


@cache
def build(case: Case) -> Inputs:
    """Draw the arrays of a case; they are read-only."""
    rng = np.random.default_rng(zlib.crc32(case.name.encode()))
    batch = np.broadcast_shapes(
        case.query[:-3], case.key[:-3], case.value[:-3]
    )
    heads = case.query[-3] if len(case.query) > 2 else 1
    query, key, value = draw_arrays(case, rng)
    rank = max(len(case.query), len(case.key), len(case.value))
    middle = (heads,) if rank > 2 else ()
    table = (*batch, *middle, case.query[-2], case.key[-2])
    keep = None
    if case.dropout_p > 0 or case.keep is not None:
        drawn = rng.random(table if case.keep is None else case.keep)
        keep = np.asarray(drawn >= max(case.dropout_p, 0.3))
    attn_mask = draw_mask(case, rng)
    d_output = rng.standard_normal((*table[:-1], case.value[-1]))
    d_log_sum_exp = rng.standard_normal(table[:-1])
    d_output = rounded(d_output, case.dtype)
    # The log-sum-exp and its gradient stay in the dtype of computation.
    half = case.dtype in ("float16", "bfloat16")
    wide = "float32" if half else case.dtype
    d_log_sum_exp = rounded(d_log_sum_exp, wide)
    for array in (query, key, value, attn_mask, keep, d_output):
        if array is not None:
            array.flags.writeable = False
    return Inputs(
        query=query,
        key=key,
        value=value,
        attn_mask=attn_mask,
        keep=keep,
        d_output=d_output,
        d_log_sum_exp=d_log_sum_exp,
        dropout_p=case.dropout_p,
        is_causal=case.is_causal,
        scale=case.scale,
        enable_gqa=case.enable_gqa,
        window=case.window,
        soft_cap=case.soft_cap,
        batch=tuple(batch),
        heads=heads,
    )


def rounded(array: Array, dtype: str) -> Array:
    """Round to a dtype; bfloat16, which NumPy lacks, stays in float32."""
    array = np.asarray(array)
    if dtype != "bfloat16":
        return array.astype(dtype)
    bits = array.astype(np.float32).view(np.uint32)
    # Round half to even on the upper 16 bits.
    bits = bits + 0x7FFF + ((bits >> 16) & 1)
    return (bits & np.uint32(0xFFFF0000)).view(np.float32)


def draw_arrays(case: Case, rng: np.random.Generator) -> list[Array]:
    """Draw query, key and value by the recipe of `case.fill`."""
    query, key, value = (
        rng.standard_normal(shape)
        for shape in (case.query, case.key, case.value)
    )
    if case.fill == "zero scores":
        # The scores vanish, and the output is the weights themselves.
        query = np.zeros(case.query)
        rows, columns = case.value[-2:]
        value = np.broadcast_to(np.eye(rows, columns), case.value).copy()
    elif case.fill.startswith("spread "):
        # The scaled scores have this deviation.
        query = query * float(case.fill.split()[1])
    elif case.fill == "rows apart":
        # Two rows of scores that lie 10⁴ apart, each of them ordinary.
        query = np.sign(query) * 1.0
        key = np.round(4 * key) / 4
        key[..., 0] = 1.0
        query[..., 0] = np.where(np.arange(case.query[-2]) % 2, 1e4, -1e4)
    elif case.fill == "ties":
        key = np.broadcast_to(key[..., :1, :], case.key).copy()
    elif case.fill == "one hot":
        # The greatest score of a row is so far ahead that the rest is 0.
        query = 64 * np.sign(query)
        key = np.sign(key) * (1 + np.arange(case.key[-2])[:, None])
    elif case.fill == "late":
        # The maximum of a row comes late, and the scores rise towards it.
        query = np.abs(query)
        key = np.abs(key) * np.linspace(0, 20, case.key[-2])[:, None]
    elif case.fill == "early":
        query = np.abs(query)
        key = np.abs(key) * np.linspace(300, 0, case.key[-2])[:, None]
    elif case.fill == "large values":
        value = 1e37 * value
    elif case.fill == "large":
        # What the scale makes ordinary is none of float32's before that.
        query, key = 1e19 * query, 1e19 * key
    elif case.fill == "small":
        query, key = 1e15 * query, 1e-37 * key
    elif case.fill == "denormal":
        tiny = float(np.finfo(case.dtype).smallest_subnormal)
        query = np.round(8 * query) * tiny
        value = np.round(8 * value) / 4
    elif case.fill == "minus zero":
        query, value = -0.0 * query, np.round(2 * value) / 2
    elif case.fill == "mean":
        query = np.full(case.query, 40.0)
        key = np.full(case.key, 40.0)
    elif case.fill == "poison":
        # What the mask forbids is not a number, or infinite.
        key[..., 1, :] = np.nan
        key[..., 4, :] = np.inf
    elif case.fill != "normal":
        raise ValueError(f"fill is {case.fill!r}, which draw_arrays lacks")
    return [rounded(array, case.dtype) for array in (query, key, value)]


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


def table() -> Iterator[Case]:
    """Yield every case, axis by axis."""
    yield from ranks()
    yield from lengths_and_widths()
    yield from masks()
    yield from subsets()
    yield from windows()
    yield from scales()
    yield from dtypes()
    yield from magnitudes()
    yield from dropouts()
    yield from crossings()


def ranks() -> Iterator[Case]:
    """Yield cases of rank 2 to 5 and leading axes that broadcast."""
    yield Case("rank 2", (L, D), (S, D), (S, E))
    yield Case("rank 3", (H, L, D), (H, S, D), (H, S, E))
    yield Case("rank 4")
    yield Case("rank 5", (3, 2, 4, L, D), (3, 2, 4, S, D), (3, 2, 4, S, E))
    yield Case("keys of rank 2", key=(S, D), value=(S, E))
    yield Case("keys of rank 3", key=(H, S, D), value=(H, S, E))
    yield Case("one key head", key=(B, 1, S, D), value=(B, 1, S, E))
    yield Case("one value head", value=(B, 1, S, E))
    yield Case("one batch of keys", key=(1, H, S, D), value=(1, H, S, E))
    yield Case(
        "crossed batches",
        (3, 1, 4, L, D),
        (1, 2, 4, S, D),
        (2, 4, S, E),
    )
    yield from broadcasts()
    for groups in (3, 2, 1):
        yield Case(
            f"{groups} groups of heads",
            key=(B, groups, S, D),
            value=(B, groups, S, E),
            enable_gqa=True,
        )
    yield Case(
        "groups without a batch",
        (H, L, D),
        (G, S, D),
        (G, S, E),
        enable_gqa=True,
        mask=Mask("float", (H, L, S)),
    )


def lengths_and_widths() -> Iterator[Case]:
    """Yield cases for L and S, D and E, at 0, 1, odd, different."""
    for rows, keys in ((7, 5), (5, 5), (1, 7), (7, 1), (1, 1), (5, 8)):
        for is_causal in (False, True):
            yield Case(
                f"L {rows}, S {keys}{', causal' * is_causal}",
                (B, 3, rows, D),
                (B, 3, keys, D),
                (B, 3, keys, E),
                is_causal=is_causal,
            )
    for width, out in ((1, 3), (3, 1), (7, 5), (1, 1), (0, 3), (5, 5)):
        yield Case(
            f"D {width}, E {out}",
            (B, 3, L, width),
            (B, 3, S, width),
            (B, 3, S, out),
        )
    yield Case("long", (2, 3, D), (2, 70, D), (2, 70, E))
    yield Case("two tiles of keys", (2, 2), (600, 2), (600, 1))
    yield Case("wide", (2, L, 65), (2, S, 65), (2, S, 33))
    yield Case("S 0", key=(B, H, 0, D), value=(B, H, 0, E))
    yield Case("L 0", (B, H, 0, D))
    yield Case("B 0", (0, H, L, D), (0, H, S, D), (0, H, S, E))
    yield Case("H 0", (B, 0, L, D), (B, 0, S, D), (B, 0, S, E))
    yield Case("E 0", value=(B, H, S, 0))
    yield Case("L 0, S 0", (B, H, 0, D), (B, H, 0, D), (B, H, 0, E))


def masks() -> Iterator[Case]:
    """Yield masks by kind, by rank, by every pattern of size 1, by fill."""
    sizes = (B, 3, L, S)
    arrays = ((B, 3, L, D), (B, 3, S, D), (B, 3, S, E))
    for kind in ("bool", "float"):
        for rank in range(5):
            for ones in itertools.product((False, True), repeat=rank):
                pairs = zip(sizes[4 - rank :], ones, strict=True)
                shape = tuple(1 if one else size for size, one in pairs)
                # A boolean mask of one key forbids whole rows or none.
                rows = kind == "bool" and rank > 0 and shape[-1] == 1
                yield Case(
                    f"{kind} mask {shape}",
                    *arrays,
                    mask=Mask(kind, shape, share=0.5 if rows else 0.4),
                    # Only a floating mask has a gradient of its own.
                    gradient=kind == "float" or rank in (1, 4),
                )
    square = ((3, 3, L, D), (3, 3, S, D), (3, 3, S, E))
    for kind in ("bool", "float"):
        yield Case(f"{kind} mask, B = H", *square, mask=Mask(kind, (3, L, S)))
        for dead in ("row", "head", "all"):
            yield Case(
                f"{kind} mask, dead {dead}",
                mask=Mask(kind, (H, L, S), dead=dead),
            )
            yield Case(
                f"{kind} mask, dead {dead}, in groups",
                key=(B, G, S, D),
                value=(B, G, S, E),
                enable_gqa=True,
                mask=Mask(kind, (B, H, L, S), dead=dead),
            )
    for fill in (-1e4, float(np.finfo(np.float32).min)):
        yield Case(
            f"mask filled with {fill:.3g}",
            mask=Mask("float", (L, S), fill=fill),
        )
    yield Case("mask of float64", mask=Mask("float64", (L, S)))
    for fill, name in ((np.inf, "+inf"), (np.nan, "nan")):
        yield Case(
            f"mask with {name}",
            mask=Mask("float", (L, S), fill=fill, share=0.1),
            gradient=False,
        )
    yield Case(
        "poison behind a bool mask",
        fill="poison",
        mask=Mask("poison", (S,)),
        gradient=False,
    )
    yield Case(
        "poison behind a mask of -inf",
        fill="poison",
        mask=Mask("float poison", (L, S)),
        gradient=False,
    )


def subsets() -> Iterator[Case]:
    """Yield every subset of mask, bias, causal, window, lengths, soft cap.

    What a mask forbids, a bias adds and the lengths cut off is one argument:
    boolean without a bias, floating with one.
    """
    parts = ("mask", "bias", "causal", "window", "lengths", "cap")
    for flags in itertools.product((False, True), repeat=len(parts)):
        pairs = zip(parts, flags, strict=True)
        yield subset([part for part, flag in pairs if flag])


def windows() -> Iterator[Case]:
    """Yield windows at their corners."""
    yield Case(
        "window beyond the keys",
        (B, 3, 7, D),
        (B, 3, 4, D),
        (B, 3, 4, E),
        window=(5, -1),
    )
    for window in ((0, 0), (-1, 0), (0, -1), (2, -1), (9, 9), (-1, -1)):
        yield Case(f"window {window}", window=window)
    yield Case(
        "window, more queries than keys",
        (B, 3, 7, D),
        (B, 3, 4, D),
        (B, 3, 4, E),
        window=(1, 0),
    )


def subset(parts: Sequence[str]) -> Case:
    """Return the case with these constraints and no others."""
    mask = None
    if {"mask", "bias", "lengths"} & set(parts):
        shape: Shape = (B, H, L, S) if "lengths" in parts else (H, L, S)
        mask = Mask(
            "float" if "bias" in parts else "bool",
            shape,
            share=0.4 if "mask" in parts else 0.0,
            lengths="lengths" in parts,
        )
    return Case(
        " + ".join(parts) or "nothing",
        key=(B, G, S, D),
        value=(B, G, S, E),
        enable_gqa=True,
        mask=mask,
        is_causal="causal" in parts,
        window=(1, 2) if "window" in parts else None,
        soft_cap=0.7 if "cap" in parts else None,
    )


def scales() -> Iterator[Case]:
    """Yield scales at their corners."""
    for scale in (0.0, -1.0, 0.3, 2.5, 1e-30, 1):
        yield Case(f"scale {scale}", scale=scale)
    yield Case("scale 300", fill="spread 0.01", scale=300.0)
    yield Case("scale nan", scale=float("nan"), gradient=False)


def dtypes() -> Iterator[Case]:
    """Yield the same few cases in every dtype."""
    few = [
        Case("plain"),
        Case("causal", is_causal=True),
        Case(
            "float mask, dead row", mask=Mask("float", (H, L, S), dead="row")
        ),
        Case(
            "everything",
            key=(B, G, S, D),
            value=(B, G, S, E),
            enable_gqa=True,
            mask=Mask("float", (H, 1, S)),
            is_causal=True,
            soft_cap=1.5,
            window=(2, 1),
            dropout_p=0.5,
        ),
        Case("spread 30", fill="spread 30"),
    ]
    for dtype in ("float64", "float32", "float16", "bfloat16"):
        for case in few:
            yield replace(case, name=f"{dtype} {case.name}", dtype=dtype)


def magnitudes() -> Iterator[Case]:
    """Yield scores that are huge, tiny, far apart, equal, of no sign."""
    for dtype in ("float32", "float64"):
        yield Case(f"{dtype} denormal", fill="denormal", dtype=dtype)
    yield Case("float16 beyond its range", fill="mean", dtype="float16")
    yield Case("rows apart", fill="rows apart", scale=1.0, dtype="float64")
    yield Case("ties", fill="ties")
    yield Case("one hot", fill="one hot")
    yield Case("minus zero", fill="minus zero", is_causal=True)
    yield Case("spread 100", fill="spread 100")
    yield Case("float64 spread 10000", fill="spread 10000", dtype="float64")


def dropouts() -> Iterator[Case]:
    """Yield probabilities at their corners, with the kept weights given."""
    for dropout_p in (0.1, 0.5, 0.75, 1.0):
        yield Case(f"dropout {dropout_p}", dropout_p=dropout_p)
    yield Case(
        "dropout, masked, causal, a dead row",
        dropout_p=0.25,
        is_causal=True,
        mask=Mask("bool", (B, 1, L, S), dead="row"),
    )


def crossings() -> Iterator[Case]:
    """Yield options and shapes that other axes have one at a time."""
    flat = ((H, L, D), (H, S, D), (H, S, E))
    yield Case("rank 3, window", *flat, window=(1, 1))
    yield Case("rank 3, bool mask", *flat, mask=Mask("bool", (H, L, S)))
    yield Case("rank 3, cap, scale", *flat, soft_cap=0.7, scale=0.3)
    yield Case("rank 2, cap", (L, D), (S, D), (S, E), soft_cap=0.7)
    groups = ((3, 2, 4, L, D), (3, 2, 2, S, D), (3, 2, 2, S, E))
    yield Case("rank 5, groups", *groups, enable_gqa=True)
    yield Case(
        "rank 5, groups, causal, masked",
        *groups,
        enable_gqa=True,
        is_causal=True,
        mask=Mask("float", (4, L, S)),
    )
    yield Case("query of rank 3", (H, L, D), mask=Mask("bool", (L, S)))
    low = ((L, D), (B, 1, S, D), (B, 1, S, E))
    yield Case("query of rank 2", *low)
    yield Case(
        "query of rank 2, bool mask", *low, mask=Mask("bool", (B, 1, L, S))
    )
    yield Case("query of rank 2, bias", *low, mask=Mask("float", (B, 1, L, S)))
    yield Case("query of rank 2, causal", *low, is_causal=True)
    yield Case("query of rank 2, dropped", *low, dropout_p=0.3)
    yield Case("query of rank 2, one head", (L, D), (1, S, D), (1, S, E))
    yield Case("value of rank 3 alone", (L, D), (S, D), (1, S, E))
    yield Case("query of batch 1", (1, H, L, D), is_causal=True)
    yield Case(
        "masks by batch of keys", (1, H, L, D), mask=Mask("bool", (B, 1, L, S))
    )
    options: list[dict[str, Any]] = [
        {"scale": 0.3},
        {"soft_cap": 0.7},
        {"dropout_p": 0.1},
    ]
    for parts in options:
        name = ", ".join(f"{part} {value}" for part, value in parts.items())
        odd = ((B, 3, L, 7), (B, 3, S, 7), (B, 3, S, E))
        whole = Case(f"float64, D 7, {name}", *odd, dtype="float64")
        mask = Mask("float", (3, L, S))
        masked = replace(whole, name=f"{whole.name}, masked", mask=mask)
        for case in (whole, replace(masked, is_causal=True)):
            yield replace(case, **parts)
    for dtype in ("float16", "bfloat16"):
        yield Case(
            f"{dtype}, D 7", (B, L, 7), (B, S, 7), (B, S, E), dtype=dtype
        )
        long = ((2, L, D), (2, 257, D), (2, 257, E))
        yield Case(f"{dtype}, S 257", *long, dtype=dtype, gradient=False)
        yield Case(f"{dtype}, window", dtype=dtype, window=(2, 1))
        yield Case(
            f"{dtype}, cap, scale", dtype=dtype, soft_cap=0.7, scale=0.3
        )
        yield Case(
            f"{dtype}, cap, scale, causal, masked",
            dtype=dtype,
            soft_cap=0.7,
            scale=0.3,
            is_causal=True,
            mask=Mask("float", (B, 1, L, S)),
        )
    yield Case(
        "float64, D 7", (B, L, 7), (B, S, 7), (B, S, E), dtype="float64"
    )
    yield Case(
        "float64, D 7, causal",
        (B, 3, L, 7),
        (B, 3, S, 7),
        (B, 3, S, E),
        dtype="float64",
        is_causal=True,
    )
    few = ((B, H, L, D), (B, G, S, D), (B, G, S, E))
    grouped = Case("groups", *few, enable_gqa=True)
    yield replace(grouped, name="groups, scale 0.3", scale=0.3)
    yield replace(grouped, name="groups, cap 0.7", soft_cap=0.7)
    yield replace(
        grouped, name="groups, scale -2.0, causal", scale=-2.0, is_causal=True
    )
    yield Case("scale 0, causal", scale=0.0, is_causal=True)
    biases: tuple[Shape, ...] = (
        (B, H, L, S),
        (B, 1, 1, S),
        (L, S),
        (S,),
        (),
    )
    for shape in biases:
        yield Case(
            f"float64 throughout, bias {shape}",
            dtype="float64",
            mask=Mask("float", shape),
        )
        yield Case(f"bias of float64, {shape}", mask=Mask("float64", shape))
    for keys in (128, 129, 257):
        yield Case(
            f"S {keys}", (2, D), (keys, D), (keys, E), gradient=keys == 129
        )
    for empty in ((B, 3, L, D), (B, 3, 0, D)):
        sizes = (0, 0) if empty[2] else (S, S)
        name = "S 0" if empty[2] else "L 0"
        whole = Case(name, empty, (B, 3, sizes[0], D), (B, 3, sizes[1], E))
        yield replace(whole, name=f"{name}, causal", is_causal=True)
        yield replace(whole, name=f"{name}, window", window=(1, 1))
        yield replace(whole, name=f"{name}, dropout", dropout_p=0.5)
        table = (3, empty[2], sizes[0])
        yield replace(whole, name=f"{name}, masked", mask=Mask("float", table))
        yield Case(
            f"{name}, groups",
            (B, H, empty[2], D),
            (B, G, sizes[0], D),
            (B, G, sizes[1], E),
            enable_gqa=True,
        )
    square = ((L, 3, L, D), (L, 3, L, D), (L, 3, L, E))
    masks: tuple[Shape, ...] = ((L, L), (L,), (3, L, L))
    for shape in masks:
        yield Case(
            f"B = L = S, mask {shape}", *square, mask=Mask("bool", shape)
        )
        yield Case(
            f"B = L = S, bias {shape}", *square, mask=Mask("float", shape)
        )
        yield Case(f"B = L = S, keep {shape}", *square, keep=shape)
    even = ((3, 3, L, D), (3, 3, S, D), (3, 3, S, E))
    yield Case("B = H, bool mask", *even, mask=Mask("bool", (3, L, S)))
    yield Case("B = H, bias", *even, mask=Mask("float", (3, 1, S)))
    yield Case("B = H, keep", *even, keep=(3, L, S), dropout_p=0.3)
    yield Case("B = H, keep by key", *even, keep=(3, 1, S))
    kept: tuple[Shape, ...] = (
        (H, 1, S),
        (H, L, S),
        (B, 1, 1, S),
        (L, 1),
        (1, S),
        (1, 1, S),
        (S,),
    )
    for dropout_p in (0.0, 0.3):
        for shape in kept:
            yield Case(
                f"keep {shape}, p {dropout_p}", dropout_p=dropout_p, keep=shape
            )


def broadcasts() -> Iterator[Case]:
    """Yield axes that one or two of query, key and value alone have."""
    query, key, value = (1, H, L, D), (1, H, S, D), (1, H, S, E)
    table = Mask("bool", (B, 1, L, S), dead="row")
    bias = Mask("float", (B, 1, L, S), dead="row")
    alone: dict[str, tuple[Shape, Shape, Shape]] = {
        "values alone have a batch": (query, key, VALUE),
        "keys alone have a batch": (query, KEY, value),
        "queries alone have a batch": (QUERY, key, value),
    }
    for name, shapes in alone.items():
        yield Case(name, *shapes)
        yield Case(f"{name}, masked", *shapes, mask=table, is_causal=True)
        yield Case(f"{name}, biased", *shapes, mask=bias, soft_cap=0.7)
        yield Case(f"{name}, dropped", *shapes, dropout_p=0.3)
    yield Case("one key head, own values", key=(B, 1, S, D))
    yield Case(
        "one key head, own values, causal", key=(1, S, D), window=(1, 1)
    )
    yield Case(
        "keys of more axes", (H, L, D), (2, 1, H, S, D), (2, 3, H, S, E)
    )
    yield Case(
        "keys of more axes, in groups",
        (H, L, D),
        (B, G, S, D),
        (B, G, S, E),
        enable_gqa=True,
        mask=Mask("float", (B, H, L, S)),
    )
    yield Case(
        "as many groups as heads", enable_gqa=True, mask=Mask("bool", (L, S))
    )
    yield Case("groups, but no heads", (L, D), (S, D), (S, E), enable_gqa=True)
    yield Case(
        "no batch, from a batch of 1",
        (0, H, L, D),
        (1, H, S, D),
        (1, H, S, E),
        mask=Mask("float", (0, 1, L, S)),
    )
    yield Case("no batch of keys", (1, H, L, D), (0, H, S, D), (1, H, S, E))
    yield Case(
        "no keys, in groups of 2, biased",
        (B, H, L, D),
        (B, G, 0, D),
        (B, G, 0, E),
        enable_gqa=True,
        mask=Mask("float", (1, H, L, 0)),
    )
    deep = ((3, 2, 4, L, D), (3, 2, 4, S, D), (3, 2, 4, S, E))
    yield Case("rank 5, causal", *deep, is_causal=True)
    for shape in ((3, 1, 1, L, S), (2, 1, L, 1), (4, 1, S)):
        yield Case(f"rank 5, mask {shape}", *deep, mask=Mask("bool", shape))
        yield Case(f"rank 5, bias {shape}", *deep, mask=Mask("float", shape))


def beyond_the_table() -> Iterator[Case]:
    """Yield what closed forms and tiles check here, for other languages.

    Longer than one tile of any kernel, and larger than float32 on the way.
    """
    yield Case("scale 1e-38", fill="large", scale=1e-38, gradient=False)
    yield Case("scale 1e25", fill="small", scale=1e25, gradient=False)
    late = ((5, 2), (1100, 2), (1100, 2))
    yield Case("late maximum", *late, fill="late", gradient=False)
    yield Case(
        "late maximum, masked",
        *late,
        fill="late",
        mask=Mask("bool", (5, 1100)),
        gradient=False,
    )
    yield Case("early maximum", *late, fill="early", gradient=False)
    yield Case("large values", *late, fill="large values", gradient=False)
    square = ((530, 2), (530, 2), (530, 1))
    yield Case("many tiles, causal", *square, is_causal=True, gradient=False)
    few = replace(Case("few rows"), query=(260, 2), key=(530, 2))
    few = replace(few, value=(530, 1), gradient=False)
    yield replace(few, name="many tiles, window", window=(70, 200))
    for kind in ("bool", "float"):
        yield replace(
            few, name=f"many tiles, {kind}", mask=Mask(kind, (260, 530))
        )


CASES = tuple(table())
GRADIENT = tuple(case for case in CASES if case.gradient)
VECTORS = (*CASES, *beyond_the_table())
BY_NAME = {case.name: case for case in VECTORS}
