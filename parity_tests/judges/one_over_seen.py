"""Structure apart from arithmetic: outputs of 1/n, with no tolerance.

With query = 0 the scores vanish, and with value = identity the output *is*
the weight matrix: 1/n on the n keys that are seen, rounded once, and exactly
0 on the others. Mistakes with masks, corners, windows, heads, axes and
layout show here exactly.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import torch

from ..cases.recipe import Case, build
from ..cases.table import CASES
from ..suite.register import Trial
from .definition import sees


def structural(case: Case) -> Case | None:
    """Return a case with every score 0, or None where that is not possible."""
    sizes = (*case.query, *case.key, *case.value)
    boolean = case.mask is None or case.mask.kind == "bool"
    if 0 in sizes or not boolean or case.fill != "normal":
        return None
    if case.dropout_p or case.dropout_mask is not None:
        return None
    if case.scale is not None and math.isnan(case.scale):
        return None
    value = (*case.value[:-1], case.value[-2])
    name = f"{case.name}, no scores"
    return replace(case, name=name, value=value, fill="zero scores")


STRUCTURAL = [case for case in map(structural, CASES) if case is not None]


@cache
def seen_by(case: Case) -> Any:
    """Return which keys each query sees, one by one: (..., H, L, S)."""
    inputs = build(case)
    table = (*inputs.batch, inputs.heads, inputs.L, inputs.S)
    seen = np.zeros(table, dtype=bool)
    for index in np.ndindex(*table):
        seen[index] = sees(inputs, index)
    return seen


def within_one_over_seen(trial: Trial, got: dict[str, Any]) -> None:
    """Assert that a result is 1/n on the n keys seen, its lse log n."""
    case: Case = trial.case
    inputs, seen = build(case), seen_by(case)
    number = seen.sum(axis=-1, keepdims=True)
    expected = seen / np.maximum(number, 1)
    expected = inputs.without_heads(rounded_once(expected, case.dtype))
    trial.within("output", got["output"], expected)
    lse = np.log(np.where(number == 0, 1, number))
    lse = np.where(number == 0, -np.inf, lse)[..., 0]
    error = 8 * np.spacing(np.abs(lse).astype("float32"))
    lse = inputs.without_heads(lse)
    error = np.nan_to_num(error).max()
    trial.within("log_sum_exp", got["log_sum_exp"], lse, error)


def rounded_once(weights: Any, dtype: str) -> Any:
    """Return weights as one division in the compute dtype gives them."""
    computed = "float32" if dtype in ("float16", "bfloat16") else dtype
    once = weights.astype(computed)
    if dtype == "bfloat16":
        return torch.tensor(once).bfloat16().float().numpy()
    return once.astype(dtype)
