"""`new NAME`: a package to start a port from, written after numpy_impl.

It has every module with its signatures and docstrings. Every function raises
NotImplementedError; constants and records are kept.
"""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path
from typing import NamedTuple

import numpy_impl
from attention_twice.files import folder_whole
from attention_twice.sources import definitions

from .namespaces import IMPORT, NOT_THERE, source


class Library(NamedTuple):
    """A library in place of NumPy, and the conversion of its arrays."""

    line: str
    array: str
    from_numpy: str
    to_numpy: str
    # What has to be said to it before anything else.
    setup: str = ""


NOT_YET = "raise NotImplementedError"
# With the way in and out of libraries whose own documentation names it.
KNOWN = {
    "jax": Library(
        "import jax.numpy as jnp",
        "jnp.ndarray",
        "return jnp.asarray(array)",
        "return np.asarray(array)",
        "import jax\n\n"
        "# Without it JAX has no float64.\n"
        'jax.config.update("jax_enable_x64", True)\n',
    ),
    "mlx": Library(
        "import mlx.core as mx",
        "mx.array",
        "return mx.array(array)",
        "return np.array(array)",
    ),
    "cupy": Library(
        "import cupy as cp",
        "cp.ndarray",
        "return cp.asarray(array)",
        "return cp.asnumpy(array)",
    ),
    "tinygrad": Library(
        "from tinygrad import Tensor",
        "Tensor",
        "return Tensor(array)",
        "return array.numpy()",
    ),
    "torch": Library(
        "import torch",
        "torch.Tensor",
        "return torch.from_numpy(array)",
        "return array.numpy()",
    ),
    "numpy": Library(
        "import numpy as np", "np.ndarray", "return array", "return array"
    ),
}


def new_port(folder: Path, library: str) -> int:
    """Write a package into a folder that is not there yet; return 0."""
    if not folder.name.isidentifier():
        print(
            f"new: {folder.name!r} cannot be imported: expected a name of "
            "letters, digits and underscores",
            file=sys.stderr,
        )
        return 2
    if folder.exists():
        print(f"new: {folder} is there already", file=sys.stderr)
        return 2
    try:
        write(folder, library)
    except OSError as error:
        print(f"new: {folder} cannot be written: {error}", file=sys.stderr)
        return 2
    print(
        f"{folder}: {len(modules())} modules to fill. First from_numpy and "
        "to_numpy in arrays.py, then averaging, softmax and on.\n"
        f"{sys.executable} -m parity_tests check {folder} --only averaging"
    )
    return 0


def write(folder: Path, library: str) -> None:
    """Write all files, or none."""
    with folder_whole(folder) as unfinished:
        (unfinished / "py.typed").touch()
        for module in ("__init__", *modules()):
            text = skeleton(module, library)
            path = unfinished / f"{module}.py"
            path.write_text(text, encoding="utf-8")


def modules() -> list[str]:
    """Return the modules of a port, in the order of numpy_impl's list."""
    return [
        name
        for name in numpy_impl.__all__
        if source(numpy_impl, name).is_file() and name not in NOT_THERE
    ]


def skeleton(module: str, library: str) -> str:
    """Return the text of a module without its bodies."""
    text = source(numpy_impl, module).read_text(encoding="utf-8")
    if module == "__init__":
        start = f'"""Attention in {library}, one module a concept."""'
        return start + text[text.index("\n\nfrom ") :]
    unknown = Library(f"import {library}", "Any", NOT_YET, NOT_YET)
    known = KNOWN.get(library, unknown)
    text = emptied(text, module)
    if module == "arrays":
        text = with_entrance(text, known)
    else:
        text = text.replace(IMPORT, f"\n{known.line}\n")
    return pruned(text, kept=known.line)


def emptied(text: str, module: str) -> str:
    """Return a module's text with every body replaced; private ones are gone.

    What is raised in its place names the function.

    The lines outside of bodies stay as they are, comments among them.
    """
    lines = text.splitlines()
    nodes = [node for _, node in definitions(ast.parse(text))]
    for node in reversed(nodes):
        if isinstance(node, ast.ClassDef):
            continue
        start = min([node.lineno, *(d.lineno for d in node.decorator_list)])
        if node.name.startswith("_") and not node.name.endswith("__"):
            del lines[start - 1 : node.end_lineno]
            continue
        documented = ast.get_docstring(node) is not None
        first = node.body[1 if documented else 0 :]
        begin = node.body[0].end_lineno if documented else 0
        begin = begin or node.body[0].lineno - 1
        indent = " " * (node.col_offset + 4)
        if first or documented:
            name = f'("{module}.{node.name}")'
            lines[begin : node.end_lineno] = [f"{indent}{NOT_YET}{name}"]
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)).rstrip() + "\n"


def with_entrance(text: str, known: Library) -> str:
    """Return the module `arrays` with the conversions of a library."""
    text = filled(text, "from_numpy", known.from_numpy)
    text = filled(text, "to_numpy", known.to_numpy)
    if known.array != "Any":
        is_one = f"return isinstance(candidate, {known.array})"
        text = filled(text, "is_array", is_one)
    kinds = {"Array": known.array, "Mask": "Array", "Indices": "Array"}
    for name, kind in kinds.items():
        line = rf"{name}: TypeAlias = .*"
        text = re.sub(line, f"{name}: TypeAlias = {kind}", text, count=1)
    text = text.replace(": here, as it is.", ".")
    both = IMPORT if known.line in IMPORT else f"{IMPORT}{known.line}\n"
    text = text.replace(IMPORT, both)
    return text.replace("\n# As texts:", f"\n{known.setup}\n# As texts:")


def filled(text: str, name: str, body: str) -> str:
    """Return a text in which one function has a body."""
    pattern = rf'(def {name}\(.*?){NOT_YET}\(".*?"\)'
    return re.sub(pattern, rf"\g<1>{body}", text, count=1, flags=re.S)


def pruned(text: str, kept: str) -> str:
    """Return a text without the imports of which nothing is used any more."""
    tree = ast.parse(text)
    used = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}
    # Annotations are text to Python, and names to a reader.
    lines = text.splitlines()
    for node in reversed(tree.body):
        if not isinstance(node, ast.Import | ast.ImportFrom):
            continue
        names = [a for a in node.names if (a.asname or a.name) in used]
        text_of_node = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        future = getattr(node, "module", None) == "__future__"
        if future or text_of_node == kept or len(names) == len(node.names):
            continue
        node.names = names
        shorter = [ast.unparse(node)] if names else []
        lines[node.lineno - 1 : node.end_lineno] = shorter
    return re.sub(r"\n{4,}", "\n\n\n", "\n".join(lines)).rstrip() + "\n"
