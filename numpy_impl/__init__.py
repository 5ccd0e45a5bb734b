"""Attention in NumPy, one module a concept.

In reading order: averaging, softmax, masks, attention, head, generator,
lesson. The package `torch_impl` has the same modules and names.
"""

from . import (
    arrays,
    attention,
    averaging,
    generator,
    head,
    lesson,
    masks,
    softmax,
)
from .arrays import from_numpy, to_numpy

__all__ = [
    "arrays",
    "attention",
    "averaging",
    "from_numpy",
    "generator",
    "head",
    "lesson",
    "masks",
    "softmax",
    "to_numpy",
]
