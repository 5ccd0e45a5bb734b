"""flash: every case in tiles of a few keys gives what one table gives."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention

from ..cases.table import BY_NAME, CASES, Case, build
from ..judges import bounds, definition
from ..suite.register import Trial, check
from ..suite.versions import Missing, Version
from . import sdpa
from .sdpa_closed_form import STRUCTURAL, within_one_over_seen

# Tiles so small that every case has several, and none fits.
QUERIES, KEYS = 3, 2
ROOM = "flash"
PATH = f"{ROOM}.flash_attention"


def tiled(case: Case) -> bool:
    """Return whether flash computes a case: it has no dropout."""
    return case.dropout_p == 0 and case.keep is None


TILED = [case for case in CASES if tiled(case)]
GRADIENT = [case for case in TILED if case.gradient]


@contextmanager
def settings(version: Version, room: str, **own: Any) -> Iterator[None]:
    """Give a room other constants for a while."""
    module = version.room(room)
    before = {name: getattr(module, name) for name in own}
    vars(module).update(own)
    try:
        yield
    finally:
        vars(module).update(before)


def tiles(
    version: Version,
    queries: int = QUERIES,
    keys: int = KEYS,
    room: str = ROOM,
    **own: Any,
) -> AbstractContextManager[None]:
    """Give flash, or fast, other sizes of tiles for a while."""
    return settings(version, room, QUERIES=queries, KEYS=keys, **own)


def arguments(version: Version, case: Case) -> dict[str, Any]:
    """Return the arguments of flash for a case."""
    named = version.arguments(build(case), case.dtype)
    return {n: a for n, a in named.items() if n not in ("dropout_p", "keep")}


def forward(
    version: Version, case: Case, room: str = ROOM, **own: Any
) -> dict[str, Any]:
    """Return output and log-sum-exp in small tiles."""
    function = version.function(f"{room}.flash_attention")
    with tiles(version, room=room, **own):
        result = function(**arguments(version, case))
    found: dict[str, Any] = version.numpy(result)
    return found


def gradients(
    version: Version, case: Case, room: str = ROOM, **more: Any
) -> dict[str, Any]:
    """Return the gradients of query, key and value in small tiles."""
    inputs, own = build(case), arguments(version, case)
    path = f"{room}.flash_attention"
    d_output = version.array(inputs.d_output, case.dtype)
    d_lse = version.array(inputs.d_log_sum_exp)
    names = ("query", "key", "value")
    with tiles(version, room=room, **more):
        if version.by_hand:
            backward = version.function(f"{path}_backward")
            result = backward(d_output, **own, d_log_sum_exp=d_lse)
            found: dict[str, Any] = version.numpy(result)
            version.unwritten(
                path, (inputs.d_output, inputs.key), (d_output, own["key"])
            )
            return found
        for name in names:
            own[name].requires_grad_()
        result = version.function(path)(**own)
        torch.autograd.backward(list(result), [d_output, d_lse])
    return {name: version.numpy(own[name].grad) for name in names}


@cache
def errors(case: Case) -> dict[str, Any]:
    """Return the bounds of a case in small tiles."""
    parts = -(-build(case).S // KEYS)
    with np.errstate(all="ignore"):
        found = bounds.in_tiles(build(case), case.dtype, max(parts, 1))
    return {name: bounded.error for name, bounded in found.items()}


def spread(error: Any, array: Any) -> Any:
    """Return a bound in the shape of what it bounds."""
    return np.broadcast_to(error, array.shape)


@check("flash", "definition", TILED)
def output_and_log_sum_exp_are_the_definitions(trial: Trial) -> None:
    """Compare with the scalar loops."""
    within_definition(trial)


def within_definition(trial: Trial, room: str = ROOM, **own: Any) -> None:
    """Compare output and log-sum-exp with the scalar loops."""
    for case in sdpa.controlled(trial.case):
        exact, error = definition.forward(case), errors(case)
        for name, got in forward(trial.version, case, room, **own).items():
            nearest, missing = exact[name]
            sdpa.has_dtype(name, got, case.dtype, name == "output")
            bound = spread(error[name], nearest)
            trial.within(name, got, nearest, bound, missing)


@check("flash", "definition", GRADIENT)
def gradients_are_the_definitions(trial: Trial) -> None:
    """Compare with the derivatives of the scalar loops."""
    gradients_within_definition(trial)


def gradients_within_definition(
    trial: Trial, room: str = ROOM, **own: Any
) -> None:
    """Compare gradients with the derivatives of the scalar loops."""
    for case in sdpa.controlled(trial.case):
        exact, error = definition.backward(case), errors(case)
        for name, got in gradients(trial.version, case, room, **own).items():
            nearest, missing = exact[name]
            sdpa.has_dtype(name, got, case.dtype, True)
            bound = spread(error[f"gradient of {name}"], nearest)
            trial.within(f"gradient of {name}", got, nearest, bound, missing)


FEW = [
    case
    for case in GRADIENT
    if case.dtype != "bfloat16" and not sdpa.trivial(case)
][::7]


@check("flash", "each other", FEW)
def both_versions_agree(trial: Trial) -> None:
    """Compare result and gradients with the other version's."""
    case, error = trial.case, errors(trial.case)
    others = forward(trial.other, case)
    for name, got in forward(trial.version, case).items():
        trial.within(name, got, others[name], 2 * spread(error[name], got))
    others = gradients(trial.other, case)
    for name, got in gradients(trial.version, case).items():
        bound = 2 * spread(error[f"gradient of {name}"], got)
        trial.within(f"gradient of {name}", got, others[name], bound)


