"""arguments: what is refused, by which class, and what the message says."""

from __future__ import annotations

import inspect
import math
from fractions import Fraction
from typing import Any

import numpy as np
import torch

from ..cases.bad_arguments import ACCEPTED, BACK, BAD, Bad, good, zeros
from ..suite.register import Trial, check
from ..suite.versions import ATTENTION, STEPS

F32 = np.float32
LN3 = math.log(3)


PATHS = (ATTENTION, STEPS)


@check("arguments", "law", BAD)
def bad_arguments_are_refused_by_name(trial: Trial) -> None:
    """The class and the message are those of the contract."""
    case: Bad = trial.case
    for path in PATHS:
        named = good() | case.changes
        trial.refuses(case.kind, case.text, path, **named)
    accepted = trial.call(PATHS[0], **good())
    assert accepted.shape == (2, 6, 5, 3), accepted.shape


@check("arguments", "law", BAD)
def the_backward_pass_refuses_the_same(trial: Trial) -> None:
    """Where gradients are written by hand, the errors are the same."""
    case: Bad = trial.case
    path = ATTENTION
    if trial.version.by_hand:
        path += "_backward"
    upstream = {"d_output": zeros(2, 6, 5, 3)} if trial.version.by_hand else {}
    named = upstream | good() | case.changes
    trial.refuses(case.kind, case.text, path, **named)


@check("arguments", "law", list(ACCEPTED))
def other_kinds_of_numbers_count_the_same(trial: Trial) -> None:
    """Every step is that of the plain number, in the dtype given."""
    odd, even = ACCEPTED[trial.case]
    rng = np.random.default_rng(8)
    arrays = {
        name: rng.standard_normal(good()[name].shape).astype(F32)
        for name in ("query", "key", "value")
    }
    steps = trial.call(STEPS, **arrays, **odd)
    plain = trial.call(STEPS, **arrays, **even)
    for name, got in steps.items():
        assert got.dtype == F32, f"{name} is {got.dtype}"
        trial.within(name, got, plain[name])
    rows = plain["weights"].sum(axis=-1)
    trial.within("sums", rows, np.ones((2, 6, 5)), 16 * np.spacing(F32(1)))


@check("arguments", "law", (np.float64, Fraction))
def a_drawn_dropout_takes_any_kind_of_number(trial: Trial) -> None:
    """With p = ½ every weight of 1 is left out or becomes 2."""
    ones = np.ones((40, 1, 1), dtype=F32)
    output = trial.call(ATTENTION, ones, ones, ones, None, trial.case(0.5))
    assert output.dtype == F32, f"output is {output.dtype}"
    trial.within("kinds of output", np.unique(output), [0.0, 2.0])


def ones_give_ones(trial: Trial) -> None:
    """Assert that the mean of values that are all 1 is 1."""
    ones = {n: np.ones(a.shape, dtype=F32) for n, a in good().items()}
    output = trial.call(ATTENTION, **ones)
    error = 8 * np.spacing(F32(1))
    trial.within("output", output, np.ones((2, 6, 5, 3)), error)


STRANGERS = [
    (name, kind)
    for name in ("query", "key", "value", "attn_mask", "dropout_mask")
    for kind in ("another library", "another precision")
    if (name, kind) != ("dropout_mask", "another precision")
]


def stranger(trial: Trial, kind: str, array: Any) -> Any:
    """Return an array that a version must refuse.

    It is of the other version's library, or of a precision that neither
    has: floats of 80 bits or more for NumPy, of 8 for PyTorch.
    """
    if kind == "another library":
        return trial.other.array(array)
    if trial.version.by_hand:
        return array.astype(np.longdouble)
    return torch.tensor(array).to(torch.float8_e4m3fn)


@check("arguments", "law", STRANGERS)
def strangers_are_refused_by_name(trial: Trial) -> None:
    """The error names the argument, and what was expected."""
    name, kind = trial.case
    named = {n: trial.version.array(x) for n, x in good().items()}
    plain = {
        "attn_mask": zeros(5, 7),
        "dropout_mask": zeros(5, 7, dtype=np.bool_),
    }
    foreign = stranger(trial, kind, (plain | good())[name])
    if kind == "another precision" and not hasattr(foreign, "numpy"):
        # Where a long double is no longer than a double there is no case.
        foreign = (
            foreign if foreign.itemsize > 8 else foreign.astype(np.complex128)
        )
    function = trial.version.function(ATTENTION)
    refusal: Exception | None = None
    try:
        function(**(named | {name: foreign}))
    except TypeError as error:
        refusal = error
    assert refusal is not None, f"{name} of {kind} was accepted"
    # Of a third library there is no such precision: NumPy's is a stranger.
    part = "dtype" if trial.version.is_array(foreign) else "expected an array"
    assert str(refusal).startswith(name), str(refusal)
    assert part in str(refusal), str(refusal)


