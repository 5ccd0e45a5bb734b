"""The checks, one module for each concept, and the list of all.

The two largest concepts, sdpa and gradients, have a module for each judge.

`check_cases` imports every module of this package, and so registers them.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
from collections.abc import Iterator
from functools import cache

from ..suite.register import CONCEPTS, JUDGES, REGISTER, Check
from ..suite.run import CheckCase, applies
from ..suite.versions import VERSIONS, Version


def order_of(check: Check) -> tuple[int, int]:
    """Return the sort key of a check: concept, then judge."""
    return CONCEPTS.index(check.concept), JUDGES.index(check.judge)


@cache
def check_cases() -> tuple[CheckCase, ...]:
    """Return every check with every case, by concept and judge."""
    for module in pkgutil.walk_packages(__path__, f"{__name__}."):
        importlib.import_module(module.name)
    ordered = sorted(REGISTER, key=order_of)
    return tuple(CheckCase(c, case) for c in ordered for case in c.cases)


def chosen(
    concept: str | None = None,
    case: str | None = None,
    judge: str | None = None,
) -> Iterator[CheckCase]:
    """Yield the checks of a concept, a case, a judge; None means any."""
    for check_case in check_cases():
        if concept not in (None, check_case.check.concept):
            continue
        if judge not in (None, check_case.check.judge):
            continue
        if case not in (None, str(check_case.case), check_case.check.name):
            continue
        yield check_case


def nothing_like(concept: str | None, case: str | None) -> str:
    """Return the message for an empty choice, with similar names."""
    text = (
        "no check has this concept, judge and case; --case is the name "
        "after the comma"
    )
    names = {str(p.case) for p in chosen(concept)} - {"None"}
    names |= {p.check.name for p in chosen(concept)}
    near = difflib.get_close_matches(case or "", sorted(names), n=3)
    return f"{text}: {' or '.join(map(repr, near))}?" if near else text


def standing() -> Iterator[tuple[CheckCase, Version]]:
    """Yield each check with every version that it applies to."""
    for check_case in check_cases():
        for version in VERSIONS:
            if applies(check_case, version):
                yield check_case, version
