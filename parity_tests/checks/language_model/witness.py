"""language_model: torch's own encoder layer and cross-entropy."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional as F

from ...judges import bounds
from ...judges.small_models import T, V, error_of, loss_and_slope
from ...suite.register import Trial, check
from ...suite.versions import Version


@check("language_model", "SDPA", (True, False))
def a_block_is_torchs_encoder_layer(trial: Trial) -> None:
    """With the same weights: its output, and the gradients of all."""
    width, hidden, heads = 8, 12, 2
    layer = nn.TransformerEncoderLayer(
        width,
        heads,
        hidden,
        dropout=0.0,
        norm_first=True,
        batch_first=True,
        dtype=torch.float64,
    )
    rng = np.random.default_rng(29)
    with torch.no_grad():
        for p in layer.parameters():
            p.copy_(torch.tensor(rng.standard_normal(p.shape) / 2))
    x, d = rng.standard_normal((2, 3, T, width))
    hidden_keys = torch.ones(T, T, dtype=torch.bool).triu(1)
    tensor = torch.tensor(x, requires_grad=True)
    result = layer(tensor, src_mask=hidden_keys)
    torch.autograd.backward(result, torch.tensor(d))
    block = torchs_block(trial.version, layer, heads)
    native = trial.version.array(x)
    got = trial.version.numpy(block(native))
    witness = result.detach().numpy()
    trial.within("output", got, witness, error_of(witness))
    if not trial.case:
        return
    gradients = block_gradients(trial.version, block, native, d)
    expected = torchs_gradients(layer) | {"x": tensor.grad}
    assert sorted(gradients) == sorted(expected), sorted(gradients)
    for name, gradient in expected.items():
        assert gradient is not None
        array = gradient.numpy()
        # A key's bias cancels out of every row, and so does its gradient.
        like = "attention.w_k" if name == "attention.b_k" else name
        size = expected[like]
        assert size is not None
        error = error_of(size.numpy())
        trial.within(f"gradient of {name}", gradients[name], array, error)


def torchs_parts(layer: Any, of: Any) -> dict[str, Any]:
    """Return `of` of each of torch's parameters, by the names here."""
    in_w, in_b = (
        of(layer.self_attn.in_proj_weight),
        of(layer.self_attn.in_proj_bias),
    )
    w_q, w_k, w_v = (p.T for p in in_w.chunk(3))
    b_q, b_k, b_v = in_b.chunk(3)
    out = layer.self_attn.out_proj
    return {
        "norm_1.weight": of(layer.norm1.weight),
        "norm_1.bias": of(layer.norm1.bias),
        "attention.w_q": w_q,
        "attention.w_k": w_k,
        "attention.w_v": w_v,
        "attention.w_o": of(out.weight).T,
        "attention.b_q": b_q,
        "attention.b_k": b_k,
        "attention.b_v": b_v,
        "attention.b_o": of(out.bias),
        "norm_2.weight": of(layer.norm2.weight),
        "norm_2.bias": of(layer.norm2.bias),
        "feed_forward.w_1": of(layer.linear1.weight).T,
        "feed_forward.b_1": of(layer.linear1.bias),
        "feed_forward.w_2": of(layer.linear2.weight).T,
        "feed_forward.b_2": of(layer.linear2.bias),
    }


def torchs_gradients(layer: Any) -> dict[str, Any]:
    """Return the gradients of torch's layer, by the names here."""
    return torchs_parts(layer, lambda p: p.grad)


def torchs_block(version: Version, layer: Any, heads: int) -> Any:
    """Return a block with the weights of torch's layer."""
    parts = torchs_parts(layer, lambda p: p.detach())
    arrays = {n: version.array(t.numpy().copy()) for n, t in parts.items()}

    def part(name: str) -> dict[str, Any]:
        return {
            n.removeprefix(f"{name}."): a
            for n, a in arrays.items()
            if n.startswith(name)
        }

    module = version.module("language_model")
    norm = version.function("layer_norm.LayerNorm")
    return module.Block(
        norm(**part("norm_1")),
        version.function("multi_head.MultiHeadAttention")(
            heads, heads, **part("attention")
        ),
        norm(**part("norm_2")),
        module.FeedForward(**part("feed_forward")),
    )


def block_gradients(
    version: Version, block: Any, x: Any, d: Any
) -> dict[str, Any]:
    """Return the gradients of x and of all of a block's parameters."""
    upstream = version.array(d)
    if version.by_hand:
        backward = version.function("language_model.block_backward")
        d_x, gradients = backward(upstream, block, x)
        return {"x": version.numpy(d_x)} | {
            n: version.numpy(g) for n, g in gradients.items()
        }
    x.requires_grad_()
    block(x).backward(upstream)
    leaves = {"x": x, **dict(block.named_parameters())}
    return {n: version.numpy(leaf.grad) for n, leaf in leaves.items()}


@check("language_model", "SDPA", (True, False))
def the_loss_is_torchs_cross_entropy(trial: Trial) -> None:
    """Without and with targets that are left out."""
    rng = np.random.default_rng(31)
    logits = 30 * rng.standard_normal((2, T, V))
    targets = rng.integers(-1 if trial.case else 0, V, (2, T))
    path = "language_model.cross_entropy"
    got = trial.call(path, logits, targets)
    tensor = torch.tensor(logits, requires_grad=True)
    loss = F.cross_entropy(
        tensor.reshape(-1, V), torch.tensor(targets).ravel(), ignore_index=-1
    )
    loss.backward()  # type: ignore[no-untyped-call]  # torch has no types here
    error = bounds.gamma(T * V, "float64") * np.abs(logits).max()
    trial.within("loss", got, loss.detach().numpy(), error)
    _, gradient = loss_and_slope(trial.version, logits, targets)
    assert tensor.grad is not None
    trial.within("gradient", gradient, tensor.grad.numpy(), error)
