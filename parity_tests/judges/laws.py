"""Laws of attention: what must hold whatever the numbers are.

Each law takes a trial, the inputs of any case and their dtype. It changes
the inputs in a way whose effect on the result is known; the result itself
need not be known. The checks run the laws on the table of cases, the fuzz
tests on random inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cases.recipe import Inputs
from ..suite.register import Trial
from ..suite.versions import ATTENTION
from . import attention_bounds, bounds
from .bounds import FUNCTION_ULPS
from .layouts import views

Law = Callable[[Trial, Inputs, str], None]


def errors_of(inputs: Inputs, dtype: str) -> dict[str, Any]:
    """Return the bound of each step."""
    with np.errstate(all="ignore"):
        steps = attention_bounds.attention(inputs, dtype).steps
    return {name: step.error for name, step in steps.items()}


def living_steps(trial: Trial, inputs: Inputs, dtype: str) -> dict[str, Any]:
    """Return each step of a version, after a check that not all are 0.

    A law that a version of zeros fulfils would say nothing. So weights and
    output must differ from 0 where their bound excludes 0.
    """
    steps = trial.version.steps(inputs, dtype)
    with np.errstate(all="ignore"):
        must = attention_bounds.attention(inputs, dtype).steps
    for name in ("weights", "output"):
        certain = np.abs(must[name].value) > 2 * must[name].error
        if certain.any():
            assert np.any(steps[name] != 0), f"{name} is 0 throughout"
    return steps


def steps_and_errors(
    trial: Trial, inputs: Inputs, dtype: str
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return each step of a version and its bound, of one shape."""
    steps = living_steps(trial, inputs, dtype)
    bounds_of_steps = errors_of(inputs, dtype)
    errors = {
        n: np.broadcast_to(bounds_of_steps[n], s.shape)
        for n, s in steps.items()
    }
    return steps, errors


def full_mask(inputs: Inputs) -> NDArray[Any]:
    """Return mask, is_causal and window as one mask, (..., H, L, S)."""
    mask = inputs.options.attn_mask
    shape = (*inputs.d_log_sum_exp.shape, inputs.S)
    allowed = np.broadcast_to(attention_bounds.seen(inputs), shape)
    if mask is None or mask.dtype == bool:
        return allowed
    bias = np.where(np.isneginf(mask), 0, mask)
    return np.where(allowed, bias, -np.inf).astype(mask.dtype)


def explicit(inputs: Inputs) -> Inputs:
    """Return inputs with their full mask in place of all options."""
    full = full_mask(inputs)
    return inputs.with_options(attn_mask=full, is_causal=False, window=None)


def rows_of_weights_sum_to_one(
    trial: Trial, inputs: Inputs, dtype: str
) -> None:
    """A row of weights sums to one, or to zero where nothing is seen."""
    steps, errors = steps_and_errors(trial, inputs, dtype)
    alive = np.isfinite(steps["masked_scores"]).any(axis=-1)
    allowed = np.broadcast_to(
        attention_bounds.seen(inputs), steps["weights"].shape
    )
    trial.within("rows that see", alive, allowed.any(axis=-1))
    sums = steps["weights"].astype(np.float64).sum(axis=-1)
    error = errors["weights"].sum(axis=-1)
    error = error + bounds.gamma(inputs.S + 1, "float64") * (1 + error)
    trial.within("row sums", sums, alive, error)
    forbidden = steps["weights"][~allowed]
    trial.within("forbidden weights", forbidden, np.zeros(forbidden.shape))
    lse = np.isneginf(steps["log_sum_exp"])
    trial.within("log_sum_exp of dead rows", lse, ~alive)


def rows_of_score_gradients_sum_to_zero(
    trial: Trial, inputs: Inputs, dtype: str
) -> None:
    """A constant added to a row changes nothing: a row of dS sums to 0."""
    silent = np.zeros_like(inputs.d_log_sum_exp)
    inputs = attention_bounds.with_upstream(inputs, inputs.d_output, silent)
    gradients = trial.version.gradients(inputs, dtype)
    with np.errstate(all="ignore"):
        must = attention_bounds.gradients(inputs, dtype)["scores"]
    scores = gradients["scores"].astype(np.float64)
    error = np.broadcast_to(must.error, scores.shape).sum(axis=-1)
    sums = scores.sum(axis=-1)
    summed = bounds.gamma(inputs.S + 1, "float64") * np.abs(scores)
    error = error + summed.sum(axis=-1)
    trial.within("row sums of dS", sums, np.zeros(sums.shape), error)
    # Where a gradient is beyond its own bound it cannot be 0.
    certain = np.abs(must.value) > 2 * must.error
    if certain.any():
        assert np.any(scores != 0), "every gradient of the scores is 0"


