"""The array type of this side, and conversion from and to NumPy.

`Array` holds floating-point numbers, `Mask` booleans, `Indices` integers.
A version in another library starts here: the rest of the package uses only
these types and functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import torch

if TYPE_CHECKING:
    from numpy.typing import NDArray

Array: TypeAlias = torch.Tensor
Mask: TypeAlias = torch.Tensor
Indices: TypeAlias = torch.Tensor

# What this library offers. The suite reads it.
DTYPES = ("float64", "float32", "float16", "bfloat16")
# Half types are computed in float32 and rounded once, at the end.
HALF_IS_COMPUTED_IN = "float32"
# A weight of 0 times a value that is NaN is NaN, as arithmetic says.
MASKED_VALUES_LEAK = True


def from_numpy(array: NDArray[Any]) -> Array:
    """Return a NumPy array as an array of this side: a copy of it."""
    # A copy first: torch takes no view that runs backwards.
    return torch.tensor(array.copy())


def to_numpy(array: Array) -> NDArray[Any]:
    """Return an array of this side as a NumPy array.

    NumPy has no bfloat16: it is returned as float32, which holds it all.
    """
    if array.dtype == torch.bfloat16:
        array = array.float()
    return array.detach().cpu().numpy()


def uniform(shape: tuple[int, ...]) -> Array:
    """Return the next numbers on [0, 1) of torch's own stream, float64."""
    return torch.rand(shape, dtype=torch.float64)


def is_array(candidate: object) -> bool:
    """Return whether something is an array of this side."""
    return isinstance(candidate, torch.Tensor)


def is_floating(array: torch.Tensor) -> bool:
    """Return whether an array holds floats of 16, 32 or 64 bits."""
    return array.dtype in (
        torch.float64,
        torch.float32,
        torch.float16,
        torch.bfloat16,
    )


def is_boolean(array: torch.Tensor) -> TypeGuard[Mask]:
    """Return whether an array holds booleans."""
    return array.dtype == torch.bool


def is_half(array: torch.Tensor) -> bool:
    """Return whether an array holds numbers of 16 bits."""
    return torch.finfo(array.dtype).bits == 16


def float_range(array: torch.Tensor) -> tuple[float, float]:
    """Return the smallest and largest normal number of the compute dtype.

    It is float32 where an array holds numbers of 16 bits.
    """
    info = torch.finfo(torch.float32 if is_half(array) else array.dtype)
    return float(info.smallest_normal), float(info.max)


def cast(array: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Return an array in the dtype, and on the device, of another."""
    return array.to(like)


def to_device_of(array: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """Return an array on the device of another."""
    return array.to(like.device)


def to_float32(array: torch.Tensor) -> torch.Tensor:
    """Return an array in float32."""
    return array.float()
