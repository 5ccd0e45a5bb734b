"""Where torch's own function departs from the contract: facts by version.

Each was seen with torch 2.13 on x86-64. They do not judge the versions here.
If another torch behaves differently, this is reported and is no failure: a
departure that is gone is good news.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import scaled_dot_product_attention as sdpa

import torch_impl
from parity_tests.judges.sdpa_backends import on

pytestmark = pytest.mark.skipif(
    not torch.__version__.startswith("2.13."),
    reason="these facts are about torch 2.13",
)
Q, K, V = (torch.ones(1, 1, n, 4) for n in (2, 3, 3))


def backend(name: str) -> AbstractContextManager[Any]:
    return on(name)


def test_mask_and_is_causal_together_depend_on_the_backend() -> None:
    # Its documentation says that an error is raised where both are set.
    mask = torch.tensor([[True, True, True], [False, True, True]])
    value = torch.tensor([1.0, 3.0, 9.0])[:, None].repeat(1, 1, 1, 4)
    with backend("math"), pytest.raises(RuntimeError, match="not be set"):
        sdpa(Q, K, value, mask, is_causal=True)
    ours = torch_impl.scaled_dot_product_attention(
        Q, K, value, mask, is_causal=True
    )
    assert ours[0, 0, :, 0].tolist() == [1.0, 3.0]
    with backend("flash"):
        assert torch.equal(sdpa(Q, K, value, mask, is_causal=True), ours)


@pytest.mark.parametrize("shape", [(), (3,), (1,)])
def test_a_mask_of_rank_0_or_1_is_an_index_error(
    shape: tuple[int, ...],
) -> None:
    # Its documentation asks for a mask that broadcasts, and these do.
    mask = torch.ones(shape, dtype=torch.bool)
    with pytest.raises(IndexError, match="imension"):
        sdpa(Q, K, V, mask)
    with backend("math"):
        assert sdpa(Q, K, V, mask).shape == Q.shape
    assert torch_impl.scaled_dot_product_attention(Q, K, V, mask).any()


@pytest.mark.parametrize("name", ["default", "math"])
def test_groups_without_an_axis_of_heads_are_an_index_error(name: str) -> None:
    # Its documentation asks for (N, ..., Hq, L, E), and has no check.
    query, key, value = Q[0, 0], K[0, 0], V[0, 0]
    with backend(name), pytest.raises(IndexError, match="out of range"):
        sdpa(query, key, value, enable_gqa=True)
    assert torch_impl.scaled_dot_product_attention(
        query, key, value, enable_gqa=True
    ).any()


def test_a_mask_of_another_dtype_is_refused() -> None:
    mask = torch.zeros(2, 3, dtype=torch.float64)
    with pytest.raises(RuntimeError, match="attn_mask dtype"):
        sdpa(Q, K, V, mask)
    assert torch_impl.scaled_dot_product_attention(Q, K, V, mask).any()


@pytest.mark.parametrize("name", ["default", "math", "flash"])
@pytest.mark.parametrize("kind", ["bool", "float"])
def test_nan_behind_a_mask_leaks(name: str, kind: str) -> None:
    # pytorch/pytorch#101967: the mask is added, and NaN - inf is NaN.
    key = K.clone()
    key[..., 1, :] = torch.nan
    seen = torch.tensor([[True, False, True]] * 2)
    mask = seen if kind == "bool" else torch.where(seen, 0.0, -torch.inf)
    with backend(name):
        assert bool(torch.isnan(sdpa(Q, key, V, mask)).all())
    ours = torch_impl.scaled_dot_product_attention(Q, key, V, mask)
    assert bool(torch.isfinite(ours).all())


def test_the_fused_kernel_makes_0_of_a_scale_of_nan() -> None:
    nan = float("nan")
    with backend("flash"):
        assert not bool(sdpa(Q, K, V, scale=nan).any())
    with backend("math"):
        assert bool(torch.isnan(sdpa(Q, K, V, scale=nan)).all())
    ours = torch_impl.scaled_dot_product_attention(Q, K, V, scale=nan)
    assert bool(torch.isnan(ours).all())


@pytest.mark.parametrize("scale", [-0.5, 0.0])
def test_the_fused_kernel_scales_the_causal_mask(scale: float) -> None:
    # It multiplies the -inf of the triangle too: by -0.5 that is +inf, and
    # by 0 NaN.
    with backend("flash"):
        fused = sdpa(Q, K, V, is_causal=True, scale=scale)
    assert bool(torch.isnan(fused).any())
    with backend("math"):
        assert bool((sdpa(Q, K, V, is_causal=True, scale=scale) == 1).all())
    ours = torch_impl.scaled_dot_product_attention(
        Q, K, V, is_causal=True, scale=scale
    )
    assert bool((ours == 1).all())


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_the_fused_kernel_rounds_weights_to_a_half_type(
    dtype: torch.dtype,
) -> None:
    # Where the values cancel, what is left is the error of the weights.
    rng = np.random.default_rng(0)
    query, key = (
        torch.tensor(rng.standard_normal((1, 1, n, 64))).to(dtype)
        for n in (64, 64)
    )
    sign = torch.tensor([1.0, -1.0]).repeat(32)[:, None]
    value = (1000 * sign).expand(64, 64)[None, None].to(dtype)
    exact = torch_impl.scaled_dot_product_attention(
        query.double(), key.double(), value.double()
    )
    with backend("flash"):
        fused = sdpa(query, key, value).double()
    ours = torch_impl.scaled_dot_product_attention(query, key, value).double()
    row = exact.abs().amax(dim=-1).argmin()
    fused_error, own_error = (
        (output - exact).abs()[0, 0, row].max() for output in (fused, ours)
    )
    assert fused_error > 4 * own_error


def test_a_million_keys_in_one_product_lose_four_digits() -> None:
    # Its matrix product adds up one after the other; the fused kernel, like
    # both versions here, adds up tiles.
    weights = torch.full((1, 10**6), 1e-6, dtype=torch.float64)
    value = torch.full((10**6, 1), 0.1, dtype=torch.float64)
    plain = (weights @ value).item()
    assert abs(plain / 0.1 - 1) > 1e-12
    tiled = torch_impl.sdpa.tiled_sum(weights, value).item()
    assert abs(tiled / 0.1 - 1) < 1e-12
