"""multi_head: split and merge, the layer, its gradients, torch's own layer."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import nn

from ..judges import bounds
from ..suite.register import Trial, check
from ..suite.versions import Version

B, L, S, M, N, D, E = 2, 5, 7, 8, 6, 4, 3
WEIGHTS = ("w_q", "w_k", "w_v", "w_o")
BIASES = ("b_q", "b_k", "b_v", "b_o")
# The longest chain of sums, over M, D, S, H · E and all positions, and the
# functions on the way: what float32 may lose of a result of float64's.
ROUNDINGS = 4 * (M + D + 3 * S + 6 * E + B * S + 4 * bounds.FUNCTION_ULPS)


@dataclass(frozen=True)
class Layer:
    """A way to build a layer."""

    name: str
    H: int = 6
    G: int = 6
    cross: bool = False
    biases: bool = True
    is_causal: bool = False
    mask: str = ""
    alike: bool = False
    scale: float | None = None

    def __str__(self) -> str:
        """Return the name."""
        return self.name

    @property
    def parameters(self) -> dict[str, Any]:
        """Draw the matrices, and the biases if there are any."""
        rng = np.random.default_rng([self.H, self.G, self.cross])
        source = N if self.cross and not self.alike else M
        sizes = {
            "w_q": (M, self.H * D),
            "w_k": (source, self.G * D),
            "w_v": (source, self.G * E),
            "w_o": (self.H * E, M),
        }
        named = {n: rng.standard_normal(s) / 2 for n, s in sizes.items()}
        for weight, bias in zip(WEIGHTS, BIASES, strict=True):
            drawn = rng.standard_normal(sizes[weight][1])
            if self.biases:
                named[bias] = drawn
        return named

    @property
    def inputs(self) -> dict[str, Any]:
        """Draw x, the context, the mask and the upstream gradient."""
        rng = np.random.default_rng(7)
        drawn: dict[str, Any] = {
            "x": rng.standard_normal((B, L, M)),
            "context": rng.standard_normal((B, S, N)),
            "d_output": rng.standard_normal((B, L, M)),
        }
        keys = S if self.cross and not self.alike else L
        if self.alike:
            drawn["context"] = rng.standard_normal((B, L, M))
        if not self.cross:
            drawn["context"] = None
        drawn["attn_mask"] = None
        if self.mask == "bool":
            mask = rng.random((B, 1, L, keys)) < 0.6
            mask[..., 0] = True
            mask[1, 0, 2] = False
            drawn["attn_mask"] = mask
        elif self.mask == "float":
            drawn["attn_mask"] = rng.standard_normal((self.H, L, keys))
        return drawn


LAYERS = [
    Layer("as many key heads"),
    Layer("grouped", G=3),
    Layer("one key head", G=1),
    Layer("without biases", G=2, biases=False),
    Layer("cross", G=3, cross=True),
    Layer("causal", is_causal=True),
    Layer("causal and masked", G=2, is_causal=True, mask="bool"),
    Layer("cross, with a bias by head", cross=True, mask="float"),
    Layer("one head", H=1, G=1),
    Layer("cross, of one shape with x", G=2, cross=True, alike=True),
    Layer("a scale of its own", G=2, scale=0.3),
    Layer("a scale of 0", is_causal=True, scale=0.0),
]


def make(version: Version, layer: Layer) -> Any:
    """Make a layer of a version."""
    parameters = {n: version.array(a) for n, a in layer.parameters.items()}
    return version.function("multi_head.MultiHeadAttention")(
        layer.H, layer.G, **parameters, scale=layer.scale
    )


def call(version: Version, layer: Layer) -> dict[str, Any]:
    """Return the output of a layer and the weights of its heads."""
    inputs = layer.inputs
    names = ("x", "context", "attn_mask")
    arrays = [version.array(inputs[n]) for n in names]
    made = make(version, layer)
    output = made(*arrays, layer.is_causal)
    weights = made.steps(*arrays, layer.is_causal).weights
    results = {"output": output, "weights": weights}
    return {name: version.numpy(array) for name, array in results.items()}


def by_definition(layer: Layer, values: dict[str, Any]) -> dict[str, Any]:
    """Return output and weights head by head, query by query."""
    x, context = values["x"], values["context"]
    source = x if context is None else context
    mask = values["attn_mask"]
    keys = source.shape[-2]
    scale = 1 / math.sqrt(D) if layer.scale is None else layer.scale
    output = np.zeros((B, L, M)) + values.get("b_o", 0.0)
    weights = np.zeros((B, layer.H, L, keys))
    for b in range(B):
        for h in range(layer.H):
            g = h // (layer.H // layer.G)
            columns, read = slice(h * D, h * D + D), slice(g * D, g * D + D)
            cut = slice(g * E, g * E + E)
            q = x[b] @ values["w_q"][:, columns]
            k = source[b] @ values["w_k"][:, read]
            v = source[b] @ values["w_v"][:, cut]
            if "b_q" in values:
                q, k = q + values["b_q"][columns], k + values["b_k"][read]
                v = v + values["b_v"][cut]
            rows = values["w_o"][h * E : h * E + E]
            for i in range(L):
                score = k @ q[i] * scale
                seen = np.ones(keys, dtype=bool)
                if layer.is_causal:
                    seen = np.arange(keys) <= i
                if mask is not None and mask.dtype == bool:
                    seen = seen & mask[b, 0, i]
                elif mask is not None:
                    score = score + mask[h, i]
                power = np.where(seen, np.exp(score), 0.0)
                weights[b, h, i] = power / (power.sum() or 1.0)
                output[b, i] += weights[b, h, i] @ v @ rows
    return {"output": output, "weights": weights}


def error_of(expected: Any) -> Any:
    """Bound a float64 result by what float32 would be allowed."""
    return bounds.gamma(ROUNDINGS, "float32") * np.abs(expected).max()


def gradient_error(name: str, expected: dict[str, Any]) -> Any:
    """Bound one gradient of a layer.

    The bias of the keys adds the same to all scores of a row and cancels
    out: its gradient is 0 but for the rounding of its matrix's gradient.
    """
    return error_of(expected["w_k" if name == "b_k" else name])


@check("multi_head", "closed form")
def heads_are_split_by_width_and_not_by_position(trial: Trial) -> None:
    """Rows (1, 10) and (3, 30) are the heads 1, 3 and 10, 30."""
    x = np.asarray([[1.0, 10.0], [3.0, 30.0]])
    heads = trial.call("multi_head.split_heads", x, 2)
    trial.within("heads", heads, [[[1], [3]], [[10], [30]]])
    back = trial.call("multi_head.merge_heads", heads)
    trial.within("merged", back, x)


@check("multi_head", "law", (2, 6))
def a_context_may_be_x_itself(trial: Trial) -> None:
    """Then the gradient of x is the sum of both."""
    layer = Layer("itself", G=trial.case)
    version, inputs = trial.version, layer.inputs
    d = version.array(inputs["d_output"])
    x, other = version.array(inputs["x"]), version.array(inputs["x"])
    made = make(version, layer)
    if version.by_hand:
        path = "multi_head.multi_head_attention_backward"
        both = version.function(path)(d, made, x, x)
        alone = version.function(path)(d, made, x)
        assert both.context is not None, "the context has no gradient"
        got = version.numpy(both.x + both.context)
        must = version.numpy(alone.x)
    else:
        x.requires_grad_()
        made(x, x).backward(d)
        other.requires_grad_()
        made(other).backward(d)
        got, must = version.numpy(x.grad), version.numpy(other.grad)
    trial.within("gradient", got, must, error_of(must))
    assert np.all(must != 0), "the gradient is 0"


@check("multi_head", "closed form")
def heads_are_merged_side_by_side(trial: Trial) -> None:
    """Head 0 all 1 and head 1 all 10: every row is (1, 10)."""
    x = np.asarray([[[[1.0], [1.0]], [[10.0], [10.0]]]])
    merged = trial.call("multi_head.merge_heads", x)
    trial.within("merged", merged, [[[1, 10], [1, 10]]])
    wide = np.arange(2 * 5 * 12.0).reshape(2, 5, 12)
    heads = trial.call("multi_head.split_heads", wide, 3)
    expected = [[w[:, h * 4 : h * 4 + 4] for h in range(3)] for w in wide]
    trial.within("heads", heads, np.asarray(expected))
    deep = np.arange(2 * 3 * 5 * 12.0).reshape(2, 3, 5, 12)
    heads = trial.call("multi_head.split_heads", deep, 3)
    for b, c in np.ndindex(2, 3):
        alone = trial.call("multi_head.split_heads", deep[b, c], 3)
        trial.within("heads of two batch axes", heads[b, c], alone)
    merged = trial.call("multi_head.merge_heads", heads)
    trial.within("merged again", merged, deep)


@check("multi_head", "closed form")
def each_head_averages_its_own_values(trial: Trial) -> None:
    """Scores 0, identity matrices for value and output: (2, 20) twice."""
    x = np.asarray([[1.0, 10.0], [3.0, 30.0]])
    eye = np.eye(2)
    matrices = map(trial.version.array, (0 * eye, eye, eye, eye))
    layer = trial.version.function("multi_head.MultiHeadAttention")(
        2, 2, *matrices
    )
    output = trial.version.numpy(layer(trial.version.array(x)))
    trial.within("output", output, [[2, 20], [2, 20]])


@check("multi_head", "definition", LAYERS)
def output_and_weights_head_by_head(trial: Trial) -> None:
    """Compare with one head after the other, in plain loops."""
    layer: Layer = trial.case
    expected = by_definition(layer, layer.parameters | layer.inputs)
    for name, got in call(trial.version, layer).items():
        error = error_of(expected[name])
        trial.within(name, got, expected[name], error)


@check("multi_head", "each other", LAYERS)
def both_versions_agree(trial: Trial) -> None:
    """Compare output, weights and every gradient."""
    layer: Layer = trial.case
    others, expected = right_results(trial.other, layer)
    for name, got in call(trial.version, layer).items():
        trial.within(name, got, others[name], error_of(others[name]))
    results = gradients(trial.version, layer)
    assert results.keys() == expected.keys(), list(results)
    for name, got in results.items():
        error = gradient_error(name, expected)
        trial.within(f"gradient of {name}", got, expected[name], error)


@cache
def right_results(
    version: Version, layer: Layer
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the output, weights and gradients to compare with."""
    return call(version, layer), gradients(version, layer)


