"""The attention functions of libraries, all called in the same way.

Each module is an adapter: `NAME`, the packages that it `NEEDS`, the `LAYOUT`
of the library's arrays, and `attention`. This takes an `Asked` record of NumPy
arrays and returns a NumPy array, or raises `Lacks` if the library has no such
argument. Nothing is adjusted: a mask is passed on as it is.
"""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType
from typing import Any, NamedTuple

from numpy.typing import NDArray

MODULES = (
    "torch_math",
    "torch_flash",
    "jax_nn",
    "keras_ops",
    "mlx_fast",
    "tinygrad_tensor",
    "onnx_reference",
    "onnxruntime_cpu",
)


class Asked(NamedTuple):
    """One call: query (B, H, L, D), key (B, G, S, D), value (B, G, S, E).

    `bfloat16` says that arrays of float32 stand for that type.
    """

    query: NDArray[Any]
    key: NDArray[Any]
    value: NDArray[Any]
    attn_mask: NDArray[Any] | None = None
    is_causal: bool = False
    scale: float | None = None
    window: tuple[int, int] | None = None
    soft_cap: float | None = None
    bfloat16: bool = False

    @property
    def groups(self) -> bool:
        """Return whether several query heads share a key head."""
        return bool(self.query.shape[-3] != self.key.shape[-3])


class Lacks(Exception):
    """The library's function has no argument for it."""


def without(asked: Asked, *names: str) -> None:
    """Raise Lacks for options that a library has no argument for."""
    for name in names:
        given = getattr(asked, name)
        if given is not None and given is not False:
            raise Lacks(name.replace("_", " "))


def installed() -> list[ModuleType]:
    """Return the adapters whose libraries are installed."""
    modules = []
    for name in MODULES:
        module = importlib.import_module(f"{__name__}.{name}")
        if all(importlib.util.find_spec(package) for package in module.NEEDS):
            modules.append(module)
    return modules
