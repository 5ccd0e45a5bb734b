"""What existing libraries do: the convention card, and the cases.

A probe is a call whose result tells conventions apart: each of its readings
is a result that is known in closed form. A difference of convention is not
an error, and is told apart from one.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import logging
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import numpy_impl

from ..cases.recipe import Case, Inputs, build
from ..cases.table import CASES
from ..judges import attention_bounds, bounds, definition
from ..judges.attention_bounds import step_bounds
from ..report import quiet
from ..suite.compare import compare
from . import adapters
from .adapters import Asked, Lacks

Array = NDArray[Any]
# What a reading is: as the contract has it, a convention, a mistake.
CONTRACT, OTHER, WRONG = "contract", "convention", "wrong"
LACKS, REFUSED = "not offered", "refused"
KINDS = (CONTRACT, OTHER, LACKS, REFUSED, WRONG)
NAN = math.nan


class Reading(NamedTuple):
    """What a result says, and the result."""

    says: str
    kind: str
    output: Any


class Cell(NamedTuple):
    """What one library does with one probe, and what it is."""

    says: str
    kind: str


@dataclass(frozen=True, eq=False)
class Probe:
    """A call, and what its result may say."""

    name: str
    asked: Asked
    readings: tuple[Reading, ...]
    expected: str = ""

    def __str__(self) -> str:
        """Return the name."""
        return self.name


def column(*numbers: float) -> Array:
    """Return numbers as the rows of one head, (1, 1, n, 1)."""
    return np.asarray(numbers, dtype=np.float32).reshape(1, 1, -1, 1)


def rows(*numbers: list[float]) -> Array:
    """Return rows of numbers or of truth, (1, 1, L, S)."""
    found = np.asarray([[numbers]])
    return found if found.dtype == bool else found.astype(np.float32)


def flat(L: int, *values: float, **more: Any) -> Asked:
    """Return L queries of 0: what comes out are the weights' means."""
    value = column(*values)
    return Asked(column(*[0] * L), 0 * value, value, **more)


# Some roundings of float32, where a result of float64 is off by so much.
FLOAT32 = 2.0**-18
T, F, INF = True, False, math.inf


