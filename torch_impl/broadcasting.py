"""Broadcasting: an array is used again along the axes where it has size 1.

Two shapes are aligned at their last axes. Where one has size 1, or no axis
at all, its one entry serves every position of the other.
"""

from __future__ import annotations

from .arrays import Array


def broadcast_shape(
    one: tuple[int, ...], other: tuple[int, ...]
) -> tuple[int, ...] | None:
    """Return the shape that two shapes broadcast to, None if there is none.

    Aligned at their last axes, two sizes must be equal or one of them 1.
    """
    rank = max(len(one), len(other))
    padded_one = (1,) * (rank - len(one)) + tuple(one)
    padded_other = (1,) * (rank - len(other)) + tuple(other)
    pairs = list(zip(padded_one, padded_other, strict=True))
    if any(a != b and 1 not in (a, b) for a, b in pairs):
        return None
    return tuple(b if a == 1 else a for a, b in pairs)


def broadcast_backward(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Return the gradient of an array of `shape` that was broadcast.

    The gradients of all uses are summed: (..., N) gives `shape`.
    """
    return gradient.sum_to_size(shape)
