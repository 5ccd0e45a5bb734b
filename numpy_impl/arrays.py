"""The array type of this side, and conversion from and to NumPy.

`Array` holds floating-point numbers, `Mask` booleans, `Indices` integers.
A version in another library starts here: the rest of the package uses only
these types and functions.
"""

from __future__ import annotations

from typing import Any, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

# As texts: NumPy's names for types are not a part of the array API.
Array: TypeAlias = "NDArray[np.floating[Any]]"
Mask: TypeAlias = "NDArray[np.bool_]"
Indices: TypeAlias = "NDArray[np.integer[Any]]"

# What this library offers. The suite reads it.
DTYPES = ("float64", "float32", "float16")
# Half types are computed in float32 and rounded once, at the end.
HALF_IS_COMPUTED_IN = "float32"
# A weight of 0 times a value that is NaN is NaN, as arithmetic says.
MASKED_VALUES_LEAK = True


def from_numpy(array: NDArray[Any]) -> NDArray[Any]:
    """Return a NumPy array as an array of this side: here, as it is."""
    return array


def to_numpy(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of this side as a NumPy array: here, as it is."""
    return array


def uniform(shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return uniform numbers on [0, 1), float64, of a shape."""
    return np.random.default_rng().random(shape)


def is_array(candidate: object) -> bool:
    """Return whether something is an array of this side."""
    return isinstance(candidate, np.ndarray)


def is_floating(array: NDArray[Any]) -> bool:
    """Return whether an array holds floats of 16, 32 or 64 bits."""
    real = bool(np.isdtype(array.dtype, "real floating"))
    return real and np.finfo(array.dtype).bits <= 64


def is_boolean(array: NDArray[Any]) -> TypeGuard[Mask]:
    """Return whether an array holds booleans."""
    return bool(np.isdtype(array.dtype, "bool"))


def is_half(array: NDArray[Any]) -> bool:
    """Return whether an array holds numbers of 16 bits."""
    return np.finfo(array.dtype).bits == 16


def float_range(array: NDArray[Any]) -> tuple[float, float]:
    """Return the smallest and largest normal number of the compute dtype.

    It is float32 where an array holds numbers of 16 bits.
    """
    info = np.finfo(np.float32 if is_half(array) else array.dtype)
    return float(info.smallest_normal), float(info.max)


def cast(array: NDArray[Any], like: NDArray[Any]) -> NDArray[Any]:
    """Return an array in the dtype of another."""
    return np.astype(array, like.dtype, copy=False)


def to_device_of(array: NDArray[Any], like: NDArray[Any]) -> NDArray[Any]:
    """Return an array on the device of another; NumPy has only one."""
    return array


def to_float32(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array in float32."""
    return np.astype(array, np.float32)
