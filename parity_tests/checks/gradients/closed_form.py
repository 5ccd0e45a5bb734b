"""gradients in closed form: known values, and exact zeros."""

from __future__ import annotations

import itertools

import numpy as np

from ...cases.closed_forms import column
from ...judges.sdpa_gradients import gradients
from ...suite.register import Trial, check
from ...suite.versions import ATTENTION, STEPS


@check("gradients", "closed form", ("float32", "float64"))
def the_gradient_of_a_bias_of_zeros(trial: Trial) -> None:
    """Scores 0, V = [0, 1], upstream 1: -¼ and +¼, for the bias alone."""
    zeros = np.zeros((1, 2), dtype=trial.case)
    bias = np.zeros((1, 2), dtype=trial.case)
    value = np.asarray(column(0, 1), dtype=trial.case)
    one = np.ones((1, 1), dtype=trial.case)
    query, key = zeros, np.zeros((2, 2), dtype=trial.case)
    version = trial.version
    if version.by_hand:
        gradients = version.call(
            f"{ATTENTION}_backward", one, query, key, value, bias
        )
        got = gradients["attn_mask"]
    else:
        # Only the mask asks for a gradient.
        q, k, v, b = map(version.array, (query, key, value, bias))
        b.requires_grad_()
        version.function(ATTENTION)(q, k, v, b).sum().backward()
        got = version.numpy(b.grad)
        assert q.grad is None, "query did not ask for a gradient"
    trial.within("gradient of the bias", got, [[-0.25, 0.25]])


@check("gradients", "closed form", ("float32", "float64"))
def one_key_leaves_nothing_to_choose(trial: Trial) -> None:
    """S = 1: dQ = dK = 0 exactly, and dV = dO."""
    rng = np.random.default_rng(2)
    d, q, k, v = (
        rng.standard_normal(shape).astype(trial.case)
        for shape in ((3, 2), (3, 4), (1, 4), (1, 2))
    )
    d = np.round(8 * d) / 8
    dq, dk, dv = gradients(trial, d, q, k, v)
    trial.within("gradient of query", dq, np.zeros((3, 4)))
    trial.within("gradient of key", dk, np.zeros((1, 4)))
    trial.within("gradient of value", dv, d.sum(axis=0, keepdims=True))


@check("gradients", "closed form", ("bool", "float"))
def a_dead_row_adds_exactly_nothing(trial: Trial) -> None:
    """Its upstream gradient is huge, but no gradient changes."""
    rng = np.random.default_rng(3)
    q, k, v = (
        rng.standard_normal(shape).astype(np.float32)
        for shape in ((3, 4), (5, 4), (5, 2))
    )
    d = rng.standard_normal((3, 2)).astype(np.float32)
    dead = np.ones((3, 5), dtype=bool)
    dead[1] = False
    bias = np.where(dead, np.float32(0), np.float32(-np.inf))
    option = {"attn_mask": dead if trial.case == "bool" else bias}
    one = gradients(trial, d, q, k, v, **option)
    louder = d.copy()
    louder[1] = 1e30
    other = gradients(trial, louder, q, k, v, **option)
    names = ("query", "key", "value")
    for name, a, b in zip(names, one, other, strict=True):
        trial.within(f"gradient of {name}", a, b)
    trial.within("dead row", one[0][1], np.zeros(4))
    assert np.all(one[0][0] != 0), "a living row has no gradient"


@check("gradients", "closed form")
def each_query_head_gives_to_the_head_it_read(trial: Trial) -> None:
    """Scores 0, S = 1: dV of a group is the sum of its queries' dO."""
    d = np.asarray([1.0, 2.0, 4.0, 8.0, 16.0, 32.0]).reshape(6, 1, 1)
    q, k, v = np.zeros((6, 1, 2)), np.zeros((3, 1, 2)), np.ones((3, 1, 1))
    results = gradients(trial, d, q, k, v, enable_gqa=True)
    trial.within("gradient of value", results[2][:, 0, 0], [3, 12, 48])


@check("gradients", "closed form", list(itertools.product((0, 1), repeat=4)))
def a_bias_gets_its_gradient_in_its_own_shape(trial: Trial) -> None:
    """Scores 0, value 1 at key 0: dS is known, and so is every sum of it.

    With S = 4 keys dS is dO/4 · (¾, -¼, -¼, -¼), exact in float32.
    """
    full = (2, 3, 5, 4)
    shape = tuple(
        n if full_size else 1
        for n, full_size in zip(full, trial.case, strict=True)
    )
    d = np.arange(30, dtype=np.float32).reshape(2, 3, 5, 1) - 7
    ds = d / 4 * np.asarray([0.75, -0.25, -0.25, -0.25], dtype=np.float32)
    value = np.zeros((2, 3, 4, 1), dtype=np.float32)
    value[..., 0, :] = 1
    axes = tuple(axis for axis in range(4) if shape[axis] == 1)
    expected = ds.sum(axis=axes, keepdims=True)
    query = np.zeros((2, 3, 5, 2), dtype=np.float32)
    key = np.zeros((2, 3, 4, 2), dtype=np.float32)
    bias = np.zeros(shape, dtype=np.float32)
    version = trial.version
    if version.by_hand:
        path = f"{ATTENTION}_backward"
        gradients_by_hand = version.call(path, d, query, key, value, bias)
        got, d_scores = (gradients_by_hand[n] for n in ("attn_mask", "scores"))
    else:
        b = version.array(bias).requires_grad_()
        arrays = [version.array(a) for a in (query, key, value)]
        steps = version.ask(STEPS, *arrays, b)
        steps.masked_scores.retain_grad()
        steps.output.backward(version.array(d))
        got = version.numpy(b.grad)
        d_scores = version.numpy(steps.masked_scores.grad)
    trial.within("gradient of the bias", got, expected)
    trial.within("gradient of the scores", d_scores, ds)