def gradients(version: Version, layer: Layer) -> dict[str, Any]:
    """Return the gradients of the inputs and of all parameters."""
    inputs = layer.inputs
    names = ("x", "context", "attn_mask")
    arrays = [version.array(inputs[n]) for n in names]
    d_output = version.array(inputs["d_output"])
    made = make(version, layer)
    if version.by_hand:
        backward = version.function("multi_head.multi_head_attention_backward")
        results = version.numpy(
            backward(d_output, made, *arrays, layer.is_causal)
        )
        return {n: g for n, g in results.items() if g is not None}
    leaves = {"x": arrays[0], "context": arrays[1]}
    leaves = {n: leaf for n, leaf in leaves.items() if leaf is not None}
    for leaf in leaves.values():
        leaf.requires_grad_()
    made(*arrays, layer.is_causal).backward(d_output)
    leaves |= dict(made.named_parameters())
    return {n: version.numpy(leaf.grad) for n, leaf in leaves.items()}


@check("multi_head", "definition", LAYERS)
def gradients_are_slopes_of_the_definition(trial: Trial) -> None:
    """Along a random direction of each input, by central differences."""
    layer: Layer = trial.case
    values = layer.parameters | layer.inputs
    rng = np.random.default_rng(11)
    results = gradients(trial.version, layer)
    asked = [n for n in values if values[n] is not None]
    asked = [n for n in asked if n not in ("d_output", "attn_mask")]
    assert sorted(results) == sorted(asked), sorted(results)
    for name in asked:
        direction = rng.standard_normal(values[name].shape)
        losses = []
        for sign in (1e-5, -1e-5):
            moved = values | {name: values[name] + sign * direction}
            output = by_definition(layer, moved)["output"]
            losses.append((output * values["d_output"]).sum())
        slope = (losses[0] - losses[1]) / 2e-5
        got = (results[name] * direction).sum()
        error = gradient_error(name, results) * np.abs(direction).sum()
        trial.within(f"slope along {name}", got, slope, error)
        flat = name == "b_k" or (layer.scale == 0 and name[2:] in ("q", "k"))
        assert flat or np.any(results[name] != 0), f"gradient of {name} is 0"


