"""Attention as several libraries have it, for `bench attention`.

A kernel makes out of query, key and value, each (1, H, T, D) in float32, a
function without arguments that computes once and returns when it is done.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch.nn.functional import scaled_dot_product_attention

import numpy_impl
import torch_impl
from numpy_impl import fast
from numpy_impl.arguments import Options

from ..libraries.adapters import onnx_model

Run = Callable[[], Any]


class Inputs(NamedTuple):
    """Query, key, value, and the gradient of the output."""

    query: NDArray[Any]
    key: NDArray[Any]
    value: NDArray[Any]
    d_output: NDArray[Any]
    causal: bool


class Kernel(NamedTuple):
    """A name, and its functions: forward, and forward and backward."""

    name: str
    there: Callable[[Inputs], Run]
    and_back: Callable[[Inputs], Run] | None
    # It keeps the score matrix, and memory ends it.
    table: bool = False


def in_numpy(name: str, module: Any, function: str, table: bool) -> Kernel:
    """Return a kernel of the NumPy side, whose backward pass is its own."""

    def there(inputs: Inputs) -> Run:
        call = getattr(module, function)
        arrays = inputs[:3]
        return lambda: call(*arrays, is_causal=inputs.causal)

    def and_back(inputs: Inputs) -> Run:
        forward = there(inputs)
        back = getattr(module, f"{function}_backward")
        arrays = (inputs.d_output, *inputs[:3])

        def run() -> Any:
            forward()
            return back(*arrays, Options(is_causal=inputs.causal))

        return run

    return Kernel(name, there, and_back, table)


def in_torch(name: str, function: Callable[..., Any], table: bool) -> Kernel:
    """Return a kernel of torch, whose backward pass is autograd's."""

    def there(inputs: Inputs) -> Run:
        tensors = [torch.from_numpy(a) for a in inputs[:3]]
        return lambda: function(*tensors, is_causal=inputs.causal)

    def and_back(inputs: Inputs) -> Run:
        leaves = [torch.from_numpy(a).requires_grad_() for a in inputs[:3]]
        upstream = torch.from_numpy(inputs.d_output)

        def run() -> Any:
            output = function(*leaves, is_causal=inputs.causal)
            return torch.autograd.grad(output, leaves, upstream)

        return run

    return Kernel(name, there, and_back, table)


def torch_flash(*tensors: Any, is_causal: bool) -> Any:
    """Return the output alone of PyTorch's flash."""
    query, key, value = tensors
    return torch_impl.flash.flash_attention(
        query, key, value, is_causal=is_causal
    ).output


def in_jax() -> Kernel:
    """Return jax.nn.dot_product_attention, compiled; D and T exchanged."""
    jax: Any = importlib.import_module("jax")

    def there(inputs: Inputs) -> Run:
        arrays = [
            jax.numpy.asarray(a.transpose(0, 2, 1, 3)) for a in inputs[:3]
        ]
        call = jax.jit(
            lambda q, k, v: jax.nn.dot_product_attention(
                q, k, v, is_causal=inputs.causal
            )
        )
        return lambda: call(*arrays).block_until_ready()

    return Kernel("jax.nn", there, None, True)


def in_mlx() -> Kernel:
    """Return MLX's fused attention on its CPU."""
    mx: Any = importlib.import_module("mlx.core")
    mx.set_default_device(mx.cpu)

    def there(inputs: Inputs) -> Run:
        arrays = [mx.array(a) for a in inputs[:3]]
        options = {"scale": inputs.query.shape[-1] ** -0.5}
        if inputs.causal:
            options["mask"] = "causal"

        def run() -> None:
            mx.eval(mx.fast.scaled_dot_product_attention(*arrays, **options))

        return run

    return Kernel("mlx", there, None, True)


def in_onnxruntime() -> Kernel:
    """Return ONNX's operator Attention, as onnxruntime has it."""
    runtime: Any = importlib.import_module("onnxruntime")

    def there(inputs: Inputs) -> Run:
        feed = dict(zip(("Q", "K", "V"), inputs[:3], strict=True))
        options = runtime.SessionOptions()
        options.intra_op_num_threads = torch.get_num_threads()
        # Its threads would spin on the cores while others are timed.
        options.add_session_config_entry(
            "session.intra_op.allow_spinning", "0"
        )
        made = onnx_model.model(feed, {"is_causal": int(inputs.causal)})
        session = runtime.InferenceSession(
            made.SerializeToString(), options, ["CPUExecutionProvider"]
        )
        return lambda: session.run(None, feed)

    return Kernel("onnxruntime", there, None, True)


SDPA = "SDPA"
OWN = (
    in_torch(SDPA, scaled_dot_product_attention, False),
    in_numpy("numpy fast", fast, "flash_attention", False),
    in_numpy("numpy flash", numpy_impl.flash, "flash_attention", False),
    in_numpy(
        "numpy naive", numpy_impl.sdpa, "scaled_dot_product_attention", True
    ),
    in_torch("torch flash", torch_flash, False),
    in_torch("torch naive", torch_impl.scaled_dot_product_attention, True),
)
OTHERS = {
    ("jax",): in_jax,
    ("mlx",): in_mlx,
    ("onnx", "onnxruntime"): in_onnxruntime,
}


def others() -> dict[tuple[str, ...], Callable[[], Kernel]]:
    """Return how to make those whose packages are installed."""
    return {
        packages: make
        for packages, make in OTHERS.items()
        if all(importlib.util.find_spec(name) for name in packages)
    }


def kernels() -> list[Kernel]:
    """Return the kernels of this project, torch's, and those installed."""
    return [*OWN, *(make() for make in others().values())]


def draw(T: int, causal: bool, H: int = 8, D: int = 64) -> Inputs:
    """Draw query, key, value and the upstream gradient."""
    rng = np.random.default_rng(T)
    query, key, value, d_output = rng.standard_normal(
        (4, 1, H, T, D), dtype=np.float32
    )
    return Inputs(query, key, value, d_output, causal)
