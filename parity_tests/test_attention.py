"""attention and head: every step, both sides, and SDPA as a witness."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention

import numpy_impl
import torch_impl
from parity_tests import bounds
from parity_tests.compare import assert_steps_within, assert_within

B, H, D, E, M = 2, 6, 4, 3, 8
LENGTHS = [(5, 7), (7, 5), (5, 5), (1, 7), (5, 1)]
MASKS = ["none", "causal", "causal lower right", "window", "padding", "drawn"]
DTYPES = [np.float32, np.float64]


def build_mask(kind: str, L: int, S: int, rng: np.random.Generator) -> Any:
    """Return a mask of one kind; the drawn one has a dead row."""
    masks = numpy_impl.masks
    if kind == "causal":
        return masks.causal_mask(L, S)
    if kind == "causal lower right":
        return masks.causal_mask(L, S, align="lower_right")
    if kind == "window":
        return masks.window_mask(L, S, 1, 0)
    if kind == "padding":
        return masks.padding_mask(np.asarray([1, S]), S)
    if kind == "drawn":
        mask = rng.random((H, L, S)) < 0.5
        mask[2, 0] = False
        return mask
    return None


class Inputs(NamedTuple):
    query: Any
    key: Any
    value: Any
    mask: Any


def draw(
    kind: str, L: int, S: int, spread: float, dtype: Any, rng: Any
) -> Inputs:
    """Return query, key, value of unequal sizes and a mask."""
    query, key, value = (
        rng.standard_normal(shape).astype(dtype)
        for shape in ((B, H, L, D), (B, H, S, D), (B, H, S, E))
    )
    query = query * dtype(spread)
    return Inputs(query, key, value, build_mask(kind, L, S, rng))


def steps(side: ModuleType, inputs: Inputs) -> dict[str, Any]:
    """Return each step of attention on one side, as NumPy arrays."""
    query, key, value, mask = (
        None if array is None else side.from_numpy(array) for array in inputs
    )
    attention = side.attention
    scores = attention.attention_scores(query, key)
    weights = attention.attention_weights(scores, mask)
    found = {
        "scores": scores,
        "weights": weights,
        "sum": attention.weighted_sum(weights, value),
        "output": attention.attention(query, key, value, mask),
    }
    return {name: side.to_numpy(array) for name, array in found.items()}


def bounded_steps(inputs: Inputs, dtype: Any) -> dict[str, bounds.Bounded]:
    """Return what each step must be, and how far it may be off."""
    query, key, value = map(bounds.exact, inputs[:3])
    query = bounds.times(query, 1 / math.sqrt(D), dtype)
    key = bounds.Bounded(key.value.mT, key.error.mT)
    scores = bounds.matmul(query, key, dtype)
    seen = scores
    if inputs.mask is not None:
        seen = bounds.masked(scores, inputs.mask)
    weights = bounds.softmax(seen, dtype)
    output = bounds.matmul(weights, value, dtype)
    return {
        "scores": scores,
        "weights": weights,
        "sum": output,
        "output": output,
    }


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("spread", [1.0, 100.0])
@pytest.mark.parametrize("kind", MASKS)
@pytest.mark.parametrize(("L", "S"), LENGTHS)
def test_every_step_of_both_sides_and_sdpa(
    L: int, S: int, kind: str, spread: float, dtype: Any, rng: Any
) -> None:
    inputs = draw(kind, L, S, spread, dtype, rng)
    must = bounded_steps(inputs, dtype)
    values = {name: step.value for name, step in must.items()}
    errors = {name: step.error for name, step in must.items()}
    doubled = {name: 2 * error for name, error in errors.items()}
    one, other = (steps(side, inputs) for side in (numpy_impl, torch_impl))
    assert one["output"].dtype == other["output"].dtype == dtype
    assert_steps_within(one, values, errors)
    assert_steps_within(other, values, errors)
    assert_steps_within(one, other, doubled)
    witness = sdpa(inputs)
    assert_within("SDPA", one["output"], witness, doubled["output"])
    assert_within("SDPA", other["output"], witness, doubled["output"])


def sdpa(inputs: Inputs) -> Any:
    """Return the output of torch's own function."""
    query, key, value = map(torch.tensor, inputs[:3])
    mask = None if inputs.mask is None else torch.tensor(inputs.mask)
    return scaled_dot_product_attention(query, key, value, mask).numpy()


