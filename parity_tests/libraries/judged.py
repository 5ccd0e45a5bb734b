"""The results of a library for a probe and for the contract's cases."""

from __future__ import annotations

import importlib
import importlib.metadata
import logging
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import numpy_impl
from attention_twice.console import quiet
from attention_twice.words import N_

from ..cases.recipe import Case, Inputs, build
from ..cases.table import CASES
from ..judges import attention_bounds, bounds, definition
from ..judges.attention_bounds import step_bounds
from ..suite.compare import compare
from . import adapters
from .adapters import Asked, Lacks
from .probes import (
    CONTRACT,
    LACKS,
    OTHER,
    PROBES,
    REFUSED,
    WRONG,
    Array,
    Probe,
)

# A few roundings of float32: what is left of a 0, and how far a result of
# float64 is off that was computed in float32.
FLOAT32 = 2.0**-18
# Readings lie further apart than a few roundings of float16, the shortest
# type that a library may compute in.
ROUNDED = bounds.gamma(4, "float16")


class Cell(NamedTuple):
    """The result of one library for one probe, and its kind."""

    says: str
    kind: str


def probed(library: Any, probe: Probe) -> Cell:
    """Return the result of a library for a probe."""
    try:
        with quiet():
            output = np.asarray(library.attention(probe.asked))
    except Lacks:
        return Cell(LACKS, LACKS)
    except Exception:
        # Which error it is, is the library's own affair.
        due = probe.expected == REFUSED
        return Cell(REFUSED, CONTRACT if due else REFUSED)
    got = output[..., 0].astype(np.float64).reshape(-1)
    for reading in probe.readings:
        right = np.asarray(reading.output, dtype=np.float64)
        near = got.shape == right.shape and np.allclose(
            got, right, rtol=ROUNDED, atol=FLOAT32, equal_nan=True
        )
        if near:
            return Cell(reading.says, reading.kind)
    shown = ", ".join(f"{number:.3g}" for number in got[:4])
    return Cell(shown, WRONG)


class Result(NamedTuple):
    """The result of a library for a case, and its error."""

    kind: str
    says: str = ""
    share: float = 0.0


def tried(library: Any, case: Case) -> Result:
    """Return the result of a library for one of the contract's cases.

    Some libraries need values of the same dimension as keys; a case that
    they refuse is tried again with such values.
    """
    result = tried_as_it_is(library, case)
    if result.kind == REFUSED and case.value[-1] != case.query[-1]:
        square = (*case.value[:-1], case.query[-1])
        return tried_as_it_is(library, replace(case, value=square))
    return result


def tried_as_it_is(library: Any, case: Case) -> Result:
    """Return the result of a library for a case."""
    inputs = build(case)
    try:
        asked = asked_of(inputs, case)
        with quiet():
            got = np.asarray(library.attention(asked))
    except Lacks as error:
        return Result(LACKS, str(error))
    except Exception:
        return Result(REFUSED, REFUSED)
    nearest, missing = definition.forward(case)["output"]
    bound = np.broadcast_to(step_bounds(case)["output"], nearest.shape)
    # Libraries want four axes: the case's own come back.
    got = got.reshape(nearest.shape) if got.size == nearest.size else got
    wanted = "float32" if case.dtype == "bfloat16" else case.dtype
    if got.dtype != wanted:
        return Result(OTHER, f"float results are {got.dtype}")
    comparison = compare("output", got, nearest, bound, missing)
    if comparison.failure is None:
        return Result(CONTRACT, share=comparison.share)
    why = convention(case, got, nearest, bound, missing)
    if why:
        return Result(OTHER, why)
    if case.dtype == "float64":
        short = compare("output", got.astype(np.float32), nearest, FLOAT32)
        if short.failure is None:
            return Result(WRONG, N_("float64 with the error of float32"))
    return Result(WRONG, comparison.failure)


