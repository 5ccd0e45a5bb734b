"""The bank of faults: wrong versions that the suite must turn away.

A fault is a few lines of a room with something wrong in them, most of them
mistakes that public code really made. It is applied to a copy of a package,
and the whole suite is run on that copy: a fault that passes, or that is
caught once only, is a hole in the suite.
"""

from __future__ import annotations

import importlib
import itertools
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy_impl
import torch_impl

from ..checks import check_cases
from ..suite.run import CheckCase, Outcome, applies, run
from ..suite.versions import Version

PACKAGES = {"numpy": numpy_impl, "torch": torch_impl}
_numbers = itertools.count()


@dataclass(frozen=True)
class Fault:
    """One mistake.

    In the file `room` the text `before`, which stands there once, becomes
    `after`. `wrong` says what goes wrong with it, and `report` names a
    public report of it, repository and number, or is empty.
    """

    name: str
    room: str
    before: str
    after: str
    wrong: str
    report: str = ""
    side: str = "numpy"
    kind: str = "forward"

    def __str__(self) -> str:
        """Return the name."""
        return self.name


def forward(
    name: str, room: str, before: str, after: str, wrong: str, report: str = ""
) -> Fault:
    """Return a fault of the forward pass."""
    return Fault(name, room, before, after, wrong, report)


def gradient(
    name: str, room: str, before: str, after: str, wrong: str, report: str = ""
) -> Fault:
    """Return a fault of a gradient that is derived by hand."""
    return Fault(name, room, before, after, wrong, report, kind="gradient")


def in_torch(
    name: str,
    room: str,
    before: str,
    after: str,
    wrong: str,
    report: str = "",
    kind: str = "forward",
) -> Fault:
    """Return a fault of the PyTorch side."""
    return Fault(name, room, before, after, wrong, report, "torch", kind)


def mutated(fault: Fault) -> str:
    """Return the text of the room with the fault in it."""
    package = PACKAGES[fault.side]
    path = Path(str(package.__file__)).with_name(f"{fault.room}.py")
    text = path.read_text(encoding="utf-8")
    count = text.count(fault.before)
    if count != 1:
        raise ValueError(
            f"fault {fault.name!r}: {fault.before!r} stands {count} times in "
            f"{path.name}, expected once"
        )
    return text.replace(fault.before, fault.after)


@contextmanager
def copy_of(side: str, **rooms: str) -> Iterator[ModuleType]:
    """Import a copy of a package, some of its rooms with another text."""
    original = Path(str(PACKAGES[side].__file__)).parent
    name = f"{original.name}_copy_{next(_numbers)}"
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / name
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(original, copy, ignore=ignored)
        for room, text in rooms.items():
            (copy / f"{room}.py").write_text(text, encoding="utf-8")
        sys.path.insert(0, folder)
        try:
            yield importlib.import_module(name)
        finally:
            sys.path.remove(folder)
            own = [m for m in sys.modules if m.split(".")[0] == name]
            for module in own:
                del sys.modules[module]


def tried(fault: Fault, enough: int | None = None) -> list[Outcome]:
    """Return the failures of a fault, or as many of them as are enough."""
    failures: list[Outcome] = []
    with copy_of(fault.side, **{fault.room: mutated(fault)}) as package:
        version = Version(fault.side, package)
        for check_case in nearest_first(fault):
            if not applies(check_case, version):
                continue
            outcome = run(check_case, version)
            if outcome.failure is not None:
                failures.append(outcome)
            if enough is not None and len(failures) >= enough:
                break
    return failures


def nearest_first(fault: Fault) -> list[CheckCase]:
    """Return all checks, those first that are likely to catch the fault."""
    whole = "gradients" if fault.kind == "gradient" else "sdpa"
    inner = fault.room in ("sdpa", "attention", "softmax", "dropout")
    likely = [whole, fault.room, "arguments"] if inner else [fault.room]
    judges = ["closed form", "each other", "definition", "law", "SDPA"]
    if fault.room == "fast":
        # Its closed forms are many, and few of them are about the numbers.
        judges = ["definition", "law", "SDPA", "closed form", "each other"]

    def distance(check_case: CheckCase) -> tuple[int, bool, int]:
        concept, judge = check_case.check.concept, check_case.check.judge
        near = likely.index(concept) if concept in likely else len(likely)
        about = "gradient" in check_case.check.name or concept == "gradients"
        return near, about != (fault.kind == "gradient"), judges.index(judge)

    return sorted(check_cases(), key=distance)