def torchs_layer(layer: Layer) -> tuple[nn.MultiheadAttention, Any]:
    """Return torch's own layer with the same weights, and those weights."""
    values = layer.parameters
    width = layer.H * D
    rng = np.random.default_rng(13)
    values = {
        **{n: rng.standard_normal((width, width)) / 2 for n in WEIGHTS},
        **{n: rng.standard_normal(width) for n in BIASES},
    }
    torchs = nn.MultiheadAttention(
        width, layer.H, batch_first=True, dtype=torch.float64
    )
    parts = [values[n].T for n in WEIGHTS[:3]]
    with torch.no_grad():
        torchs.in_proj_weight.copy_(torch.tensor(np.concat(parts)))
        biases = np.concat([values[n] for n in BIASES[:3]])
        torchs.in_proj_bias.copy_(torch.tensor(biases))
        torchs.out_proj.weight.copy_(torch.tensor(values["w_o"].T.copy()))
        torchs.out_proj.bias.copy_(torch.tensor(values["b_o"]))
    return torchs, values


PATHS = ("weights asked for", "weights not asked for", "evaluation")


@check("multi_head", "SDPA", PATHS)
def the_layer_is_torchs_multihead_attention(trial: Trial) -> None:
    """With the same weights, on each of its code paths.

    Its masks have the opposite sense: True hides a key.
    """
    layer = Layer("torch", H=3, G=3)
    torchs, values = torchs_layer(layer)
    torchs.train(trial.case != "evaluation")
    rng = np.random.default_rng(17)
    x = rng.standard_normal((B, L, layer.H * D))
    padding = np.arange(L) < np.asarray([[L], [L - 2]])
    causal = np.arange(L) <= np.arange(L)[:, None]
    seen = padding[:, None, None, :] & causal
    tensor = torch.tensor(x)
    with torch.set_grad_enabled(trial.case != "evaluation"):
        expected, weights = torchs(
            tensor,
            tensor,
            tensor,
            key_padding_mask=torch.tensor(~padding),
            attn_mask=torch.tensor(~causal),
            need_weights=trial.case == "weights asked for",
        )
    version = trial.version
    arrays = {n: version.array(a) for n, a in values.items()}
    made = version.function("multi_head.MultiHeadAttention")(3, 3, **arrays)
    got = version.numpy(made(version.array(x), None, version.array(seen)))
    witness = expected.detach().numpy()
    # In evaluation torch leaves zeros where a query itself is padding.
    rows = padding if trial.case == "evaluation" else padding | True
    error = error_of(witness)
    trial.within("output", got[rows], witness[rows], error)
    if weights is not None:
        steps = made.steps(version.array(x), None, version.array(seen))
        mean = version.numpy(steps.weights).mean(axis=1)
        error = bounds.gamma(ROUNDINGS, "float64")
        trial.within("weights", mean, weights.detach().numpy(), error)