def probes() -> Iterator[Probe]:
    """Yield the card's lines, in order."""
    yield Probe(
        "mask polarity",
        flat(1, 0, 1, attn_mask=rows([T, F])),
        (
            Reading("True attends", CONTRACT, [0]),
            Reading("True ignores", OTHER, [1]),
            Reading("added as 0 and 1", WRONG, [1 / (1 + math.e)]),
        ),
    )
    yield Probe(
        "causal corner, L 1, S 4",
        flat(1, 1, 2, 4, 8, is_causal=True),
        (
            Reading("upper left", CONTRACT, [1]),
            Reading("lower right", OTHER, [3.75]),
        ),
    )
    yield Probe(
        "causal corner, L 4, S 2",
        flat(4, 1, 2, is_causal=True),
        (
            Reading("upper left", CONTRACT, [1, 1.5, 1.5, 1.5]),
            Reading("lower right, 0 above", OTHER, [0, 0, 1, 1.5]),
            Reading("lower right, NaN above", OTHER, [NAN, NAN, 1, 1.5]),
            Reading("lower right, mean above", OTHER, [1.5, 1.5, 1, 1.5]),
        ),
    )
    for name, mask in (
        ("nothing to see, boolean", rows([T, T], [F, F])),
        ("nothing to see, -inf", rows([0, 0], [-INF, -INF])),
    ):
        yield Probe(
            name,
            flat(2, 1, 3, attn_mask=mask),
            (
                Reading("0", CONTRACT, [2, 0]),
                Reading("NaN", OTHER, [2, NAN]),
                Reading("mean of all values", OTHER, [2, 2]),
            ),
        )
    yield Probe(
        "mask with causal",
        flat(2, 1, 3, attn_mask=rows([T, T], [F, T]), is_causal=True),
        (
            Reading("both hold", CONTRACT, [1, 3]),
            Reading("causal is dropped", WRONG, [2, 3]),
            Reading("mask is dropped", WRONG, [1, 2]),
        ),
    )
    value = np.asarray([10, 20], dtype=np.float32).reshape(1, 2, 1, 1)
    yield Probe(
        "H 4 over G 2",
        Asked(np.zeros((1, 4, 1, 1), np.float32), 0 * value, value),
        (
            Reading("head h reads h // 2", CONTRACT, [10, 10, 20, 20]),
            Reading("head h reads h % 2", WRONG, [10, 20, 10, 20]),
        ),
    )
    yield Probe(
        "NaN in a masked key",
        Asked(column(0), column(0, NAN), column(5, 7), attn_mask=rows([T, F])),
        (
            Reading("kept out", CONTRACT, [5]),
            Reading("leaks", WRONG, [NAN]),
        ),
    )
    yield Probe(
        "NaN in a masked value",
        flat(1, 5, NAN, attn_mask=rows([T, F]))._replace(key=column(0, 0)),
        (
            Reading("leaks, as 0 · NaN", CONTRACT, [NAN]),
            Reading("kept out", CONTRACT, [5]),
        ),
    )
    yield Probe(
        "no keys",
        Asked(column(0, 0), column(), column()),
        (
            Reading("0", CONTRACT, [0, 0]),
            Reading("NaN", OTHER, [NAN, NAN]),
        ),
    )
    yield Probe(
        "5 keys, 6 values",
        Asked(column(0), column(*[0] * 5), column(*[1] * 6)),
        (Reading("accepted", WRONG, [1]),),
        expected=REFUSED,
    )
    log3 = math.log(3)
    yield Probe(
        "negative scale",
        Asked(column(1), column(0, log3), column(0, 1), scale=-1.0),
        (
            Reading("taken", CONTRACT, [0.25]),
            Reading("sign is lost", WRONG, [0.75]),
        ),
    )
    yield Probe(
        "soft cap, -inf in the mask",
        flat(1, 0, 1, attn_mask=rows([0, -INF]), soft_cap=1.0),
        (
            Reading("cap before mask", CONTRACT, [0]),
            Reading("mask before cap", WRONG, [1 / (1 + math.e)]),
        ),
    )
    yield Probe(
        "window (1, 0), not causal",
        flat(4, 1, 2, 4, 8, window=(1, 0)),
        (
            Reading("a radius", CONTRACT, [1, 1.5, 3, 6]),
            Reading("counts keys", OTHER, [1, 2, 4, 8]),
            Reading("sees the future", WRONG, [3.75, 14 / 3 + 1 / 3, 6, 8]),
        ),
    )
    forty = np.full((1, 1, 4, 64), 40, dtype=np.float16)
    mean = np.asarray([1, 2, 3, 6], np.float16).reshape(1, 1, 4, 1)
    yield Probe(
        "float16, q·k = 102 400",
        Asked(forty[:, :, :1], forty, mean + 0 * forty),
        (
            Reading("the mean", CONTRACT, [3]),
            Reading("overflows", WRONG, [NAN]),
        ),
    )
    yield Probe(
        "one key, at -60000",
        Asked(
            column(1),
            column(-60000, 0),
            column(7, 1),
            attn_mask=rows([T, F]),
            scale=1.0,
        ),
        (
            Reading("found", CONTRACT, [7]),
            Reading("lost", WRONG, [1]),
        ),
    )


def probed(library: Any, probe: Probe) -> Cell:
    """Return what a library does with a probe."""
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
            got, right, rtol=2e-3, atol=1e-6, equal_nan=True
        )
        if near:
            return Cell(reading.says, reading.kind)
    shown = ", ".join(f"{number:.3g}" for number in got[:4])
    return Cell(shown, WRONG)


class Result(NamedTuple):
    """What a library makes of a case, and how near it comes."""

    kind: str
    says: str = ""
    share: float = 0.0


def tried(library: Any, case: Case) -> Result:
    """Return what a library makes of one of the contract's cases.

    Some want values as wide as keys: what they refuse is made so.
    """
    found = tried_as_it_is(library, case)
    if found.kind == REFUSED and case.value[-1] != case.query[-1]:
        square = (*case.value[:-1], case.query[-1])
        return tried_as_it_is(library, replace(case, value=square))
    return found


