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

from typing import NamedTuple

import numpy as np

from .arguments import Options
from .arrays import Array, Mask
from .broadcasting import broadcast_backward
from .sdpa import (
    Steps,
    attention_steps,
    attention_steps_backward,
)


def split_heads(x: Array, H: int) -> Array:
    """Return each head's columns: (..., T, H·D) to (..., H, T, D).

    The last axis is split into (H, D) first, and the axis of heads moved
    after that: a reshape of (T, H·D) to (H, T, D) alone would give a head
    the numbers of other heads.
    """
    *batch, T, width = x.shape
    pieces = np.reshape(x, (*batch, T, H, width // H))
    return np.moveaxis(pieces, -2, -3)


def merge_heads(x: Array) -> Array:
    """Return the heads side by side again: (..., H, T, D) to (..., T, H·D)."""
    *batch, H, T, D = x.shape
    pieces = np.moveaxis(x, -3, -2)
    return np.reshape(pieces, (*batch, T, H * D))


def project(x: Array, w: Array, b: Array | None) -> Array:
    """Return x W + b, (..., T, N); without b if there is none."""
    product = x @ w
    return product if b is None else product + b


class MultiHeadAttention:
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
        self.H, self.G, self.scale = H, G, scale
        self.w_q, self.b_q = w_q, b_q
        self.w_k, self.b_k = w_k, b_k
        self.w_v, self.b_v = w_v, b_v
        self.w_o, self.b_o = w_o, b_o

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

    def __call__(
        self,
        x: Array,
        context: Array | None = None,
        attn_mask: Array | Mask | None = None,
        is_causal: bool = False,
    ) -> Array:
        """Return the output of the layer: (..., L, M)."""
        steps = self.steps(x, context, attn_mask, is_causal)
        return project(merge_heads(steps.output), self.w_o, self.b_o)


# The backward pass, derived by hand. On the PyTorch side autograd does this.


class MultiHeadAttentionGradients(NamedTuple):
    """The gradients of a layer's inputs and of its parameters.

    `context` is None in self-attention, and a bias that is missing has None.
    The gradient of a floating mask is left out: `sdpa` has it.
    """

    x: Array
    context: Array | None
    w_q: Array
    w_k: Array
    w_v: Array
    w_o: Array
    b_q: Array | None
    b_k: Array | None
    b_v: Array | None
    b_o: Array | None


def project_backward(
    d_result: Array, x: Array, w: Array, b: Array | None
) -> tuple[Array, Array, Array | None]:
    """Return the gradients of x, W and b, from that of y = x W + b.

    dx = dy Wᵀ, dW = Σ xᵀ dy and db = Σ dy, summed over all that share them.
    """
    dx = d_result @ w.mT
    # One product of all positions of all sequences is the sum of theirs.
    rows, d_rows = (np.reshape(a, (-1, a.shape[-1])) for a in (x, d_result))
    dw = rows.mT @ d_rows
    db = None if b is None else broadcast_backward(d_result, b.shape)
    return dx, dw, db


def multi_head_attention_backward(
    d_output: Array,
    layer: MultiHeadAttention,
    x: Array,
    context: Array | None = None,
    attn_mask: Array | Mask | None = None,
    is_causal: bool = False,
) -> MultiHeadAttentionGradients:
    """Return the gradients of a layer, from that of its output (..., L, M).

    The steps in reverse: the output projection; the heads, split where they
    were merged and merged where they were split; the attention; the three
    projections. Without a context x gets the sum of all three.
    """
    query, key, value = layer.project(x, context)
    options = layer.options(attn_mask, is_causal)
    steps = attention_steps(query, key, value, options)
    merged = merge_heads(steps.output)
    d_merged, w_o, b_o = project_backward(
        d_output, merged, layer.w_o, layer.b_o
    )
    d_heads = split_heads(d_merged, layer.H)
    gradients = attention_steps_backward(
        d_heads, steps, query, key, value, options
    )
    source = x if context is None else context
    d_query, d_key, d_value = (
        merge_heads(d)
        for d in (gradients.query, gradients.key, gradients.value)
    )
    d_x, w_q, b_q = project_backward(d_query, x, layer.w_q, layer.b_q)
    from_key, w_k, b_k = project_backward(d_key, source, layer.w_k, layer.b_k)
    from_value, w_v, b_v = project_backward(
        d_value, source, layer.w_v, layer.b_v
    )
    d_source = from_key + from_value
    d_context = None if context is None else d_source
    d_x = d_x + d_source if context is None else d_x
    return MultiHeadAttentionGradients(
        d_x, d_context, w_q, w_k, w_v, w_o, b_q, b_k, b_v, b_o
    )
