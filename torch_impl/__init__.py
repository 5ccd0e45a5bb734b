"""Attention in PyTorch, one module a concept.

In reading order: averaging, softmax, masks, dropout, attention, arguments,
sdpa, head, multi_head, positions, cache, generator, lesson. The package
`numpy_impl` has the same modules and names.
"""

from . import (
    arguments,
    arrays,
    attention,
    averaging,
    cache,
    dropout,
    generator,
    head,
    lesson,
    masks,
    multi_head,
    positions,
    sdpa,
    softmax,
)
from .arrays import from_numpy, to_numpy
from .sdpa import scaled_dot_product_attention

__all__ = [
    "arguments",
    "arrays",
    "attention",
    "averaging",
    "cache",
    "dropout",
    "from_numpy",
    "generator",
    "head",
    "lesson",
    "masks",
    "multi_head",
    "positions",
    "scaled_dot_product_attention",
    "sdpa",
    "softmax",
    "to_numpy",
]
