"""A port: a package with the modules and names of numpy_impl, by name or path.

Its declarations are in its module `arrays`, and its expected failures in a
file; both are read here.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import tomllib
from collections.abc import Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from ..judges.bounds import HALF
from ..suite.computation import Computation
from ..suite.versions import ALL_DTYPES, Version
from .namespaces import in_namespace
from .workers import WorkerError

EXPECTED = "expected_failures.toml"


class Port(NamedTuple):
    """A package, by name or path, and the library in place of NumPy."""

    package: str
    namespace: str | None = None

    def __str__(self) -> str:
        """Return what it is called in tables and messages."""
        name = Path(self.package).name
        return f"{name} on {self.namespace}" if self.namespace else name

    def command(self) -> tuple[str, ...]:
        """Return the command that checks it."""
        if self.namespace is None:
            return ("check", self.package)
        return ("check", self.package, "--namespace", self.namespace)


class Expected(NamedTuple):
    """A failure that a port is known to have, and why."""

    place: str
    reason: str

    def covers(self, place: str) -> bool:
        """Return whether it is about a place; * stands for any text."""
        return fnmatchcase(place, literal(self.place))


def literal(pattern: str) -> str:
    """Return a pattern in which nothing but * has a meaning."""
    return pattern.replace("[", "[[]").replace("?", "[?]")


class PortError(WorkerError):
    """A package that cannot be checked, and why, in one line."""


def load(port: Port) -> Version:
    """Import a port; PortError says why that cannot be done."""
    try:
        package = imported(port.package)
        if port.namespace is not None:
            package = in_namespace(package, port.namespace)
        version = Version(str(port), package, port.command())
        # In another namespace, what NumPy has says nothing.
        asked = port.namespace is None
        declared = version.declared("DTYPES", None) if asked else None
        version.dtypes = dtypes_of(version, declared)
        version.computation = computation_of(version)
        return version
    except PortError:
        raise
    except BaseException as error:
        # Whatever its import does, sys.exit among it, is the port's doing.
        text = f"{type(error).__name__}: {error}".rstrip(": ")
        raise PortError(f"{port} cannot be imported: {text}") from error


def imported(package: str) -> ModuleType:
    """Import a package by its name, or by the path of its folder."""
    folder = Path(package)
    if not folder.is_dir() and not any(sign in package for sign in "/\\"):
        module = importlib.import_module(package)
    else:
        module = from_folder(folder)
    for name in ("from_numpy", "to_numpy"):
        if not callable(getattr(module, name, None)):
            raise PortError(
                f"{package} has no function {name}: expected a package with "
                "from_numpy and to_numpy, and modules named as those of "
                "numpy_impl"
            )
    return module


def from_folder(folder: Path) -> ModuleType:
    """Import the package in a folder, under a name that nothing else has."""
    start = folder.resolve() / "__init__.py"
    if not start.is_file():
        raise PortError(
            f"{folder} is no package: expected a folder with __init__.py, or "
            "the name of a package that can be imported"
        )
    name = start.parent.name
    if name in sys.modules:
        name = f"{name}_of_{start.parent.parent.name}_as_port"
    spec = importlib.util.spec_from_file_location(
        name, start, submodule_search_locations=[str(start.parent)]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[name] = package
    spec.loader.exec_module(package)
    return package


def dtypes_of(version: Version, declared: Any) -> tuple[str, ...]:
    """Return the dtypes that a port declares, or else those it preserves."""
    if declared is None:
        return tuple(d for d in ALL_DTYPES if version.carries(d))
    unknown = [d for d in declared if d not in ALL_DTYPES]
    if isinstance(declared, str) or unknown:
        raise PortError(
            f"DTYPES of {version} is {declared!r}, expected some of "
            f"{', '.join(ALL_DTYPES)}"
        )
    for dtype in declared:
        came = version.comes_back_as(dtype)
        if came not in (None, dtype):
            raise PortError(
                f"DTYPES of {version} has {dtype}, but what from_numpy makes "
                f"of it comes back from to_numpy as {came}"
            )
    return tuple(declared)


def computation_of(version: Version) -> Computation:
    """Return how a port declares that it computes."""
    return Computation(half_is_computed_in(version), has_subnormals(version))


def half_is_computed_in(version: Version) -> str | None:
    """Return the dtype that half types are computed in, None for their own."""
    wide = version.declared("HALF_IS_COMPUTED_IN", "float32")
    if wide == "float32":
        return "float32"
    if wide == "itself":
        return None
    raise PortError(
        f"HALF_IS_COMPUTED_IN of {version} is {wide!r}, expected 'float32', "
        f"or 'itself' where {' and '.join(HALF)} are never widened"
    )


def has_subnormals(version: Version) -> bool:
    """Return whether a library keeps numbers below the smallest normal one.

    A port declares SUBNORMALS, or else a product with 1 shows it.
    """
    declared = version.declared("SUBNORMALS", None)
    if declared is None:
        tiny = np.full(1, np.finfo(np.float32).smallest_subnormal)
        try:
            kept = version.package.to_numpy(
                version.package.from_numpy(tiny) * 1.0
            )
        except Exception:
            # Not there yet: the bounds are those of a library that does.
            return True
        return bool(kept[0] != 0)
    if isinstance(declared, bool):
        return declared
    raise PortError(
        f"SUBNORMALS of {version} is {declared!r}, expected True or False"
    )


def expected_failures(port: Port) -> list[Expected]:
    """Read the failures that a port expects; [] where it has no such file.

    PortError says what is wrong with the file.
    """
    folder = folder_of(port)
    path = folder / EXPECTED if folder is not None else None
    if path is None or not path.is_file():
        return []
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise PortError(f"{path} cannot be read: {error}") from error
    return [entry(path, table) for table in entries(path, content)]


def folder_of(port: Port) -> Path | None:
    """Return where a port lies, without running any of it."""
    if Path(port.package).is_dir():
        return Path(port.package)
    try:
        spec = importlib.util.find_spec(port.package.split(".")[0])
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    inner = port.package.split(".")[1:]
    return Path(spec.submodule_search_locations[0], *inner)


def entries(path: Path, content: dict[str, Any]) -> Sequence[Any]:
    """Return the entries of the file, or say what else is in it."""
    tables = content.get("expected", [])
    others = [name for name in content if name != "expected"]
    if others or not isinstance(tables, list):
        raise PortError(
            f"{path} has {', '.join(others) or 'no list'}: expected tables "
            "[[expected]], each with place and reason"
        )
    return tables


def entry(path: Path, table: Any) -> Expected:
    """Return one entry; both of its texts must be there and say something."""
    good = isinstance(table, dict) and table.keys() == {"place", "reason"}
    if good and all(isinstance(t, str) and t.strip() for t in table.values()):
        return Expected(**table)
    raise PortError(
        f"{path} has the entry {table!r}: expected place and reason, each a "
        "text that is not empty"
    )
