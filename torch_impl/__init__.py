"""Attention in PyTorch, one module a concept.

`__all__` lists the modules in reading order: each imports only modules before
it. The package `numpy_impl` has the same modules and names.
"""

from . import (
    adam,
    arguments,
    arrays,
    attention,
    averaging,
    broadcasting,
    cache,
    dropout,
    experiments,
    flash,
    generator,
    head,
    language_model,
    layer_norm,
    lesson,
    masks,
    merge,
    multi_head,
    positions,
    ring,
    sdpa,
    softmax,
    training,
)
from .arrays import from_numpy, to_numpy
from .sdpa import scaled_dot_product_attention

# In reading order, with the captions of the book.
__all__ = [  # noqa: RUF022
    # The lesson.
    "arrays",
    "broadcasting",
    "averaging",
    "softmax",
    "masks",
    "attention",
    "head",
    # The parts in detail.
    "dropout",
    "arguments",
    "sdpa",
    "multi_head",
    "positions",
    # Long sequences.
    "merge",
    "cache",
    "flash",
    "ring",
    # A model that learns.
    "generator",
    "layer_norm",
    "language_model",
    "adam",
    "training",
    # Shown by the program.
    "experiments",
    "lesson",
    # From these modules, at the top of the package.
    "from_numpy",
    "scaled_dot_product_attention",
    "to_numpy",
]
