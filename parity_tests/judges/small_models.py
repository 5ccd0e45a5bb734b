"""Language models of a few numbers: drawn, put together, defined, bounded."""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from ..suite.versions import Version
from . import bounds, scalar_model

V, T, M, H, HIDDEN = 5, 4, 6, 2, 3


# The longest chain of sums through two blocks, with the functions on the
# way: what float32 may lose of a result of float64's.
ROUNDINGS = 2 * (5 * M + 2 * T + HIDDEN + V + 16 * bounds.FUNCTION_ULPS)


class Model(NamedTuple):
    """A way to build a model, and the inputs and targets for it."""

    name: str
    blocks: int = 1
    tied: bool = False
    length: int = T
    dtype: str = "float64"
    repeated: bool = False
    ignored: bool = False
    batch: tuple[int, ...] = (2,)

    def __str__(self) -> str:
        """Return the name."""
        return self.name

    def draw(self) -> dict[str, Any]:
        """Draw every parameter by its name."""
        rng = np.random.default_rng([self.blocks, self.tied])
        sizes: dict[str, tuple[int, ...]] = {
            "token_embedding": (V, M),
            "position_embedding": (T, M),
        }
        if not self.tied:
            sizes["lm_head"] = (M, V)
        for i in range(self.blocks):
            block: dict[str, tuple[int, ...]] = {
                "norm_1.weight": (M,),
                "norm_1.bias": (M,),
                "attention.w_q": (M, M),
                "attention.w_k": (M, M),
                "attention.w_v": (M, M),
                "attention.w_o": (M, M),
                "norm_2.weight": (M,),
                "norm_2.bias": (M,),
                "feed_forward.w_1": (M, HIDDEN),
                "feed_forward.b_1": (HIDDEN,),
                "feed_forward.w_2": (HIDDEN, M),
                "feed_forward.b_2": (M,),
            }
            sizes |= {f"blocks.{i}.{n}": size for n, size in block.items()}
        sizes |= {"norm.weight": (M,), "norm.bias": (M,)}
        drawn = {n: rng.standard_normal(size) for n, size in sizes.items()}
        return {n: a.astype(self.dtype) for n, a in drawn.items()}

    def shown(self) -> tuple[Any, Any]:
        """Draw two sequences and their targets."""
        rng = np.random.default_rng(23)
        shape = (2, math.prod(self.batch), self.length)
        ids, targets = rng.integers(0, V, shape)
        if self.repeated:
            ids[:, 1:] = ids[:, :1]
        if self.ignored:
            targets[:, :-1] = -1
        shape_of_ids = (*self.batch, self.length)
        return ids.reshape(shape_of_ids), targets.reshape(shape_of_ids)


MODELS = [
    Model("two blocks", blocks=2, length=3),
    Model("one block"),
    Model("no block", blocks=0),
    Model("tied", tied=True),
    Model("shorter than its positions", length=2),
    Model("one character over and over", repeated=True, length=3),
    Model("no block, one character", blocks=0, repeated=True, tied=True),
    Model("asked for the last alone", ignored=True, length=3),
    Model("asked for the last alone, tied", ignored=True, blocks=0, tied=True),
    Model("one sequence", length=3, batch=(), tied=True),
    Model("two axes of sequences", length=2, batch=(2, 3)),
]


def make(version: Version, model: Model) -> Any:
    """Build a model of a version, part by part."""
    arrays = {n: version.array(a) for n, a in model.draw().items()}
    module = version.module("language_model")
    norm = version.function("layer_norm.LayerNorm")
    heads = version.function("multi_head.MultiHeadAttention")
    blocks = []
    for i in range(model.blocks):
        parts_of_block = {
            n.removeprefix(f"blocks.{i}."): a
            for n, a in arrays.items()
            if n.startswith(f"blocks.{i}.")
        }

        def part(
            name: str, parts: dict[str, Any] = parts_of_block
        ) -> list[Any]:
            return [a for n, a in parts.items() if n.startswith(name)]

        blocks.append(
            module.Block(
                norm(*part("norm_1")),
                heads(H, H, *part("attention")),
                norm(*part("norm_2")),
                module.FeedForward(*part("feed_forward")),
            )
        )
    last = norm(arrays["norm.weight"], arrays["norm.bias"])
    output = arrays.get("lm_head")
    named = (arrays["token_embedding"], arrays["position_embedding"])
    return module.LanguageModel(*named, blocks, last, output)


@cache
def by_definition(model: Model) -> tuple[Any, float, dict[str, Any]]:
    """Return logits, loss and gradients in scalars."""
    ids, targets = (a.reshape(-1, model.length) for a in model.shown())
    logits, loss, gradients = scalar_model.loss_and_gradients(
        model.draw(), ids, targets, H=H
    )
    logits = np.reshape(logits, (*model.batch, model.length, V))
    return logits, loss, gradients


def computed(version: Version, model: Model) -> dict[str, Any]:
    """Return logits, loss and every gradient as a version has them."""
    built = make(version, model)
    ids, targets = map(version.array, model.shown())
    path = "language_model.loss_and_gradients"
    loss, gradients = version.function(path)(built, ids, targets)
    assert not getattr(loss, "requires_grad", False), "the loss keeps a graph"
    logits = version.numpy(built(ids))
    results = {n: version.numpy(g) for n, g in gradients.items()}
    return {"logits": logits, "loss": version.numpy(loss), **results}


def error_of(expected: Any) -> Any:
    """Bound a float64 result by what float32 would be allowed."""
    size = np.abs(expected).max(initial=0.0)
    return bounds.gamma(ROUNDINGS, "float32") * size


def loss_and_slope(version: Version, logits: Any, targets: Any) -> Any:
    """Return the loss and the gradient of the logits."""
    path = "language_model.cross_entropy"
    native, asked = version.array(logits), version.array(targets)
    if version.by_hand:
        loss = version.function(path)(native, asked)
        with np.errstate(all="ignore"):
            back = version.function(f"{path}_backward")(native, asked)
    else:
        native.requires_grad_()
        loss = version.function(path)(native, asked)
        loss.backward()
        back = native.grad
    return version.numpy(loss), version.numpy(back)
