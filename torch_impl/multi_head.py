"""Multi-head attention: several heads side by side, then one projection.

    MultiHead(x) = concat(head_1, ..., head_H) W_o

Each head has W_q, W_k and W_v of its own. The matrices of all heads are
columns of one matrix, so that one product computes all heads (Vaswani et al.
2017, section 3.2.2). With fewer key/value heads than query heads, G < H, each
serves a group of query heads: grouped-query attention (Ainslie et al. 2023,
arXiv:2305.13245). With G = 1 it is multi-query attention (Shazeer 2019,
arXiv:1911.02150).
"""

from __future__ import annotations

import torch
from torch import nn

from .arguments import Options
from .arrays import Array, Mask
from .sdpa import Steps, attention_steps


def split_heads(x: Array, H: int) -> Array:
    """Return each head's columns: (..., T, H·D) to (..., H, T, D).

    The last axis is split into (H, D) first, and the axis of heads moved
    after that: a reshape of (T, H·D) to (H, T, D) alone would give a head
    the numbers of other heads.
    """
    *batch, T, width = x.shape
    pieces = torch.reshape(x, (*batch, T, H, width // H))
    return torch.moveaxis(pieces, -2, -3)


def merge_heads(x: Array) -> Array:
    """Return the heads side by side again: (..., H, T, D) to (..., T, H·D)."""
    *batch, H, T, D = x.shape
    pieces = torch.moveaxis(x, -3, -2)
    return torch.reshape(pieces, (*batch, T, H * D))


def project(x: Array, w: Array, b: Array | None) -> Array:
    """Return x W + b, (..., T, N); without b if there is none."""
    product = x @ w
    return product if b is None else product + b


class MultiHeadAttention(nn.Module):
    """A layer of H query heads and G key/value heads, of dimension M.

    `w_q` is (M, H·D), `w_k` (N, G·D), `w_v` (N, G·E), `w_o` (H·E, M), and
    each may have a bias of as many numbers as its result. N is the
    dimension of `context`, or M without one. `scale` None is 1/√D.
    """

    def __init__(
        self,
        H: int,
        G: int,
        w_q: Array,
        w_k: Array,
        w_v: Array,
        w_o: Array,
        b_q: Array | None = None,
        b_k: Array | None = None,
        b_v: Array | None = None,
        b_o: Array | None = None,
        scale: float | None = None,
    ) -> None:
        super().__init__()
        self.H, self.G, self.scale = H, G, scale
        self.w_q, self.b_q = nn.Parameter(w_q), _parameter(b_q)
        self.w_k, self.b_k = nn.Parameter(w_k), _parameter(b_k)
        self.w_v, self.b_v = nn.Parameter(w_v), _parameter(b_v)
        self.w_o, self.b_o = nn.Parameter(w_o), _parameter(b_o)

    def project(
        self, x: Array, context: Array | None = None
    ) -> tuple[Array, Array, Array]:
        """Return query (..., H, L, D), key and value (..., G, S, D or E).

        The query comes from x, (..., L, M); key and value from `context`,
        (..., S, N), for cross-attention, or from x as well.
        """
        source = x if context is None else context
        query = split_heads(project(x, self.w_q, self.b_q), self.H)
        key = split_heads(project(source, self.w_k, self.b_k), self.G)
        value = split_heads(project(source, self.w_v, self.b_v), self.G)
        return query, key, value

    def options(
        self, attn_mask: Array | Mask | None, is_causal: bool
    ) -> Options:
        """Return the options of the layer's attention."""
        return Options(
            attn_mask, is_causal=is_causal, scale=self.scale, enable_gqa=True
        )

    def steps(
        self,
        x: Array,
        context: Array | None = None,
        attn_mask: Array | Mask | None = None,
        is_causal: bool = False,
    ) -> Steps:
        """Return every step of the heads, the weights (..., H, L, S) too."""
        options = self.options(attn_mask, is_causal)
        return attention_steps(*self.project(x, context), options)

    def forward(
        self,
        x: Array,
        context: Array | None = None,
        attn_mask: Array | Mask | None = None,
        is_causal: bool = False,
    ) -> Array:
        """Return the output of the layer: (..., L, M)."""
        steps = self.steps(x, context, attn_mask, is_causal)
        return project(merge_heads(steps.output), self.w_o, self.b_o)


def _parameter(array: Array | None) -> nn.Parameter | None:
    """Return an array as a parameter, None as None."""
    return None if array is None else nn.Parameter(array)