@check("multi_head", "SDPA", (True, False))
def every_gradient_is_torchs_layers(trial: Trial) -> None:
    """Of x, of the matrices and of the biases, causal and not."""
    layer = Layer("torch", H=3, G=3)
    torchs, values = torchs_layer(layer)
    rng = np.random.default_rng(19)
    x, d = rng.standard_normal((2, B, L, layer.H * D))
    causal = np.arange(L) <= np.arange(L)[:, None]
    tensor = torch.tensor(x, requires_grad=True)
    hidden = torch.tensor(~causal) if trial.case else None
    output, _ = torchs(tensor, tensor, tensor, attn_mask=hidden)
    output.backward(torch.tensor(d))
    assert torchs.in_proj_weight.grad is not None
    assert torchs.in_proj_bias.grad is not None
    expected: dict[str, Any] = {"x": tensor.grad}
    parts = torchs.in_proj_weight.grad.chunk(3)
    expected |= dict(zip(WEIGHTS, (p.T for p in parts), strict=False))
    biases = torchs.in_proj_bias.grad.chunk(3)
    expected |= dict(zip(BIASES, biases, strict=False))
    out = torchs.out_proj
    assert out.weight.grad is not None
    expected |= {"w_o": out.weight.grad.T, "b_o": out.bias.grad}
    version = trial.version
    arrays = {n: version.array(a) for n, a in values.items()}
    made = version.function("multi_head.MultiHeadAttention")(3, 3, **arrays)
    native, upstream = version.array(x), version.array(d)
    if version.by_hand:
        backward = version.function("multi_head.multi_head_attention_backward")
        arguments = (upstream, made, native, None, None, trial.case)
        results = version.numpy(backward(*arguments))
    else:
        native.requires_grad_()
        made(native, is_causal=trial.case).backward(upstream)
        leaves = {"x": native, **dict(made.named_parameters())}
        results = {n: version.numpy(leaf.grad) for n, leaf in leaves.items()}
    arrays = {n: gradient.numpy() for n, gradient in expected.items()}
    for name, witness in arrays.items():
        error = gradient_error(name, arrays)
        trial.within(f"gradient of {name}", results[name], witness, error)
