"""`check PACKAGE`: is a third version right, concept by concept?"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import torch
from rich.table import Table

from attention_twice.console import bar, quiet, terminal
from attention_twice.files import write_json

from ..checks import check_cases, chosen, nothing_like
from ..report import described
from ..suite.register import CONCEPTS
from ..suite.run import Outcome, belongs, explain, run
from .namespaces import NOT_PORTABLE
from .port import Expected, Port, expected_failures, load
from .workers import Answer, Found, Worker, WorkerError, answers

# Seconds that one check of a port may take.
LIMIT = 60.0
# Failures that are printed; a single mistake can make hundreds.
MOST = 20


class Ready(NamedTuple):
    """The answer of a port when it is imported: its checks."""

    asked: tuple[int, ...]
    dtypes: tuple[str, ...]


def start(port: Port) -> tuple[Ready, Answer]:
    """Import a port, in a process of its own; return what runs a check."""
    # The processes share the cores out among themselves.
    torch.set_num_threads(1)
    version = load(port)
    asked = [n for n, p in enumerate(check_cases()) if belongs(p, version)]

    def answer(number: int) -> tuple[Any, ...]:
        with quiet():
            return tuple(run(check_cases()[number], version)[1:])

    return Ready(tuple(asked), version.dtypes), answer


def outcome_of(port: Port, number: int, answered: Found) -> Outcome:
    """Return the outcome of a check; without an answer it has failed."""
    check_case, name = check_cases()[number], str(port)
    if not answered.why:
        return Outcome(check_case, *answered.answer)
    failure = explain(check_case, name, port.command(), answered.why)
    return Outcome(check_case, name, 0.0, failure)


class Verdict(NamedTuple):
    """The results of a port, and the expected failures that passed."""

    outcomes: list[Outcome]
    expected: list[Expected]

    def covered(self, outcome: Outcome) -> bool:
        """Return whether an outcome's failure is an expected one."""
        return any(e.covers(str(outcome.check_case)) for e in self.expected)

    def failures(self) -> list[Outcome]:
        """Return what failed and was not expected to."""
        failed = [o for o in self.outcomes if o.failure is not None]
        return [o for o in failed if not self.covered(o)]

    def stale(self) -> list[Expected]:
        """Return the entries about checks that ran and did not fail."""
        entries = []
        for entry in self.expected:
            outcomes = [
                o for o in self.outcomes if entry.covers(str(o.check_case))
            ]
            if outcomes and all(o.failure is None for o in outcomes):
                entries.append(entry)
        return entries

    def unknown(self) -> list[Expected]:
        """Return the entries that are about no check there is."""
        names = [str(check_case) for check_case in check_cases()]
        return [e for e in self.expected if not any(map(e.covers, names))]

    def good(self) -> bool:
        """Return whether something passed and nothing is wrong."""
        passed = any(passed_by(o) for o in self.outcomes)
        wrong = self.failures() or self.stale() or self.unknown()
        return passed and not wrong


def passed_by(outcome: Outcome) -> bool:
    """Return whether something was compared, and was right."""
    return outcome.failure is None and outcome.missing is None


def report_on(
    port: Port,
    concept: str | None = None,
    case: str | None = None,
    judge: str | None = None,
    path: Path | None = None,
    limit: float = LIMIT,
    first_failures: int | None = None,
) -> int:
    """Check a port, print the table, return 0 if nothing is wrong."""
    wanted = {str(check_case) for check_case in chosen(concept, case, judge)}
    if not wanted:
        print(f"check: {nothing_like(concept, case)}", file=sys.stderr)
        return 2
    try:
        expected = expected_failures(port)
        worker = Worker(str(port), start, port, limit)
        ready: Ready = worker.said
        numbers = [n for n in ready.asked if str(check_cases()[n]) in wanted]
        outcomes = gathered(port, numbers, worker, first_failures)
    except WorkerError as error:
        print(f"check: {error}", file=sys.stderr)
        return 2
    verdict = Verdict(outcomes, expected)
    if path is not None:
        write_json(path, as_json(port, ready.dtypes, verdict))
    printed(port, verdict)
    return 0 if verdict.good() else 1


