"""keras.ops.dot_product_attention, on JAX."""

from __future__ import annotations

import importlib
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import Asked, without

# Read when they are imported: float64, and the library beneath.
os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("KERAS_BACKEND", "jax")
NAME, NEEDS, LAYOUT = "keras.ops, on JAX", ("keras", "jax"), "B, T, H, D"


def attention(asked: Asked) -> NDArray[Any]:
    """Return the output."""
    without(asked, "window", "soft_cap")
    ops: Any = importlib.import_module("keras.ops")
    kind = "bfloat16" if asked.bfloat16 else asked.query.dtype.name
    query, key, value = (
        ops.convert_to_tensor(np.swapaxes(array, -3, -2), dtype=kind)
        for array in asked[:3]
    )
    options: dict[str, Any] = {}
    if asked.attn_mask is not None:
        boolean = asked.attn_mask.dtype == bool
        options["mask" if boolean else "bias"] = ops.convert_to_tensor(
            asked.attn_mask, dtype="bool" if boolean else kind
        )
    output = ops.dot_product_attention(
        query,
        key,
        value,
        scale=asked.scale,
        is_causal=asked.is_causal,
        **options,
    )
    if asked.bfloat16:
        output = ops.cast(output, "float32")
    return np.swapaxes(ops.convert_to_numpy(output), -3, -2)
