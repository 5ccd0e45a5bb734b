"""The bank: every fault, as data. `parity_tests.faults` tries them."""

from __future__ import annotations

from ..tried import Fault
from . import attention, fast, flash, gradients, layers, model

FAULTS: tuple[Fault, ...] = (
    *attention.EMPTY_SETS,
    *attention.DROPPED,
    *attention.MASKS,
    *attention.CORNERS,
    *attention.HEADS,
    *attention.SCALES,
    *attention.NUMBERS,
    *attention.ARGUMENTS,
    *attention.CROSSED,
    *layers.ROOMS,
    *layers.LAYERS,
    *gradients.GRADIENTS,
    *gradients.CROSSED,
    *model.MODEL,
    *flash.FLASH,
    *fast.FAST,
    *fast.RING,
)
