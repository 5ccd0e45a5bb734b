"""One head of self-attention: x becomes query, key and value.

    q = x W_q    k = x W_k    v = x W_v

The three matrices are learned, and all are applied to the same x (Vaswani
et al. 2017, section 3.2.2).
"""

from __future__ import annotations

from torch import nn

from .arrays import Array, Mask
from .attention import attention


class AttentionHead(nn.Module):
    """A head of self-attention, from dimension M to dimension E.

    `w_q` and `w_k` are (M, D), `w_v` is (M, E).
    """

    def __init__(self, w_q: Array, w_k: Array, w_v: Array) -> None:
        super().__init__()
        self.w_q = nn.Parameter(w_q)
        self.w_k = nn.Parameter(w_k)
        self.w_v = nn.Parameter(w_v)

    def project(self, x: Array) -> tuple[Array, Array, Array]:
        """Return query (..., T, D), key (..., T, D), value (..., T, E)."""
        query = x @ self.w_q
        key = x @ self.w_k
        value = x @ self.w_v
        return query, key, value

    def forward(self, x: Array, mask: Mask | None = None) -> Array:
        """Return the output of each position: (..., T, M) to (..., T, E)."""
        query, key, value = self.project(x)
        return attention(query, key, value, mask)
