"""jax.nn.dot_product_attention, its implementation for XLA."""

from __future__ import annotations

import importlib
import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import Asked, without

NAME, NEEDS, LAYOUT = "jax.nn", ("jax",), "B, T, H, D"


def attention(asked: Asked) -> NDArray[Any]:
    """Return the output."""
    without(asked, "soft_cap")
    # Without it JAX has no float64.
    os.environ.setdefault("JAX_ENABLE_X64", "1")
    jax: Any = importlib.import_module("jax")
    kind = "bfloat16" if asked.bfloat16 else asked.query.dtype
    query, key, value = (
        jax.numpy.asarray(np.swapaxes(array, -3, -2), dtype=kind)
        for array in asked[:3]
    )
    options: dict[str, Any] = {}
    if asked.attn_mask is not None:
        boolean = asked.attn_mask.dtype == bool
        mask = jax.numpy.asarray(asked.attn_mask)
        options["mask" if boolean else "bias"] = (
            mask if boolean else mask.astype(kind)
        )
    if asked.window is not None:
        # It has no sign for "no bound": one beyond all keys is none.
        keys = asked.key.shape[-2] + asked.query.shape[-2]
        options["local_window_size"] = tuple(
            keys if radius == -1 else radius for radius in asked.window
        )
    output = jax.nn.dot_product_attention(
        query,
        key,
        value,
        scale=asked.scale,
        is_causal=asked.is_causal,
        implementation="xla",
        **options,
    )
    wide = output.astype("float32") if asked.bfloat16 else output
    return np.swapaxes(np.asarray(wide), -3, -2)
