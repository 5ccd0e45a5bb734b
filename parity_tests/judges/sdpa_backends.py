"""torch's own scaled_dot_product_attention, on every backend of the CPU.

It is a witness and not the judge: where it departs from the contract, or
from its own documentation, `test_departures.py` says so.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from numpy_impl.arguments import Options

from ..cases.recipe import Case, Inputs, build
from ..cases.table import CASES
from ..suite.computation import cached
from ..suite.versions import TORCH, recorded
from . import attention_bounds, bounds
from .control import CONTROL, trivial

BACKENDS: dict[str, SDPBackend | None] = {
    "default": None,
    "flash": SDPBackend.FLASH_ATTENTION,
    "math": SDPBackend.MATH,
}


# torch has the first five of the options.
OWN = ("query", "key", "value", *Options._fields[:5])


@dataclass(frozen=True)
class Witnessed:
    """A case before one backend."""

    case: Case
    backend: str

    @property
    def dtype(self) -> str:
        """Return the dtype of the case."""
        return self.case.dtype

    def __str__(self) -> str:
        """Return the case and the backend."""
        return f"{self.case} ({self.backend})"


def witnessed() -> Iterator[Witnessed]:
    """Yield every case that torch's function can compute, by backend.

    It has no window, no soft cap and no dropout mask, and only its fused
    kernel takes a mask with is_causal. It departs from the contract for
    masks of rank 0 and 1, masks of another dtype, NaN behind a mask, and
    grouped heads without an axis of heads. Its fused kernel also departs
    for a scale of NaN, and for one of 0 or below with is_causal. Over many
    keys in a half type it rounds too much to say anything.
    """
    for case in CASES:
        extra = (
            case.window or case.soft_cap or case.dropout_p or case.dropout_mask
        )
        both = case.mask is not None and case.is_causal
        odd = case.mask is not None and (
            case.mask.kind not in ("bool", "float") or len(case.mask.shape) < 2
        )
        headless = case.enable_gqa and len(case.query) < 3
        lossy = case.dtype in bounds.HALF and case.key[-2] > 128
        if extra or odd or headless or lossy:
            continue
        for backend in BACKENDS:
            if backend != "flash" and not both:
                yield Witnessed(case, backend)
        square = replace(case, value=(*case.value[:-1], case.query[-1]))
        nan = case.scale is not None and math.isnan(case.scale)
        low = case.scale is not None and case.scale <= 0
        if flash_takes(square) and not (nan or (low and case.is_causal)):
            yield Witnessed(square, "flash")


def flash_takes(case: Case) -> bool:
    """Return whether the fused kernel computes a case: rank 4, D = E."""
    ranks = {len(case.query), len(case.key), len(case.value)}
    mask = case.mask is None or len(case.mask.shape) in (2, 4)
    if ranks != {4} or not mask or case.key[:3] != case.value[:3]:
        return False
    heads = case.query[1] == case.key[1] or case.enable_gqa
    return case.query[0] == case.key[0] and heads


def on(backend: str) -> AbstractContextManager[Any]:
    """Return the context in which torch takes one backend."""
    chosen = BACKENDS[backend]
    return nullcontext() if chosen is None else sdpa_kernel(chosen)


def arguments(inputs: Inputs, dtype: str) -> dict[str, Any]:
    """Return the arguments of torch's function."""
    named = TORCH.arguments(inputs, dtype)
    return {name: named[name] for name in OWN}


def rounded_weights(inputs: Inputs, dtype: str) -> Any:
    """Bound the error from rounding weights to half types, as fused does."""
    if dtype not in bounds.HALF:
        return 0.0
    bounded = attention_bounds.attention(inputs, dtype)
    weights = bounded.steps["weights"].value
    size = weights @ np.abs(bounded.value.value)
    return bounds.gamma(4, dtype) * size + bounds.format_of(dtype).tiny


WITNESSED = list(witnessed())


@cached
def testimony(seen: Witnessed) -> tuple[NDArray[Any], Any]:
    """Return torch's output, and the bound of its difference from ours."""
    case = seen.case
    inputs = build(case)
    with on(seen.backend):
        output = scaled_dot_product_attention(**arguments(inputs, case.dtype))
    with np.errstate(all="ignore"):
        steps = attention_bounds.attention(inputs, case.dtype).steps
        error = 2 * steps["output"].error
        error = error + rounded_weights(inputs, case.dtype)
    return TORCH.numpy(output), error


def controlled(seen: Witnessed) -> list[Witnessed]:
    """Return a case, and with it one with a result, if it has none."""
    control = CONTROL
    if seen.backend == "flash":
        control = replace(control, value=control.key)
    extra = [Witnessed(control, seen.backend)]
    return [seen, *(extra if trivial(seen.case) else [])]


GRADIENTS = [
    w for w in WITNESSED if w.case.gradient and w.case.dtype not in bounds.HALF
]


def silent(case: Case) -> Inputs:
    """Return inputs whose log-sum-exp has no gradient."""
    inputs = build(case)
    nothing = np.zeros_like(inputs.d_log_sum_exp)
    return attention_bounds.with_upstream(inputs, inputs.d_output, nothing)


@cached
def gradient_testimony(
    seen: Witnessed,
) -> dict[str, tuple[NDArray[Any], Any]]:
    """Return the gradients of torch's function, each with its bound."""
    case = seen.case
    inputs = silent(case)
    named = arguments(inputs, case.dtype)
    # The fused kernel has no gradient for a mask.
    asked = ["query", "key", "value"]
    if named["attn_mask"] is not None and seen.backend == "math":
        asked += ["attn_mask"] * named["attn_mask"].is_floating_point()
    recorded([named[name] for name in asked])
    with on(seen.backend):
        output = scaled_dot_product_attention(**named)
        upstream = TORCH.array(inputs.d_output, case.dtype)
        torch.autograd.backward(output, upstream)
    errors = attention_bounds.gradients(inputs, case.dtype)
    gradients = {
        name: (TORCH.numpy(named[name].grad), 2 * errors[name].error)
        for name in asked
        # An empty mask gets no gradient from it.
        if named[name].grad is not None
    }
    # A gradient that is nothing but rounding tells nothing.
    return {
        name: (gradient, error)
        for name, (gradient, error) in gradients.items()
        if bounds.can_fail(gradient, error, case.dtype)
    }
