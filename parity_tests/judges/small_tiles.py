"""flash_attention in tiles of a few keys: every case has several."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np
import torch

from ..cases.recipe import Case, build
from ..cases.table import CASES
from ..suite.computation import cached
from ..suite.versions import Version
from . import attention_bounds

# Tiles so small that every case has several, and none fits.
QUERIES, KEYS = 3, 2


MODULE = "flash"


def tiled(case: Case) -> bool:
    """Return whether flash computes a case: it has no dropout."""
    return case.dropout_p == 0 and case.dropout_mask is None


TILED = [case for case in CASES if tiled(case)]


GRADIENT = [case for case in TILED if case.gradient]


@contextmanager
def settings(version: Version, name: str, **constants: Any) -> Iterator[None]:
    """Set constants of a module, and set them back at the end."""
    module = version.module(name)
    before = {name: getattr(module, name) for name in constants}
    vars(module).update(constants)
    try:
        yield
    finally:
        vars(module).update(before)


def tiles(
    version: Version,
    queries: int = QUERIES,
    keys: int = KEYS,
    module: str = MODULE,
    **constants: Any,
) -> AbstractContextManager[None]:
    """Set the tile sizes of flash or fast, and set them back at the end."""
    return settings(version, module, QUERIES=queries, KEYS=keys, **constants)


def arguments(version: Version, case: Case) -> dict[str, Any]:
    """Return the arguments of flash for a case."""
    named = version.arguments(build(case), case.dtype)
    return {
        n: a
        for n, a in named.items()
        if n not in ("dropout_p", "dropout_mask")
    }


def forward(
    version: Version, case: Case, module: str = MODULE, **constants: Any
) -> dict[str, Any]:
    """Return output and log-sum-exp in small tiles."""
    function = version.function(f"{module}.flash_attention")
    with tiles(version, module=module, **constants):
        result = function(**arguments(version, case))
    steps: dict[str, Any] = version.numpy(result)
    return steps


def gradients(
    version: Version, case: Case, module: str = MODULE, **constants: Any
) -> dict[str, Any]:
    """Return the gradients of query, key and value in small tiles."""
    inputs, named = build(case), arguments(version, case)
    path = f"{module}.flash_attention"
    d_output = version.array(inputs.d_output, case.dtype)
    d_lse = version.array(inputs.d_log_sum_exp)
    names = ("query", "key", "value")
    with tiles(version, module=module, **constants):
        if version.by_hand:
            back = f"{path}_backward"
            result = version.ask(back, d_output, **named, d_log_sum_exp=d_lse)
            by_hand: dict[str, Any] = version.numpy(result)
            version.unwritten(
                path, (inputs.d_output, inputs.key), (d_output, named["key"])
            )
            return by_hand
        for name in names:
            named[name].requires_grad_()
        result = version.function(path)(**named)
        torch.autograd.backward(list(result), [d_output, d_lse])
    return {name: version.numpy(named[name].grad) for name in names}


@cached
def errors(case: Case) -> dict[str, Any]:
    """Return the bounds of a case in small tiles."""
    parts = -(-build(case).S // KEYS)
    with np.errstate(all="ignore"):
        results = attention_bounds.in_tiles(
            build(case), case.dtype, max(parts, 1)
        )
    return {name: bounded.error for name, bounded in results.items()}


def spread(error: Any, array: Any) -> Any:
    """Return a bound in the shape of what it bounds."""
    return np.broadcast_to(error, array.shape)
