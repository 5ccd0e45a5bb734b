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
from typing import Any, NamedTuple

import numpy as np

from .arrays import Array, Indices, Mask
from .broadcasting import broadcast_backward
from .layer_norm import LayerNorm, layer_norm_backward
from .multi_head import (
    MultiHeadAttention,
    multi_head_attention_backward,
    project,
    project_backward,
)
from .softmax import log_softmax, softmax


class FeedForward:
    """A feed-forward network at each position: relu(x W_1 + b_1) W_2 + b_2.

    `w_1` is (M, F), `w_2` (F, M) (Vaswani et al. 2017, equation 2).
    """

    def __init__(self, w_1: Array, b_1: Array, w_2: Array, b_2: Array) -> None:
        self.w_1, self.b_1 = w_1, b_1
        self.w_2, self.b_2 = w_2, b_2

    def __call__(self, x: Array) -> Array:
        """Return the output of the network: (..., T, M)."""
        hidden = relu(project(x, self.w_1, self.b_1))
        return project(hidden, self.w_2, self.b_2)


def relu(x: Array) -> Array:
    """Return x where it is positive, and 0 elsewhere."""
    return np.where(x > 0, x, 0.0)


class Block:
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
        self.norm_1 = norm_1
        self.attention = attention
        self.norm_2 = norm_2
        self.feed_forward = feed_forward

    def __call__(self, x: Array) -> Array:
        """Return the output of the block: (..., T, M)."""
        h = x + self.attention(self.norm_1(x), is_causal=True)
        y: Array = h + self.feed_forward(self.norm_2(h))
        return y


class LanguageModel:
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
        self.token_embedding = token_embedding
        self.position_embedding = position_embedding
        self.lm_head = lm_head
        self.blocks = blocks
        self.norm = norm

    def embed(self, ids: Indices) -> Array:
        """Return token plus position embeddings: (..., T, M)."""
        check_ids(
            ids,
            self.token_embedding.shape[0],
            self.position_embedding.shape[0],
        )
        T = ids.shape[-1]
        # The standard takes by a row of numbers alone.
        taken = np.reshape(
            np.take(self.token_embedding, np.reshape(ids, (-1,)), axis=0),
            (*ids.shape, self.token_embedding.shape[-1]),
        )
        return taken + self.position_embedding[:T, :]

    def unembed(self, x: Array) -> Array:
        """Return the logits: (..., T, M) to (..., T, V)."""
        matrix = (
            self.token_embedding.mT if self.lm_head is None else self.lm_head
        )
        return x @ matrix

    def __call__(self, ids: Indices) -> Array:
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
    if bool(np.any((ids < 0) | (ids >= V))):
        least, most = int(np.min(ids)), int(np.max(ids))
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
    return np.full((size,), number, dtype=np.float32)


def parameters(model: Any) -> dict[str, Array]:
    """Return a model's learned arrays by name: "blocks.0.norm_1.weight"."""
    arrays: dict[str, Array] = {}
    parts: dict[str, Any] = {}
    for name, member in vars(model).items():
        if hasattr(member, "shape"):
            arrays[name] = member
        elif isinstance(member, list):
            parts |= {f"{name}.{i}": part for i, part in enumerate(member)}
        elif hasattr(member, "__dict__"):
            parts[name] = member
    for name, part in parts.items():
        arrays |= _prefixed(name, parameters(part))
    return arrays


def _prefixed(prefix: str, arrays: dict[str, Array]) -> dict[str, Array]:
    """Return arrays by their names with a prefix: "name.w_q"."""
    return {f"{prefix}.{name}": array for name, array in arrays.items()}


def set_parameters(model: Any, new: dict[str, Array]) -> None:
    """Give a model other parameters, by name."""
    for path, array in new.items():
        *parts, name = path.split(".")
        owner = model
        for part in parts:
            index = part.isdecimal()
            owner = owner[int(part)] if index else getattr(owner, part)
        setattr(owner, name, array)


def cross_entropy(logits: Array, targets: Indices) -> Array:
    """Return the mean of -log P(target): a number without axes.

    logits (..., T, V), targets (..., T). Targets outside 0..V - 1, such as
    -1, are left out of the mean; if all are, the result is NaN.
    """
    right = one_hot(targets, logits.shape[-1])
    log_weights = np.where(right, log_softmax(logits), 0.0)
    mean: Array = -np.sum(log_weights) / int(np.count_nonzero(right))
    return mean


def one_hot(ids: Indices, V: int) -> Mask:
    """Return True at the index of each id, (..., V); for -1 all are False."""
    matches: Mask = ids[..., None] == np.arange(V)
    return matches


