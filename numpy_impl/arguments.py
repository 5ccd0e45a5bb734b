"""The options of attention, and the checks of all arguments.

Every message names the argument, its value and what was expected. A wrong
kind (no array, integers, two dtypes) is a TypeError; a wrong shape or a
number out of range is a ValueError. None of this depends on the library, so
the module is the same on both sides, and a port can take it as it is.
"""

from __future__ import annotations

import math
import numbers
from typing import Any, NamedTuple

from .arrays import (
    Array,
    Mask,
    float_range,
    is_array,
    is_boolean,
    is_floating,
)
from .broadcasting import broadcast_shape


class Options(NamedTuple):
    """What attention is told beside query, key and value.

    The names and defaults are those of `scaled_dot_product_attention`, which
    says what each of them does.
    """

    attn_mask: Array | Mask | None = None
    dropout_p: float = 0.0
    is_causal: bool = False
    scale: float | None = None
    enable_gqa: bool = False
    window: tuple[int, int] | None = None
    soft_cap: float | None = None
    dropout_mask: Mask | None = None


def check_arguments(
    query: Any, key: Any, value: Any, options: Options
) -> None:
    """Check every argument of scaled_dot_product_attention.

    Raises TypeError or ValueError for the first that is not as expected.
    """
    check_kinds(query, key, value)
    check_flag("is_causal", options.is_causal)
    check_flag("enable_gqa", options.enable_gqa)
    check_shapes(query, key, value, options.enable_gqa)
    shape = scores_shape(query, key, value)
    if options.attn_mask is not None:
        check_mask(options.attn_mask, shape)
    if options.dropout_mask is not None:
        check_dropout_mask(options.dropout_mask, shape)
    check_dropout(options.dropout_p)
    if options.scale is not None:
        check_scale(options.scale, query)
    if options.window is not None:
        check_window(options.window)
    if options.soft_cap is not None:
        check_soft_cap(options.soft_cap, query)


def check_arguments_backward(
    d_output: Any, d_log_sum_exp: Any, steps: Any, options: Options
) -> None:
    """Check the gradients of the results against the results themselves.

    Raises TypeError or ValueError for the first that is not as expected.
    """
    if options.dropout_p > 0 and options.dropout_mask is None:
        raise ValueError(
            "dropout_mask is None, expected the weights that were kept"
        )
    for name, array, like in (
        ("d_output", d_output, steps.output),
        ("d_log_sum_exp", d_log_sum_exp, steps.log_sum_exp),
    ):
        if array is None and name == "d_log_sum_exp":
            continue
        check_array(name, array)
        if array.dtype != like.dtype:
            raise TypeError(
                f"{name} has dtype {array.dtype}, expected {like.dtype}"
            )
        if array.shape != like.shape:
            raise ValueError(
                f"{name} has shape {tuple(array.shape)}, expected "
                f"{tuple(like.shape)}"
            )


def check_kinds(query: Any, key: Any, value: Any) -> None:
    """Check that the three are arrays of one floating dtype."""
    arrays = {"query": query, "key": key, "value": value}
    for name, array in arrays.items():
        check_array(name, array)
        if not is_floating(array):
            raise TypeError(
                f"{name} has dtype {array.dtype}, expected a floating dtype"
            )
    if not query.dtype == key.dtype == value.dtype:
        dtypes = ", ".join(f"{n} {a.dtype}" for n, a in arrays.items())
        raise TypeError(f"{dtypes}: expected one dtype for all three")


def check_array(name: str, array: Any) -> None:
    """Check that an argument is an array of this side."""
    if not is_array(array):
        raise TypeError(f"{name} is {describe(array)}, expected an array")


def check_shapes(query: Any, key: Any, value: Any, enable_gqa: bool) -> None:
    """Check ranks, dimensions, lengths, heads and batch."""
    for name, array in (("query", query), ("key", key), ("value", value)):
        if len(array.shape) < 2:
            raise ValueError(
                f"{name} has shape {tuple(array.shape)}, "
                "expected at least two axes"
            )
    if key.shape[-1] != query.shape[-1]:
        raise ValueError(
            f"key has shape {tuple(key.shape)}, expected the dimension of "
            f"query, {query.shape[-1]}, as its last axis"
        )
    if value.shape[-2] != key.shape[-2]:
        raise ValueError(
            f"value has shape {tuple(value.shape)}, expected the length of "
            f"key, {key.shape[-2]}, as its second to last axis"
        )
    for name, array in (("key", key), ("value", value)):
        check_heads(name, array, heads(query), enable_gqa)
    if enable_gqa and heads(key) != heads(value):
        raise ValueError(
            f"value has {heads(value)} heads, expected the {heads(key)} of "
            "key, as enable_gqa is True"
        )
    check_batch("key", key, query.shape[:-3])
    check_batch("value", value, query.shape[:-3])
    check_batch("value", value, key.shape[:-3])