def tried_as_it_is(library: Any, case: Case) -> Result:
    """Return what a library makes of a case."""
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
    found = compare("output", got, nearest, bound, missing)
    if found.failure is None:
        return Result(CONTRACT, share=found.share)
    why = convention(case, got, nearest, bound, missing)
    if why:
        return Result(OTHER, why)
    if case.dtype == "float64":
        short = compare("output", got.astype(np.float32), nearest, FLOAT32)
        if short.failure is None:
            return Result(WRONG, "float64 with the error of float32")
    return Result(WRONG, found.failure)


def asked_of(inputs: Inputs, case: Case) -> Asked:
    """Return a case with four axes, or raise Lacks for what has more."""
    if case.dropout_p or case.dropout_mask:
        raise Lacks("dropout that is given")
    arrays = [inputs.query, inputs.key, inputs.value]
    if any(array.ndim > 4 for array in arrays):
        raise Lacks("more than four axes")
    batch = np.broadcast_shapes(*(a.shape[:-3] for a in arrays))
    query, key, value = (four_axes(a, batch or (1,)) for a in arrays)
    mask = inputs.attn_mask
    if mask is not None:
        if mask.ndim < 2:
            raise Lacks("masks of fewer than two axes")
        mask = mask.reshape((1,) * (4 - mask.ndim) + mask.shape)
    return Asked(
        query,
        key,
        value,
        attn_mask=mask,
        is_causal=inputs.is_causal,
        scale=inputs.scale,
        window=inputs.window,
        soft_cap=inputs.soft_cap,
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
        return "a row with nothing to see"
    for name, mask in other_masks(inputs):
        other_output, seeing = masked_by(inputs, mask)
        a, b = (np.where(seeing, x, 0) for x in (got, other_output))
        wide = 4 * bound.max() + 1e-6
        if compare("output", a, b, wide).failure is None:
            return name
    if case.dtype in bounds.HALF:
        u = bounds.unit_roundoff(case.dtype)
        wide = bound + 16 * u * (np.abs(nearest) + 1)
        if compare("output", one, other, wide, absent).failure is None:
            return "half types are rounded on the way"
    return ""


def other_masks(inputs: Inputs) -> Iterator[tuple[str, Array]]:
    """Yield what other conventions make of mask and causal, by name."""
    mask, shape = inputs.attn_mask, (inputs.L, inputs.S)
    if mask is not None and mask.shape[-1:] == (1,) and inputs.S > 1:
        # As ONNX has it: what the mask is too short for is forbidden.
        first = np.arange(inputs.S) == 0
        if inputs.is_causal:
            first = first & numpy_impl.masks.causal_mask(*shape)
        yield "a mask of one key is not broadcast", forbidding(mask, first)
    if inputs.is_causal and inputs.L != inputs.S:
        corner = numpy_impl.masks.causal_mask(*shape, "lower_right")
        yield "the causal corner", forbidding(mask, corner)


def forbidding(mask: Array | None, allowed: Array) -> Array:
    """Return a mask that forbids what is not allowed too."""
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
    steps = numpy_impl.sdpa.attention_steps(
        query,
        key,
        value,
        attn_mask=mask,
        scale=inputs.scale,
        enable_gqa=inputs.enable_gqa,
        window=inputs.window,
        soft_cap=inputs.soft_cap,
    )
    return steps.output, (steps.log_sum_exp > -np.inf)[..., None]


def start(name: str) -> tuple[str, Any]:
    """Return a library's version, and what answers for it."""
    # What they log, they raise or return as well.
    logging.disable()
    library = importlib.import_module(f"{adapters.__name__}.{name}")
    known = {probe.name: probe for probe in probes()}
    by_name = {case.name: case for case in CASES}

    def answer(question: tuple[str, str]) -> Any:
        what, which = question
        if what == "probe":
            return tuple(probed(library, known[which]))
        return tuple(tried(library, by_name[which]))

    return importlib.metadata.version(library.NEEDS[0]), answer
