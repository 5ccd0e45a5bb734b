"""Trying a fault: the suite is run on a copy of a package that has it.

If a fault passes, or if only one check catches it, the suite has a hole.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..checks import check_cases
from ..suite.run import CheckCase, Outcome, applies, run
from ..suite.versions import Version
from .fault import Fault, copy_of, mutated

# What the whole of attention is made of: its checks see a fault in a part.
PARTS = ("softmax", "masks", "attention", "dropout", "broadcasting")
JUDGES = ("closed form", "each other", "definition", "law", "SDPA")
# Its closed forms are many, and few of them are about the numbers.
FAST = ("definition", "law", "SDPA", "closed form", "each other")


def tried(fault: Fault, enough: int | None = None) -> list[Outcome]:
    """Return the failures of a fault, or as many of them as are enough."""
    failures: list[Outcome] = []
    with copy_of(fault.side, **{fault.module: mutated(fault)}) as package:
        for failure in failures_of(fault, Version(fault.side, package)):
            failures.append(failure)
            if len(failures) == enough:
                break
    return failures


def failures_of(fault: Fault, version: Version) -> Iterator[Outcome]:
    """Yield the failures of a version that has a fault."""
    for check_case in nearest_first(fault):
        if applies(check_case, version):
            outcome = run(check_case, version)
            if outcome.failure is not None:
                yield outcome


def nearest_first(fault: Fault) -> list[CheckCase]:
    """Return all checks, those first that are likely to catch the fault."""
    likely = likely_concepts(fault)
    judges = FAST if is_fast(fault) else JUDGES

    def distance(check_case: CheckCase) -> tuple[bool, int, bool, int]:
        concept, judge = check_case.check.concept, check_case.check.judge
        near = likely.index(concept) if concept in likely else len(likely)
        about = "gradient" in check_case.check.name or concept == "gradients"
        return (
            not is_named(check_case, fault),
            near,
            about != (fault.kind == "gradient"),
            judges.index(judge),
        )

    return sorted(check_cases(), key=distance)


def is_named(check_case: CheckCase, fault: Fault) -> bool:
    """Return whether a fault names a check, or its case."""
    names = check_case.check.name, str(check_case.case)
    return any(name in fault.cases for name in names)


def likely_concepts(fault: Fault) -> tuple[str, ...]:
    """Return the concepts that are likely to catch a fault, nearest first."""
    whole = "gradients" if fault.kind == "gradient" else "sdpa"
    if fault.module == "sdpa":
        return whole, "arguments"
    if fault.module in PARTS:
        return fault.module, whole, "arguments"
    # fast has its scores and its threads in files of their own.
    return ("fast",) if is_fast(fault) else (fault.module,)


def is_fast(fault: Fault) -> bool:
    """Return whether a fault is one of the tuned version."""
    return fault.module.startswith("fast")
