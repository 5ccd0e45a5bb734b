"""The card of one library: what its probes said, and its cases."""

from __future__ import annotations

from typing import NamedTuple

from attention_twice.words import N_

from .judged import Cell, Result
from .probes import CONTRACT, LACKS


class Card(NamedTuple):
    """One library: what its probes said, and its cases."""

    name: str
    version: str
    layout: str
    cells: dict[str, Cell]
    results: dict[str, Result]

    def count(self, kind: str) -> int:
        """Return how many cases came out one way."""
        return sum(result.kind == kind for result in self.results.values())

    def of_dtype(self, dtype: str) -> Cell:
        """Return what became of the plain case of a dtype."""
        result = self.results[f"{dtype} plain"]
        if result.kind == CONTRACT:
            return Cell(N_("right"), CONTRACT)
        return Cell(
            result.says if result.kind != LACKS else LACKS, result.kind
        )

    def worst(self) -> float:
        """Return the largest error of what is right, as a share."""
        return max((r.share for r in self.results.values()), default=0.0)
