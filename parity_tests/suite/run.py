"""Running one check on one version, and its outcome.

A check with one of its cases is a `CheckCase`. The tests, the report and the
bank of faults all run the same ones.
"""

from __future__ import annotations

import shlex
import traceback
from pathlib import Path
from typing import Any, NamedTuple

from .computation import computed_as
from .register import ONE_SIDED, Check, Trial
from .versions import Missing, Version


class CheckCase(NamedTuple):
    """A check with one of its cases."""

    check: Check
    case: Any

    def __str__(self) -> str:
        """Return concept, check and case."""
        case = "" if self.case is None else f", {self.case}"
        return f"{self.check.concept}: {self.check.name}{case}"


class Outcome(NamedTuple):
    """The result of one check on one version."""

    check_case: CheckCase
    version: str
    share: float
    failure: str | None
    # What a port has not got yet: nothing was compared.
    missing: str | None = None


def run(check_case: CheckCase, version: Version) -> Outcome:
    """Run one check, with its case, on one version."""
    trial = Trial(version, check_case.case)
    failure, missing = None, None
    try:
        with computed_as(version.computation):
            check_case.check.function(trial)
    except (Missing, NotImplementedError) as error:
        missing = str(error) or "NotImplementedError"
        if not version.is_port:
            text = f"there is no {missing}"
            failure = explain(check_case, version.name, version.command, text)
    except AssertionError as error:
        # Where pytest has seen to the assertion, its expression follows.
        text = str(error).split("\nassert ")[0] or "an assertion failed"
        failure = explain(check_case, version.name, version.command, text)
    except Exception as error:  # a check must survive whatever a port does
        last = traceback.extract_tb(error.__traceback__)[-1]
        # With its folder: several files have the name of a judge.
        file = "/".join(Path(last.filename).parts[-2:])
        where = f"{file}, line {last.lineno}"
        text = f"{type(error).__name__}: {error} ({where})"
        failure = explain(check_case, version.name, version.command, text)
    return Outcome(check_case, version.name, trial.share, failure, missing)


def explain(
    check_case: CheckCase, name: str, command: tuple[str, ...], text: str
) -> str:
    """Return a failure with its name and the command that repeats it alone."""
    case = (
        check_case.check.name
        if check_case.case is None
        else str(check_case.case)
    )
    alone = ["python", "-m", "parity_tests", *command]
    alone += ["--only", check_case.check.concept, "--case", case]
    return (
        f"{name}: {check_case} ({check_case.check.judge})\n"
        f"  {text}\n"
        f"  alone: {shlex.join(alone)}"
    )


def applies(check_case: CheckCase, version: Version) -> bool:
    """Return whether a version has the functions that a check needs."""
    side = ONE_SIDED.get(check_case.check.concept, version.name)
    has_dtype = version.has(getattr(check_case.case, "dtype", "float32"))
    return side == version.name and has_dtype


def belongs(check_case: CheckCase, version: Version) -> bool:
    """Return whether a port is asked: for a tuned module only if it has it."""
    concept = check_case.check.concept
    if concept not in ONE_SIDED:
        return True
    try:
        version.module(concept)
    except Missing:
        return False
    except Exception:
        # It is there and breaks: its checks say how.
        return True
    return True
