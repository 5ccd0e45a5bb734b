"""Each law of attention with the cases that it binds."""

from __future__ import annotations

from dataclasses import dataclass

from ..cases.recipe import Case
from ..cases.table import BY_NAME
from . import laws

# One of each kind: the fuzz tests draw the rest.
CASES = [
    BY_NAME[name]
    for name in (
        "rank 2",
        "rank 3",
        "rank 5",
        "one key head",
        "keys of rank 3",
        "3 groups of heads",
        "L 7, S 5, causal",
        "L 5, S 8, causal",
        "D 7, E 5",
        "long",
        "bool mask (2, 3, 5, 7)",
        "bool mask (7,)",
        "float mask (2, 3, 5, 7)",
        "float mask (1, 1, 7)",
        "bool mask, dead row",
        "float mask, dead head, in groups",
        "causal + window + lengths + cap",
        "mask + bias + causal + cap",
        "window (2, -1)",
        "scale -1.0",
        "float64 plain",
        "float64 everything",
        "float16 plain",
        "bfloat16 causal",
        "dropout 0.5",
        "ties",
        "float32 spread 30",
    )
]


@dataclass(frozen=True)
class LawCase:
    """A law with one of the cases that it binds."""

    law: laws.Law
    case: Case

    @property
    def dtype(self) -> str:
        """Return the dtype of the case."""
        return self.case.dtype

    def __str__(self) -> str:
        """Return the law and the case."""
        return f"{self.law.__name__.replace('_', ' ')}, {self.case}"


def binds(law: laws.Law, case: Case) -> bool:
    """Return whether a law says anything about a case."""
    rank = len(case.query)
    same_rank = rank == len(case.key) == len(case.value)
    asked: dict[laws.Law, bool] = {
        laws.a_grouped_head_is_the_repeated_one: case.enable_gqa,
        laws.a_cap_bounds_the_scores: case.soft_cap is not None,
        laws.each_batch_stands_alone: same_rank and rank == 4,
        laws.permuting_heads_permutes_the_output: same_rank and rank > 2,
    }
    random = {
        laws.halves_of_the_keys_merge_to_the_whole,
        laws.each_query_stands_alone,
        laws.each_batch_stands_alone,
        laws.permuting_heads_permutes_the_output,
    }
    if case.dropout_p > 0 and law in random:
        return False
    return asked.get(law, True)


def law_cases(chosen: tuple[laws.Law, ...]) -> list[LawCase]:
    """Return every law with every case that it binds."""
    return [LawCase(x, c) for x in chosen for c in CASES if binds(x, c)]
