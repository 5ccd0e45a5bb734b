"""attention: scores, weights, weighted sum, as a learner reads them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..cases.recipe import Case, build
from ..cases.table import CASES
from ..judges import attention_bounds, bounds, definition
from ..judges.control import trivial
from ..suite.register import Trial, check


def plain(case: Case) -> bool:
    """Return whether the simple functions can compute a case."""
    options = (case.enable_gqa, case.window, case.soft_cap, case.dropout_mask)
    fits = case.mask is None or case.mask.kind == "bool"
    sizes = (*case.query, *case.key, *case.value)
    ordinary = case.dtype in ("float32", "float64") and 0 not in sizes
    plain = not any(options) and case.scale is None and case.dropout_p == 0
    return fits and ordinary and plain and not trivial(case)


SIMPLE = [case for case in CASES if plain(case) and case.gradient]


def arrays(trial: Trial) -> tuple[Any, ...]:
    """Return query, key, value and the mask of a case, or None."""
    inputs = build(trial.case)
    mask: Any = inputs.options.attn_mask
    if inputs.options.is_causal:
        rows, keys = np.arange(inputs.L)[:, None], np.arange(inputs.S)
        causal = keys <= rows
        mask = causal if mask is None else mask & causal
    return inputs.query, inputs.key, inputs.value, mask


@check("attention", "definition", SIMPLE)
def each_function_is_the_definitions(trial: Trial) -> None:
    """Compare scores, weights and output with the scalar loops."""
    query, key, value, mask = arrays(trial)
    exact = definition.forward(trial.case)
    steps = attention_bounds.attention(
        build(trial.case), trial.case.dtype
    ).steps
    scores = trial.call("attention.attention_scores", query, key)
    weights = trial.call("attention.attention_weights", scores, mask)
    # The simple functions leave out a batch that value alone has.
    batch = np.broadcast_shapes(query.shape[:-2], key.shape[:-2])
    assert scores.shape[:-2] == batch, f"scores are {scores.shape}"
    results = {
        "scores": np.broadcast_to(scores, exact["scores"].nearest.shape),
        "weights": np.broadcast_to(weights, exact["weights"].nearest.shape),
        "output": trial.call("attention.attention", query, key, value, mask),
    }
    for name, got in results.items():
        nearest, missing = exact[name]
        error = np.broadcast_to(steps[name].error, nearest.shape)
        trial.within(name, got, nearest, error, missing)
    output = trial.call("attention.weighted_sum", weights, value)
    trial.within("weighted sum", output, results["output"])


@check("attention", "each other", SIMPLE)
def both_versions_agree(trial: Trial) -> None:
    """Compare the output and its gradients with the other version's."""
    path, inputs = "attention.attention", build(trial.case)
    arguments = arrays(trial)
    error = (
        attention_bounds.attention(inputs, trial.case.dtype)
        .steps["output"]
        .error
    )
    got, other = (
        trial.call(path, *arguments),
        trial.other.call(path, *arguments),
    )
    trial.within("output", got, other, 2 * error)
    upstream = inputs.d_output
    gradients = trial.version.gradients_of(path, upstream, *arguments)
    others = trial.other.gradients_of(path, upstream, *arguments)
    silent = np.zeros_like(inputs.d_log_sum_exp)
    errors = attention_bounds.gradients(
        attention_bounds.with_upstream(inputs, inputs.d_output, silent),
        trial.case.dtype,
    )
    for name, a, b in zip(
        ("query", "key", "value"), gradients, others, strict=True
    ):
        trial.within(f"gradient of {name}", a, b, 2 * errors[name].error)


@check("attention", "closed form")
def scores_are_divided_by_the_root_of_the_width(trial: Trial) -> None:
    """D = 4, q = (2, 0, 0, 0), k₁ = (ln 3, 0, 0, 0): weights ¼ and ¾."""
    query = np.asarray([[2.0, 0, 0, 0]])
    key = np.asarray([[0.0, 0, 0, 0], [math.log(3), 0, 0, 0]])
    scores = trial.call("attention.attention_scores", query, key)
    trial.within("scores", scores, [[0.0, math.log(3)]])
    weights = trial.call("attention.attention_weights", scores)
    trial.within("weights", weights, [[0.25, 0.75]], 4 * np.spacing(1.0))


@check("attention", "closed form")
def the_scale_may_be_given(trial: Trial) -> None:
    """q·k = 0 and 3 times the scale, 0 and negative too."""
    query, key = np.asarray([[1.0]]), np.asarray([[0.0], [3.0]])
    for scale in (1.0, -2.0, 0.5, 0.0):
        scores = trial.call("attention.attention_scores", query, key, scale)
        trial.within(f"scale {scale}", scores, [[0.0, 3 * scale]])
    assert scores.shape == (1, 2)


@check("attention", "closed form")
def a_product_that_overflows_is_scaled_first(trial: Trial) -> None:
    """q·k = 4 · (2e19)² is beyond float32, divided by 2 it is not."""
    large = np.full((1, 4), 2.0**64, dtype=np.float32)
    key = np.concat([large / 2, large], axis=0) / 4
    scores = trial.call("attention.attention_scores", large, key)
    trial.within("scores", scores, [[2.0**126, 2.0**127]])


