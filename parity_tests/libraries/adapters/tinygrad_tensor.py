"""tinygrad's Tensor.scaled_dot_product_attention."""

from __future__ import annotations

import importlib
import os
from typing import Any

from numpy.typing import NDArray

from . import Asked, without

NAME, NEEDS, LAYOUT = "tinygrad", ("tinygrad",), "B, H, T, D"


def attention(asked: Asked) -> NDArray[Any]:
    """Return the output, computed by its device of plain Python."""
    without(asked, "window", "soft_cap", "scale")
    # Any other device needs a compiler or a driver.
    os.environ.setdefault("DEV", "PYTHON")
    tinygrad: Any = importlib.import_module("tinygrad")
    query, key, value = (tinygrad.Tensor(array) for array in asked[:3])
    if asked.bfloat16:
        query, key, value = (a.bfloat16() for a in (query, key, value))
    mask = asked.attn_mask
    output = query.scaled_dot_product_attention(
        key,
        value,
        attn_mask=None if mask is None else tinygrad.Tensor(mask),
        is_causal=asked.is_causal,
        enable_gqa=asked.groups,
    )
    result: NDArray[Any] = (
        output.float() if asked.bfloat16 else output
    ).numpy()
    return result
