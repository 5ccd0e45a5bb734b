"""The table of cases: every option binds, no bound is too wide to fail."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from parity_tests.cases.recipe import Case, build
from parity_tests.cases.table import CASES, subsets
from parity_tests.judges import (
    attention_bounds,
    bounds,
    definition,
    sdpa_backends,
)
from parity_tests.judges.attention_bounds import gradient_bounds, step_bounds


def lessened(case: Case) -> list[Case]:
    """Return a case without each of its constraints in turn."""
    parts = []
    if case.is_causal:
        parts.append(replace(case, is_causal=False))
    if case.window is not None:
        parts.append(replace(case, window=None))
    if case.soft_cap is not None:
        parts.append(replace(case, soft_cap=None))
    mask = case.mask
    if mask is not None and mask.share > 0:
        parts.append(replace(case, mask=replace(mask, share=0.0)))
    if mask is not None and mask.lengths:
        parts.append(replace(case, mask=replace(mask, lengths=False)))
    if mask is not None and mask.kind == "float":
        parts.append(replace(case, mask=replace(mask, kind="bool")))
    return parts


SUBSETS = list(subsets())


@pytest.mark.parametrize("case", SUBSETS, ids=str)
def test_every_constraint_of_a_combination_binds(case: Case) -> None:
    whole = definition.forward(case)["output"].nearest
    for less in lessened(case):
        without = definition.forward(less)["output"].nearest
        assert np.abs(whole - without).max() > 1e-3, less


def test_every_subset_of_the_six_constraints_occurs() -> None:
    assert len(SUBSETS) == 2**6
    assert len({len(lessened(case)) for case in SUBSETS}) == 7
    assert set(SUBSETS) <= set(CASES)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_bound_is_too_wide_to_catch_anything(case: Case) -> None:
    exact = definition.forward(case)
    errors = step_bounds(case)
    if case.gradient:
        exact = exact | {
            f"gradient of {name}": gradient
            for name, gradient in definition.backward(case).items()
        }
        errors = errors | {
            f"gradient of {name}": error
            for name, error in gradient_bounds(case).items()
        }
    for name, tensor in exact.items():
        assert bounds.can_fail(tensor.nearest, errors[name], case.dtype), name


@pytest.mark.parametrize("seen", sdpa_backends.WITNESSED, ids=str)
def test_no_bound_of_the_witness_is_too_wide(
    seen: sdpa_backends.Witnessed,
) -> None:
    values, error = sdpa_backends.testimony(seen)
    assert bounds.can_fail(values, error, seen.dtype)
    if seen in sdpa_backends.GRADIENTS:
        # What vanishes but for its rounding is left out; value never does.
        gradients = sdpa_backends.gradient_testimony(seen)
        assert "value" in gradients
        for name, (values, error) in gradients.items():
            assert bounds.can_fail(values, error, seen.dtype), name


def test_sizes_are_all_different() -> None:
    case = next(case for case in CASES if case.name == "3 groups of heads")
    sizes = [*case.query, case.key[2], case.value[3]]
    assert len(set(sizes)) == len(sizes) == 6
    assert case.query[1] // case.key[1] != case.key[1]


def test_the_axes_have_their_corners() -> None:
    lengths = {(case.query[-2], case.key[-2]) for case in CASES}
    assert {0, 1} <= {L for L, _ in lengths}
    assert {0, 1} <= {S for _, S in lengths}
    assert any(L < S for L, S in lengths)
    assert any(L > S > 0 for L, S in lengths)
    widths = {(case.query[-1], case.value[-1]) for case in CASES}
    assert {0, 1} <= {D for D, _ in widths}
    assert {0, 1} <= {E for _, E in widths}
    assert {len(case.query) for case in CASES} == {2, 3, 4, 5}
    dtypes = {case.dtype for case in CASES}
    assert dtypes == {"float64", "float32", "float16", "bfloat16"}
    names = [case.name for case in CASES]
    assert len(set(names)) == len(names)


def test_a_case_is_the_same_in_every_process() -> None:
    here = [build(case).query.tobytes().hex() for case in CASES[:9]]
    code = (
        "from parity_tests.cases.recipe import build\n"
        "from parity_tests.cases.table import CASES\n"
        "print([build(c).query.tobytes().hex() for c in CASES[:9]])"
    )
    command = [sys.executable, "-c", code]
    there = subprocess.run(command, capture_output=True, text=True, check=True)
    assert there.stdout.strip() == str(here)
    assert not build(CASES[0]).query.flags.writeable


def test_the_definition_and_finite_differences() -> None:
    case = Case("differences", (2, 3), (4, 3), (4, 2), dtype="float64")
    gradient = definition.backward(case)["query"].nearest
    inputs = build(case)
    step = 1e-6
    for index in np.ndindex(*inputs.query.shape):
        sums = []
        for sign in (1, -1):
            query = inputs.query.copy()
            query[index] += sign * step
            moved = replace(inputs, query=query)
            steps = attention_bounds.attention(moved, "float64").steps
            output = steps["output"].value * inputs.d_output
            lse = steps["log_sum_exp"].value * inputs.d_log_sum_exp
            sums.append(output.sum() + lse.sum())
        slope = (sums[0] - sums[1]) / (2 * step)
        # The third derivative is of the order of one.
        assert slope == pytest.approx(gradient[index], abs=1e-8)
