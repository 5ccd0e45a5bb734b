"""The table of faults: what caught each, and how often."""

from __future__ import annotations

import multiprocessing
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence

import torch
from rich.table import Table

from attention_twice.console import bar, quiet, terminal

from ..checks import standing
from ..suite.run import run
from .bank import FAULTS
from .tried import Fault, tried

# A fault must be caught twice: once could be an accident.
ENOUGH = 2


def fault_report(name: str | None, quick: bool) -> int:
    """Try the faults, print the table, return 0 if each was caught twice."""
    faults = [fault for fault in FAULTS if name in (None, fault.name)]
    if not faults:
        print(
            f"faults: {name!r} is no fault; without --only all are listed",
            file=sys.stderr,
        )
        return 2
    found = Table("fault", "side", "caught by", "times")
    missed = []
    with bar() as progress:
        task = progress.add_task("faults", total=len(faults))
        for fault, judges in in_processes(faults, quick):
            times = judges.total()
            caught = ", ".join(f"{judge} {n}" for judge, n in judges.items())
            count = f"{times}{'+' if quick else ''}"
            found.add_row(fault.name, fault.side, caught, count)
            if times < ENOUGH:
                missed.append(f"{fault.name}: {fault.wrong}")
            progress.advance(task)
    console = terminal(100)
    console.print(found)
    for line in missed:
        console.print(f"caught fewer than {ENOUGH} times: {line}")
    caught_all = len(faults) - len(missed)
    console.print(f"{caught_all} passed, {len(missed)} failed")
    return 1 if missed else 0


def in_processes(
    faults: Sequence[Fault], quick: bool
) -> Iterator[tuple[Fault, Counter[str]]]:
    """Yield each fault with the judges that caught it.

    What they are compared with is computed once, before the processes part:
    a fork has all of it. Where there is no fork, one process does everything.
    """
    jobs = [(fault, quick) for fault in faults]
    methods = multiprocessing.get_all_start_methods()
    workers = min(len(jobs), os.cpu_count() or 1)
    if "fork" not in methods or workers == 1:
        yield from map(judged, jobs)
        return
    prepare()
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        yield from pool.imap(judged, jobs)


def prepare() -> None:
    """Compute what every fault is compared with.

    With one thread: a process that has started more must not fork.
    """
    torch.set_num_threads(1)
    with quiet():
        for check_case, version in standing():
            run(check_case, version)


def judged(job: tuple[Fault, bool]) -> tuple[Fault, Counter[str]]:
    """Return a fault and how often each judge caught it."""
    fault, quick = job
    with quiet():
        failures = tried(fault, ENOUGH if quick else None)
    return fault, Counter(o.check_case.check.judge for o in failures)
