"""The import graph: no circle, nothing upwards, no check for its helpers.

Read from the source, with the imports inside functions and those for types
alone. What a module imports by a name made at run time is not seen.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
# Where packages lie, and which are read.
FOLDERS = {
    ".": ("numpy_impl", "torch_impl", "attention_twice", "parity_tests"),
    "docs/_ext": ("book",),
}
# From low to high: a module imports its own layer, and those below it.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("numpy_impl", "torch_impl"),
    ("attention_twice",),
    ("parity_tests.cases",),
    ("parity_tests.suite",),
    ("parity_tests.judges",),
    ("parity_tests.checks",),
    (
        "parity_tests.report",
        "parity_tests.pages",
        "parity_tests.faults",
        "parity_tests.ports",
        "parity_tests.vectors",
        "parity_tests.libraries",
        "parity_tests.measure",
    ),
    ("parity_tests",),
    ("parity_tests.tests", "parity_tests.conftest"),
    ("book",),
)
PARTS = [part for layer in LAYERS for part in layer]
Graph = dict[str, set[str]]


def modules(root: Path) -> dict[str, Path]:
    """Return every module's file by its name."""
    paths = {}
    for folder, packages in FOLDERS.items():
        for package in packages:
            for path in sorted((root / folder / package).rglob("*.py")):
                parts = path.relative_to(root / folder).with_suffix("").parts
                paths[".".join(parts).removesuffix(".__init__")] = path
    return paths


def graph(root: Path) -> Graph:
    """Return what each module imports."""
    known = modules(root)
    return {
        name: set(imported(name, path, known)) - {name}
        for name, path in known.items()
    }


def imported(name: str, path: Path, known: dict[str, Path]) -> Iterator[str]:
    """Yield the modules of ours that a module imports."""
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name in known)
        elif isinstance(node, ast.ImportFrom):
            start = start_of(node, name, path)
            for alias in node.names:
                inner = f"{start}.{alias.name}"
                if inner in known or start in known:
                    yield inner if inner in known else start


def parsed(path: Path) -> ast.Module:
    """Return a module's syntax tree."""
    return ast.parse(path.read_text(encoding="utf-8"))


def start_of(node: ast.ImportFrom, name: str, path: Path) -> str:
    """Return the module that stands between `from` and `import`."""
    if node.level == 0:
        return node.module or ""
    up = node.level - (path.name == "__init__.py")
    parts = name.split(".")
    start = parts[: len(parts) - up]
    return ".".join([*start, *([node.module] if node.module else [])])


def part_of(name: str) -> str:
    """Return the part that a module belongs to: the longest that fits."""
    fitting = [p for p in PARTS if name == p or name.startswith(f"{p}.")]
    return max(fitting, key=len)


def circles(imports: Graph) -> list[str]:
    """Return a circle of modules, or of parts; [] if there is none."""
    by_part: Graph = {part: set() for part in PARTS}
    for name, others in imports.items():
        part = part_of(name)
        by_part[part] |= {part_of(other) for other in others} - {part}
    said = []
    for each in (imports, by_part):
        try:
            TopologicalSorter(each).prepare()
        except CycleError as error:
            said.append(" imports ".join(reversed(error.args[1])))
    return said


def upward(imports: Graph) -> list[str]:
    """Return every import of a higher layer."""
    height = {p: n for n, layer in enumerate(LAYERS) for p in layer}
    return [
        f"{name} imports {other}"
        for name, others in imports.items()
        for other in sorted(others)
        if height[part_of(other)] > height[part_of(name)]
    ]


def registers(path: Path) -> bool:
    """Return whether a module has a function that `check` decorates."""
    return any(
        isinstance(decorator, ast.Call)
        and isinstance(decorator.func, ast.Name)
        and decorator.func.id == "check"
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
    )


def checks_imported(root: Path) -> list[str]:
    """Return every import of a module that registers checks.

    `checks/__init__.py` imports them by name, and nobody else may: what
    two of them share is a judge's.
    """
    checks = {n for n, path in modules(root).items() if registers(path)}
    return [
        f"{name} imports {other}"
        for name, others in graph(root).items()
        for other in sorted(others & checks)
    ]


def settings_of_others(root: Path) -> list[str]:
    """Return every assignment to a name of another of our modules."""
    known = modules(root)
    said = []
    for name, path in known.items():
        tree = parsed(path)
        others = {
            alias.asname or alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
            if f"{start_of(node, name, path)}.{alias.name}" in known
        }
        said += [
            f"{name} sets {ast.unparse(node)}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and node.value.id in others
        ]
    return said


def everything_wrong(root: Path) -> list[str]:
    """Return all that these rules forbid."""
    imports = graph(root)
    rules = circles(imports) + upward(imports)
    return rules + checks_imported(root) + settings_of_others(root)


def test_the_graph_is_as_it_should_be() -> None:
    assert len(graph(ROOT)) > 150
    assert any(registers(path) for path in modules(ROOT).values())
    assert everything_wrong(ROOT) == []


CHECK = "@check('sdpa', 'law')\ndef holds(trial): ...\n"
WRONG: dict[str, tuple[dict[str, str], str]] = {
    "two modules": (
        {
            "parity_tests/cases/table.py": "from .recipe import Case\n",
            "parity_tests/cases/recipe.py": "from . import table\n",
        },
        "parity_tests.cases.recipe",
    ),
    "two parts": (
        {
            "parity_tests/pages.py": "from .measure.machine import lines\n",
            "parity_tests/measure/plots.py": "from ..pages import row\n",
            "parity_tests/measure/machine.py": "",
        },
        "parity_tests.measure imports parity_tests.pages",
    ),
    "upwards, in a function": (
        {
            "parity_tests/suite/run.py": (
                "def run():\n    from ..judges.bounds import gamma\n"
            ),
            "parity_tests/judges/bounds.py": "",
        },
        "parity_tests.suite.run imports parity_tests.judges.bounds",
    ),
    "upwards, for a type": (
        {
            "numpy_impl/sdpa.py": (
                "if TYPE_CHECKING:\n    import parity_tests.report\n"
            ),
            "parity_tests/report.py": "",
        },
        "numpy_impl.sdpa imports parity_tests.report",
    ),
    "a check for its helper": (
        {
            "parity_tests/checks/flash.py": CHECK,
            "parity_tests/checks/fast.py": "from . import flash\n",
        },
        "parity_tests.checks.fast imports parity_tests.checks.flash",
    ),
    "another's state": (
        {
            "parity_tests/judges/bounds.py": "SUBNORMALS = True\n",
            "parity_tests/ports/check.py": (
                "from ..judges import bounds\nbounds.SUBNORMALS = False\n"
            ),
        },
        "parity_tests.ports.check sets bounds.SUBNORMALS",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_found(name: str, tmp_path: Path) -> None:
    files, said = WRONG[name]
    for file, text in files.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text, encoding="utf-8")
    lines = everything_wrong(tmp_path)
    assert any(said in line for line in lines), lines
