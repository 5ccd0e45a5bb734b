"""A language model: a Transformer that predicts the next character.

Each character selects a row of the token embedding, to which the row of its
position is added. Blocks of self-attention and a feed-forward network follow,
and a last matrix turns each position into logits, a score for each character.
The blocks are those of GPT-2 (Radford et al. 2019, section 2.3): causal,
pre-norm, with residual connections. GPT-2 has GELU in place of relu, and
biases in its attention.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from .arrays import Array, Indices, Mask
from .layer_norm import LayerNorm
from .multi_head import MultiHeadAttention, project
from .softmax import log_softmax


class FeedForward(nn.Module):
    """A feed-forward network at each position: relu(x W_1 + b_1) W_2 + b_2.

    `w_1` is (M, F), `w_2` (F, M) (Vaswani et al. 2017, equation 2).
    """

    def __init__(self, w_1: Array, b_1: Array, w_2: Array, b_2: Array) -> None:
        super().__init__()
        self.w_1, self.b_1 = nn.Parameter(w_1), nn.Parameter(b_1)
        self.w_2, self.b_2 = nn.Parameter(w_2), nn.Parameter(b_2)

    def forward(self, x: Array) -> Array:
        """Return the output of the network: (..., T, M)."""
        hidden = relu(project(x, self.w_1, self.b_1))
        return project(hidden, self.w_2, self.b_2)


def relu(x: Array) -> Array:
    """Return x where it is positive, and 0 elsewhere."""
    return torch.where(x > 0, x, 0.0)


class Block(nn.Module):
    """A block: attention and a feed-forward network, each with a residual.

    h = x + attention(norm_1(x))        y = h + feed_forward(norm_2(h))
    """

    def __init__(
        self,
        norm_1: LayerNorm,
        attention: MultiHeadAttention,
        norm_2: LayerNorm,
        feed_forward: FeedForward,
    ) -> None:
        super().__init__()
        self.norm_1 = norm_1
        self.attention = attention
        self.norm_2 = norm_2
        self.feed_forward = feed_forward

    def forward(self, x: Array) -> Array:
        """Return the output of the block: (..., T, M)."""
        h = x + self.attention(self.norm_1(x), is_causal=True)
        y: Array = h + self.feed_forward(self.norm_2(h))
        return y


class LanguageModel(nn.Module):
    """A model that predicts the next of V characters from those before it.

    ids are (..., T), each from 0 to V - 1 (IndexError), no more of them
    than there are positions (ValueError).

    `token_embedding` (V, M) has a row for each character and
    `position_embedding` (T, M) one for each of T positions. `lm_head` (M, V)
    turns the last block's output into logits; None takes the transposed
    `token_embedding` (Press and Wolf 2017, arXiv:1608.05859).
    """

    def __init__(
        self,
        token_embedding: Array,
        position_embedding: Array,
        blocks: list[Block],
        norm: LayerNorm,
        lm_head: Array | None = None,
    ) -> None:
        super().__init__()
        self.token_embedding = nn.Parameter(token_embedding)
        self.position_embedding = nn.Parameter(position_embedding)
        self.lm_head = None if lm_head is None else nn.Parameter(lm_head)
        # Any: torch does not know what its list of modules holds.
        self.blocks: Any = nn.ModuleList(blocks)
        self.norm = norm

    def embed(self, ids: Indices) -> Array:
        """Return token plus position embeddings: (..., T, M)."""
        check_ids(
            ids,
            self.token_embedding.shape[0],
            self.position_embedding.shape[0],
        )
        T = ids.shape[-1]
        taken: Array = self.token_embedding[ids]
        return taken + self.position_embedding[:T, :]

    def unembed(self, x: Array) -> Array:
        """Return the logits: (..., T, M) to (..., T, V)."""
        matrix = (
            self.token_embedding.mT if self.lm_head is None else self.lm_head
        )
        return x @ matrix

    def forward(self, ids: Indices) -> Array:
        """Return the logits of the next character: (..., T, V)."""
        x = self.embed(ids)
        for block in self.blocks:
            x = block(x)
        return self.unembed(self.norm(x))

    def weights(self, ids: Indices) -> list[Array]:
        """Return the attention weights, (..., H, T, T), of each block."""
        x, weights = self.embed(ids), []
        for block in self.blocks:
            steps = block.attention.steps(block.norm_1(x), is_causal=True)
            weights.append(steps.weights)
            x = block(x)
        return weights


def check_ids(ids: Indices, V: int, T: int) -> None:
    """Check that ids are from 0 to V - 1, and no more than T of them.

    Raises IndexError or ValueError. An index of -1 would be the last
    character, and more ids than positions might broadcast.
    """
    if bool(torch.any((ids < 0) | (ids >= V))):
        least, most = int(torch.min(ids)), int(torch.max(ids))
        raise IndexError(f"ids has {least} to {most}, expected 0 to {V - 1}")
    if ids.shape[-1] > T:
        raise ValueError(
            f"ids has shape {tuple(ids.shape)}, expected {T} positions or "
            "fewer"
        )


def initial_model(
    randn: Callable[..., Array],
    V: int,
    T: int,
    M: int,
    H: int,
    F: int,
    blocks: int,
    scale: float | None = None,
) -> LanguageModel:
    """Return an untrained model: float32, its numbers drawn by `randn`.

    Embeddings have standard deviation 1, and matrices 1/√rows, which keeps
    it. `scale` is the scale of attention in every block.
    """

    def matrix(rows: int, columns: int) -> Array:
        """Draw a matrix."""
        return randn(rows, columns) / math.sqrt(rows)

    def norm() -> LayerNorm:
        """Return a layer normalization with weight 1 and bias 0."""
        return LayerNorm(constant(1.0, M), constant(0.0, M))

    def block() -> Block:
        """Draw a block."""
        w_q, w_k, w_v, w_o = (matrix(M, M) for _ in range(4))
        heads = MultiHeadAttention(H, H, w_q, w_k, w_v, w_o, scale=scale)
        first, second = matrix(M, F), matrix(F, M)
        network = FeedForward(
            first, constant(0.0, F), second, constant(0.0, M)
        )
        return Block(norm(), heads, norm(), network)

    token, position = randn(V, M), randn(T, M)
    made = [block() for _ in range(blocks)]
    return LanguageModel(token, position, made, norm(), matrix(M, V))


def constant(number: float, size: int) -> Array:
    """Return a row of one number, float32."""
    return torch.full((size,), number, dtype=torch.float32)


def parameters(model: Any) -> dict[str, Array]:
    """Return a model's learned arrays by name: "blocks.0.norm_1.weight".

    These are the parameters themselves: training changes them in place.
    """
    return dict(model.named_parameters())


def set_parameters(model: Any, new: dict[str, Array]) -> None:
    """Give a model other parameters, by name.

    Each parameter stays the same object, since an optimiser holds it, and
    gets a copy, since an optimiser writes into it.
    """
    current = parameters(model)
    for name, array in new.items():
        current[name].data = array.detach().clone()


def cross_entropy(logits: Array, targets: Indices) -> Array:
    """Return the mean of -log P(target): a number without axes.

    logits (..., T, V), targets (..., T). Targets outside 0..V - 1, such as
    -1, are left out of the mean; if all are, the result is NaN.
    """
    right = one_hot(targets, logits.shape[-1])
    log_weights = torch.where(right, log_softmax(logits), 0.0)
    mean: Array = -torch.sum(log_weights) / int(torch.sum(right))
    return mean


def one_hot(ids: Indices, V: int) -> Mask:
    """Return True at the index of each id, (..., V); for -1 all are False."""
    matches: Mask = ids[..., None] == torch.arange(V, device=ids.device)
    return matches


def loss_and_gradients(
    model: LanguageModel, ids: Indices, targets: Indices
) -> tuple[Array, dict[str, Array]]:
    """Return the loss, and its gradient for every parameter, by name."""
    loss = cross_entropy(model(ids), targets)
    learned = parameters(model)
    gradients = torch.autograd.grad(loss, list(learned.values()))
    return loss.detach(), dict(zip(learned, gradients, strict=True))