def weights_of(
    side: ModuleType, q: Any, k: Any, mask: Any = None, **options: Any
) -> Any:
    """Return the weights for lists of numbers, in float32."""
    query, key = (
        side.from_numpy(np.asarray(x, dtype=np.float32)) for x in (q, k)
    )
    if mask is not None:
        mask = side.from_numpy(np.asarray(mask))
    scores = side.attention.attention_scores(query, key, **options)
    return side.to_numpy(side.attention.attention_weights(scores, mask))


def attention_of(side: ModuleType, q: Any, k: Any, v: Any, mask: Any) -> Any:
    """Return the output for lists of numbers, in float32."""
    arrays = (np.asarray(x, dtype=np.float32) for x in (q, k, v))
    query, key, value = map(side.from_numpy, arrays)
    seen = side.from_numpy(np.asarray(mask))
    return side.to_numpy(side.attention.attention(query, key, value, seen))


def test_values_in_closed_form(side: ModuleType) -> None:
    ln3 = math.log(3)
    u = 4 * np.finfo(np.float32).eps
    k = [[0, 0, 0, 0], [ln3, 0, 0, 0]]
    quarter = weights_of(side, [[2, 0, 0, 0]], k)
    assert_within("divided by √4", quarter, [[0.25, 0.75]], u)
    minus = weights_of(side, [[1]], [[0], [ln3]], scale=-1.0)
    assert_within("scale -1", minus, [[0.75, 0.25]], u)
    zero = weights_of(side, [[1]], [[0], [ln3]], scale=0.0)
    assert_within("scale 0", zero, [[0.5, 0.5]])
    # q·k is 1.6e39, beyond float32; divided by √D it is not.
    huge = weights_of(side, [[2e19] * 4], [[2e19] * 4], scale=1e-3)
    assert_within("huge", huge, [[1.0]])


def test_masks_in_closed_form(side: ModuleType) -> None:
    zeros, v = np.zeros((4, 2)), [[1], [2], [4], [8]]
    causal = numpy_impl.masks.causal_mask
    window = numpy_impl.masks.window_mask(4, 4, 1, 0)
    third = np.asarray(7 / 3, np.float32)
    u = np.asarray([0, 0, 4 * np.finfo(np.float32).eps, 0])[:, None]
    got = attention_of(side, zeros, zeros, v, causal(4, 4))
    assert_within("causal", got, [[1], [1.5], [third], [3.75]], u)
    got = attention_of(side, zeros[:1], zeros, v, causal(1, 4))
    assert_within("upper left", got, [[1]])
    lower = causal(1, 4, align="lower_right")
    got = attention_of(side, zeros[:1], zeros, v, lower)
    assert_within("lower right", got, [[3.75]])
    got = attention_of(side, zeros, zeros, v, window)
    assert_within("window", got, [[1], [1.5], [3], [6]])
    dead = [[True, True], [False, False]]
    got = attention_of(side, zeros[:2], zeros[:2], [[1], [3]], dead)
    assert_within("dead row", got, [[2], [0]])


@pytest.mark.parametrize("dtype", DTYPES)
def test_head(dtype: Any, rng: np.random.Generator) -> None:
    T = 5
    x = rng.standard_normal((B, T, M)).astype(dtype)
    matrices = [
        rng.standard_normal((M, width)).astype(dtype) for width in (D, D, E)
    ]
    mask = numpy_impl.masks.causal_mask(T, T)
    projected = [
        bounds.matmul(bounds.exact(x), bounds.exact(w), dtype)
        for w in matrices
    ]
    query = bounds.times(projected[0], 1 / math.sqrt(D), dtype)
    key = bounds.Bounded(projected[1].value.mT, projected[1].error.mT)
    scores = bounds.masked(bounds.matmul(query, key, dtype), mask)
    weights = bounds.softmax(scores, dtype)
    output = bounds.matmul(weights, projected[2], dtype)
    for side in (numpy_impl, torch_impl):
        head = side.head.Head(*map(side.from_numpy, matrices))
        got = head.project(side.from_numpy(x))
        for name, array, must in zip("qkv", got, projected, strict=True):
            assert_within(name, side.to_numpy(array), must.value, must.error)
        result = head(side.from_numpy(x), side.from_numpy(mask))
        name = side.__name__
        assert_within(name, side.to_numpy(result), output.value, output.error)
        unmasked = side.to_numpy(head(side.from_numpy(x)))
        assert np.all(unmasked[:, 0] != side.to_numpy(result)[:, 0])


def test_head_parameters_learn() -> None:
    head = torch_impl.head.Head(*(torch.ones(2, 3) for _ in range(3)))
    assert [n for n, _ in head.named_parameters()] == ["w_q", "w_k", "w_v"]
