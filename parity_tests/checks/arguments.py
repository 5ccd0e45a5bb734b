"""arguments: what is refused, by which class, and what the message says."""

from __future__ import annotations

import inspect
import math
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import torch

from ..suite.register import Trial, check

F32 = np.float32
LN3 = math.log(3)


class Bad(NamedTuple):
    """A call that must be refused: what is changed in a good one."""

    name: str
    kind: type[Exception]
    text: str
    changes: dict[str, Any]

    def __str__(self) -> str:
        """Return the name."""
        return self.name


def zeros(*shape: int, dtype: Any = F32) -> Any:
    """Return zeros of a shape."""
    return np.zeros(shape, dtype=dtype)


def bad(name: str, kind: type[Exception], text: str, **changes: Any) -> Bad:
    """Return a bad call."""
    return Bad(name, kind, text, changes)


BAD = [
    bad(
        "a list",
        TypeError,
        "query is [[1.0]] (list), expected an array",
        query=[[1.0]],
    ),
    bad("no key", TypeError, "key is None", key=None),
    bad(
        "integers",
        TypeError,
        "value has dtype",
        value=zeros(2, 6, 7, 3, dtype=np.int32),
    ),
    bad(
        "booleans",
        TypeError,
        "query has dtype",
        query=zeros(2, 6, 5, 4, dtype=np.bool_),
    ),
    bad(
        "complex numbers",
        TypeError,
        "key has dtype",
        key=zeros(2, 6, 7, 4, dtype=np.complex64),
    ),
    bad(
        "two dtypes",
        TypeError,
        "float64, value",
        key=zeros(2, 6, 7, 4, dtype=np.float64),
    ),
    bad(
        "a third dtype",
        TypeError,
        "expected one dtype for all three",
        value=zeros(2, 6, 7, 3, dtype=np.float16),
    ),
    bad("rank 1", ValueError, "query has shape (4,)", query=zeros(4)),
    bad("rank 0", ValueError, "value has shape ()", value=zeros()),
    bad(
        "another width",
        ValueError,
        "key has shape (2, 6, 7, 5), expected the width of query, 4,",
        key=zeros(2, 6, 7, 5),
    ),
    bad(
        "another length",
        ValueError,
        "value has shape (2, 6, 6, 3), expected the length of key, 7,",
        value=zeros(2, 6, 6, 3),
    ),
    bad(
        "a value that is too long",
        ValueError,
        "value has shape (2, 6, 8, 3), expected the length of key, 7,",
        value=zeros(2, 6, 8, 3),
    ),
    bad(
        "heads that differ",
        ValueError,
        "key has shape (2, 3, 7, 4), expected the 6 heads of query",
        key=zeros(2, 3, 7, 4),
        value=zeros(2, 3, 7, 3),
    ),
    bad(
        "one query head",
        ValueError,
        "key has shape (2, 6, 7, 4), expected the 1 heads of query",
        query=zeros(2, 1, 5, 4),
    ),
    bad(
        "groups that do not divide",
        ValueError,
        "key has shape (2, 4, 7, 4), expected a number of heads that divides",
        key=zeros(2, 4, 7, 4),
        value=zeros(2, 4, 7, 3),
        enable_gqa=True,
    ),
    bad(
        "no groups",
        ValueError,
        "key has shape (2, 0, 7, 4), expected a number of heads that divides",
        key=zeros(2, 0, 7, 4),
        value=zeros(2, 0, 7, 3),
        enable_gqa=True,
    ),
    bad(
        "groups of key and value that differ",
        ValueError,
        "value has 2 heads, expected the 3 of key",
        key=zeros(2, 3, 7, 4),
        value=zeros(2, 2, 7, 3),
        enable_gqa=True,
    ),
    bad(
        "batches that do not broadcast",
        ValueError,
        "key has shape (3, 6, 7, 4), expected leading axes that broadcast",
        key=zeros(3, 6, 7, 4),
    ),
    bad(
        "a batch of values that does not broadcast",
        ValueError,
        "value has shape (3, 6, 7, 3), expected leading axes that broadcast",
        value=zeros(3, 6, 7, 3),
    ),
    bad(
        "a mask of integers",
        TypeError,
        "attn_mask has dtype",
        attn_mask=zeros(5, 7, dtype=np.int64),
    ),
    bad(
        "a mask that is no array",
        TypeError,
        "attn_mask is True (bool), expected an array",
        attn_mask=True,
    ),
    bad(
        "a mask of another length",
        ValueError,
        "attn_mask has shape (5, 6), expected one that broadcasts",
        attn_mask=zeros(5, 6),
    ),
    bad(
        "a mask with another batch",
        ValueError,
        "attn_mask has shape (3, 6, 5, 7), expected one that broadcasts",
        attn_mask=zeros(3, 6, 5, 7),
    ),
    bad(
        "a mask of one axis too many",
        ValueError,
        "attn_mask has shape (1, 2, 6, 5, 7), expected one that broadcasts",
        attn_mask=zeros(1, 2, 6, 5, 7),
    ),
    bad(
        "a mask by batch, of rank 3",
        ValueError,
        "attn_mask has shape (2, 5, 7), expected one that broadcasts",
        attn_mask=zeros(2, 5, 7),
    ),
    bad(
        "a mask that would widen one query",
        ValueError,
        "attn_mask has shape (5, 7), expected one that broadcasts",
        query=zeros(2, 6, 1, 4),
        attn_mask=zeros(5, 7),
    ),
    bad("a key of rank 1", ValueError, "key has shape (4,)", key=zeros(4)),
    bad(
        "a narrower key",
        ValueError,
        "key has shape (2, 6, 7, 3), expected the width of query, 4,",
        key=zeros(2, 6, 7, 3),
    ),
    bad(
        "value heads that differ",
        ValueError,
        "value has shape (2, 3, 7, 3), expected the 6 heads of query",
        value=zeros(2, 3, 7, 3),
    ),
    bad(
        "a value batch that differs from query's",
        ValueError,
        "value has shape (3, 6, 7, 3), expected leading axes that broadcast",
        key=zeros(1, 6, 7, 4),
        value=zeros(3, 6, 7, 3),
    ),
    bad(
        "a value batch that differs from key's",
        ValueError,
        "value has shape (3, 6, 7, 3), expected leading axes that broadcast",
        query=zeros(1, 6, 5, 4),
        value=zeros(3, 6, 7, 3),
    ),
    bad(
        "groups of key and one value head",
        ValueError,
        "value has 1 heads, expected the 3 of key",
        key=zeros(2, 3, 7, 4),
        value=zeros(2, 1, 7, 3),
        enable_gqa=True,
    ),
    bad(
        "one key head and groups of value",
        ValueError,
        "value has 3 heads, expected the 1 of key",
        key=zeros(2, 1, 7, 4),
        value=zeros(2, 3, 7, 3),
        enable_gqa=True,
    ),
    bad("causal of NumPy", TypeError, "is_causal is", is_causal=np.True_),
    bad("window a list", TypeError, "window is [1, 2]", window=[1, 2]),
    bad("window empty", TypeError, "window is ()", window=()),
    bad("window, right a flag", TypeError, "window is (2,", window=(2, True)),
    bad("window, right a float", TypeError, "window is (2,", window=(2, 1.0)),
    bad("window, left below", ValueError, "window is (-2, 0)", window=(-2, 0)),
    bad("cap a flag", TypeError, "soft_cap is True (bool)", soft_cap=True),
    bad(
        "keep that would widen one query",
        ValueError,
        "keep has shape (5, 7), expected one that broadcasts",
        query=zeros(2, 6, 1, 4),
        keep=zeros(5, 7, dtype=np.bool_),
    ),
    bad("a number of NumPy", TypeError, "query is", query=F32(1)),
    bad("a mask that is a number", TypeError, "attn_mask", attn_mask=np.True_),
    bad(
        "a long list",
        TypeError,
        "query is of type list, expected an array",
        query=[0.5] * 100,
    ),
    bad("p below 0", ValueError, "dropout_p is -0.1", dropout_p=-0.1),
    bad("p above 1", ValueError, "dropout_p is 1.5", dropout_p=1.5),
    bad("p nan", ValueError, "dropout_p is nan", dropout_p=float("nan")),
    bad("p a text", TypeError, "dropout_p is '1' (str)", dropout_p="1"),
    bad("p a flag", TypeError, "dropout_p is True (bool)", dropout_p=True),
    bad("p too large", ValueError, "dropout_p is of", dropout_p=10**400),
    bad("p endless", ValueError, "dropout_p is of", dropout_p=-(10**5000)),
    bad(
        "p a column",
        TypeError,
        "dropout_p is of type",
        dropout_p=np.ones((2, 1), dtype=F32),
    ),
    bad(
        "scale a column",
        TypeError,
        "scale is of type",
        scale=np.ones((2, 1), dtype=np.int8),
    ),
    bad("causal 1", TypeError, "is_causal is 1 (int)", is_causal=1),
    bad("causal None", TypeError, "is_causal is None", is_causal=None),
    bad("gqa 0", TypeError, "enable_gqa is 0 (int)", enable_gqa=0),
    bad("scale a text", TypeError, "scale is 'x' (str)", scale="x"),
    bad("scale a flag", TypeError, "scale is False (bool)", scale=False),
    bad("scale complex", TypeError, "scale is 1j (complex)", scale=1j),
    bad("scale too large", ValueError, "scale is of type", scale=-(10**400)),
    bad("scale beyond float32", ValueError, "scale is 1e+39", scale=1e39),
    bad("scale far below", ValueError, "scale is -1e+39", scale=-1e39),
    bad("cap beyond float32", ValueError, "soft_cap is 1e+39", soft_cap=1e39),
    bad("cap below float32", ValueError, "soft_cap is 1e-39", soft_cap=1e-39),
    bad("cap endless", ValueError, "soft_cap is of", soft_cap=10**5000),
    bad("window a number", TypeError, "window is 3 (int)", window=3),
    bad("window of three", TypeError, "window is (1, 2, 3)", window=(1, 2, 3)),
    bad("window of floats", TypeError, "window is (1.0, 2)", window=(1.0, 2)),
    bad("window of flags", TypeError, "window is (True, 2)", window=(True, 2)),
    bad("window below -1", ValueError, "window is (0, -2)", window=(0, -2)),
    bad(
        "window far below -1",
        ValueError,
        "window is of type tuple, expected -1 or more",
        window=(0, -(10**5000)),
    ),
    bad(
        "causal an endless number",
        TypeError,
        "is_causal is of type int, expected True or False",
        is_causal=10**5000,
    ),
    bad("cap 0", ValueError, "soft_cap is 0", soft_cap=0),
    bad("cap negative", ValueError, "soft_cap is -1.0", soft_cap=-1.0),
    bad("cap inf", ValueError, "soft_cap is inf", soft_cap=float("inf")),
    bad("cap nan", ValueError, "soft_cap is nan", soft_cap=float("nan")),
    bad("cap a text", TypeError, "soft_cap is '2' (str)", soft_cap="2"),
    bad("keep of numbers", TypeError, "keep has dtype", keep=zeros(5, 7)),
    bad("keep a flag", TypeError, "keep is True (bool)", keep=True),
    bad(
        "keep of another length",
        ValueError,
        "keep has shape (5, 6), expected one that broadcasts",
        keep=zeros(5, 6, dtype=np.bool_),
    ),
]


