"""The gradients of one call of attention, derived by hand or recorded."""

from __future__ import annotations

from typing import Any

from ..suite.register import Trial
from ..suite.versions import ATTENTION


def gradients(trial: Trial, d: Any, *arrays: Any, **options: Any) -> list[Any]:
    """Return the gradients of query, key and value."""
    version = trial.version
    if version.by_hand:
        path = f"{ATTENTION}_backward"
        results = version.call(path, d, *arrays, **options)
        return [results[name] for name in ("query", "key", "value")]
    leaves = [version.array(array).requires_grad_() for array in arrays]
    named = {name: version.array(x) for name, x in options.items()}
    version.function(ATTENTION)(*leaves, **named).backward(version.array(d))
    return [version.numpy(tensor.grad) for tensor in leaves]
