"""Attention in PyTorch, one module a concept.

In reading order: averaging, softmax, masks, dropout, attention, arguments,
sdpa, head, multi_head, positions, merge, cache, flash, ring, generator,
layer_norm, language_model, adam, training, experiments, lesson. The package
`numpy_impl` has the same modules and names.
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

__all__ = [
    "adam",
    "arguments",
    "arrays",
    "attention",
    "averaging",
    "broadcasting",
    "cache",
    "dropout",
    "experiments",
    "flash",
    "from_numpy",
    "generator",
    "head",
    "language_model",
    "layer_norm",
    "lesson",
    "masks",
    "merge",
    "multi_head",
    "positions",
    "ring",
    "scaled_dot_product_attention",
    "sdpa",
    "softmax",
    "to_numpy",
    "training",
]