def good() -> dict[str, Any]:
    """Return the arguments of a call that is accepted."""
    shapes = {"query": (5, 4), "key": (7, 4), "value": (7, 3)}
    return {name: zeros(2, 6, *shape) for name, shape in shapes.items()}


ATTENTION = "sdpa.scaled_dot_product_attention"
STEPS = "sdpa.attention_steps"
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
    """So it does where the gradients are derived by hand."""
    case: Bad = trial.case
    path = "sdpa.scaled_dot_product_attention"
    if trial.version.by_hand:
        path += "_backward"
    upstream = {"d_output": zeros(2, 6, 5, 3)} if trial.version.by_hand else {}
    named = upstream | good() | case.changes
    trial.refuses(case.kind, case.text, path, **named)


ACCEPTED: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "numbers of NumPy": (
        {"scale": np.float64(0.3), "window": (np.int64(1), np.int32(2))},
        {"scale": 0.3, "window": (1, 2)},
    ),
    "float32 of NumPy": (
        {"scale": np.float32(0.5), "soft_cap": np.float32(0.25)},
        {"scale": 0.5, "soft_cap": 0.25},
    ),
    "a cap of float64": ({"soft_cap": np.float64(0.7)}, {"soft_cap": 0.7}),
    "fractions": (
        {"scale": Fraction(1, 3), "soft_cap": Fraction(7, 5)},
        {"scale": 1 / 3, "soft_cap": 1.4},
    ),
    "a fraction as the scale": (
        {"scale": Fraction(-7, 3), "enable_gqa": True},
        {"scale": -7 / 3, "enable_gqa": True},
    ),
    "a fraction as the cap": (
        {"soft_cap": Fraction(1, 3), "is_causal": True},
        {"soft_cap": 1 / 3, "is_causal": True},
    ),
    "whole numbers": (
        {"scale": 2, "soft_cap": 1},
        {"scale": 2.0, "soft_cap": 1.0},
    ),
    "a whole probability": ({"dropout_p": 0}, {}),
    "a huge window": ({"window": (10**30, 10**30)}, {}),
    "a mask of no axes": ({"attn_mask": np.asarray(True)}, {}),
    "a keep that broadcasts": ({"keep": np.ones(7, dtype=bool)}, {}),
}
KEPT = np.asarray([True, False, True, True, False, True, True])
for made in (np.float64, np.float32, Fraction):
    ACCEPTED[f"p, a {made.__name__}"] = (
        {"dropout_p": made(0.25), "keep": KEPT},
        {"dropout_p": 0.25, "keep": KEPT},
    )


