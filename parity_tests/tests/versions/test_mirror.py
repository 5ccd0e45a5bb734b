"""The two packages are one text in two libraries: same modules, same names.

A function may differ in its expressions. It may not differ in its name, its
parameters, their defaults and types, the names of its local variables and
the order in which they are assigned.
"""

from __future__ import annotations

import ast
import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import numpy_impl
import torch_impl
from attention_twice.sources import definitions, parsed, path_of
from parity_tests.suite.register import CONCEPTS

# A module that one side alone has: a tuned version, which need not be read.
TUNED = {"fast", "fast_scores", "fast_threads"}
MODULES = sorted(
    {
        path.stem
        for package in (numpy_impl, torch_impl)
        for path in Path(str(package.__file__)).parent.glob("*.py")
    }
    - TUNED
)
# Modules whose two sides do different work: one of them is the library's.
DIFFERENT_WORK = {"arrays", "generator", "adam"}
# What ranks are: the places of a list, or processes that know of each other.
RANKS = {
    "Arriving",
    "Ring",
    "broken_ring",
    "passed_on",
    "ring_attention",
    "ring_backward",
    "ring_forward",
}
# Functions that autograd, nn.Module or torch's optimiser do the work of.
DONE_BY_TORCH = {
    "broadcast_backward",
    "loss_and_gradients",
    "parameters",
    "score_gradient",
    "set_parameters",
}


def source(package: ModuleType, module: str) -> ast.Module:
    """Return the parsed file of a module."""
    return parsed(path_of(package.__name__, module))


def assignments(function: ast.FunctionDef) -> list[str]:
    """Return the local names in the order in which they are assigned."""
    return [
        node.id
        for statement in function.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    ]


def signature(function: ast.FunctionDef) -> str:
    """Return parameters, defaults and types as they are written."""
    returns = ast.unparse(function.returns) if function.returns else ""
    return f"({ast.unparse(function.args)}) -> {returns}"


def outline(package: ModuleType, module: str) -> dict[str, Any]:
    """Return what a reader sees of a module: each public name and its form."""
    lines: dict[int, tuple[str, Any]] = {}
    tree = source(package, module)
    for name, node in definitions(tree):
        if isinstance(node, ast.FunctionDef):
            lines[node.lineno] = name, (signature(node), assignments(node))
            continue
        for field in node.body:
            if isinstance(field, ast.AnnAssign):
                text = f"{name}: {ast.unparse(field)}"
                lines[field.lineno] = text, "field"
    for constant in tree.body:
        if isinstance(constant, ast.Assign):
            name = ast.unparse(constant.targets[0])
            lines[constant.lineno] = name, ast.unparse(constant.value)
    return {
        name: form
        for _, (name, form) in sorted(lines.items())
        if not name.startswith("_") and "._" not in name.replace("__", "")
    }


def names_only(outline: dict[str, Any]) -> dict[str, Any]:
    """Return the outline without the local variables."""
    return {
        name: form[0] if isinstance(form, tuple) else form
        for name, form in outline.items()
    }


def without_ranks(outline: dict[str, Any]) -> dict[str, Any]:
    """Return the outline of a ring without what differs with its ranks."""
    return {
        name: form
        for name, form in outline.items()
        if re.split("[.:]", name)[0] not in RANKS
    }


@pytest.mark.parametrize("module", MODULES)
def test_same_public_names_and_signatures(module: str) -> None:
    one, other = outline(numpy_impl, module), outline(torch_impl, module)
    # What is derived by hand on one side, autograd does on the other.
    one = {
        name: form
        for name, form in one.items()
        if name in other
        or not (name.endswith("_backward") or "Gradients" in name)
    }
    if module in DIFFERENT_WORK:
        one, other = names_only(one), names_only(other)
    for name in DONE_BY_TORCH & one.keys() & other.keys():
        one[name], other[name] = (
            dict(names_only(tree))[name] for tree in (one, other)
        )
    if module == "arrays":
        one, other = dict.fromkeys(one), dict.fromkeys(other)
    if module == "ring":
        one, other = without_ranks(one), without_ranks(other)
    for name in one.keys() | other.keys():
        assert one.get(name) == other.get(name), f"{module}.{name} differs"
    assert list(one) == list(other), f"{module} has another order"


def test_same_exports() -> None:
    assert numpy_impl.__all__ == torch_impl.__all__


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_a_docstring(module: str) -> None:
    for package in (numpy_impl, torch_impl):
        for node in ast.walk(source(package, module)):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                public = not node.name.startswith("_")
                assert not public or ast.get_docstring(node), node.name


@pytest.mark.parametrize("package", [numpy_impl, torch_impl])
@pytest.mark.parametrize("module", MODULES)
def test_imports_only_its_library_and_the_rooms_above(
    package: ModuleType, module: str
) -> None:
    library = {numpy_impl: "numpy", torch_impl: "torch"}[package]
    allowed = {library, "__future__", "math", "numbers", "typing"}
    allowed |= {"collections", "contextlib"}
    for node in ast.walk(source(package, module)):
        if isinstance(node, ast.Import):
            for alias in node.names:
                assert alias.name.split(".")[0] in allowed, alias.name
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            top = str(node.module).split(".")[0]
            only_typing = top == "numpy" and module == "arrays"
            assert top in allowed or only_typing, node.module


@pytest.mark.parametrize("package", [numpy_impl, torch_impl])
def test_every_public_name_is_exported(package: ModuleType) -> None:
    modules = {module for module in MODULES if module != "__init__"}
    assert modules <= set(package.__all__)
    for name in package.__all__:
        assert inspect.ismodule(getattr(package, name)) or callable(
            getattr(package, name)
        )


def test_the_suite_goes_through_the_modules_in_their_order() -> None:
    read = [name for name in numpy_impl.__all__ if name in CONCEPTS]
    assert read == [name for name in CONCEPTS if name in read]
    # What one side alone has, and the gradients, which are everywhere.
    assert set(CONCEPTS) - {*read} == {"fast", "gradients"}
    assert {*MODULES} - {*read} == {"__init__", "arrays", "broadcasting"}
