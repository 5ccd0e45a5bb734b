"""The register of checks, and how one of them is run.

A check is a function that takes a `Trial`: a version, a case or None, and a
way to compare. It raises AssertionError where the version is wrong. It says
which concept it is about and which of the five judges it stands for:

- closed form: the value is known exactly, and there is no tolerance;
- definition: scalar loops in high precision, within a derived bound;
- law: what must hold whatever the numbers are;
- each other: NumPy and PyTorch, every step;
- SDPA: torch's own function, a witness.

A check with a case is a place. The tests, the report and the bank of faults
all run the same places.
"""

from __future__ import annotations

import difflib
import importlib
import pkgutil
import re
import shlex
import traceback
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from . import checks
from .compare import compare
from .versions import NUMPY, TORCH, VERSIONS, Missing, Version

JUDGES = ("closed form", "definition", "law", "each other", "SDPA")
CONCEPTS = (
    "averaging",
    "softmax",
    "masks",
    "dropout",
    "attention",
    "arguments",
    "sdpa",
    "gradients",
    "head",
    "multi_head",
    "positions",
    "merge",
    "cache",
    "flash",
    "fast",
    "ring",
    "generator",
    "layer_norm",
    "language_model",
    "adam",
    "training",
    "experiments",
    "lesson",
)
# What one version alone has beside what both have.
ONE_SIDED = {"fast": "numpy"}


class Trial:
    """One version before one check, with what it has shown so far."""

    def __init__(self, version: Version, case: Any) -> None:
        self.version = version
        self.case = case
        self.share = 0.0

    @property
    def other(self) -> Version:
        """Return the version that this one is compared with."""
        return NUMPY if self.version.on_torch else TORCH

    def call(self, path: str, *arguments: Any, **options: Any) -> Any:
        """Call a function of the version with NumPy arrays."""
        return self.version.call(path, *arguments, **options)

    def refuses(
        self,
        kind: type[Exception],
        text: str,
        path: str,
        *arguments: Any,
        **options: Any,
    ) -> None:
        """Assert that a call is refused, with a message that has a text."""
        found: Exception | None = None
        try:
            self.call(path, *arguments, **options)
        except (TypeError, ValueError) as error:
            found = error
        assert found is not None, f"{path} was accepted, expected {text!r}"
        assert type(found) is kind, f"{found!r}, expected {kind.__name__}"
        # Some libraries write their name before that of a dtype.
        said = re.sub(r"[\w.]+\.(?=b?float\d|int\d|bool)", "", str(found))
        assert text in said, f"{found}, expected {text!r}"

    def within(
        self,
        name: str,
        got: Any,
        expected: Any,
        bound: Any = 0.0,
        missing: Any = 0.0,
    ) -> None:
        """Assert that a tensor is as expected, and note how far it is off."""
        found = compare(name, got, expected, bound, missing)
        self.share = max(self.share, found.share)
        assert found.failure is None, found.failure


@dataclass(frozen=True)
class Check:
    """A registered check."""

    name: str
    concept: str
    judge: str
    function: Callable[[Trial], None]
    cases: tuple[Any, ...]


class Place(NamedTuple):
    """A check with one of its cases."""

    check: Check
    case: Any

    def __str__(self) -> str:
        """Return concept, check and case."""
        case = "" if self.case is None else f", {self.case}"
        return f"{self.check.concept}: {self.check.name}{case}"


class Outcome(NamedTuple):
    """What came of one version at one place."""

    place: Place
    version: str
    share: float
    failure: str | None
    # What a port has not got yet: nothing was compared.
    missing: str | None = None


REGISTER: list[Check] = []


def check(
    concept: str, judge: str, cases: Sequence[Any] = (None,)
) -> Callable[[Callable[[Trial], None]], Callable[[Trial], None]]:
    """Register a function as a check."""
    assert concept in CONCEPTS, concept
    assert judge in JUDGES, judge

    def register(function: Callable[[Trial], None]) -> Callable[[Trial], None]:
        name = function.__name__.replace("_", " ")
        REGISTER.append(Check(name, concept, judge, function, tuple(cases)))
        return function

    return register


@cache
def places() -> tuple[Place, ...]:
    """Return every place, in the order of the concepts."""
    for module in pkgutil.iter_modules(checks.__path__):
        importlib.import_module(f"{checks.__name__}.{module.name}")
    ordered = sorted(REGISTER, key=lambda c: CONCEPTS.index(c.concept))
    return tuple(Place(c, case) for c in ordered for case in c.cases)


def chosen(
    concept: str | None = None,
    case: str | None = None,
    judge: str | None = None,
) -> Iterator[Place]:
    """Yield the places of a concept, a case, a judge; None is any."""
    for place in places():
        if concept not in (None, place.check.concept):
            continue
        if judge not in (None, place.check.judge):
            continue
        if case not in (None, str(place.case), place.check.name):
            continue
        yield place


def nothing_like(concept: str | None, case: str | None) -> str:
    """Return why nothing was chosen, with names that are near."""
    text = (
        "no check has this concept, judge and case; --case is the name "
        "after the comma"
    )
    names = {str(p.case) for p in chosen(concept)} - {"None"}
    names |= {p.check.name for p in chosen(concept)}
    near = difflib.get_close_matches(case or "", sorted(names), n=3)
    return f"{text}: {' or '.join(map(repr, near))}?" if near else text


def run(place: Place, version: Version) -> Outcome:
    """Run one version at one place."""
    trial = Trial(version, place.case)
    failure, missing = None, None
    try:
        place.check.function(trial)
    except (Missing, NotImplementedError) as error:
        missing = str(error) or "NotImplementedError"
        if not version.is_port:
            text = f"there is no {missing}"
            failure = explain(place, version.name, version.command, text)
    except AssertionError as error:
        # Where pytest has seen to the assertion, its expression follows.
        text = str(error).split("\nassert ")[0] or "an assertion failed"
        failure = explain(place, version.name, version.command, text)
    except Exception as error:  # a check must survive whatever a port does
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}, line {last.lineno}"
        text = f"{type(error).__name__}: {error} ({where})"
        failure = explain(place, version.name, version.command, text)
    return Outcome(place, version.name, trial.share, failure, missing)


def explain(
    place: Place, name: str, command: tuple[str, ...], text: str
) -> str:
    """Return a failure with where it was and how to see it alone."""
    case = place.check.name if place.case is None else str(place.case)
    alone = ["python", "-m", "parity_tests", *command]
    alone += ["--only", place.check.concept, "--case", case]
    return (
        f"{name}: {place} ({place.check.judge})\n"
        f"  {text}\n"
        f"  alone: {shlex.join(alone)}"
    )


def standing() -> Iterator[tuple[Place, Version]]:
    """Yield every place with every version that it is for."""
    for place in places():
        for version in VERSIONS:
            if applies(place, version):
                yield place, version


def applies(place: Place, version: Version) -> bool:
    """Return whether a version has what a place asks for."""
    side = ONE_SIDED.get(place.check.concept, version.name)
    has_dtype = version.has(getattr(place.case, "dtype", "float32"))
    return side == version.name and has_dtype


def belongs(place: Place, version: Version) -> bool:
    """Return whether a port is asked: for a tuned room only if it has it."""
    concept = place.check.concept
    if concept not in ONE_SIDED:
        return True
    try:
        version.room(concept)
    except Missing:
        return False
    except Exception:
        # It is there and breaks: its checks say how.
        return True
    return True
