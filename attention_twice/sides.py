"""The two packages as the program uses them, and how far they differ."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

NAMES = {"numpy": "NumPy", "torch": "PyTorch"}
Numbers = dict[str, NDArray[Any]]


class Side:
    """One of the two packages, and its own copy of the lesson's inputs."""

    def __init__(self, library: str) -> None:
        self.name = NAMES[library]
        self.package: ModuleType = importlib.import_module(f"{library}_impl")
        self.lesson: Any = self.package.lesson
        self.inputs = self.lesson.draw_inputs()

    def section(self, number: int) -> Numbers:
        """Return the numbers of a section by name, as NumPy arrays."""
        lesson, inputs = self.lesson, self.inputs
        steps = {
            1: lambda: lesson.average_the_past(inputs.past),
            2: lambda: lesson.match_keys(),
            3: lambda: lesson.look_back(inputs.query, inputs.key),
            4: lambda: lesson.vary_width(inputs.widths),
            5: lambda: self.head(causal=True),
        }
        return self.to_numpy(steps[number]())

    def head(self, causal: bool) -> Any:
        """Return the steps of section 5's head, with a mask or without."""
        i, T = self.inputs, len(self.lesson.TOKENS)
        mask = self.package.masks.causal_mask(T, T) if causal else None
        return self.lesson.one_head(i.x, i.w_q, i.w_k, i.w_v, mask)

    def to_numpy(self, steps: Any) -> Numbers:
        """Return the fields of a record as NumPy arrays."""
        return {
            name: np.asarray(value)
            if isinstance(value, tuple)
            else self.package.to_numpy(value)
            for name, value in steps._asdict().items()
        }


def load_error(library: str) -> ImportError | OSError | None:
    """Return why a library does not load, or None if it does.

    An installed one may not: a shared library that it needs is missing, or
    was built for another machine.
    """
    try:
        importlib.import_module(library)
    except (ImportError, OSError) as error:
        return error
    return None


def largest_difference(one: Numbers, other: Numbers) -> float:
    """Return how far two records lie apart; -inf on both sides is equal."""
    pairs = zip(one.values(), other.values(), strict=True)
    return max(
        float(
            np.max(np.abs(np.where(a == b, 0.0, a) - np.where(a == b, 0, b)))
        )
        for a, b in pairs
    )


def sdpa_difference(steps: Numbers, causal: bool) -> float:
    """Return how far a head's output lies from PyTorch's own function."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    query, key, value = (
        torch.tensor(steps[name])[None] for name in ("query", "key", "value")
    )
    output = scaled_dot_product_attention(query, key, value, is_causal=causal)
    return float(np.max(np.abs(output[0].numpy() - steps["output"])))
