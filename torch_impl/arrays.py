"""What an array is on this side, and the way in and out of it.

`Array` holds floating-point numbers, `Mask` booleans, `Indices` integers.
A version in another library starts here: everything else in the package is
written in these terms.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import torch

if TYPE_CHECKING:
    from numpy.typing import NDArray

Array: TypeAlias = torch.Tensor
Mask: TypeAlias = torch.Tensor
Indices: TypeAlias = torch.Tensor


def from_numpy(array: NDArray[Any]) -> Array:
    """Return a NumPy array as an array of this side: a copy of it."""
    return torch.tensor(array)


def to_numpy(array: Array) -> NDArray[Any]:
    """Return an array of this side as a NumPy array."""
    return array.detach().cpu().numpy()
