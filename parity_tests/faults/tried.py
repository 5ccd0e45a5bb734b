"""Trying a fault: the suite is run on a copy of a package that has it.

If a fault passes, or if only one check catches it, the suite has a hole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import islice

from ..checks import check_cases
from ..suite.run import CheckCase, Outcome, applies, run
from ..suite.versions import Version
from .fault import Fault, copy_of, mutated

ENOUGH = 2
# The judge that asks whether the two versions agree.
COMPARING = "each other"
# What the whole of attention is made of: its checks see a fault in a part.
PARTS = ("softmax", "masks", "attention", "dropout", "sdpa", "gradients")
JUDGES = ("closed form", "each other", "definition", "law", "SDPA")
# Its closed forms are many, and few of them are about the numbers.
FAST = ("definition", "law", "SDPA", "closed form", "each other")


def tried(fault: Fault, enough: int | None = None) -> list[Outcome]:
    """Return the failures of a fault, or the first that are enough.

    If all of these come from comparing the two versions, the first failure
    of another judge follows.
    """
    with copy_of(fault.side, **{fault.module: mutated(fault)}) as package:
        version = Version(fault.side, package)
        asked = (c for c in nearest_first(fault) if applies(c, version))
        failures = [*islice(failing(asked, version), enough)]
        if judges_of(failures).keys() == {COMPARING}:
            others = (c for c in asked if c.check.judge != COMPARING)
            failures += islice(failing(others, version), 1)
    return failures


def failing(
    check_cases: Iterator[CheckCase], version: Version
) -> Iterator[Outcome]:
    """Yield the outcomes of the checks on which a version fails."""
    for check_case in check_cases:
        outcome = run(check_case, version)
        if outcome.failure is not None:
            yield outcome


def judges_of(failures: Sequence[Outcome]) -> Counter[str]:
    """Return how often each judge caught a fault."""
    return Counter(failure.check_case.check.judge for failure in failures)


def is_caught(judges: Counter[str]) -> bool:
    """Return whether a fault is caught twice, not by comparing alone.

    Once could be an accident, and two versions by one author share their
    mistakes.
    """
    return judges.total() >= ENOUGH and judges.keys() != {COMPARING}


def nearest_first(fault: Fault) -> list[CheckCase]:
    """Return all checks, those first that are likely to catch the fault."""
    likely = likely_concepts(fault)
    judges = FAST if fault.concept == "fast" else JUDGES

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
    if fault.concept not in PARTS:
        return (fault.concept,)
    whole = "gradients" if fault.kind == "gradient" else "sdpa"
    return fault.concept, whole, "arguments"
