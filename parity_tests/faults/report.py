"""The table of faults: what caught each, and how often."""

from __future__ import annotations

import difflib
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
from .fault import Fault
from .tried import ENOUGH, is_caught, judges_of, tried


def chosen(name: str | None) -> list[Fault]:
    """Return the fault of a name, or all; print names that are near it."""
    faults = [fault for fault in FAULTS if name in (None, fault.name)]
    if not faults:
        names = [fault.name for fault in FAULTS]
        near = difflib.get_close_matches(str(name), names, n=3)
        hint = f": {' or '.join(map(repr, near))}?" if near else ""
        print(
            f"faults: {name!r} is no fault{hint}; --list shows all",
            file=sys.stderr,
        )
    return faults


def list_faults(name: str | None) -> int:
    """Print what the faults are; return 0 if there are any."""
    faults = chosen(name)
    for fault in faults:
        print(described(fault))
    return 0 if faults else 2


def described(fault: Fault) -> str:
    """Return a fault in two lines: its name and file, and what is wrong."""
    where = f"{fault.path.parent.name}/{fault.path.name}, {fault.kind}"
    report = f" ({fault.report})" if fault.report else ""
    return f"{fault.name}: {where}\n    {fault.wrong}{report}"


def fault_report(name: str | None, full: bool) -> int:
    """Try the faults, print the table, return 0 if each was caught twice.

    In full, every check is run; otherwise until two have caught the fault.
    """
    faults = chosen(name)
    if not faults:
        return 2
    table = Table("fault", "side", "caught by", "times")
    missed = []
    with bar() as progress:
        task = progress.add_task("faults", total=len(faults))
        for fault, judges in in_processes(faults, full):
            table.add_row(*row(fault, judges, full))
            if not is_caught(judges):
                missed.append(f"{fault.name}: {fault.wrong}")
            progress.advance(task)
    console = terminal(100)
    console.print(table)
    for line in missed:
        console.print(f"not caught twice, or by comparing alone: {line}")
    caught_all = len(faults) - len(missed)
    console.print(f"{caught_all} passed, {len(missed)} failed")
    return 1 if missed else 0


def row(
    fault: Fault, judges: Counter[str], full: bool
) -> tuple[str, str, str, str]:
    """Return the row of a fault: name, side, judges, how often caught."""
    caught = ", ".join(f"{judge} {n}" for judge, n in judges.items())
    count = f"{judges.total()}{'' if full else '+'}"
    return fault.name, fault.side, caught, count


def in_processes(
    faults: Sequence[Fault], full: bool
) -> Iterator[tuple[Fault, Counter[str]]]:
    """Yield each fault with the judges that caught it.

    For a full table the expected values are computed once, before the fork,
    so that every process has them. Without fork one process does everything.
    """
    jobs = [(fault, full) for fault in faults]
    methods = multiprocessing.get_all_start_methods()
    workers = min(len(jobs), os.cpu_count() or 1)
    if "fork" not in methods or workers == 1:
        yield from map(judged, jobs)
        return
    # A process with more threads than one must not fork.
    torch.set_num_threads(1)
    if full:
        prepare()
    with multiprocessing.get_context("fork").Pool(workers) as pool:
        yield from pool.imap(judged, jobs)


def prepare() -> None:
    """Compute the expected values that all faults are compared with."""
    with quiet():
        for check_case, version in standing():
            run(check_case, version)


def judged(job: tuple[Fault, bool]) -> tuple[Fault, Counter[str]]:
    """Return a fault and how often each judge caught it."""
    fault, full = job
    with quiet():
        failures = tried(fault, None if full else ENOUGH)
    return fault, judges_of(failures)
