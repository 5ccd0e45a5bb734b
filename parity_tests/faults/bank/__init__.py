"""The bank: every fault, as data, in one module a concept.

A fault stands in the module of its concept, in `FAULTS`. One of the gradients
of `sdpa` stands in `gradients`. A new module is found by its name.
"""

from __future__ import annotations

import importlib
import pkgutil

from ...suite.register import CONCEPTS
from ..fault import Fault


def collected() -> tuple[Fault, ...]:
    """Return the faults of every module, in reading order."""
    names = [module.name for module in pkgutil.iter_modules(__path__)]
    modules = [
        importlib.import_module(f"{__name__}.{name}")
        for name in sorted(names, key=CONCEPTS.index)
    ]
    return tuple(fault for module in modules for fault in module.FAULTS)


FAULTS = collected()