def loss_and_gradients(
    model: LanguageModel, ids: Indices, targets: Indices
) -> tuple[Array, dict[str, Array]]:
    """Return the loss, and its gradient for every parameter, by name."""
    inputs = [model.embed(ids)]
    for block in model.blocks:
        inputs.append(block(inputs[-1]))
    normal = model.norm(inputs[-1])
    logits = model.unembed(normal)
    loss = cross_entropy(logits, targets)
    d_logits = cross_entropy_backward(logits, targets)
    d_normal, gradients = unembed_backward(d_logits, model, normal)
    norm = layer_norm_backward(d_normal, model.norm, inputs[-1])
    gradients |= _prefixed("norm", _named(norm))
    d_x = norm.x
    for i, block in reversed(list(enumerate(model.blocks))):
        d_x, learned = block_backward(d_x, block, inputs[i])
        gradients |= _prefixed(f"blocks.{i}", learned)
    embedding = embed_backward(d_x, model, ids)
    if "token_embedding" in gradients:
        embedding["token_embedding"] = (
            embedding["token_embedding"] + gradients["token_embedding"]
        )
    gradients |= embedding
    return loss, {name: gradients[name] for name in parameters(model)}


# The backward pass, derived by hand. On the PyTorch side autograd does this.


def _named(gradients: NamedTuple) -> dict[str, Array]:
    """Return the gradients of parameters: all but that of x."""
    return {
        name: gradient
        for name, gradient in gradients._asdict().items()
        if name not in ("x", "context") and gradient is not None
    }


def cross_entropy_backward(logits: Array, targets: Indices) -> Array:
    """Return the gradient of the logits: (..., T, V).

    ∂(-log P_t)/∂x_j = P_j - δ_tj, divided by the number of targets; 0 for
    a position without a target.
    """
    right = one_hot(targets, logits.shape[-1])
    weights = softmax(logits)
    difference = np.where(right, weights - 1, weights)
    asked = np.any(right, axis=-1, keepdims=True)
    count = int(np.count_nonzero(right))
    d_logits: Array = np.where(asked, difference / count, 0.0)
    return d_logits


def unembed_backward(
    d_logits: Array, model: LanguageModel, x: Array
) -> tuple[Array, dict[str, Array]]:
    """Return the gradients of x and of the matrix that made the logits.

    Logits = x W, where W is `lm_head`, or `token_embedding` transposed.
    """
    if model.lm_head is None:
        d_x, d_w, _ = project_backward(
            d_logits, x, model.token_embedding.mT, None
        )
        return d_x, {"token_embedding": d_w.mT}
    d_x, d_w, _ = project_backward(d_logits, x, model.lm_head, None)
    return d_x, {"lm_head": d_w}


def embed_backward(
    d_x: Array, model: LanguageModel, ids: Indices
) -> dict[str, Array]:
    """Return the gradients of both embeddings, (V, M) and (T, M).

    Taking rows is a product with a one-hot matrix, x = O E, and so
    dE = Oᵀ dx: a character that occurs several times gets the sum of its
    gradients. Unused positions get 0.
    """
    V, M = model.token_embedding.shape
    rows = np.astype(one_hot(ids, V), d_x.dtype)
    token = np.reshape(rows, (-1, V)).mT @ np.reshape(d_x, (-1, M))
    used = broadcast_backward(d_x, d_x.shape[-2:])
    unused = model.position_embedding.shape[0] - used.shape[0]
    rest = np.zeros((unused, M), dtype=d_x.dtype)
    return {
        "token_embedding": token,
        "position_embedding": np.concat([used, rest]),
    }


class FeedForwardGradients(NamedTuple):
    """The gradients of x, (..., T, M), and of the network's parameters."""

    x: Array
    w_1: Array
    b_1: Array | None
    w_2: Array
    b_2: Array | None


def feed_forward_backward(
    d_result: Array, layer: FeedForward, x: Array
) -> FeedForwardGradients:
    """Return the gradients of x and of the four parameters.

    relu passes the gradient on where its argument was positive.
    """
    before = project(x, layer.w_1, layer.b_1)
    d_hidden, w_2, b_2 = project_backward(
        d_result, relu(before), layer.w_2, layer.b_2
    )
    d_before = np.where(before > 0, d_hidden, 0.0)
    d_x, w_1, b_1 = project_backward(d_before, x, layer.w_1, layer.b_1)
    return FeedForwardGradients(d_x, w_1, b_1, w_2, b_2)


def block_backward(
    d_result: Array, block: Block, x: Array
) -> tuple[Array, dict[str, Array]]:
    """Return the gradients of x and of the block's parameters, by name.

    Each residual connection sends the gradient both around the part and
    through it.
    """
    normal_1 = block.norm_1(x)
    h = x + block.attention(normal_1, is_causal=True)
    normal_2 = block.norm_2(h)
    network = feed_forward_backward(d_result, block.feed_forward, normal_2)
    norm_2 = layer_norm_backward(network.x, block.norm_2, h)
    d_h = d_result + norm_2.x
    heads = multi_head_attention_backward(
        d_h, block.attention, normal_1, is_causal=True
    )
    norm_1 = layer_norm_backward(heads.x, block.norm_1, x)
    learned = {
        **_prefixed("norm_1", _named(norm_1)),
        **_prefixed("attention", _named(heads)),
        **_prefixed("norm_2", _named(norm_2)),
        **_prefixed("feed_forward", _named(network)),
    }
    return d_h + norm_1.x, learned