def a_constant_added_to_a_row_changes_nothing(
    trial: Trial, inputs: Inputs, dtype: str
) -> None:
    """Weights stay, and the log-sum-exp grows by the constant."""
    bias = full_mask(inputs)
    if bias.dtype == bool:
        bias = np.where(bias, 0.0, -np.inf)
    # To thousandths of two: the constants are added without rounding.
    kind = attention_bounds.computation_dtype(dtype)
    bias = (np.round(bias * 1024) / 1024).astype(kind)
    one = explicit(inputs).with_options(attn_mask=bias)
    constants = np.arange(inputs.L)[:, None] % 5 - 2.0
    added = (bias + constants).astype(bias.dtype)
    other = one.with_options(attn_mask=added)
    same_up_to(trial, one, other, dtype, ("weights", "output"))
    steps, errors = steps_and_errors(trial, one, dtype)
    others, more = steps_and_errors(trial, other, dtype)
    name = "log_sum_exp"
    expected = steps[name] + constants[:, 0]
    error = errors[name] + more[name]
    error = error + 4 * bounds.unit_roundoff("float32") * abs(constants[:, 0])
    trial.within(name, others[name], expected, np.where(error > 0, error, 0))


def same_up_to(
    trial: Trial,
    one: Inputs,
    other: Inputs,
    dtype: str,
    names: tuple[str, ...],
    back: Callable[[str, NDArray[Any]], NDArray[Any]] | None = None,
) -> None:
    """Assert that two inputs give the same, within the bounds of both.

    `back` undoes in the second result the change of its inputs.
    """
    steps, errors = steps_and_errors(trial, one, dtype)
    others, more = steps_and_errors(trial, other, dtype)
    for name in names:
        got, error = others[name], more[name]
        if back is not None:
            got, error = back(name, got), back(name, error)
        trial.within(name, got, steps[name], errors[name] + error)


def permuting_keys_with_values_changes_nothing(
    trial: Trial, inputs: Inputs, dtype: str
) -> None:
    """The output stays, and the weights follow their keys."""
    one = explicit(inputs)
    order = np.random.default_rng(inputs.S).permutation(inputs.S)
    kept = one.options.dropout_mask
    other = replace(
        one, key=one.key[..., order, :], value=one.value[..., order, :]
    ).with_options(
        attn_mask=full_mask(inputs)[..., order],
        dropout_mask=None if kept is None else kept[..., order],
    )
    inverse = np.argsort(order)

    def back(name: str, array: NDArray[Any]) -> NDArray[Any]:
        return array[..., inverse] if name == "weights" else array

    names = ("log_sum_exp", "weights", "output")
    same_up_to(trial, one, other, dtype, names, back)


def an_explicit_mask_is_what_the_options_are(
    trial: Trial, inputs: Inputs, dtype: str
) -> None:
    """is_causal, window and a small mask, written out as one full mask."""
    names = ("log_sum_exp", "weights", "output")
    same_up_to(trial, inputs, explicit(inputs), dtype, names)


