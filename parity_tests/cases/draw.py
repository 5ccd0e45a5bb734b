"""How the numbers of query, key and value are drawn, and rounded.

Each of `FILLS` takes arrays of standard normal numbers and changes them:
into huge, tiny or equal ones, or into others that a case needs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Shape = tuple[int, ...]
Array = NDArray[Any]


class Drawn(NamedTuple):
    """Query, key and value in float64, and the dtype they are drawn for."""

    query: Array
    key: Array
    value: Array
    dtype: str


Fill = Callable[[Drawn], Drawn]


def normal(drawn: Drawn) -> Drawn:
    """Return the numbers as they were drawn."""
    return drawn


def zero_scores(drawn: Drawn) -> Drawn:
    """Make every score 0, and the output equal to the weights."""
    identity = np.eye(*drawn.value.shape[-2:])
    value = np.broadcast_to(identity, drawn.value.shape).copy()
    return drawn._replace(query=np.zeros(drawn.query.shape), value=value)


def spread(deviation: float) -> Fill:
    """Make this the standard deviation of the scaled scores."""
    return lambda drawn: drawn._replace(query=drawn.query * deviation)


def rows_apart(drawn: Drawn) -> Drawn:
    """Make two rows of scores 10⁴ apart, with ordinary differences inside."""
    query = np.sign(drawn.query) * 1.0
    key = np.round(4 * drawn.key) / 4
    key[..., 0] = 1.0
    odd = np.arange(query.shape[-2]) % 2
    query[..., 0] = np.where(odd, 1e4, -1e4)
    return drawn._replace(query=query, key=key)


def ties(drawn: Drawn) -> Drawn:
    """Make all keys alike."""
    key = np.broadcast_to(drawn.key[..., :1, :], drawn.key.shape).copy()
    return drawn._replace(key=key)


def one_hot(drawn: Drawn) -> Drawn:
    """Make one score so much larger that all other weights are 0."""
    factors = 1 + np.arange(drawn.key.shape[-2])[:, None]
    query = 64 * np.sign(drawn.query)
    return drawn._replace(query=query, key=np.sign(drawn.key) * factors)


def rising(first: float, last: float) -> Fill:
    """Make the scores of a row rise from one number to another."""

    def fill(drawn: Drawn) -> Drawn:
        sizes = np.linspace(first, last, drawn.key.shape[-2])[:, None]
        key = np.abs(drawn.key) * sizes
        return drawn._replace(query=np.abs(drawn.query), key=key)

    return fill


def scaled(query: float = 1, key: float = 1, value: float = 1) -> Fill:
    """Multiply the arrays."""
    return lambda drawn: drawn._replace(
        query=query * drawn.query,
        key=key * drawn.key,
        value=value * drawn.value,
    )


def denormal(drawn: Drawn) -> Drawn:
    """Make query a few of the smallest numbers of the dtype."""
    tiny = float(np.finfo(drawn.dtype).smallest_subnormal)
    query = np.round(8 * drawn.query) * tiny
    return drawn._replace(query=query, value=np.round(8 * drawn.value) / 4)


def minus_zero(drawn: Drawn) -> Drawn:
    """Make query 0 and -0."""
    value = np.round(2 * drawn.value) / 2
    return drawn._replace(query=-0.0 * drawn.query, value=value)


def mean(drawn: Drawn) -> Drawn:
    """Make all of query and key 40: a product beyond the range of float16."""
    query, key = (np.full(a.shape, 40.0) for a in (drawn.query, drawn.key))
    return drawn._replace(query=query, key=key)


def poison(drawn: Drawn) -> Drawn:
    """Put NaN and infinity into masked keys."""
    key = drawn.key.copy()
    key[..., 1, :] = np.nan
    key[..., 4, :] = np.inf
    return drawn._replace(key=key)


FILLS: dict[str, Fill] = {
    "normal": normal,
    "zero scores": zero_scores,
    "rows apart": rows_apart,
    "ties": ties,
    "one hot": one_hot,
    # The maximum of a row comes late, or early.
    "late": rising(0, 20),
    "early": rising(300, 0),
    "large values": scaled(value=1e37),
    # What the scale makes ordinary is none of float32's before that.
    "large": scaled(query=1e19, key=1e19),
    "small": scaled(query=1e15, key=1e-37),
    "denormal": denormal,
    "minus zero": minus_zero,
    "mean": mean,
    "poison": poison,
    **{f"spread {n}": spread(n) for n in (0.01, 30, 100, 10000)},
}


def filled(drawn: Drawn, fill: str) -> list[Array]:
    """Return query, key and value after one of `FILLS`, rounded."""
    if fill not in FILLS:
        raise ValueError(f"fill is {fill!r}, expected one of {[*FILLS]}")
    query, key, value, dtype = FILLS[fill](drawn)
    return [rounded(array, dtype) for array in (query, key, value)]


def rounded(array: Array, dtype: str) -> Array:
    """Round to a dtype; bfloat16, which NumPy lacks, stays in float32."""
    array = np.asarray(array)
    if dtype != "bfloat16":
        return array.astype(dtype)
    bits = array.astype(np.float32).view(np.uint32)
    # Round half to even on the upper 16 bits.
    bits = bits + 0x7FFF + ((bits >> 16) & 1)
    return (bits & np.uint32(0xFFFF0000)).view(np.float32)
