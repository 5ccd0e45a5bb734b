"""The table of cases, as data and nothing else.

A case is a row of this table: shapes, a dtype, how the numbers are drawn, a
mask, and the options of scaled_dot_product_attention. The
expected results are not here: the judges compute them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .draw import Shape
from .recipe import KEY, QUERY, VALUE, B, Case, D, E, G, H, L, Mask, S


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
    yield from options_by_rank()
    yield from options_by_dtype()
    yield from options_in_groups()
    yield from biases_of_float64()
    yield from many_keys_and_none()
    yield from equal_sizes()
    yield from dropout_masks()


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

    Mask, bias and lengths are one argument, attn_mask: boolean without a
    bias, floating with one.
    """
    parts = ("mask", "bias", "causal", "window", "lengths", "cap")
    for flags in itertools.product((False, True), repeat=len(parts)):
        pairs = zip(parts, flags, strict=True)
        yield subset([part for part, flag in pairs if flag])


def windows() -> Iterator[Case]:
    """Yield windows with extreme radii."""
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
    """Yield extreme and special scales."""
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
    """Yield scores that are huge, tiny, far apart, equal, or ±0."""
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
    """Yield extreme probabilities, with the dropout mask given."""
    for dropout_p in (0.1, 0.5, 0.75, 1.0):
        yield Case(f"dropout {dropout_p}", dropout_p=dropout_p)
    yield Case(
        "dropout, masked, causal, a dead row",
        dropout_p=0.25,
        is_causal=True,
        mask=Mask("bool", (B, 1, L, S), dead="row"),
    )


def options_by_rank() -> Iterator[Case]:
    """Yield options and masks at every rank."""
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


def options_by_dtype() -> Iterator[Case]:
    """Yield options in every dtype, with D that is no power of 2."""
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


def options_in_groups() -> Iterator[Case]:
    """Yield scales and caps with grouped heads, and causal."""
    few = ((B, H, L, D), (B, G, S, D), (B, G, S, E))
    grouped = Case("groups", *few, enable_gqa=True)
    yield replace(grouped, name="groups, scale 0.3", scale=0.3)
    yield replace(grouped, name="groups, cap 0.7", soft_cap=0.7)
    yield replace(
        grouped, name="groups, scale -2.0, causal", scale=-2.0, is_causal=True
    )
    yield Case("scale 0, causal", scale=0.0, is_causal=True)


def biases_of_float64() -> Iterator[Case]:
    """Yield biases of float64, to arguments of float64 and of float32."""
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


def many_keys_and_none() -> Iterator[Case]:
    """Yield keys of several tiles, and options where L or S is 0."""
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


def equal_sizes() -> Iterator[Case]:
    """Yield equal sizes, where one axis can be mistaken for another."""
    square = ((L, 3, L, D), (L, 3, L, D), (L, 3, L, E))
    masks: tuple[Shape, ...] = ((L, L), (L,), (3, L, L))
    for shape in masks:
        yield Case(
            f"B = L = S, mask {shape}", *square, mask=Mask("bool", shape)
        )
        yield Case(
            f"B = L = S, bias {shape}", *square, mask=Mask("float", shape)
        )
        yield Case(f"B = L = S, keep {shape}", *square, dropout_mask=shape)
    even = ((3, 3, L, D), (3, 3, S, D), (3, 3, S, E))
    yield Case("B = H, bool mask", *even, mask=Mask("bool", (3, L, S)))
    yield Case("B = H, bias", *even, mask=Mask("float", (3, 1, S)))
    yield Case("B = H, keep", *even, dropout_mask=(3, L, S), dropout_p=0.3)
    yield Case("B = H, keep by key", *even, dropout_mask=(3, 1, S))


def dropout_masks() -> Iterator[Case]:
    """Yield dropout masks of fewer axes, each by its own pattern of size 1."""
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
                f"keep {shape}, p {dropout_p}",
                dropout_p=dropout_p,
                dropout_mask=shape,
            )


def broadcasts() -> Iterator[Case]:
    """Yield axes that only one or two of query, key and value have."""
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
