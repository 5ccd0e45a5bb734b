"""torch.nn.functional.scaled_dot_product_attention, written in torch ops."""

from __future__ import annotations

from typing import Any

import torch
from numpy.typing import NDArray
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

from . import Asked, without

NAME, NEEDS, LAYOUT = "torch SDPA, math", ("torch",), "B, H, T, D"
BACKEND = SDPBackend.MATH


def attention(asked: Asked, backend: SDPBackend = BACKEND) -> NDArray[Any]:
    """Return the output."""
    without(asked, "window", "soft_cap")
    query, key, value = (torch.tensor(array) for array in asked[:3])
    if asked.bfloat16:
        query, key, value = (a.bfloat16() for a in (query, key, value))
    mask = None
    if asked.attn_mask is not None:
        mask = torch.tensor(asked.attn_mask)
        if mask.is_floating_point():
            mask = mask.to(query.dtype)
    with sdpa_kernel(backend):
        output = scaled_dot_product_attention(
            query,
            key,
            value,
            attn_mask=mask,
            is_causal=asked.is_causal,
            scale=asked.scale,
            enable_gqa=asked.groups,
        )
    return (output.float() if asked.bfloat16 else output).numpy()
