"""What a fault is, and the copy of a package that has it.

A fault is a few lines of a module with something wrong in them, most of them
mistakes that public code really made.
"""

from __future__ import annotations

import difflib
import importlib.util
import itertools
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

import numpy_impl
import torch_impl

PACKAGES = {"numpy": numpy_impl, "torch": torch_impl}
# The concepts of modules that are not one themselves.
CONCEPT_OF = {
    "broadcasting": "gradients",
    "fast_scores": "fast",
    "fast_threads": "fast",
}
_numbers = itertools.count()


@dataclass(frozen=True, kw_only=True)
class Fault:
    """One mistake.

    In the file of `module`, on one side, the text `before`, which stands
    there once, becomes `after`. `wrong` says in one sentence what goes wrong
    with it. `report` names a public report of it, repository and number, or
    is empty. `kind` is "forward", or "gradient" where only a gradient is
    wrong. `cases` names cases, or checks, that catch it: tried first, they
    spare hundreds of others.
    """

    name: str
    module: str
    before: str
    after: str
    wrong: str
    report: str = ""
    side: str = "numpy"
    kind: str = "forward"
    cases: tuple[str, ...] = ()

    def __str__(self) -> str:
        """Return the name."""
        return self.name

    @property
    def concept(self) -> str:
        """Return the concept whose checks are nearest: its bank's name."""
        if self.module == "sdpa" and self.kind == "gradient":
            return "gradients"
        return CONCEPT_OF.get(self.module, self.module)

    @property
    def path(self) -> Path:
        """Return the file that the fault changes."""
        package = Path(str(PACKAGES[self.side].__file__))
        return package.with_name(f"{self.module}.py")


def mutated(fault: Fault) -> str:
    """Return the text of the module with the fault in it.

    Raises ValueError where `before` does not stand there exactly once.
    """
    text = fault.path.read_text(encoding="utf-8")
    count = text.count(fault.before)
    if count != 1:
        raise ValueError(
            f"fault {fault.name!r}: its `before` stands {count} times in "
            f"{fault.path.parent.name}/{fault.path.name}, expected once:\n"
            f"{fault.before}{nearest(fault.before, text)}"
        )
    return text.replace(fault.before, fault.after)


def nearest(before: str, text: str) -> str:
    """Return the lines of a text that are most like another, as a hint."""
    if before in text:
        return "\nAdd the lines around it, up to where it is unique."
    lines = text.splitlines()
    count = len(before.splitlines())
    candidates = [
        "\n".join(lines[start : start + count])
        for start in range(len(lines) - count + 1)
    ]
    close = difflib.get_close_matches(before, candidates, n=1, cutoff=0.3)
    return f"\nThe nearest text there is:\n{close[0]}" if close else ""


@contextmanager
def copy_of(side: str, **texts: str) -> Iterator[ModuleType]:
    """Import a copy of a package, some of its modules with another text.

    The copy finds these modules in a folder of their own and all others in
    the original's, where they are compiled already.
    """
    original = Path(str(PACKAGES[side].__file__))
    name = f"{original.parent.name}_copy_{next(_numbers)}"
    with tempfile.TemporaryDirectory() as folder:
        for module, text in texts.items():
            path = Path(folder) / f"{module}.py"
            path.write_text(text, encoding="utf-8")
        spec = importlib.util.spec_from_file_location(
            name,
            original,
            submodule_search_locations=[folder, str(original.parent)],
        )
        assert spec is not None
        try:
            yield imported(spec)
        finally:
            for module in [m for m in sys.modules if m.split(".")[0] == name]:
                del sys.modules[module]


def imported(spec: ModuleSpec) -> ModuleType:
    """Import what a spec describes."""
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    assert spec.loader is not None
    spec.loader.exec_module(module)
    return module