@check("arguments", "law", list(ACCEPTED))
def other_kinds_of_numbers_count_the_same(trial: Trial) -> None:
    """Every step is that of the plain number, in the dtype given."""
    odd, even = ACCEPTED[trial.case]
    rng = np.random.default_rng(8)
    arrays = {
        name: rng.standard_normal(good()[name].shape).astype(F32)
        for name in ("query", "key", "value")
    }
    steps = trial.call("sdpa.attention_steps", **arrays, **odd)
    plain = trial.call("sdpa.attention_steps", **arrays, **even)
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
    for name in ("query", "key", "value", "attn_mask", "keep")
    for kind in ("another library", "another precision")
    if (name, kind) != ("keep", "another precision")
]


def stranger(trial: Trial, kind: str, array: Any) -> Any:
    """Return an array that a version must not take for one of its own.

    Of the other version's library, or of a precision that neither has:
    floats of 80 bits or more on one side and of 8 on the other.
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
    plain = {"attn_mask": zeros(5, 7), "keep": zeros(5, 7, dtype=np.bool_)}
    own = stranger(trial, kind, (plain | good())[name])
    if kind == "another precision" and not hasattr(own, "numpy"):
        # Where a long double is no longer than a double there is no case.
        own = own if own.itemsize > 8 else own.astype(np.complex128)
    function = trial.version.function(ATTENTION)
    found: Exception | None = None
    try:
        function(**(named | {name: own}))
    except TypeError as error:
        found = error
    assert found is not None, f"{name} of {kind} was accepted"
    # Of a third library there is no such precision: NumPy's is a stranger.
    part = "dtype" if trial.version.is_array(own) else "expected an array"
    assert str(found).startswith(name), str(found)
    assert part in str(found), str(found)


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
    """Shape, dtype and device, also where there are no numbers to compute.

    torch has such a device, "meta"; what is made on the way (masks, what
    dropout keeps) must be made beside it, and a bias is brought there.
    """
    options = dict(PLACED[trial.case])
    arrays = {n: options.pop(n, a) for n, a in good().items()}
    if trial.case == "groups":
        arrays |= {n: a[:, :3] for n, a in arrays.items() if n != "query"}
    own = {n: trial.version.array(a) for n, a in arrays.items()}
    options = {n: trial.version.array(a) for n, a in options.items()}
    if not trial.version.by_hand:
        own = {n: a.to("meta") for n, a in own.items()}
        if trial.case == "a mask":
            options["attn_mask"] = options["attn_mask"].to("meta")
    steps = trial.version.function(STEPS)(**own, **options)
    for name, step in steps._asdict().items():
        wide = (
            own["value"].shape[-1:]
            if name == "output"
            else (own["key"].shape[-2],)
        )
        shape = (2, 6, 5) if name == "log_sum_exp" else (2, 6, 5, *wide)
        assert tuple(step.shape) == shape, f"{name} is {step.shape}"
        assert getattr(step, "device", None) == own["query"].device, name
    assert steps.output.dtype == own["query"].dtype, steps.output.dtype
    ones_give_ones(trial)


@check("arguments", "law", ("bool", "float32"))
def arrays_are_taken_over_and_handed_back(trial: Trial) -> None:
    """There and back again: the same entries, strided or read-only."""
    rng = np.random.default_rng(15)
    array = (rng.standard_normal((6, 5, 4)) * 2).astype(trial.case)
    array.flags.writeable = False
    package = trial.version.package
    for view in (array, array[::-2], array.mT, array[:0], array[0, 0, 0:1]):
        own = package.from_numpy(view)
        assert package.arrays.is_array(own), type(own)
        back = package.to_numpy(own)
        assert back.dtype == view.dtype, back.dtype
        trial.within("array", back, view)
    if not trial.version.by_hand:
        # Another library's array is a copy: it keeps what it was given.
        given = np.array(array)
        own = package.from_numpy(given)
        given[...] = 0
        trial.within("copy", package.to_numpy(own), array)
    ones_give_ones(trial)


@check("arguments", "SDPA", PATHS)
def names_order_and_defaults_are_those_of_torch(trial: Trial) -> None:
    """As torch's documentation has them; three more stand at the end."""
    found = inspect.signature(trial.version.function(trial.case)).parameters
    empty = inspect.Parameter.empty
    expected: dict[str, Any] = dict.fromkeys(("query", "key", "value"), empty)
    expected |= {"attn_mask": None, "dropout_p": 0.0, "is_causal": False}
    expected |= {"scale": None, "enable_gqa": False}
    expected |= dict.fromkeys(("window", "soft_cap", "keep"))
    given = {name: one.default for name, one in found.items()}
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