@check("flash", "closed form", STRUCTURAL)
def the_output_is_one_over_the_keys_seen(trial: Trial) -> None:
    """Scores 0, value the identity: 1/n on the keys seen, to the bit."""
    within_one_over_seen(trial, forward(trial.version, trial.case))


LOWER = [(1, 4), (2, 7), (7, 2), (4, 4), (5, 9)]


@check("flash", "closed form", LOWER)
def the_triangle_lies_in_the_corner_that_is_asked_for(trial: Trial) -> None:
    """In the lower right the last query sees the last key."""
    both_corners(trial)


def both_corners(trial: Trial, room: str = ROOM, **own_sizes: Any) -> None:
    """Compare triangle and band in both corners with 1/n on those seen."""
    L, S = trial.case
    path = f"{room}.flash_attention"
    query, key, value = (
        np.zeros((L, 2)),
        np.zeros((S, 2)),
        np.eye(S),
    )
    own = [trial.version.array(a) for a in (query, key, value)]
    for align, shift in (("upper_left", 0), ("lower_right", S - L)):
        seen = np.arange(S) <= np.arange(L)[:, None] + shift
        expected = seen / np.maximum(seen.sum(axis=-1, keepdims=True), 1)
        with tiles(trial.version, room=room, **own_sizes):
            found = trial.version.function(path)(
                *own, is_causal=True, align=align
            )
        got = trial.version.numpy(found.output)
        trial.within(align, got, expected)
        band = seen & (np.arange(S) >= np.arange(L)[:, None] + shift - 1)
        expected = band / np.maximum(band.sum(axis=-1, keepdims=True), 1)
        with tiles(trial.version, room=room, **own_sizes):
            found = trial.version.function(path)(
                *own, is_causal=True, window=(1, 5), align=align
            )
        got = trial.version.numpy(found.output)
        trial.within(f"{align}, window", got, expected)


@check("flash", "closed form", ("float32", "float64"))
def the_first_tiles_may_be_empty(trial: Trial) -> None:
    """Keys 0 to 5 forbidden to all, 6 and 7 seen: the mean of those two."""
    last_keys_alone(trial)


