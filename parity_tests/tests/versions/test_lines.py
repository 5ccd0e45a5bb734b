"""How much of the two packages is the same text, line by line.

What is counted: every line that is not empty, docstrings and comments among
them. np and torch, axis and dim, keepdims and keepdim and the few words of
IDIOM count as the same. What NumPy alone defines is left out: autograd and
nn.Module do its work. So are the modules whose work is each library's own.
"""

from __future__ import annotations

import ast
import difflib
import re

from attention_twice.sources import parsed, path_of
from parity_tests.tests.versions.test_mirror import DIFFERENT_WORK, MODULES

LEAST = 0.88
# What the libraries spell in two ways; the first is PyTorch's.
IDIOM = {
    r"\b(import )?(numpy as np|torch)$": "library",
    r"\b(np|torch)\.": "",
    r"\bdim=": "axis=",
    r"\bkeepdim=": "keepdims=",
    r"\bamax\(": "max(",
    r"\brepeat_interleave\(": "repeat(",
    r"\bdef forward\(": "def __call__(",
    r"\(nn\.Module\):": ":",
    r"\bnn\.Parameter\((\w+)\)": r"\1",
}


def defined(package: str, module: str) -> dict[str, ast.stmt]:
    """Return the functions and classes of a module by name."""
    return {
        node.name: node
        for node in parsed(path_of(package, module)).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
    }


def lines(package: str, module: str, without: set[str]) -> list[str]:
    """Return the lines of a module, without some of its definitions."""
    text = path_of(package, module).read_text(encoding="utf-8")
    kept = text.splitlines()
    for name, node in defined(package, module).items():
        if name in without:
            first, last = node.lineno - 1, node.end_lineno or node.lineno
            kept[first:last] = [""] * (last - first)
    return [in_one_idiom(line) for line in kept if line.strip()]


def in_one_idiom(line: str) -> str:
    """Return a line with the words that both libraries could have."""
    for pattern, word in IDIOM.items():
        line = re.sub(pattern, word, line)
    return line.strip()


def compared(module: str) -> tuple[int, int]:
    """Return how many lines of a pair are the same, of how many."""
    names = [set(defined(p, module)) for p in ("numpy_impl", "torch_impl")]
    one = lines("numpy_impl", module, names[0] - names[1])
    other = lines("torch_impl", module, set())
    matcher = difflib.SequenceMatcher(None, one, other, autojunk=False)
    same = sum(block.size for block in matcher.get_matching_blocks())
    return 2 * same, len(one) + len(other)


def test_the_two_sides_are_the_same_lines() -> None:
    pairs = {m: compared(m) for m in MODULES if m not in DIFFERENT_WORK}
    same, whole = map(sum, zip(*pairs.values(), strict=True))
    pairs["all"] = same, whole
    table = "\n".join(
        f"{module:15} {part / size:4.0%}"
        for module, (part, size) in pairs.items()
    )
    print(table)
    assert same / whole >= LEAST, table


def test_a_line_that_differs_is_seen() -> None:
    assert in_one_idiom("    x = np.sum(a, axis=-1)") == in_one_idiom(
        "x = torch.sum(a, dim=-1)"
    )
    assert in_one_idiom("x = np.sum(a)") != in_one_idiom("x = np.mean(a)")
