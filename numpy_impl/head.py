"""One head of self-attention: x becomes query, key and value.

    q = x W_q    k = x W_k    v = x W_v

The three matrices are learned, and all are applied to the same x (Vaswani
et al. 2017, section 3.2.2).
"""

from __future__ import annotations

from typing import NamedTuple

from .arrays import Array, Mask
from .attention import attention, attention_backward
from .broadcasting import broadcast_backward


class AttentionHead:
    """A head of self-attention, from dimension M to dimension E.

    `w_q` and `w_k` are (M, D), `w_v` is (M, E).
    """

    def __init__(self, w_q: Array, w_k: Array, w_v: Array) -> None:
        self.w_q = w_q
        self.w_k = w_k
        self.w_v = w_v

    def project(self, x: Array) -> tuple[Array, Array, Array]:
        """Return query (..., T, D), key (..., T, D), value (..., T, E)."""
        query = x @ self.w_q
        key = x @ self.w_k
        value = x @ self.w_v
        return query, key, value

    def __call__(self, x: Array, mask: Mask | None = None) -> Array:
        """Return the output of each position: (..., T, M) to (..., T, E)."""
        query, key, value = self.project(x)
        return attention(query, key, value, mask)


# The backward pass, derived by hand. On the PyTorch side autograd does this.


class AttentionHeadGradients(NamedTuple):
    """The gradients of a head's input, (..., T, M), and of its matrices."""

    x: Array
    w_q: Array
    w_k: Array
    w_v: Array


def attention_head_backward(
    d_output: Array, head: AttentionHead, x: Array, mask: Mask | None = None
) -> AttentionHeadGradients:
    """Return the gradients of x and of the head's three matrices.

    q = x W_q, and so dW_q = Σ xᵀ dq over all sequences. x was used three
    times, and so dx = dq W_qᵀ + dk W_kᵀ + dv W_vᵀ.
    """
    query, key, value = head.project(x)
    dq, dk, dv = attention_backward(d_output, query, key, value, mask)
    d_x = dq @ head.w_q.mT + dk @ head.w_k.mT + dv @ head.w_v.mT
    w_q, w_k, w_v = (
        broadcast_backward(x.mT @ d, w.shape)
        for d, w in ((dq, head.w_q), (dk, head.w_k), (dv, head.w_v))
    )
    return AttentionHeadGradients(d_x, w_q, w_k, w_v)
