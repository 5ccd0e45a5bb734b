"""The card of one library: the results of its probes and cases."""

from __future__ import annotations

from typing import NamedTuple

from attention_twice.words import N_

from .judged import Cell, Result
from .probes import CONTRACT, LACKS


class Card(NamedTuple):
    """One library: the results of its probes and of its cases."""

    name: str
    version: str
    layout: str
    cells: dict[str, Cell]
    results: dict[str, Result]

    def count(self, kind: str) -> int:
        """Return how many cases have a result of one kind."""
        return sum(result.kind == kind for result in self.results.values())

    def of_dtype(self, dtype: str) -> Cell:
        """Return the result of the plain case of a dtype."""
        result = self.results[f"{dtype} plain"]
        if result.kind == CONTRACT:
            return Cell(N_("right"), CONTRACT)
        return Cell(
            result.says if result.kind != LACKS else LACKS, result.kind
        )

    def worst(self) -> float:
        """Return the largest error of what is right, as a share."""
        return max((r.share for r in self.results.values()), default=0.0)