def gathered(
    port: Port,
    numbers: Sequence[int],
    worker: Worker,
    first_failures: int | None,
) -> list[Outcome]:
    """Return all outcomes in the order of the checks, or the first ones."""
    outcomes: list[tuple[int, Outcome]] = []
    failed = 0

    def another() -> Worker:
        return Worker(str(port), start, port, worker.limit)

    with bar() as progress:
        task = progress.add_task(str(port), total=len(numbers))
        for number, answered in answers(worker, numbers, another):
            outcome = outcome_of(port, number, answered)
            outcomes.append((number, outcome))
            progress.advance(task)
            failed += outcome.failure is not None
            if first_failures is not None and failed >= first_failures:
                break
    return [outcome for _, outcome in sorted(outcomes, key=lambda f: f[0])]


def printed(port: Port, verdict: Verdict) -> None:
    """Print the table, each failure, and what else is wrong."""
    console = terminal()
    console.print(table(port, verdict))
    failures = verdict.failures()
    for outcome in failures[:MOST]:
        console.print(
            outcome.failure, markup=False, highlight=False, soft_wrap=True
        )
    if len(failures) > MOST:
        console.print(f"and {len(failures) - MOST} more: --json FILE has all")
    waits = Counter(o.missing for o in verdict.outcomes if o.missing)
    if waits:
        first = ", ".join(f"{name} {n}" for name, n in waits.most_common(8))
        more = " ..." if len(waits) > 8 else ""
        console.print(
            f"not there yet: {first}{more}", markup=False, highlight=False
        )
    for label, entries in (
        ("expected to fail, and passed", verdict.stale()),
        ("expected to fail, and there is no such check", verdict.unknown()),
    ):
        for entry in entries:
            console.print(f"{label}: {entry.place}", markup=False)
    if port.namespace is not None:
        console.print(
            f"not portable: {', '.join(NOT_PORTABLE)} (threads and buffers "
            "of NumPy; random words, drawn by NumPy and handed over)",
            highlight=False,
        )
    console.print(sentence(verdict), highlight=False)


def sentence(verdict: Verdict) -> str:
    """Return the numbers in one line."""
    outcomes = verdict.outcomes
    wrong = len(verdict.failures())
    known = sum(o.failure is not None for o in outcomes) - wrong
    counts = [
        (sum(map(passed_by, outcomes)), "passed"),
        (wrong, "failed"),
        (known, "failed as expected"),
        (len(verdict.stale()) + len(verdict.unknown()), "stale"),
        (sum(o.missing is not None for o in outcomes), "not there yet"),
    ]
    always = ("passed", "failed", "not there yet")
    return ", ".join(f"{n} {w}" for n, w in counts if n or w in always)


def table(port: Port, verdict: Verdict) -> Table:
    """Return the table by concept."""
    drawn = Table("concept", title=str(port))
    drawn.caption = "error: the largest, as a share of what rounding may do"
    for name in ("passed", "failed", "expected", "not there yet", "error"):
        drawn.add_column(name, justify="right")
    for concept in CONCEPTS:
        outcomes = [
            o
            for o in verdict.outcomes
            if o.check_case.check.concept == concept
        ]
        if outcomes:
            drawn.add_row(concept, *cells(outcomes, verdict))
    return drawn


def cells(outcomes: Sequence[Outcome], verdict: Verdict) -> list[str]:
    """Return a row: counts, and the worst error of what passed."""
    failed = [o for o in outcomes if o.failure is not None]
    known = sum(map(verdict.covered, failed))
    passed = [o for o in outcomes if passed_by(o)]
    worst = max((o.share for o in passed), default=0.0)
    missing = sum(o.missing is not None for o in outcomes)
    wrong = len(failed) - known
    return [
        f"{len(passed)}",
        f"[bold red]{wrong}[/]" if wrong else "",
        f"{known}" if known else "",
        f"{missing}" if missing else "",
        "" if not passed else f"{worst:.0%}" if worst > 0 else "exact",
    ]


def as_json(
    port: Port, dtypes: Iterable[str], verdict: Verdict
) -> dict[str, Any]:
    """Return everything, as `report --json` writes it, and more."""
    return {
        "port": str(port),
        "dtypes": list(dtypes),
        "results": [
            described(outcome)
            | {
                "missing": outcome.missing,
                "expected": outcome.failure is not None
                and verdict.covered(outcome),
            }
            for outcome in verdict.outcomes
        ],
        "stale": [e._asdict() for e in verdict.stale() + verdict.unknown()],
        "good": verdict.good(),
    }
