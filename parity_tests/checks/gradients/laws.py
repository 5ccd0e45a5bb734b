"""gradients: laws, and which inputs and layouts gradients depend on."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...cases.recipe import build
from ...cases.table import BY_NAME
from ...judges import attention_bounds, laws
from ...judges.law_cases import law_cases
from ...judges.layouts import views
from ...judges.sdpa_gradients import gradients
from ...suite.register import Trial, check
from ...suite.versions import ATTENTION, Version


@check("gradients", "law", law_cases(laws.BACKWARD))
def laws_of_the_gradients_hold(trial: Trial) -> None:
    """Run one law on one case."""
    trial.case.law(trial, build(trial.case.case), trial.case.dtype)


def upstream_views(version: Version, native: Any) -> dict[str, Any]:
    """Return the upstream gradient in other memory layouts."""
    kinds = views(version)
    return {kind: kinds[kind](native) for kind in ("transposed", "stepped")}


@check("gradients", "law", ("rank 4", "3 groups of heads", "causal"))
def the_layout_of_what_comes_back_does_not_matter(trial: Trial) -> None:
    """Strided upstream gradients give what contiguous ones give."""
    inputs = build(BY_NAME[trial.case])
    version = trial.version
    arrays = [inputs.query, inputs.key, inputs.value]
    chosen = inputs.options
    options = {"is_causal": chosen.is_causal, "enable_gqa": chosen.enable_gqa}
    plain = gradients(trial, inputs.d_output, *arrays, **options)
    native = version.array(inputs.d_output)
    arguments = [version.array(a) for a in arrays]
    names = ("query", "key", "value")
    errors = attention_bounds.gradients(inputs, "float32")
    for kind, view in upstream_views(version, native).items():
        if version.by_hand:
            path = f"{ATTENTION}_backward"
            result = version.numpy(
                version.ask(path, view, *arguments, **options)
            )
            results = [result[name] for name in names]
        else:
            leaves = [version.array(a).requires_grad_() for a in arrays]
            version.function(ATTENTION)(*leaves, **options).backward(view)
            results = [version.numpy(tensor.grad) for tensor in leaves]
        for name, a, b in zip(names, results, plain, strict=True):
            error = 2 * errors[name].error
            trial.within(f"gradient of {name}, {kind}", a, b, error)
    assert all(np.any(gradient != 0) for gradient in plain), "all are 0"


@check("gradients", "law", ("query", "key", "value", "attn_mask"))
def one_input_alone_may_ask_for_its_gradient(trial: Trial) -> None:
    """If one input alone requires a gradient, it is the same to the bit."""
    inputs = build(BY_NAME["float mask (2, 3, 5, 7)"])
    version = trial.version
    whole = version.gradients(
        attention_bounds.with_upstream(
            inputs, inputs.d_output, np.zeros_like(inputs.d_log_sum_exp)
        ),
        "float32",
    )
    expected = whole[trial.case]
    assert np.any(expected != 0), "the gradient is 0"
    named = version.arguments(inputs, "float32")
    if version.by_hand:
        path = f"{ATTENTION}_backward"
        d = version.array(inputs.d_output)
        gradients = version.numpy(version.ask(path, d, **named))
        got = gradients[trial.case]
    else:
        named[trial.case].requires_grad_()
        output = version.function(ATTENTION)(**named)
        output.backward(version.array(inputs.d_output))
        got = version.numpy(named[trial.case].grad)
    trial.within(f"gradient of {trial.case}", got, expected)
