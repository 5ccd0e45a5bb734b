"""What `accuracy` has measured: the errors of each version, cell by cell."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..kernels import SDPA
from ..machine import Machine

# What the error of a version may be in terms of torch's function's.
MEDIAN_RATIO, WORST_RATIO = 1.1, 2.0


class Cell(NamedTuple):
    """One line of the table: where, and the errors of each function."""

    dtype: str
    length: int
    spread: float
    medians: dict[str, float]
    worst: dict[str, float]

    def ratios(self, name: str) -> tuple[float, float]:
        """Return a version's errors as multiples of torch's function's."""
        return (
            self.medians[name] / max(self.medians[SDPA], 1e-300),
            self.worst[name] / max(self.worst[SDPA], 1e-300),
        )

    def within(self) -> bool:
        """Return whether all of ours are as accurate as they must be."""
        return all(map(self.accurate, self.medians))

    def accurate(self, name: str) -> bool:
        """Return whether a version is as accurate as it must be."""
        median, worst = self.ratios(name)
        return median <= MEDIAN_RATIO and worst <= WORST_RATIO


class Errors(NamedTuple):
    """One run: what was measured on, and every cell."""

    machine: Machine
    cells: list[Cell]


def as_json(errors: Errors) -> dict[str, Any]:
    """Return all numbers."""
    return {
        "machine": errors.machine._asdict(),
        "cells": [cell._asdict() for cell in errors.cells],
    }


def from_json(content: dict[str, Any]) -> Errors:
    """Return the record from the result of `as_json`."""
    cells = [Cell(**cell) for cell in content["cells"]]
    return Errors(Machine(**content["machine"]), cells)
