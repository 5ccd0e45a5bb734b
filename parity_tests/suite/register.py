"""The register of checks: what one is, and which there are.

A check is a function that takes a `Trial`: a version, a case or None, and a
way to compare. It raises AssertionError where the version is wrong. It says
which concept it is about and which of the five judges it stands for:

- closed form: the value is known exactly, and there is no tolerance;
- definition: scalar loops in high precision, within a derived bound;
- law: what must hold whatever the numbers are;
- each other: NumPy and PyTorch, every step;
- SDPA: torch's own function, a witness.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .compare import compare
from .versions import NUMPY, TORCH, Version

JUDGES = ("closed form", "definition", "law", "each other", "SDPA")
CONCEPTS = (
    "averaging",
    "softmax",
    "masks",
    "attention",
    "head",
    "dropout",
    "arguments",
    "sdpa",
    "gradients",
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
    """One version in one check, with its comparisons so far."""

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
        refusal: Exception | None = None
        try:
            self.call(path, *arguments, **options)
        except (TypeError, ValueError) as error:
            refusal = error
        assert refusal is not None, f"{path} was accepted, expected {text!r}"
        assert type(refusal) is kind, f"{refusal!r}, expected {kind.__name__}"
        # Some libraries write their name before that of a dtype.
        said = re.sub(r"[\w.]+\.(?=b?float\d|int\d|bool)", "", str(refusal))
        assert text in said, f"{refusal}, expected {text!r}"

    def within(
        self,
        name: str,
        got: Any,
        expected: Any,
        bound: Any = 0.0,
        missing: Any = 0.0,
    ) -> None:
        """Assert that a tensor is as expected, and note how far it is off."""
        comparison = compare(name, got, expected, bound, missing)
        self.share = max(self.share, comparison.share)
        assert comparison.failure is None, comparison.failure


@dataclass(frozen=True)
class Check:
    """A registered check."""

    name: str
    concept: str
    judge: str
    function: Callable[[Trial], None]
    cases: tuple[Any, ...]


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
