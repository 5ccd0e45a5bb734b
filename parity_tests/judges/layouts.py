"""Ways of laying an array out in memory that must not matter."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from ..suite.versions import Version


def views(version: Version) -> dict[str, Callable[[Any], Any]]:
    """Return ways of laying an array out in memory, by name.

    Those of torch and NumPy are made of an array as it is; for another
    library, of the NumPy array that it is given.
    """
    sample = version.array(np.zeros(1, np.float32))
    if isinstance(sample, torch.Tensor):
        return views_in(torch, "dim")
    if isinstance(sample, np.ndarray):
        return views_in(np, "axis")

    def through(view: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def made(array: Any) -> Any:
            # NumPy has no bfloat16, and would give float32 back.
            if "bfloat16" in str(array.dtype):
                return array
            laid_out = view(version.package.to_numpy(array))
            return version.package.from_numpy(laid_out)

        return made

    return {n: through(v) for n, v in views_in(np, "axis").items()}


def views_in(join: Any, axis: str) -> dict[str, Callable[[Any], Any]]:
    """Return the ways of one library, written as slices and transposition."""

    def other(array: Any) -> Any:
        boolean = array.dtype in (torch.bool, np.bool_)
        return ~array if boolean else array * 0 + 1

    def stepped(array: Any) -> Any:
        if array.ndim == 0:
            return array
        pair = join.stack([array, other(array)], **{axis: -1})
        return pair.reshape(*array.shape[:-1], pair.shape[-2] * 2)[..., ::2]

    def offset(array: Any) -> Any:
        if array.ndim == 0:
            return array
        wide = join.concatenate([other(array), array], **{axis: -1})
        return wide[..., array.shape[-1] :]

    def transposed(array: Any) -> Any:
        return array if array.ndim < 2 else contiguous(array.mT).mT

    def contiguous(array: Any) -> Any:
        if join.__name__ == "torch":
            return array.contiguous()
        return join.ascontiguousarray(array)

    layouts: dict[str, Callable[[Any], Any]] = {
        "stepped": stepped,
        "offset": offset,
        "transposed": transposed,
    }
    if join.__name__ != "torch":
        layouts["reversed"] = lambda array: (
            np.flip(contiguous(np.flip(array))) if array.ndim else array
        )
        layouts["read-only"] = read_only
    return layouts


def read_only(array: Any) -> Any:
    """Return a copy that may not be written to."""
    copy = array.copy()
    copy.flags.writeable = False
    return copy