def last_keys_alone(trial: Trial, room: str = ROOM, **own_sizes: Any) -> None:
    """Compare with the mean of the only two that are seen."""
    path = f"{room}.flash_attention"
    value = np.asarray([[2.0**n] for n in range(8)], dtype=trial.case)
    zeros = np.zeros((8, 1), dtype=trial.case)
    mask = np.arange(8) >= 6
    bias = np.where(mask, 0.0, -np.inf).astype(trial.case)
    for given in (mask, bias, np.tile(mask, (8, 1))):
        own = map(trial.version.array, (zeros, zeros, value, given))
        with tiles(trial.version, room=room, **own_sizes):
            found = trial.version.function(path)(*own)
        got = trial.version.numpy(found)
        trial.within("output", got["output"], np.full((8, 1), 96.0))
        lse = np.full(8, math.log(2))
        error = 8 * np.spacing(np.asarray(1, dtype=trial.case))
        trial.within("log_sum_exp", got["log_sum_exp"], lse, error)


@check("flash", "closed form", (1e4, -1e4))
def the_maximum_may_come_late_or_early(trial: Trial) -> None:
    """Scores that climb or fall by 10⁴ a key: the greatest has it all."""
    greatest_alone(trial)


def greatest_alone(trial: Trial, room: str = ROOM, **own_sizes: Any) -> None:
    """Compare with the value of the greatest score."""
    path = f"{room}.flash_attention"
    key = trial.case * np.arange(9.0)[:, None]
    value = np.arange(9.0)[:, None] + 1
    one = np.ones((1, 1))
    own = map(trial.version.array, (one, key, value))
    with tiles(trial.version, room=room, **own_sizes):
        found = trial.version.function(path)(*own)
    got = trial.version.numpy(found)
    best = 9.0 if trial.case > 0 else 1.0
    trial.within("output", got["output"], [[best]])
    trial.within("log_sum_exp", got["log_sum_exp"], [key.max()])


SIZES = [(1, 1), (2, 3), (5, 7), (4, 128), (512, 128)]


@check("flash", "law", SIZES)
def the_size_of_the_tiles_does_not_matter(trial: Trial) -> None:
    """Everything at once, in tiles of other sizes: the same."""
    case = BY_NAME["float64 everything"]
    case = replace(case, name="in tiles", dropout_p=0.0, keep=None)
    error = errors(case)
    wanted = forward(trial.version, case)
    with tiles(trial.version, *trial.case):
        result = trial.version.function(PATH)(**arguments(trial.version, case))
    for name, got in trial.version.numpy(result).items():
        # Tiles of one key are twice as many as the bound is made for.
        bound = 4 * spread(error[name], got)
        trial.within(name, got, wanted[name], bound)
        assert np.any(got != 0), f"{name} is 0"


@check("flash", "law", ("causal", "window", "mask", "lower right"))
def tiles_without_a_key_to_see_are_left_out(trial: Trial) -> None:
    """Of 8 × 8 tiles of one query and key, only those that are seen."""
    room: Any = trial.version.room("flash")
    options: dict[str, Any] = {"is_causal": True}
    expected = 36
    if trial.case == "window":
        options, expected = {"window": (1, 1)}, 22
    elif trial.case == "mask":
        mask = np.eye(8, dtype=bool)
        options, expected = {"attn_mask": trial.version.array(mask)}, 8
    elif trial.case == "lower right":
        options |= {"align": "lower_right"}
    counted: list[Any] = []
    if not hasattr(room, "apply_mask"):
        # Tiles are counted by the masks that they are put through.
        raise Missing("flash.apply_mask")
    before = room.apply_mask

    def counting(*given: Any) -> Any:
        counted.append(given)
        return before(*given)

    version = trial.version
    own = [version.array(np.eye(8)) for _ in range(3)]
    d = version.array(np.eye(8))
    # The way back makes each tile once more, and by hand goes there first.
    more = 2 * expected if version.by_hand else expected
    room.apply_mask = counting
    try:
        with tiles(version, 1, 1):
            if not version.by_hand:
                own[0].requires_grad_()
            found = version.function(PATH)(*own, **options)
            there = len(counted)
            if version.by_hand:
                version.function(f"{PATH}_backward")(d, *own, **options)
            else:
                found.output.backward(d)
    finally:
        room.apply_mask = before
    assert there == expected, f"{there} tiles, not {expected}"
    back = len(counted) - there
    assert back == more, f"{back} tiles on the way back, not {more}"
    sums = trial.version.numpy(found.output).sum(axis=-1)
    trial.within("sums", sums, np.ones(8), 16 * np.spacing(1.0))


