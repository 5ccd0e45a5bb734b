"""mlx.core.fast.scaled_dot_product_attention, on the CPU."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import Asked, Lacks, without

NAME, NEEDS, LAYOUT = "mlx.core.fast", ("mlx",), "B, H, T, D"


def attention(asked: Asked) -> NDArray[Any]:
    """Return the output. The scale has no default, and causal is a mask."""
    without(asked, "window", "soft_cap")
    if asked.is_causal and asked.attn_mask is not None:
        raise Lacks("mask with causal")
    mx: Any = importlib.import_module("mlx.core")
    mx.set_default_device(mx.cpu)
    kind = mx.bfloat16 if asked.bfloat16 else None
    # float64 is lost unless it is asked for.
    named = getattr(mx, asked.query.dtype.name)
    arrays = [mx.array(array, dtype=kind or named) for array in asked[:3]]
    mask = asked.attn_mask
    if mask is not None:
        mask = mx.array(mask)
        mask = mask if mask.dtype == mx.bool_ else mask.astype(kind or named)
    scale, D = asked.scale, asked.query.shape[-1]
    output = mx.fast.scaled_dot_product_attention(
        *arrays,
        scale=max(D, 1) ** -0.5 if scale is None else scale,
        mask="causal" if asked.is_causal else mask,
    )
    return np.array(output.astype(mx.float32) if asked.bfloat16 else output)
