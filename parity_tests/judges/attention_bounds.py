"""How far rounding may carry each step and each gradient of attention."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..cases.recipe import Case, Inputs, build
from ..suite.computation import cached, computation
from .bounds import (
    FUNCTION_ULPS,
    HALF,
    Bounded,
    Float64,
    add,
    exact,
    format_of,
    gamma,
    log_sum_exp,
    masked,
    matmul,
    multiply,
    rounded_to,
    softmax,
    summed_to,
    times,
    total,
    transposed,
)


class Attention(NamedTuple):
    """Values and bounds of all steps, and what the gradients need."""

    steps: dict[str, Bounded]
    key: Bounded
    value: Bounded
    scale: float
    dtype: str


def computation_dtype(dtype: str) -> str:
    """Return the compute dtype of a result of `dtype`."""
    return computation().half or dtype if dtype in HALF else dtype


def has_dtype(name: str, got: Any, dtype: str, outer: bool) -> None:
    """Assert the dtype: that of the inputs, or inside the compute dtype."""
    inside = computation_dtype(dtype)
    wanted = dtype if outer else inside
    # NumPy has no bfloat16: it comes back as float32.
    wanted = "float32" if wanted == "bfloat16" else wanted
    assert got.dtype == wanted, f"{name} is {got.dtype}, expected {wanted}"


def repeated(array: Any, inputs: Inputs) -> Bounded:
    """Return key or value with one head for each head of query."""
    if array.ndim > 2 and array.shape[-3] not in (1, inputs.heads):
        array = np.repeat(array, inputs.heads // array.shape[-3], axis=-3)
    return exact(array)


def seen(inputs: Inputs) -> Any:
    """Return which keys may be seen: (..., H, L, S), or fewer axes."""
    i = np.arange(inputs.L)[:, None]
    j = np.arange(inputs.S)
    allowed = np.ones((inputs.L, inputs.S), dtype=bool)
    if inputs.options.is_causal:
        allowed = allowed & (j <= i)
    if inputs.options.window is not None:
        left, right = inputs.options.window
        allowed = allowed & ((left == -1) | (j >= i - left))
        allowed = allowed & ((right == -1) | (j <= i + right))
    mask = inputs.options.attn_mask
    if mask is None:
        return allowed
    return allowed & (mask if mask.dtype == bool else ~np.isneginf(mask))


def attention(inputs: Inputs, given: str) -> Attention:
    """Bound every step of attention.

    A version may apply the scale to query, to query and key, or to the
    product: four roundings, and the smallest number of the type for each
    product of a sum, cover all three.
    """
    dtype = computation_dtype(given)
    width = inputs.query.shape[-1]
    scale = inputs.options.scale
    if scale is None:
        scale = 1 / math.sqrt(width) if width else 1.0
    query, key = exact(inputs.query), repeated(inputs.key, inputs)
    value = repeated(inputs.value, inputs)
    dots = query.value @ key.value.mT * scale
    greatest = np.abs(query.value) @ np.abs(key.value).mT * abs(scale)
    sides = np.abs(query.value).sum(axis=-1, keepdims=True)
    sides = sides + np.abs(key.value).sum(axis=-1, keepdims=True).mT
    lost = format_of(dtype).smallest * (sides + width)
    scores = Bounded(dots, gamma(width + 4, dtype) * greatest + lost)
    capped = scores
    if inputs.options.soft_cap is not None:
        cap = inputs.options.soft_cap
        tanh = np.tanh(scores.value / cap)
        rounding = gamma(2 * FUNCTION_ULPS + 3, dtype) * np.abs(tanh) * cap
        capped = Bounded(cap * tanh, scores.error + rounding)
    biased = capped
    mask = inputs.options.attn_mask
    if mask is not None and mask.dtype != bool:
        finite = np.where(np.isneginf(mask), 0.0, mask)
        biased = add(capped, times(exact(finite), 1.0, dtype), dtype)
    shape = np.broadcast_shapes(biased.value.shape, seen(inputs).shape)
    biased = Bounded(*(np.broadcast_to(a, shape) for a in biased))
    masked_scores = masked(biased, seen(inputs))
    weights = softmax(masked_scores, dtype)
    lse = log_sum_exp(masked_scores, dtype)
    dropped = drop(weights, inputs, dtype)
    output = rounded_to(matmul(dropped, value, dtype), given)
    steps = {
        "scores": scores,
        "capped_scores": capped,
        "masked_scores": masked_scores,
        "log_sum_exp": Bounded(lse.value[..., 0], lse.error[..., 0]),
        "weights": weights,
        "dropped_weights": dropped,
        "output": output,
    }
    return Attention(steps, key, value, scale, dtype)


def drop(a: Bounded, inputs: Inputs, dtype: str) -> Bounded:
    """Bound dropout of the weights or of their gradient."""
    if inputs.options.dropout_mask is None:
        return a
    if inputs.options.dropout_p == 1:
        return Bounded(a.value * 0.0, a.error * 0.0)
    growth = np.where(
        inputs.options.dropout_mask, 1 / (1 - inputs.options.dropout_p), 0.0
    )
    return multiply(a, exact(growth), dtype, roundings=3)


def gradients(inputs: Inputs, given: str) -> dict[str, Bounded]:
    """Bound every gradient of attention, by hand or by autograd."""
    return gradients_after(attention(inputs, given), inputs, given)


def gradients_after(
    forward: Attention, inputs: Inputs, given: str
) -> dict[str, Bounded]:
    """Bound every gradient, with the bounds of the forward pass at hand."""
    dtype, steps = forward.dtype, forward.steps
    d_output = exact(inputs.d_output)
    P, lse = steps["weights"], exact(inputs.d_log_sum_exp[..., None])
    d_value = matmul(transposed(steps["dropped_weights"]), d_output, dtype)
    dP = matmul(d_output, transposed(forward.value), dtype)
    dP = drop(dP, inputs, dtype)
    inner = total(multiply(P, dP, dtype, roundings=4), dtype)
    difference = add(dP, Bounded(-inner.value, inner.error), dtype)
    # Autograd takes the two parts of the difference times P apart from each
    # other: their roundings are those of the parts, not of the difference.
    parts = np.abs(dP.value) + np.abs(inner.value)
    apart = Bounded(
        difference.value, difference.error + gamma(6, dtype) * parts
    )
    dS = multiply(P, apart, dtype, roundings=2)
    dS = add(dS, multiply(P, lse, dtype, roundings=4), dtype)
    bounded = {"weights": dP, "scores": dS}
    d_raw = dS
    if inputs.options.soft_cap is not None:
        capped = steps["capped_scores"]
        tanh = capped.value / inputs.options.soft_cap
        error = capped.error / inputs.options.soft_cap
        slope = Bounded(1 - tanh**2, 2 * error + gamma(8, dtype))
        d_raw = multiply(dS, slope, dtype, roundings=4)
    d_query = matmul(d_raw, forward.key, dtype)
    d_key = matmul(transposed(d_raw), exact(inputs.query), dtype)
    bounded["query"] = times(d_query, forward.scale, dtype)
    bounded["key"] = times(d_key, forward.scale, dtype)
    bounded["value"] = d_value
    for name in ("query", "key", "value"):
        shape = getattr(inputs, name).shape
        grouped = in_groups(bounded[name], inputs, shape, dtype)
        bounded[name] = rounded_to(summed_to(grouped, shape, dtype), given)
    mask = inputs.options.attn_mask
    if mask is not None and mask.dtype != bool:
        grouped = summed_to(dS, mask.shape, dtype)
        bounded["attn_mask"] = rounded_to(grouped, given)
    return bounded


def with_upstream(inputs: Inputs, d_output: Any, d_lse: Any) -> Inputs:
    """Return inputs with other gradients of output and log-sum-exp."""
    return replace(inputs, d_output=d_output, d_log_sum_exp=d_lse)


def in_groups(
    a: Bounded, inputs: Inputs, shape: tuple[int, ...], dtype: str
) -> Bounded:
    """Bound the sum over the query heads that read one key/value head."""
    G = shape[-3] if len(shape) > 2 else 1
    if G in (1, inputs.heads):
        return a
    group = inputs.heads // G

    def split(array: Float64) -> Float64:
        *batch, _, S, D = array.shape
        grouped = array.reshape(*batch, G, group, S, D)
        return np.moveaxis(grouped, -3, -1)

    parts = total(Bounded(*map(split, a)), dtype)
    return Bounded(parts.value[..., 0], parts.error[..., 0])


def in_tiles(inputs: Inputs, given: str, parts: int) -> dict[str, Bounded]:
    """Bound attention and its gradients where the keys come in `parts`.

    Every exponential has the roundings of one softmax, and those of the
    factors that rescale it from one maximum to the next. Each factor is the
    exp of a rounded difference, and a product: 2 FUNCTION_ULPS + 3 for each
    part, for numerator and denominator alike. The backward pass takes
    Σ dO O in place of Σ P dP: E more roundings, and the error of the output.
    """
    forward = attention(inputs, given)
    dtype, steps = forward.dtype, forward.steps
    more = gamma(2 * parts * (2 * FUNCTION_ULPS + 3), dtype)
    P, value = steps["weights"], np.abs(forward.value.value)
    output = matmul(P, forward.value, dtype)
    lost = 2 * output.error + more * (P.value @ value)
    wide = Bounded(output.value, lost)
    lse = steps["log_sum_exp"]
    bounded = {
        "output": rounded_to(wide, given),
        "log_sum_exp": Bounded(lse.value, 2 * lse.error + more),
    }
    dO = np.abs(inputs.d_output.astype(np.float64))
    size = (dO * (np.abs(wide.value) + lost)).sum(axis=-1, keepdims=True)
    inner = gamma(inputs.E + 2, dtype) * size
    inner = inner + (dO * lost).sum(axis=-1, keepdims=True)
    dlse = np.abs(inputs.d_log_sum_exp.astype(np.float64))[..., None]
    parts_of_dS = np.abs(dO @ value.mT) + size + dlse
    dS = (P.value + P.error) * (inner + more * parts_of_dS)
    scale = abs(forward.scale)
    extra = {
        "query": scale * (dS @ np.abs(forward.key.value)),
        "key": scale * (dS.mT @ np.abs(inputs.query.astype(np.float64))),
        "value": more * (P.value.mT @ dO),
    }
    usual = gradients_after(forward, inputs, given)
    for name, array in extra.items():
        shape = getattr(inputs, name).shape
        lost_in_tiles = Bounded(np.zeros_like(array), array)
        lost_in_tiles = summed_to(
            in_groups(lost_in_tiles, inputs, shape, dtype), shape, dtype
        )
        error = 2 * usual[name].error + 2 * lost_in_tiles.error
        bounded[f"gradient of {name}"] = Bounded(usual[name].value, error)
    return bounded


@cached
def step_bounds(case: Case) -> dict[str, Any]:
    """Return the bound of each step of a case."""
    with np.errstate(all="ignore"):
        steps = attention(build(case), case.dtype).steps
    return {name: step.error for name, step in steps.items()}


@cached
def gradient_bounds(case: Case) -> dict[str, Any]:
    """Return the bound of each gradient of a case."""
    with np.errstate(all="ignore"):
        bounded = gradients(build(case), case.dtype)
    return {name: gradient.error for name, gradient in bounded.items()}