PLACED: dict[str, dict[str, Any]] = {
    "plain": {},
    "causal": {"is_causal": True},
    "window": {"window": (1, 2)},
    "dropout": {"dropout_p": 0.5},
    "groups": {"enable_gqa": True},
    "cap": {"soft_cap": 2.0},
    "a mask": {"attn_mask": np.ones((5, 7), dtype=bool)},
    "a bias from elsewhere": {"attn_mask": zeros(5, 7)},
    "no keys": {"key": zeros(2, 6, 0, 4), "value": zeros(2, 6, 0, 3)},
    "half": {n: a.astype(np.float16) for n, a in good().items()},
}


@check("arguments", "law", list(PLACED))
def the_result_stands_where_the_arguments_do(trial: Trial) -> None:
    """Shape, dtype and device, also on a device without numbers.

    torch has such a device, "meta". Masks and the dropout mask must be
    created there, and a bias must be moved there.
    """
    options = dict(PLACED[trial.case])
    arrays = {n: options.pop(n, a) for n, a in good().items()}
    if trial.case == "groups":
        arrays |= {n: a[:, :3] for n, a in arrays.items() if n != "query"}
    native = {n: trial.version.array(a) for n, a in arrays.items()}
    options = {n: trial.version.array(a) for n, a in options.items()}
    if not trial.version.by_hand:
        native = {n: a.to("meta") for n, a in native.items()}
        if trial.case == "a mask":
            options["attn_mask"] = options["attn_mask"].to("meta")
    steps = trial.version.ask(STEPS, **native, **options)
    for name, step in steps._asdict().items():
        wide = (
            native["value"].shape[-1:]
            if name == "output"
            else (native["key"].shape[-2],)
        )
        shape = (2, 6, 5) if name == "log_sum_exp" else (2, 6, 5, *wide)
        assert tuple(step.shape) == shape, f"{name} is {step.shape}"
        assert getattr(step, "device", None) == native["query"].device, name
    assert steps.output.dtype == native["query"].dtype, steps.output.dtype
    ones_give_ones(trial)


@check("arguments", "law", ("bool", "float32"))
def arrays_are_taken_over_and_handed_back(trial: Trial) -> None:
    """from_numpy, then to_numpy: the same entries, strided or read-only."""
    rng = np.random.default_rng(15)
    array = (rng.standard_normal((6, 5, 4)) * 2).astype(trial.case)
    array.flags.writeable = False
    package = trial.version.package
    for view in (array, array[::-2], array.mT, array[:0], array[0, 0, 0:1]):
        native = package.from_numpy(view)
        assert package.arrays.is_array(native), type(native)
        back = package.to_numpy(native)
        assert back.dtype == view.dtype, back.dtype
        trial.within("array", back, view)
    if not trial.version.by_hand:
        # Another library's array is a copy: it keeps what it was given.
        given = np.array(array)
        native = package.from_numpy(given)
        given[...] = 0
        trial.within("copy", package.to_numpy(native), array)
    ones_give_ones(trial)


@check("arguments", "SDPA", PATHS)
def names_order_and_defaults_are_those_of_torch(trial: Trial) -> None:
    """As in torch's documentation; three more come at the end.

    The steps take those after query, key and value as one record.
    """
    function = trial.version.function(trial.case)
    if trial.case == STEPS:
        function = trial.version.function("arguments.Options")
    parameters = inspect.signature(function).parameters
    empty = inspect.Parameter.empty
    expected: dict[str, Any] = {}
    if trial.case == ATTENTION:
        expected |= dict.fromkeys(("query", "key", "value"), empty)
    expected |= {"attn_mask": None, "dropout_p": 0.0, "is_causal": False}
    expected |= {"scale": None, "enable_gqa": False}
    expected |= dict.fromkeys(("window", "soft_cap", "dropout_mask"))
    given = {name: one.default for name, one in parameters.items()}
    assert list(given) == list(expected), list(given)
    assert given == expected, given
    ones_give_ones(trial)


WIDE = {"scale": 1e39, "soft_cap": 1e39, "window": (1, 2)}


@check("arguments", "closed form")
def float64_takes_what_float32_cannot(trial: Trial) -> None:
    """A scale of 1e39 before keys of 1e-39: scores 0 and 1, softly capped."""
    query = np.asarray([[LN3]])
    key, value = np.asarray([[0.0], [1e-39]]), np.asarray([[0.0], [1.0]])
    output = trial.call(ATTENTION, query, key, value, **WIDE)
    trial.within("output", output, [[0.75]], 16 * np.spacing(1.0))


@check("arguments", "law", BACK)
def what_comes_back_is_checked_where_it_is_written_out(trial: Trial) -> None:
    """The hand-written backward pass refuses gradients that do not fit."""
    case: Bad = trial.case
    path = ATTENTION
    if trial.version.by_hand:
        named = {"d_output": zeros(2, 6, 5, 3)} | good() | case.changes
        path += "_backward"
        trial.refuses(case.kind, case.text, path, **named)
        return
    # Autograd checks the upstream gradient itself: here the call is good.
    ones = np.ones((2, 6, 7, 3), dtype=F32)
    output = trial.call(path, **(good() | {"value": ones}))
    trial.within("output", output, np.ones((2, 6, 5, 3)), np.spacing(F32(4)))
