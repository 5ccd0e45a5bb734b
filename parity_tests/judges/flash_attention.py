"""What flash_attention must return, in flash and in fast."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention

from ..cases.recipe import Case, build
from ..suite.register import Trial
from . import attention_bounds, definition
from .control import controlled
from .small_tiles import MODULE, errors, forward, gradients, spread, tiles


def within_definition(
    trial: Trial, module: str = MODULE, **constants: Any
) -> None:
    """Compare output and log-sum-exp with the scalar loops."""
    for case in controlled(trial.case):
        exact, error = definition.forward(case), errors(case)
        for name, got in forward(
            trial.version, case, module, **constants
        ).items():
            nearest, missing = exact[name]
            attention_bounds.has_dtype(name, got, case.dtype, name == "output")
            bound = spread(error[name], nearest)
            trial.within(name, got, nearest, bound, missing)


def gradients_within_definition(
    trial: Trial, module: str = MODULE, **constants: Any
) -> None:
    """Compare gradients with the derivatives of the scalar loops."""
    for case in controlled(trial.case):
        exact, error = definition.backward(case), errors(case)
        for name, got in gradients(
            trial.version, case, module, **constants
        ).items():
            nearest, missing = exact[name]
            attention_bounds.has_dtype(name, got, case.dtype, True)
            bound = spread(error[f"gradient of {name}"], nearest)
            trial.within(f"gradient of {name}", got, nearest, bound, missing)


LOWER = [(1, 4), (2, 7), (7, 2), (4, 4), (5, 9)]


def both_corners(trial: Trial, module: str = MODULE, **constants: Any) -> None:
    """Compare triangle and band in both corners with 1/n on those seen."""
    L, S = trial.case
    path = f"{module}.flash_attention"
    query, key, value = (
        np.zeros((L, 2)),
        np.zeros((S, 2)),
        np.eye(S),
    )
    native = [trial.version.array(a) for a in (query, key, value)]
    for align, shift in (("upper_left", 0), ("lower_right", S - L)):
        seen = np.arange(S) <= np.arange(L)[:, None] + shift
        expected = seen / np.maximum(seen.sum(axis=-1, keepdims=True), 1)
        with tiles(trial.version, module=module, **constants):
            result = trial.version.function(path)(
                *native, is_causal=True, align=align
            )
        got = trial.version.numpy(result.output)
        trial.within(align, got, expected)
        band = seen & (np.arange(S) >= np.arange(L)[:, None] + shift - 1)
        expected = band / np.maximum(band.sum(axis=-1, keepdims=True), 1)
        with tiles(trial.version, module=module, **constants):
            result = trial.version.function(path)(
                *native, is_causal=True, window=(1, 5), align=align
            )
        got = trial.version.numpy(result.output)
        trial.within(f"{align}, window", got, expected)


def last_keys_alone(
    trial: Trial, module: str = MODULE, **constants: Any
) -> None:
    """Compare with the mean of the only two that are seen."""
    path = f"{module}.flash_attention"
    value = np.asarray([[2.0**n] for n in range(8)], dtype=trial.case)
    zeros = np.zeros((8, 1), dtype=trial.case)
    mask = np.arange(8) >= 6
    bias = np.where(mask, 0.0, -np.inf).astype(trial.case)
    for given in (mask, bias, np.tile(mask, (8, 1))):
        native = map(trial.version.array, (zeros, zeros, value, given))
        with tiles(trial.version, module=module, **constants):
            result = trial.version.function(path)(*native)
        got = trial.version.numpy(result)
        trial.within("output", got["output"], np.full((8, 1), 96.0))
        lse = np.full(8, math.log(2))
        error = 8 * np.spacing(np.asarray(1, dtype=trial.case))
        trial.within("log_sum_exp", got["log_sum_exp"], lse, error)


def greatest_alone(
    trial: Trial, module: str = MODULE, **constants: Any
) -> None:
    """Compare with the value of the greatest score."""
    path = f"{module}.flash_attention"
    key = trial.case * np.arange(9.0)[:, None]
    value = np.arange(9.0)[:, None] + 1
    one = np.ones((1, 1))
    native = map(trial.version.array, (one, key, value))
    with tiles(trial.version, module=module, **constants):
        result = trial.version.function(path)(*native)
    got = trial.version.numpy(result)
    best = 9.0 if trial.case > 0 else 1.0
    trial.within("output", got["output"], [[best]])
    trial.within("log_sum_exp", got["log_sum_exp"], [key.max()])


def long_as_sdpa(trial: Trial, module: str = MODULE) -> None:
    """Compare output and gradients of T = 700 with SDPA's."""
    path = f"{module}.flash_attention"
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
    torchs = scaled_dot_product_attention(q, k, v, is_causal=trial.case)
    torch.autograd.backward(torchs, torch.tensor(inputs.d_output))
    silent = np.zeros_like(inputs.d_log_sum_exp)
    quiet = attention_bounds.with_upstream(inputs, inputs.d_output, silent)
    error = attention_bounds.in_tiles(quiet, "float32", 6)
    version = trial.version
    arrays = {n: version.array(getattr(inputs, n)) for n in named}
    d = version.array(inputs.d_output)
    if version.by_hand:
        result = version.function(path)(**arrays, is_causal=trial.case)
        back = f"{path}_backward"
        gradients = version.numpy(
            version.ask(back, d, **arrays, is_causal=trial.case)
        )
    else:
        for leaf in arrays.values():
            leaf.requires_grad_()
        result = version.function(path)(**arrays, is_causal=trial.case)
        result.output.backward(d)
        gradients = {n: version.numpy(a.grad) for n, a in arrays.items()}
    got = version.numpy(result.output)
    witness = torchs.detach().numpy()
    trial.within("output", got, witness, 2 * error["output"].error)
    for name, leaf in named.items():
        assert leaf.grad is not None
        bound = 2 * error[f"gradient of {name}"].error
        trial.within(name, gradients[name], leaf.grad.numpy(), bound)


def refused_by_name(trial: Trial, module: str = MODULE) -> None:
    """Compare what is said of a bad argument."""
    path = f"{module}.flash_attention"
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
    result = trial.call(path, **good)
    error = 8 * np.spacing(np.float32(1))
    trial.within("output", result["output"], good["value"], error)