def asked_of(inputs: Inputs, case: Case) -> Asked:
    """Return a case with four axes, or raise Lacks for what has more."""
    if case.dropout_p or case.dropout_mask:
        raise Lacks("dropout that is given")
    arrays = [inputs.query, inputs.key, inputs.value]
    if any(array.ndim > 4 for array in arrays):
        raise Lacks("more than four axes")
    batch = np.broadcast_shapes(*(a.shape[:-3] for a in arrays))
    query, key, value = (four_axes(a, batch or (1,)) for a in arrays)
    mask = inputs.options.attn_mask
    if mask is not None:
        if mask.ndim < 2:
            raise Lacks("masks of fewer than two axes")
        mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
    return Asked(
        query,
        key,
        value,
        attn_mask=mask,
        is_causal=inputs.options.is_causal,
        scale=inputs.options.scale,
        window=inputs.options.window,
        soft_cap=inputs.options.soft_cap,
        bfloat16=case.dtype == "bfloat16",
    )


def four_axes(array: Array, batch: tuple[int, ...]) -> Array:
    """Return an array of (B, H, T, D), whatever axes it lacks."""
    whole = array.reshape((1,) * (4 - array.ndim) + array.shape)
    return np.broadcast_to(whole, (*batch, *whole.shape[-3:])).copy()


def convention(
    case: Case, got: Array, nearest: Array, bound: Array, missing: Any
) -> str:
    """Return the convention that explains a difference, "" if none does."""
    inputs = build(case)
    if got.shape != nearest.shape:
        return ""
    dead = ~attention_bounds.seen(inputs).any(axis=-1)
    dead = inputs.without_heads(dead) if dead.ndim > nearest.ndim - 1 else dead
    living = np.broadcast_to(~dead[..., None], nearest.shape)
    one, other = (np.where(living, a, 0) for a in (got, nearest))
    absent = np.where(living, missing, 0)
    if compare("output", one, other, bound, absent).failure is None:
        return N_("a row with nothing to see")
    for name, mask in other_masks(inputs):
        other_output, seeing = masked_by(inputs, mask)
        a, b = (np.where(seeing, x, 0) for x in (got, other_output))
        wide = 4 * bound.max() + FLOAT32
        if compare("output", a, b, wide).failure is None:
            return name
    if case.dtype in bounds.HALF:
        u = bounds.unit_roundoff(case.dtype)
        wide = bound + 16 * u * (np.abs(nearest) + 1)
        if compare("output", one, other, wide, absent).failure is None:
            return N_("half types are rounded on the way")
    return ""


def other_masks(inputs: Inputs) -> Iterator[tuple[str, Array]]:
    """Yield mask and causal as other conventions combine them, by name."""
    mask, shape = inputs.options.attn_mask, (inputs.L, inputs.S)
    if mask is not None and mask.shape[-1:] == (1,) and inputs.S > 1:
        # As ONNX has it: what the mask is too short for is forbidden.
        first = np.arange(inputs.S) == 0
        if inputs.options.is_causal:
            first = first & numpy_impl.masks.causal_mask(*shape)
        yield "a mask of one key is not broadcast", forbidding(mask, first)
    if inputs.options.is_causal and inputs.L != inputs.S:
        corner = numpy_impl.masks.causal_mask(*shape, "lower_right")
        yield "the causal corner", forbidding(mask, corner)


def forbidding(mask: Array | None, allowed: Array) -> Array:
    """Return a mask that also hides the keys that are not allowed."""
    if mask is None:
        return allowed
    if mask.dtype == bool:
        return mask & allowed
    return np.where(allowed, mask, -np.inf)


def masked_by(inputs: Inputs, mask: Array) -> tuple[Array, Array]:
    """Return the output with another mask, and which rows see anything."""
    query, key, value = (
        a.astype(np.float64) for a in (inputs.query, inputs.key, inputs.value)
    )
    options = inputs.options._replace(
        attn_mask=mask, is_causal=False, dropout_p=0.0, dropout_mask=None
    )
    steps = numpy_impl.sdpa.attention_steps(query, key, value, options)
    return steps.output, (steps.log_sum_exp > -np.inf)[..., None]


def start(name: str) -> tuple[str, Any]:
    """Return a library's version, and the function that answers for it."""
    # What they log, they raise or return as well.
    logging.disable()
    library = importlib.import_module(f"{adapters.__name__}.{name}")
    known = {probe.name: probe for probe in PROBES}
    by_name = {case.name: case for case in CASES}

    def answer(question: tuple[str, str]) -> Any:
        what, which = question
        if what == "probe":
            return tuple(probed(library, known[which]))
        return tuple(tried(library, by_name[which]))

    return importlib.metadata.version(library.NEEDS[0]), answer
