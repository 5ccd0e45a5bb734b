"""Bounds are those of the version that is checked, and of no other."""

from __future__ import annotations

from typing import Any

import numpy_impl
from parity_tests.cases.table import BY_NAME
from parity_tests.judges.attention_bounds import step_bounds
from parity_tests.judges.bounds import format_of
from parity_tests.ports.port import computation_of
from parity_tests.suite.computation import OURS, Computation, computed_as
from parity_tests.suite.register import Check, Trial
from parity_tests.suite.run import CheckCase, run
from parity_tests.suite.versions import Version

HALF = BY_NAME["float16 plain"]


def declaring(**names: Any) -> Version:
    """Return a version that says these things of itself."""
    version = Version("port", numpy_impl, ("check", "port"))
    version.declared = (  # type: ignore[method-assign]  # what it says
        lambda name, otherwise: names.get(name, otherwise)
    )
    return version


def test_a_port_says_how_it_computes() -> None:
    port = declaring(HALF_IS_COMPUTED_IN="itself", SUBNORMALS=False)
    assert computation_of(port) == Computation(None, subnormals=False)
    assert computation_of(declaring()) == OURS


def test_bounds_are_kept_apart_by_computation() -> None:
    ours = step_bounds(HALF)["output"].max()
    with computed_as(Computation(half=None)):
        assert step_bounds(HALF)["output"].max() > 100 * ours
    assert step_bounds(HALF)["output"].max() == ours


def test_a_check_runs_with_the_bounds_of_its_version() -> None:
    seen: list[float] = []

    def look(trial: Trial) -> None:
        """Record the smallest number that a bound allows for."""
        seen.append(format_of("float32").smallest)

    check_case = CheckCase(Check("look", "sdpa", "law", look, ()), None)
    flushing = declaring()
    flushing.computation = Computation(subnormals=False)
    for version in (flushing, declaring()):
        assert run(check_case, version).failure is None
    assert seen == [2.0**-126, 2.0**-149]
