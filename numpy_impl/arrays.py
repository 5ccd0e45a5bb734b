"""What an array is on this side, and the way in and out of it.

`Array` holds floating-point numbers, `Mask` booleans, `Indices` integers.
A version in another library starts here: everything else in the package is
written in these terms.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.floating[Any]]
Mask: TypeAlias = NDArray[np.bool_]
Indices: TypeAlias = NDArray[np.integer[Any]]


def from_numpy(array: NDArray[Any]) -> NDArray[Any]:
    """Return a NumPy array as an array of this side: here, as it is."""
    return array


def to_numpy(array: NDArray[Any]) -> NDArray[Any]:
    """Return an array of this side as a NumPy array: here, as it is."""
    return array
