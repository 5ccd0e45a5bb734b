"""torch.nn.functional.scaled_dot_product_attention, its fused kernel."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray
from torch.nn.attention import SDPBackend

from . import Asked, torch_math

NAME, NEEDS, LAYOUT = "torch SDPA, fused", ("torch",), "B, H, T, D"


def attention(asked: Asked) -> NDArray[Any]:
    """Return the output; the kernel refuses what it does not support."""
    return torch_math.attention(asked, SDPBackend.FLASH_ATTENTION)
