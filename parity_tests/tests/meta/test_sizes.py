"""Functions and modules are short, and no call passes a long list on."""

from __future__ import annotations

import ast
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

from attention_twice.sources import ROOT, parsed

FOLDERS = ("numpy_impl", "torch_impl", "attention_twice", "parity_tests")
PACKAGES = ("numpy_impl", "torch_impl")
FUNCTION, MODULE, BODY, PASSED_ON = 60, 500, 5, 6
# Tables of data, which are as long as they are: the cases, and the faults of
# the module with most.
TABLES = {"parity_tests/cases/table.py", "parity_tests/faults/bank/sdpa.py"}
# The one call that gathers SDPA's eight options into their record.
GATHERS = {("scaled_dot_product_attention", "Options")}


def files() -> list[Path]:
    """Return every Python file of the project."""
    inner = [p for f in (*FOLDERS, "docs") for p in (ROOT / f).rglob("*.py")]
    return sorted([ROOT / "attention.py", *inner])


def functions(path: Path) -> Iterator[ast.FunctionDef]:
    """Yield the functions of a file, those inside of others too."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.FunctionDef):
            yield node


def length(nodes: list[ast.stmt]) -> int:
    """Return how many lines statements take."""
    return (nodes[-1].end_lineno or 0) - nodes[0].lineno + 1 if nodes else 0


def body(function: ast.FunctionDef) -> int:
    """Return how many lines a function has below its docstring."""
    documented = ast.get_docstring(function) is not None
    return length(function.body[1 if documented else 0 :])


def passed_on(function: ast.FunctionDef) -> Iterator[tuple[str, int]]:
    """Yield each call, and how many of the parameters it hands on."""
    taken = function.args
    names = {
        one.arg for one in (*taken.posonlyargs, *taken.args, *taken.kwonlyargs)
    }
    for call in ast.walk(function):
        if isinstance(call, ast.Call):
            given = [*call.args, *(one.value for one in call.keywords)]
            same = [g for g in given if isinstance(g, ast.Name)]
            yield ast.unparse(call.func), sum(g.id in names for g in same)


def test_no_function_is_long() -> None:
    long = [
        f"{path.relative_to(ROOT)}: {function.name}, {length([function])}"
        for path in files()
        for function in functions(path)
        if length([function]) > FUNCTION
    ]
    assert not long, long


def test_no_module_is_long() -> None:
    found = {
        path.relative_to(ROOT).as_posix(): len(
            path.read_text(encoding="utf-8").splitlines()
        )
        for path in files()
    }
    long = {name: n for name, n in found.items() if n > MODULE}
    assert long.keys() == TABLES, long


@pytest.mark.parametrize("package", PACKAGES)
def test_the_median_function_is_short(package: str) -> None:
    paths = (ROOT / package).glob("*.py")
    lengths = [body(f) for path in paths for f in functions(path)]
    assert len(lengths) > 100, len(lengths)
    assert statistics.median(lengths) <= BODY, sorted(lengths)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_call_passes_more_than_six_names_on(package: str) -> None:
    long = [
        f"{path.name}: {function.name} calls {name} with {count}"
        for path in (ROOT / package).glob("*.py")
        for function in functions(path)
        for name, count in passed_on(function)
        if count > PASSED_ON and (function.name, name) not in GATHERS
    ]
    assert not long, long
