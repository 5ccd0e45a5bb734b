"""The two packages as text: which functions a module has, and where."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
# A call of an nn.Module is defined by its method `forward`.
IDIOM = {"forward": "__call__"}


def path_of(package: str, module: str) -> Path:
    """Return the file of a module; `__init__` is the package's own."""
    return ROOT / package / f"{module}.py"


def parsed(path: Path) -> ast.Module:
    """Return a file as a tree; an empty one where there is no file."""
    return ast.parse(path.read_text(encoding="utf-8") if path.exists() else "")


def definitions(
    tree: ast.Module,
) -> Iterator[tuple[str, ast.FunctionDef | ast.ClassDef]]:
    """Yield functions, classes and methods, in their order and by name.

    A method is Class.method; both sides have it by the same name.
    """
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name, node
        if isinstance(node, ast.ClassDef):
            yield from methods(node)


def methods(owner: ast.ClassDef) -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yield the methods of a class, by the name that both sides have."""
    for node in owner.body:
        if isinstance(node, ast.FunctionDef):
            yield f"{owner.name}.{IDIOM.get(node.name, node.name)}", node


def is_public(name: str) -> bool:
    """Return whether a name, and its owner's, is for all to use."""
    return "._" not in f".{name}".removesuffix(".__call__")
