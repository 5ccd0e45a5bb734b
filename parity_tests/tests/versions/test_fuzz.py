"""Inputs drawn at random: good ones before every law, bad ones refused.

`make test` draws a few, always the same; `make fuzz` draws 10 000 bad calls
a side and some hundred good ones for each law, new ones every time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from numpy_impl.arguments import Options
from parity_tests.cases.recipe import Case, Inputs, Mask, build
from parity_tests.judges import laws
from parity_tests.suite.register import Trial
from parity_tests.suite.versions import NUMPY, TORCH, VERSIONS, Version

DRAWN = settings.default.max_examples if settings.default else 200
NAMES = ("query", "key", "value", *Options._fields)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw a case: rank, sizes, dtype, mask and options that go together."""
    rank = draw(st.integers(2, 5))
    batch = tuple(draw(st.integers(1, 3)) for _ in range(rank - 3))
    L, S = draw(st.integers(0, 6)), draw(st.integers(0, 7))
    D, E = draw(st.integers(0, 5)), draw(st.integers(0, 4))
    groups, times = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    heads = (groups * times,) if rank > 2 else ()
    key_heads = (groups,) if rank > 2 else ()
    gqa = rank > 2 and times > 1
    dtype = draw(st.sampled_from(["float64", "float32", "float16"]))
    scores = (*batch, *heads, L, S)
    return Case(
        name=f"drawn {draw(st.integers(0, 2**32))}",
        query=(*batch, *heads, L, D),
        key=(*batch, *key_heads, S, D),
        value=(*batch, *key_heads, S, E),
        dtype=dtype,
        fill=draw(st.sampled_from(["normal", "zero scores", "ties"])),
        mask=draw(masks(scores)),
        is_causal=draw(st.booleans()),
        scale=draw(st.sampled_from([None, None, 0.5, -1.5, 0.0])),
        enable_gqa=gqa or draw(st.booleans()),
        window=draw(
            st.none() | st.tuples(st.integers(-1, 4), st.integers(-1, 4))
        ),
        soft_cap=draw(st.sampled_from([None, None, 0.8, 5.0])),
    )


@st.composite
def masks(draw: st.DrawFn, scores: tuple[int, ...]) -> Mask | None:
    """Draw no mask, or one of any rank with any axes of size 1."""
    kind = draw(st.sampled_from(["", "bool", "float"]))
    if not kind:
        return None
    rank = draw(st.integers(0, len(scores)))
    shape = tuple(
        1 if draw(st.booleans()) else size
        for size in scores[len(scores) - rank :]
    )
    dead = draw(st.sampled_from(["", "", "row", "all"]))
    if dead == "row" and (rank < 2 or shape[-2] < 2):
        dead = ""
    return Mask(kind, shape, dead=dead, share=draw(st.floats(0, 1)))


def drawn_inputs(case: Case) -> Inputs:
    """Build a case without keeping it."""
    inputs: Inputs = build.__wrapped__(case)
    return inputs


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("version", VERSIONS, ids=str)
@pytest.mark.parametrize("law", laws.LAWS, ids=lambda law: law.__name__)
@settings(max_examples=max(8, DRAWN // 20))
@given(case=cases())
def test_laws_hold_for_whatever_is_drawn(
    law: laws.Law, version: Version, case: Case
) -> None:
    law(Trial(version, case), drawn_inputs(case), case.dtype)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=max(25, DRAWN // 20))
@given(case=cases())
def test_both_sides_agree_on_whatever_is_drawn(case: Case) -> None:
    inputs = drawn_inputs(case)
    trial = Trial(NUMPY, case)
    errors = laws.errors_of(inputs, case.dtype)
    steps, others = (v.steps(inputs, case.dtype) for v in VERSIONS)
    for name, step in steps.items():
        bound = 2 * np.broadcast_to(errors[name], step.shape)
        trial.within(name, step, others[name], bound)


def arrays() -> st.SearchStrategy[Any]:
    """Draw an array of any small shape and any dtype."""
    dtypes = ["f2", "f4", "f4", "f8", "i4", "i8", "u1", "?", "c8", "g"]
    shapes = st.lists(st.integers(0, 4), max_size=5).map(tuple)
    return st.builds(
        lambda shape, dtype: np.ones(shape, dtype=dtype),
        shapes,
        st.sampled_from(dtypes),
    )


def junk() -> st.SearchStrategy[Any]:
    """Draw what somebody might pass by mistake."""
    numbers = st.sampled_from([-1, 0, 1, 2, 10**400, 0.5, -0.1, 1.5])
    odd = st.sampled_from([math.nan, math.inf, -math.inf, 1j, "0.5", b"x"])
    others: st.SearchStrategy[Any] = st.sampled_from(
        [None, True, False, [], [1.0], {}, object, ()]
    )
    pairs = st.tuples(numbers | odd, numbers | odd)
    return arrays() | numbers | odd | others | pairs | text_arrays()


def text_arrays() -> st.SearchStrategy[Any]:
    """Draw arrays that hold no numbers at all."""
    return st.sampled_from(
        [np.asarray(["a", "b"]), np.asarray([None, 1], dtype=object)]
    )


def call(version: Version, arguments: dict[str, Any]) -> Any:
    """Return the shape of a call's result, or the error."""
    converted = {name: convert(version, x) for name, x in arguments.items()}
    function = version.package.scaled_dot_product_attention
    try:
        return tuple(function(**converted).shape)
    except Exception as error:
        return error


def convert(version: Version, argument: Any) -> Any:
    """Return an array as the version's own, if its library has the dtype."""
    try:
        return version.array(argument)
    except (TypeError, ValueError):
        return argument


def good() -> dict[str, Any]:
    """Return the arguments of a call that is accepted."""
    shapes = {"query": (4, 3, 2), "key": (2, 1, 2), "value": (2, 1, 3)}
    arrays = {n: np.ones(s, dtype=np.float32) for n, s in shapes.items()}
    return {**arrays, "enable_gqa": True}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.filterwarnings("ignore::UserWarning")
@given(changes=st.dictionaries(st.sampled_from(NAMES), junk(), min_size=1))
def test_bad_calls_end_in_one_clear_error(changes: dict[str, Any]) -> None:
    arguments = good() | changes
    results = [call(version, arguments) for version in (NUMPY, TORCH)]
    for result in results:
        if isinstance(result, Exception):
            assert type(result) in (TypeError, ValueError), repr(result)
            assert str(result).startswith(NAMES), str(result)
            assert "\n" not in str(result), str(result)
    # A class on both sides, or a shape on both sides.
    one, other = (type(r) if isinstance(r, Exception) else r for r in results)
    assert one == other, results