BACK = [
    bad("a list", TypeError, "d_output is [[1.0]]", d_output=[[1.0]]),
    bad("nothing", TypeError, "d_output is None", d_output=None),
    bad(
        "integers",
        TypeError,
        "d_output has dtype int32",
        d_output=zeros(2, 6, 5, 3, dtype=np.int32),
    ),
    bad(
        "another dtype",
        TypeError,
        "d_output has dtype float64, expected float32",
        d_output=zeros(2, 6, 5, 3, dtype=np.float64),
    ),
    bad(
        "another dtype",
        TypeError,
        "d_log_sum_exp has dtype float16, expected float32",
        d_log_sum_exp=zeros(2, 6, 5, dtype=np.float16),
    ),
    bad(
        "one row",
        ValueError,
        "d_output has shape (2, 6, 1, 3), expected (2, 6, 5, 3)",
        d_output=zeros(2, 6, 1, 3),
    ),
    bad("a list", TypeError, "d_log_sum_exp is [1.0]", d_log_sum_exp=[1.0]),
    bad(
        "integers",
        TypeError,
        "d_log_sum_exp has dtype int32",
        d_log_sum_exp=zeros(2, 6, 5, dtype=np.int32),
    ),
    bad(
        "one row",
        ValueError,
        "d_log_sum_exp has shape (2, 6, 1), expected (2, 6, 5)",
        d_log_sum_exp=zeros(2, 6, 1),
    ),
    bad("no keep", ValueError, "keep is None, expected", dropout_p=0.5),
    bad("no keep, p 1", ValueError, "keep is None, expected", dropout_p=1),
    bad("a number", TypeError, "d_output is 1.0 (float)", d_output=1.0),
    bad(
        "nothing, with a log-sum-exp",
        TypeError,
        "d_output is None",
        d_output=None,
        d_log_sum_exp=zeros(2, 6, 5),
    ),
    bad(
        "one axis too few",
        ValueError,
        "d_output has shape (6, 5, 3), expected (2, 6, 5, 3)",
        d_output=zeros(6, 5, 3),
    ),
    bad(
        "an axis kept",
        ValueError,
        "d_log_sum_exp has shape (2, 6, 5, 1), expected (2, 6, 5)",
        d_log_sum_exp=zeros(2, 6, 5, 1),
    ),
]


@check("arguments", "law", BACK)
def what_comes_back_is_checked_where_it_is_written_out(trial: Trial) -> None:
    """The hand-written backward pass refuses what does not fit."""
    case: Bad = trial.case
    path = "sdpa.scaled_dot_product_attention"
    if trial.version.by_hand:
        named = {"d_output": zeros(2, 6, 5, 3)} | good() | case.changes
        path += "_backward"
        trial.refuses(case.kind, case.text, path, **named)
        return
    # Autograd checks what comes back itself: here the call is good.
    ones = np.ones((2, 6, 7, 3), dtype=F32)
    output = trial.call(path, **(good() | {"value": ones}))
    trial.within("output", output, np.ones((2, 6, 5, 3)), np.spacing(F32(4)))