def what_follows_does_not_matter_to_a_causal_row(
    trial: Trial, inputs: Inputs, dtype: str
) -> None:
    """Other keys and values in the second half leave the first rows."""
    middle = max(1, min(inputs.L, inputs.S) // 2)
    causal = inputs.with_options(is_causal=True)
    key, value = inputs.key.copy(), inputs.value.copy()
    key[..., middle:, :] = key[..., middle:, :][..., ::-1, :] * 2 + 1
    value[..., middle:, :] = value[..., middle:, :] * 2 + 1
    changed = replace(causal, key=key, value=value)

    def first(name: str, array: NDArray[Any]) -> NDArray[Any]:
        return array[..., :middle, :]

    steps, errors = steps_and_errors(trial, causal, dtype)
    others, more = steps_and_errors(trial, changed, dtype)
    for name in ("weights", "output"):
        got, expected = first(name, others[name]), first(name, steps[name])
        error = first(name, errors[name]) + first(name, more[name])
        trial.within(name, got, expected, error)


def forbidden_keys_do_not_matter(
    trial: Trial, inputs: Inputs, dtype: str
) -> None:
    """The numbers of a key that no query sees change nothing, to the bit."""
    allowed = np.broadcast_to(
        attention_bounds.seen(inputs), (*inputs.d_log_sum_exp.shape, inputs.S)
    )
    unseen = ~allowed.any(axis=tuple(range(allowed.ndim - 1)))
    key, value = inputs.key.copy(), inputs.value.copy()
    key[..., unseen, :] = 77.0
    value[..., unseen, :] = -55.0
    changed = replace(inputs, key=key, value=value)
    steps = living_steps(trial, inputs, dtype)
    others = living_steps(trial, changed, dtype)
    for name in ("log_sum_exp", "weights", "output"):
        trial.within(name, others[name], steps[name])


def a_grouped_head_is_the_repeated_one(
    trial: Trial, inputs: Inputs, dtype: str
) -> None:
    """Key and value heads written out H/G times give the same."""
    groups = inputs.key.shape[-3] if inputs.key.ndim > 2 else 1
    if groups in (1, inputs.heads):
        return
    times = inputs.heads // groups
    repeated = replace(
        inputs,
        key=np.repeat(inputs.key, times, axis=-3),
        value=np.repeat(inputs.value, times, axis=-3),
    ).with_options(enable_gqa=False)
    names = ("scores", "log_sum_exp", "weights", "output")
    same_up_to(trial, inputs, repeated, dtype, names)


def halves_of_the_keys_merge_to_the_whole(
    trial: Trial, inputs: Inputs, dtype: str
) -> None:
    """Two partial results, weighed by exp(lse), are the whole.

    o = Σ exp(lse_t - lse) o_t with lse = log Σ exp(lse_t).
    """
    if inputs.options.dropout_p > 0:
        return
    whole = explicit(inputs)
    middle = inputs.S // 2
    parts = [slice(None, middle), slice(middle, None)]
    outputs, lses, errors = [], [], []
    for part in parts:
        half = replace(
            whole,
            key=whole.key[..., part, :],
            value=whole.value[..., part, :],
        ).with_options(attn_mask=full_mask(inputs)[..., part])
        steps, error = steps_and_errors(trial, half, dtype)
        outputs.append(steps["output"].astype(np.float64))
        lses.append(steps["log_sum_exp"].astype(np.float64)[..., None])
        errors.append(error)
    steps, error = steps_and_errors(trial, whole, dtype)
    row_max = np.maximum(*lses)
    row_max = np.where(np.isneginf(row_max), 0.0, row_max)
    shares = [np.exp(lse - row_max) for lse in lses]
    together = shares[0] + shares[1]
    shares = [s / np.where(together == 0, 1, together) for s in shares]
    merged = shares[0] * outputs[0] + shares[1] * outputs[1]
    bound = error["output"].copy()
    for share, output, error_of_part in zip(
        shares, outputs, errors, strict=True
    ):
        off = 2 * error_of_part["log_sum_exp"].max(initial=0.0)
        lost = np.expm1(off + bounds.gamma(2 * FUNCTION_ULPS, "float64"))
        bound = bound + share * error_of_part["output"]
        bound = bound + lost * np.abs(share * output)
    # Each share's error moves weight between the halves.
    bound = bound * 2
    trial.within("merged output", merged, steps["output"], bound)


def each_query_stands_alone(trial: Trial, inputs: Inputs, dtype: str) -> None:
    """One query by itself, with its row of the mask, gives its own row."""
    if inputs.options.dropout_p > 0 or inputs.L == 0:
        return
    whole = explicit(inputs)
    steps, errors = steps_and_errors(trial, whole, dtype)
    for i in sorted({0, inputs.L // 2, inputs.L - 1}):
        row = slice(i, i + 1)
        alone = replace(
            whole,
            query=whole.query[..., row, :],
            d_log_sum_exp=whole.d_log_sum_exp[..., row],
            d_output=whole.d_output[..., row, :],
        ).with_options(attn_mask=full_mask(inputs)[..., row, :])
        got, more = steps_and_errors(trial, alone, dtype)
        for name in ("weights", "output"):
            error = more[name] + errors[name][..., row, :]
            expected = steps[name][..., row, :]
            trial.within(f"{name} of row {i}", got[name], expected, error)


def each_batch_stands_alone(trial: Trial, inputs: Inputs, dtype: str) -> None:
    """One element of the batch by itself gives what it gives among others."""
    ranks = {inputs.query.ndim, inputs.key.ndim, inputs.value.ndim}
    sizes = {a.shape[0] for a in (inputs.query, inputs.key, inputs.value)}
    if ranks != {4} or len(sizes) != 1 or inputs.options.dropout_p > 0:
        return
    whole = explicit(inputs)
    steps, errors = steps_and_errors(trial, whole, dtype)
    for b in range(sizes.pop()):
        one = slice(b, b + 1)
        arrays = ("query", "key", "value", "d_output", "d_log_sum_exp")
        alone = replace(
            whole, **{n: getattr(whole, n)[one] for n in arrays}
        ).with_options(attn_mask=full_mask(inputs)[one])
        got, more = steps_and_errors(trial, alone, dtype)
        for name in ("weights", "output"):
            error = more[name] + errors[name][one]
            trial.within(f"{name} of {b}", got[name], steps[name][one], error)


def a_factor_of_two_moves_freely(
    trial: Trial, inputs: Inputs, dtype: str
) -> None:
    """Twice the query at half the scale is the same; twice the value twice."""
    width = inputs.query.shape[-1]
    scale = inputs.options.scale
    if scale is None:
        scale = 1 / np.sqrt(width) if width else 1.0
    whole = inputs.with_options(scale=float(scale))
    doubled = replace(
        whole, query=inputs.query * 2, value=inputs.value * 2
    ).with_options(scale=scale / 2)

    def back(name: str, array: NDArray[Any]) -> NDArray[Any]:
        return array / 2 if name == "output" else array

    names = ("scores", "log_sum_exp", "weights", "output")
    same_up_to(trial, whole, doubled, dtype, names, back)


def signs_of_query_and_scale_cancel(
    trial: Trial, inputs: Inputs, dtype: str
) -> None:
    """-query at -scale is the same, to the bit."""
    width = inputs.query.shape[-1]
    scale = inputs.options.scale
    if scale is None:
        scale = 1 / np.sqrt(width) if width else 1.0
    one = inputs.with_options(scale=float(scale))
    other = replace(inputs, query=-inputs.query)
    other = other.with_options(scale=-float(scale))
    steps = living_steps(trial, one, dtype)
    others = living_steps(trial, other, dtype)
    for name in ("scores", "weights", "output"):
        trial.within(name, others[name], steps[name])


def permuting_heads_permutes_the_output(
    trial: Trial, inputs: Inputs, dtype: str
) -> None:
    """Heads in reverse, in query, key, value and mask, come out in reverse."""
    ranks = {inputs.query.ndim, inputs.key.ndim, inputs.value.ndim}
    if len(ranks) != 1 or ranks == {2} or inputs.options.dropout_p > 0:
        return
    one = explicit(inputs)
    arrays = ("query", "key", "value")
    other = replace(
        one, **{n: np.flip(getattr(one, n), axis=-3) for n in arrays}
    ).with_options(attn_mask=np.flip(full_mask(inputs), axis=-3))

    def back(name: str, array: NDArray[Any]) -> NDArray[Any]:
        return np.flip(array, axis=-3)

    same_up_to(trial, one, other, dtype, ("weights", "output"), back)


def a_cap_bounds_the_scores(trial: Trial, inputs: Inputs, dtype: str) -> None:
    """Capped scores lie within ±cap and keep their sign."""
    if inputs.options.soft_cap is None:
        return
    steps = living_steps(trial, inputs, dtype)
    scores, capped = steps["scores"], steps["capped_scores"]
    kind = attention_bounds.computation_dtype(dtype)
    rounding = bounds.gamma(FUNCTION_ULPS + 1, kind)
    most = inputs.options.soft_cap * (1 + rounding)
    assert np.all(np.abs(capped) <= most), "too large"
    trial.within("signs", np.sign(capped), np.sign(scores))
    if np.abs(scores).max(initial=0.0) > 0.1 * inputs.options.soft_cap:
        assert np.any(capped != scores), "nothing is capped"


def calls_repeat_and_leave_their_inputs(
    trial: Trial, inputs: Inputs, dtype: str
) -> None:
    """The same call gives the same bits, and no argument is written to."""
    living_steps(trial, inputs, dtype)
    version = trial.version
    arguments = version.arguments(inputs, dtype)
    arrays = {
        name: argument
        for name, argument in arguments.items()
        if version.is_array(argument)
    }
    before = {name: version.numpy(a).copy() for name, a in arrays.items()}
    function = version.function(ATTENTION)
    first = version.numpy(function(**arguments)).copy()
    second = version.numpy(function(**arguments))
    trial.within("second call", second, first)
    trial.within("steps", version.steps(inputs, dtype)["output"], first)
    for name, array in arrays.items():
        trial.within(name, version.numpy(array), before[name])


def layout_does_not_matter(trial: Trial, inputs: Inputs, dtype: str) -> None:
    """Views of every kind give what their contiguous copies give."""
    living_steps(trial, inputs, dtype)
    version = trial.version
    plain = version.arguments(inputs, dtype)
    error = errors_of(inputs, dtype)["output"]
    function = version.function(ATTENTION)
    expected = version.numpy(function(**plain))
    bound = 2 * np.broadcast_to(error, expected.shape)
    for kind, view in views(version).items():
        arguments = dict(plain)
        for name in ("query", "key", "value", "attn_mask", "dropout_mask"):
            if arguments[name] is not None:
                arguments[name] = view(arguments[name])
        got = version.numpy(function(**arguments))
        trial.within(f"{kind} inputs", got, expected, bound)


def a_repeated_row_may_be_broadcast(
    trial: Trial, inputs: Inputs, dtype: str
) -> None:
    """Stride 0: one head or batch gives the same as equal copies."""
    living_steps(trial, inputs, dtype)
    version = trial.version
    wide = ("query", "key", "value")
    first = {n: getattr(inputs, n)[..., :1, :] for n in wide[:1]}
    repeated = np.broadcast_to(first["query"], inputs.query.shape)
    one = replace(inputs, query=np.ascontiguousarray(repeated))
    arguments = version.arguments(one, dtype)
    expected = version.numpy(version.function(ATTENTION)(**arguments))
    row = version.array(np.ascontiguousarray(first["query"]), dtype)
    if hasattr(row, "expand"):
        arguments["query"] = row.expand(inputs.query.shape)
    elif isinstance(row, np.ndarray):
        arguments["query"] = np.broadcast_to(row, inputs.query.shape)
    else:
        arguments["query"] = version.array(repeated, dtype)
    got = version.numpy(version.function(ATTENTION)(**arguments))
    error = errors_of(one, dtype)["output"]
    bound = 2 * np.broadcast_to(error, expected.shape)
    trial.within("output of stride 0", got, expected, bound)


FORWARD: tuple[Law, ...] = (
    rows_of_weights_sum_to_one,
    a_constant_added_to_a_row_changes_nothing,
    permuting_keys_with_values_changes_nothing,
    an_explicit_mask_is_what_the_options_are,
    what_follows_does_not_matter_to_a_causal_row,
    forbidden_keys_do_not_matter,
    a_grouped_head_is_the_repeated_one,
    halves_of_the_keys_merge_to_the_whole,
    each_query_stands_alone,
    each_batch_stands_alone,
    a_factor_of_two_moves_freely,
    signs_of_query_and_scale_cancel,
    permuting_heads_permutes_the_output,
    a_cap_bounds_the_scores,
    calls_repeat_and_leave_their_inputs,
    layout_does_not_matter,
    a_repeated_row_may_be_broadcast,
)
BACKWARD: tuple[Law, ...] = (rows_of_score_gradients_sum_to_zero,)
LAWS = (*FORWARD, *BACKWARD)
