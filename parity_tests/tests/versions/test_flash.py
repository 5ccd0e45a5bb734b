"""flash: memory that grows with the length, and masks without gradients."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest
import torch

import numpy_impl
import torch_impl


def peak_bytes(T: int, causal: bool) -> int:
    """Return the memory that NumPy's flash takes beyond inputs and output."""
    rng = np.random.default_rng(0)
    query, key, value = rng.standard_normal((3, 1, T, 16), dtype=np.float32)
    tracemalloc.start()
    try:
        result = numpy_impl.flash.flash_attention(
            query, key, value, is_causal=causal
        )
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    return peak - result.output.nbytes - result.log_sum_exp.nbytes


@pytest.mark.parametrize("causal", [False, True])
def test_memory_does_not_grow_with_the_square(causal: bool) -> None:
    small, large = (peak_bytes(T, causal) for T in (1024, 8192))
    exponent = math.log(large / small) / math.log(8)
    assert exponent <= 1.1, f"T to the power of {exponent:.2f}"
    # The table alone is 256 MiB.
    assert large < 8 * 2**20, large


def test_a_mask_that_asks_for_its_gradient_is_refused() -> None:
    ones = torch.ones(3, 4, requires_grad=True)
    mask = torch.zeros(3, 3, requires_grad=True)
    with pytest.raises(ValueError, match="attn_mask asks for its gradient"):
        torch_impl.flash.flash_attention(ones, ones, ones, mask)
    result = torch_impl.flash.flash_attention(ones, ones, ones, mask.detach())
    assert torch.equal(result.output, ones)