def check_heads(name: str, array: Any, H: int, enable_gqa: bool) -> None:
    """Check that H query heads can read from the heads of key or value."""
    G = heads(array)
    if enable_gqa and (H % G if G else H):
        raise ValueError(
            f"{name} has shape {tuple(array.shape)}, expected a number of "
            f"heads that divides the {H} of query, as enable_gqa is True"
        )
    if not enable_gqa and G not in (1, H):
        raise ValueError(
            f"{name} has shape {tuple(array.shape)}, expected the {H} heads "
            "of query, or 1, as enable_gqa is False"
        )


def check_batch(name: str, array: Any, batch: tuple[int, ...]) -> None:
    """Check that the axes before the heads broadcast with those so far."""
    if broadcast_shape(array.shape[:-3], batch) is None:
        raise ValueError(
            f"{name} has shape {tuple(array.shape)}, expected leading axes "
            f"that broadcast with {tuple(batch)}"
        )


def check_mask(attn_mask: Any, shape: tuple[int, ...]) -> None:
    """Check that a mask is boolean or floating and fits the scores."""
    check_array("attn_mask", attn_mask)
    if not is_boolean(attn_mask) and not is_floating(attn_mask):
        raise TypeError(
            f"attn_mask has dtype {attn_mask.dtype}, expected bool (True = "
            "attend) or a floating dtype (added to the scores)"
        )
    check_fits("attn_mask", attn_mask, shape)


def check_dropout_mask(dropout_mask: Any, shape: tuple[int, ...]) -> None:
    """Check that a dropout mask is boolean and fits the scores."""
    check_array("dropout_mask", dropout_mask)
    if not is_boolean(dropout_mask):
        raise TypeError(
            f"dropout_mask has dtype {dropout_mask.dtype}, expected bool"
        )
    check_fits("dropout_mask", dropout_mask, shape)


def check_fits(name: str, array: Any, shape: tuple[int, ...]) -> None:
    """Check that an array broadcasts to the shape of the scores."""
    if broadcast_shape(array.shape, shape) != shape:
        raise ValueError(
            f"{name} has shape {tuple(array.shape)}, expected one that "
            f"broadcasts to (..., H, L, S) = {shape}"
        )


def check_flag(name: str, flag: Any) -> None:
    """Check that a flag is True or False."""
    if not isinstance(flag, bool):
        raise TypeError(f"{name} is {describe(flag)}, expected True or False")


def check_number(name: str, number: Any) -> None:
    """Check that an argument is a real number, which may be NaN or inf."""
    if isinstance(number, bool) or not isinstance(number, numbers.Real):
        raise TypeError(f"{name} is {describe(number)}, expected a number")


def check_dropout(dropout_p: Any) -> None:
    """Check that a probability lies between 0 and 1."""
    check_number("dropout_p", dropout_p)
    if not 0 <= dropout_p <= 1:
        raise ValueError(
            f"dropout_p is {describe(dropout_p)}, expected 0 to 1"
        )


def check_scale(scale: Any, query: Any) -> None:
    """Check that a finite scale is finite in the compute dtype too."""
    check_number("scale", scale)
    _, largest = float_range(query)
    if largest < abs(scale) < math.inf:
        raise ValueError(
            f"scale is {describe(scale)}, expected {largest:g} at most"
        )


def check_window(window: Any) -> None:
    """Check that a window is two radii, each a whole number from -1."""
    if not isinstance(window, tuple) or len(window) != 2:
        raise TypeError(
            f"window is {describe(window)}, expected a tuple (left, right)"
        )
    for radius in window:
        if isinstance(radius, bool) or not isinstance(
            radius, numbers.Integral
        ):
            raise TypeError(
                f"window is {describe(window)}, expected two integers"
            )
        if radius < -1:
            raise ValueError(
                f"window is {describe(window)}, expected -1 or more"
            )


def check_soft_cap(soft_cap: Any, query: Any) -> None:
    """Check that a cap is positive and finite in the compute dtype."""
    check_number("soft_cap", soft_cap)
    smallest, largest = float_range(query)
    if not smallest <= soft_cap <= largest:
        raise ValueError(
            f"soft_cap is {describe(soft_cap)}, expected more than 0: "
            f"{smallest:g} to {largest:g}"
        )


def heads(array: Any) -> int:
    """Return the number of heads: 1 where there is no axis for them."""
    return int(array.shape[-3]) if len(array.shape) > 2 else 1


def scores_shape(query: Any, key: Any, value: Any) -> tuple[int, ...]:
    """Return the shape of the scores, (..., H, L, S).

    It has an axis of heads, and axes before it, if one of the three has.
    """
    rank = max(len(a.shape) for a in (query, key, value))
    batch = broadcast_shape(query.shape[:-3], key.shape[:-3]) or ()
    batch = broadcast_shape(batch, value.shape[:-3]) or ()
    middle = (heads(query),) if rank > 2 else ()
    return (*batch, *middle, query.shape[-2], key.shape[-2])


def describe(candidate: object) -> str:
    """Return what something is, short enough for a message."""
    kind = type(candidate).__name__
    try:
        text = repr(candidate)
    except ValueError:
        # Python refuses to write out an integer of many thousand digits.
        return f"of type {kind}"
    short = len(text) < 40 and "\n" not in text
    return f"{text} ({kind})" if short else f"of type {kind}"
