"""The report: one table, concept × judge × version, and the failures."""

from __future__ import annotations

import sys
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.table import Table

from attention_twice.console import terminal, tracked
from attention_twice.files import write_json

from .checks import chosen, nothing_like
from .suite.register import CONCEPTS, JUDGES
from .suite.run import Outcome, applies, run
from .suite.versions import VERSIONS


def report(
    concept: str | None,
    judge: str | None,
    case: str | None,
    path: Path | None,
) -> int:
    """Run the chosen checks, print the table, return 0 if none failed."""
    pairs = [
        (check_case, version)
        for check_case in chosen(concept, case, judge)
        for version in VERSIONS
        if applies(check_case, version)
    ]
    if not pairs:
        print(f"report: {nothing_like(concept, case)}", file=sys.stderr)
        return 2
    outcomes = [
        run(check_case, version)
        for check_case, version in tracked(pairs, "checks")
    ]
    if path is not None:
        write(path, outcomes)
    console = terminal()
    console.print(table(outcomes))
    failures = [o.failure for o in outcomes if o.failure is not None]
    for failure in failures:
        console.print(failure, markup=False, highlight=False, soft_wrap=True)
    passed = len(outcomes) - len(failures)
    console.print(f"{passed} passed, {len(failures)} failed", highlight=False)
    return 1 if failures else 0


def list_checks(
    concept: str | None, judge: str | None, case: str | None
) -> int:
    """Print the checks that were chosen; return 0 if there are any."""
    asked = [*chosen(concept, case, judge)]
    for check_case in asked:
        print(f"{check_case} ({check_case.check.judge})")
    if not asked:
        print(f"report: {nothing_like(concept, case)}", file=sys.stderr)
    return 0 if asked else 2


def table(outcomes: Iterable[Outcome]) -> Table:
    """Return the table: cases, failures, largest error against its bound."""
    cells: dict[tuple[str, str, str], list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        check = outcome.check_case.check
        cells[check.concept, check.judge, outcome.version].append(outcome)
    names = [version.name for version in VERSIONS]
    drawn = Table("concept", "judge")
    drawn.caption = "error: the largest, as a share of what rounding may do"
    for name in names:
        drawn.add_column(f"{name}: cases", justify="right")
        drawn.add_column("error", justify="right")
    for concept in CONCEPTS:
        for judge in JUDGES:
            row = [cells.get((concept, judge, name), []) for name in names]
            if any(row):
                texts = [text for cell in row for text in summary(cell)]
                drawn.add_row(concept, judge, *texts)
    return drawn


def summary(outcomes: list[Outcome]) -> tuple[str, str]:
    """Return how many passed, and the largest share of a bound."""
    if not outcomes:
        return "", ""
    failed = sum(outcome.failure is not None for outcome in outcomes)
    count = f"{len(outcomes)}"
    if failed:
        count = f"[bold red]{failed} of {len(outcomes)} failed[/]"
    worst = max(outcome.share for outcome in outcomes)
    return count, f"{worst:.0%}" if worst > 0 else "exact"


def write(path: Path, outcomes: Iterable[Outcome]) -> None:
    """Write every outcome as JSON, whole or not at all."""
    write_json(path, [described(outcome) for outcome in outcomes])


def described(outcome: Outcome) -> dict[str, Any]:
    """Return an outcome as JSON has it."""
    check, case = outcome.check_case
    return {
        "concept": check.concept,
        "judge": check.judge,
        "check": check.name,
        "case": None if case is None else str(case),
        "version": outcome.version,
        "share_of_bound": outcome.share if outcome.share < 1e300 else None,
        "failure": outcome.failure,
    }
