"""sdpa: every case before the definition, the other version and the laws."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cases.table import BY_NAME, CASES, Case, build
from ..judges import bounds, definition
from ..suite.register import Trial, check
from ..suite.versions import Version

CONTROL = BY_NAME["rank 4"]


def trivial(case: Case) -> bool:
    """Return whether the result of a case is empty or 0 throughout."""
    inputs = build(case)
    sizes = (*inputs.d_output.shape, inputs.S)
    return 0 in sizes or not bounds.seen(inputs).any()


def controlled(case: Case) -> list[Case]:
    """Return a case, and with it one that has a result, if it has none.

    A version that returns zeros must not pass anywhere.
    """
    return [case, CONTROL] if trivial(case) else [case]


FORWARD = list(CASES)


@check("sdpa", "definition", FORWARD)
def every_step_is_the_definitions(trial: Trial) -> None:
    """Compare each step with the scalar loops."""
    for case in controlled(trial.case):
        exact = definition.forward(case)
        errors = step_bounds(case)
        for name, got in trial.version.steps(build(case), case.dtype).items():
            nearest, missing = exact[name]
            has_dtype(name, got, case.dtype, name == "output")
            bound = np.broadcast_to(errors[name], nearest.shape)
            trial.within(name, got, nearest, bound, missing)


def has_dtype(name: str, got: Any, dtype: str, outer: bool) -> None:
    """Assert the dtype: as given at the edge, that of computation inside."""
    inside = bounds.computation_dtype(dtype)
    wanted = dtype if outer else inside
    # NumPy has no bfloat16: it comes back as float32.
    wanted = "float32" if wanted == "bfloat16" else wanted
    assert got.dtype == wanted, f"{name} is {got.dtype}, expected {wanted}"


@check("sdpa", "each other", FORWARD)
def both_versions_take_the_same_steps(trial: Trial) -> None:
    """Compare each step with the other version's."""
    for case in controlled(common(trial)):
        steps = trial.version.steps(build(case), case.dtype)
        others = right_steps(trial.other, case)
        errors = step_bounds(case)
        for name, got in steps.items():
            trial.within(name, got, others[name], fit(errors[name], got))


def common(trial: Trial) -> Case:
    """Return the case in a dtype that both versions have."""
    case: Case = trial.case
    known = trial.other.has(case.dtype)
    return case if known else replace(case, dtype="float32")


@cache
def right_steps(version: Version, case: Case) -> dict[str, NDArray[Any]]:
    """Return the steps of the version that another is compared with."""
    return version.steps(build(case), case.dtype)


@cache
def right_gradients(version: Version, case: Case) -> dict[str, NDArray[Any]]:
    """Return the gradients of the version another is compared with."""
    return version.gradients(build(case), case.dtype)


@cache
def step_bounds(case: Case) -> dict[str, Any]:
    """Return the bound of each step of a case."""
    with np.errstate(all="ignore"):
        steps = bounds.attention(build(case), case.dtype).steps
    return {name: step.error for name, step in steps.items()}


def fit(error: Any, got: NDArray[Any]) -> Any:
    """Return twice a bound, in the shape of what it bounds."""
    return 2 * np.broadcast_to(error, got.shape)


GRADIENT = [case for case in CASES if case.gradient]


@check("gradients", "definition", GRADIENT)
def every_gradient_is_the_definitions(trial: Trial) -> None:
    """Compare dP, dS, dQ, dK, dV and the bias's gradient."""
    for case in controlled(trial.case):
        exact = definition.backward(case)
        errors = gradient_bounds(case)
        found = trial.version.gradients(build(case), case.dtype)
        assert found.keys() == exact.keys(), f"{[*found]}, not {[*exact]}"
        for name, got in found.items():
            nearest, missing = exact[name]
            inner = name in ("weights", "scores")
            if name == "attn_mask":
                mask = build(case).attn_mask
                assert mask is not None
                assert got.dtype == mask.dtype, f"its gradient: {got.dtype}"
            else:
                has_dtype(f"gradient of {name}", got, case.dtype, not inner)
            bound = np.broadcast_to(errors[name], nearest.shape)
            trial.within(f"gradient of {name}", got, nearest, bound, missing)


@check("gradients", "each other", GRADIENT)
def both_versions_give_the_same_gradients(trial: Trial) -> None:
    """Compare each gradient with the other version's."""
    for case in controlled(common(trial)):
        found = trial.version.gradients(build(case), case.dtype)
        others = right_gradients(trial.other, case)
        errors = gradient_bounds(case)
        for name, got in found.items():
            bound = fit(errors[name], got)
            trial.within(f"gradient of {name}", got, others[name], bound)


@cache
def gradient_bounds(case: Case) -> dict[str, Any]:
    """Return the bound of each gradient of a case."""
    with np.errstate(all="ignore"):
        found = bounds.gradients(build(case), case.dtype)
    return {name: gradient.error for name, gradient in found.items()}
