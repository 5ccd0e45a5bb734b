"""Versions that return zeros: every check must fail on them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch

from ..suite.versions import Version
from .fault import copy_of

# Where the functions under test of a concept stand.
MODULES = {"arguments": "sdpa", "gradients": "sdpa"}
CLASSES = {
    "head": ("AttentionHead",),
    "multi_head": ("MultiHeadAttention",),
    "cache": ("Cache",),
    "generator": ("Generator",),
    "layer_norm": ("LayerNorm",),
    "language_model": ("FeedForward", "Block", "LanguageModel"),
    "adam": ("AdamW",),
}


def zeros(result: Any) -> Any:
    """Return a result with every number 0 and every boolean False."""
    if isinstance(result, torch.Tensor):
        if not result.requires_grad:
            return torch.zeros_like(result)
        # Zeros that autograd can still go back through.
        return torch.where(torch.isfinite(result), result * 0, 0.0)
    if isinstance(result, np.ndarray | np.generic):
        return np.zeros_like(result)
    if isinstance(result, float):
        return 0.0
    if isinstance(result, tuple):
        values = [zeros(value) for value in result]
        named = hasattr(result, "_fields")
        return type(result)(*values) if named else tuple(values)
    if isinstance(result, list):
        return [zeros(value) for value in result]
    if isinstance(result, dict):
        return {name: zeros(value) for name, value in result.items()}
    # Of an object of its own making a version returns nothing.
    of_the_copy = "_impl_copy_" in type(result).__module__
    return None if of_the_copy else result


def returning_zeros(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that returns zeros and never raises.

    A function that changes an object changes nothing.
    """
    idle = function.__annotations__.get("return") == "None"

    @functools.wraps(function)
    def wrapped(*arguments: Any, **options: Any) -> Any:
        try:
            return None if idle else zeros(function(*arguments, **options))
        except (TypeError, ValueError):
            return None

    return wrapped


@contextmanager
def zeroed(side: str, concept: str) -> Iterator[Version]:
    """Yield a copy of a version whose functions under test return zeros."""
    name = MODULES.get(concept, concept)
    with copy_of(side) as package:
        module = Version(side, package).module(name)
        for function_name, member in list(vars(module).items()):
            is_here = getattr(member, "__module__", "") == module.__name__
            if is_here and inspect.isfunction(member):
                setattr(module, function_name, returning_zeros(member))
        for class_name in CLASSES.get(name, ()):
            zero_methods(getattr(module, class_name))
        yield Version(side, package)


def zero_methods(cls: type) -> None:
    """Make the public methods of a class return zeros."""
    for name, member in list(vars(cls).items()):
        called = name in ("__call__", "forward")
        if inspect.isfunction(member) and (called or name[0] != "_"):
            setattr(cls, name, returning_zeros(member))
