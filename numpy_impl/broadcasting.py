"""Broadcasting: one array is used many times, and so its gradients add up.

NumPy repeats a row, a bias or a mask along the axes where it has size 1, or
has no axis at all. PyTorch's autograd undoes that by itself.
"""

from __future__ import annotations

import numpy as np

from .arrays import Array


def broadcast_backward(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Return the gradient of an array of `shape` that was broadcast.

    The gradients of all uses are summed: (..., N) gives `shape`.
    """
    missing = gradient.ndim - len(shape)
    padded = (1,) * missing + tuple(shape)
    axes = tuple(
        axis
        for axis, size in enumerate(padded)
        if size == 1 and gradient.shape[axis] != 1
    )
    summed = np.sum(gradient, axis=axes, keepdims=True)
    return np.reshape(summed, shape)