@check("flash", "SDPA", (False, True))
def a_long_sequence_is_what_sdpa_gives(trial: Trial) -> None:
    """T = 700 in the tiles it has by itself: output and gradients."""
    long_as_sdpa(trial)


def long_as_sdpa(trial: Trial, room: str = ROOM) -> None:
    """Compare output and gradients of T = 700 with SDPA's."""
    path = f"{room}.flash_attention"
    case = Case(
        "long",
        (2, 700, 8),
        (2, 700, 8),
        (2, 700, 8),
        is_causal=trial.case,
    )
    inputs = build(case)
    named = {
        n: torch.tensor(getattr(inputs, n)) for n in ("query", "key", "value")
    }
    for leaf in named.values():
        leaf.requires_grad_()
    q, k, v = named.values()
    own = scaled_dot_product_attention(q, k, v, is_causal=trial.case)
    torch.autograd.backward(own, torch.tensor(inputs.d_output))
    silent = np.zeros_like(inputs.d_log_sum_exp)
    quiet = bounds.with_upstream(inputs, inputs.d_output, silent)
    error = bounds.in_tiles(quiet, "float32", 6)
    version = trial.version
    arrays = {n: version.array(getattr(inputs, n)) for n in named}
    d = version.array(inputs.d_output)
    if version.by_hand:
        result = version.function(path)(**arrays, is_causal=trial.case)
        back = version.function(f"{path}_backward")
        found = version.numpy(back(d, **arrays, is_causal=trial.case))
    else:
        for leaf in arrays.values():
            leaf.requires_grad_()
        result = version.function(path)(**arrays, is_causal=trial.case)
        result.output.backward(d)
        found = {n: version.numpy(a.grad) for n, a in arrays.items()}
    got = version.numpy(result.output)
    witness = own.detach().numpy()
    trial.within("output", got, witness, 2 * error["output"].error)
    for name, leaf in named.items():
        assert leaf.grad is not None
        bound = 2 * error[f"gradient of {name}"].error
        trial.within(name, found[name], leaf.grad.numpy(), bound)


@check("flash", "law", ("align", "query", "window", "attn_mask"))
def bad_arguments_are_refused_by_name(trial: Trial) -> None:
    """As scaled_dot_product_attention does, and an unknown corner."""
    refused_by_name(trial)


def refused_by_name(trial: Trial, room: str = ROOM) -> None:
    """Compare what is said of a bad argument."""
    path = f"{room}.flash_attention"
    good = {
        n: np.ones((5, 4), dtype=np.float32) for n in ("query", "key", "value")
    }
    bad: dict[str, tuple[type[Exception], str, Any]] = {
        "align": (ValueError, "align is 'left', expected 'upper_", "left"),
        "query": (TypeError, "query has dtype", np.ones((5, 4), dtype=int)),
        "window": (ValueError, "window is (-2, 0)", (-2, 0)),
        "attn_mask": (
            ValueError,
            "attn_mask has shape (4, 5)",
            np.ones((4, 5)),
        ),
    }
    kind, text, value = bad[trial.case]
    trial.refuses(kind, text, path, **(good | {trial.case: value}))
    found = trial.call(path, **good)
    error = 8 * np.spacing(np.float32(1))
    trial.within("output", found["output"], good["value"], error)
