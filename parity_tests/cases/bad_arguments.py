"""Arguments that must be refused, and odd ones that must be accepted."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np


class Bad(NamedTuple):
    """A call that must be refused: a good call with one change."""

    name: str
    kind: type[Exception]
    text: str
    changes: dict[str, Any]

    def __str__(self) -> str:
        """Return the name."""
        return self.name


def zeros(*shape: int, dtype: Any = np.float32) -> Any:
    """Return zeros of a shape."""
    return np.zeros(shape, dtype=dtype)


def bad(name: str, kind: type[Exception], text: str, **changes: Any) -> Bad:
    """Return a bad call."""
    return Bad(name, kind, text, changes)


def good() -> dict[str, Any]:
    """Return the arguments of a call that is accepted."""
    shapes = {"query": (5, 4), "key": (7, 4), "value": (7, 3)}
    return {name: zeros(2, 6, *shape) for name, shape in shapes.items()}


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
        "key has shape (2, 6, 7, 5), expected the dimension of query, 4,",
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
        "key has shape (2, 6, 7, 3), expected the dimension of query, 4,",
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
        "dropout_mask has shape (5, 7), expected one that broadcasts",
        query=zeros(2, 6, 1, 4),
        dropout_mask=zeros(5, 7, dtype=np.bool_),
    ),
    bad("a number of NumPy", TypeError, "query is", query=np.float32(1)),
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
        dropout_p=np.ones((2, 1), dtype=np.float32),
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
    bad(
        "keep of numbers",
        TypeError,
        "dropout_mask has dtype",
        dropout_mask=zeros(5, 7),
    ),
    bad(
        "keep a flag",
        TypeError,
        "dropout_mask is True (bool)",
        dropout_mask=True,
    ),
    bad(
        "keep of another length",
        ValueError,
        "dropout_mask has shape (5, 6), expected one that broadcasts",
        dropout_mask=zeros(5, 6, dtype=np.bool_),
    ),
]


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
    bad(
        "no keep", ValueError, "dropout_mask is None, expected", dropout_p=0.5
    ),
    bad(
        "no keep, p 1",
        ValueError,
        "dropout_mask is None, expected",
        dropout_p=1,
    ),
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


KEPT = np.asarray([True, False, True, True, False, True, True])
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
    "a keep that broadcasts": ({"dropout_mask": np.ones(7, dtype=bool)}, {}),
    **{
        f"p, a {kind.__name__}": (
            {"dropout_p": kind(0.25), "dropout_mask": KEPT},
            {"dropout_p": 0.25, "dropout_mask": KEPT},
        )
        for kind in (np.float64, np.float32, Fraction)
    },
}
