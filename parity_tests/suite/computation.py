"""How a library computes, as far as the bounds of rounding depend on it.

A check runs inside `computed_as` of its version, and the bounds ask
`computation` what holds there.
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

    `half` is the dtype in which half types are computed, None where that is
    the half type itself. Without `subnormals`, what is too small for a
    normal number becomes 0.
    """

    half: str | None = "float32"
    subnormals: bool = True


OURS = Computation()
_COMPUTATION: ContextVar[Computation] = ContextVar("computation")


def computation() -> Computation:
    """Return how the version computes that is checked now."""
    return _COMPUTATION.get(OURS)


@contextmanager
def computed_as(how: Computation) -> Iterator[None]:
    """Let the bounds be those of a computation for a while."""
    token = _COMPUTATION.set(how)
    try:
        yield
    finally:
        _COMPUTATION.reset(token)


def cached(
    function: Callable[[*Given], Result],
) -> Callable[[*Given], Result]:
    """Keep the results of a function of bounds, for each computation."""

    @cache
    def kept(how: Computation, given: tuple[*Given]) -> Result:
        return function(*given)

    @wraps(function)
    def found(*given: *Given) -> Result:
        return kept(computation(), given)

    return found