@check("attention", "closed form")
def masks_forbid(trial: Trial) -> None:
    """Values 1, 2, 4, 8 with equal scores: the mean of what is seen."""
    zeros = np.zeros((3, 2))
    value = np.asarray([[1.0], [2.0], [4.0], [8.0]])
    mask = np.asarray(
        [[True, False, True, False], [False] * 4, [True] * 4], dtype=bool
    )
    keys = np.ones((4, 2))
    output = trial.call("attention.attention", zeros, keys, value, mask)
    trial.within("output", output, [[2.5], [0.0], [3.75]])


@check("attention", "definition", SIMPLE[:3])
def each_gradient_is_the_definitions(trial: Trial) -> None:
    """Compare the gradients of scores and sum with plain loops."""
    query, key, value, _ = arrays(trial)
    inputs = build(trial.case)
    rng = np.random.default_rng(5)
    d = rng.standard_normal((*inputs.d_log_sum_exp.shape, inputs.S))
    d = d.astype(trial.case.dtype)
    path = "attention.attention_scores"
    got = trial.version.gradients_of(path, d, query, key)
    scale = 1 / math.sqrt(query.shape[-1])
    for name, a, left, right in (
        ("query", got[0], d, key),
        ("key", got[1], d.mT, query),
    ):
        bound = bounds.matmul(bounds.exact(left), bounds.exact(right), d.dtype)
        bound = bounds.times(bound, scale, d.dtype)
        trial.within(f"gradient of {name}", a, bound.value, 2 * bound.error)
    weights = np.abs(d)
    path = "attention.weighted_sum"
    d_output = inputs.d_output
    got = trial.version.gradients_of(path, d_output, weights, value)
    for name, a, left, right in (
        ("weights", got[0], d_output, value.mT),
        ("value", got[1], weights.mT, d_output),
    ):
        bound = bounds.matmul(bounds.exact(left), bounds.exact(right), d.dtype)
        trial.within(f"gradient of {name}", a, bound.value, bound.error)


@check("attention", "definition", ("weights", "value", "both"))
def what_was_broadcast_gets_the_sum(trial: Trial) -> None:
    """If weights or value have fewer axes, their gradient is summed."""
    rng = np.random.default_rng(12)
    few: dict[str, tuple[tuple[int, ...], tuple[int, ...]]] = {
        "weights": ((5, 7), (2, 4, 7, 3)),
        "value": ((2, 4, 5, 7), (7, 3)),
        "both": ((2, 1, 5, 7), (4, 7, 3)),
    }
    shapes = few[trial.case]
    weights, value = (rng.standard_normal(shape) for shape in shapes)
    d = rng.standard_normal((2, 4, 5, 3))
    path = "attention.weighted_sum"
    gradients = trial.version.gradients_of(path, d, weights, value)
    d_weights, d_value = np.zeros(shapes[0]), np.zeros(shapes[1])
    for b, h, i, e in np.ndindex(*d.shape):
        for j in range(7):
            p = tuple(
                0 if n == 1 else x
                for x, n in zip(
                    (b, h, i, j)[-weights.ndim :], shapes[0], strict=True
                )
            )
            v = (b, h, j, e)[-value.ndim :]
            d_weights[p] += d[b, h, i, e] * value[v]
            d_value[v] += weights[p] * d[b, h, i, e]
    names = ("weights", "value")
    for name, got, must in zip(
        names, gradients, (d_weights, d_value), strict=True
    ):
        error = bounds.gamma(64, "float64") * 64 * np.abs(d).max()
        trial.within(f"gradient of {name}", got, must, error)


@check("attention", "closed form", ("float32", "float64"))
def a_mask_that_forbids_all_is_no_missing_mask(trial: Trial) -> None:
    """If the mask is False everywhere, weights and output are 0."""
    ones = np.ones((3, 2), dtype=trial.case)
    nothing = np.zeros((3, 3), dtype=bool)
    weights = trial.call("attention.attention_weights", ones @ ones.T, nothing)
    trial.within("weights", weights, np.zeros((3, 3)))
    output = trial.call("attention.attention", ones, ones, ones, nothing)
    trial.within("output", output, np.zeros((3, 2)))
    output = trial.call("attention.attention", ones, ones, ones, ~nothing)
    error = 4 * np.spacing(np.asarray(1, dtype=trial.case))
    trial.within("output", output, ones, error)


@check("attention", "closed form", ("float32", "float64"))
def nothing_to_see_gives_nothing(trial: Trial) -> None:
    """If the mask is False everywhere, output and gradients are 0."""
    rng = np.random.default_rng(13)
    q, k, v = (
        rng.standard_normal(shape).astype(trial.case)
        for shape in ((2, 3, 4), (2, 5, 4), (2, 5, 2))
    )
    mask = np.zeros((2, 1, 5), dtype=bool)
    mask[1, :, 3] = True
    got = trial.call("attention.attention", q, k, v, mask)
    expected = np.broadcast_to(v[:, 3:4], (2, 3, 2)) * [[[0]], [[1]]]
    trial.within("output", got, expected)
    upstream = np.ones((2, 3, 2), dtype=trial.case)
    path = "attention.attention"
    gradients = trial.version.gradients_of(path, upstream, q, k, v, mask)
    for name, gradient in zip(("query", "key"), gradients, strict=False):
        trial.within(f"gradient of {name}", gradient, 0 * gradient)
    d_value = np.zeros(v.shape)
    d_value[1, 3] = 3
    trial.within("gradient of value", gradients[2], d_value)
