"""How a library computes, where the bounds of rounding depend on it.

A check runs inside `computed_as` of its version, and the bounds call
`computation` to learn how that version computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, wraps
from typing import NamedTuple, TypeVar, TypeVarTuple

Given = TypeVarTuple("Given")
Result = TypeVar("Result")


class Computation(NamedTuple):
    """What a port may declare in its module `arrays`.

    `half` is the dtype in which half types are computed, None for the half
    type itself. Without `subnormals`, numbers below the smallest normal one
    become 0.
    """

    half: str | None = "float32"
    subnormals: bool = True


OURS = Computation()
_COMPUTATION: ContextVar[Computation] = ContextVar("computation")


def computation() -> Computation:
    """Return how the version that is being checked computes."""
    return _COMPUTATION.get(OURS)


@contextmanager
def computed_as(how: Computation) -> Iterator[None]:
    """Use the bounds of a computation until the end of the context."""
    token = _COMPUTATION.set(how)
    try:
        yield
    finally:
        _COMPUTATION.reset(token)


def cached(
    function: Callable[[*Given], Result],
) -> Callable[[*Given], Result]:
    """Cache a function that returns bounds, for each computation."""

    @cache
    def kept(how: Computation, given: tuple[*Given]) -> Result:
        return function(*given)

    @wraps(function)
    def found(*given: *Given) -> Result:
        return kept(computation(), given)

    return found
