"""A cache of what programs print for a page, as long as no code changes.

A page is built in two languages, and most programs print the same in both.
The cache belongs to one state of the project's code: when a file changes,
everything is run again.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sphinx.environment import BuildEnvironment

from attention_twice.files import written_whole
from attention_twice.sources import ROOT

CODE = (
    "numpy_impl",
    "torch_impl",
    "attention_twice",
    "parity_tests",
    "docs/_ext",
)
FOLDER = ROOT / ".venv" / "book"


@functools.cache
def files() -> list[str]:
    """Return the files that what a page shows may depend on."""
    found = [path for name in CODE for path in (ROOT / name).rglob("*.py")]
    shown = [path for path in found if not path.name.startswith("test_")]
    words = (ROOT / "attention_twice").rglob("*.po")
    return sorted(map(str, [*shown, *words, ROOT / "attention.py"]))


def depend_on_code(env: BuildEnvironment) -> None:
    """Make Sphinx read the current page again when the code changes."""
    for path in files():
        env.note_dependency(path)


@functools.cache
def state() -> str:
    """Return a digest of the project's code."""
    digest = hashlib.sha256()
    for path in files():
        digest.update(Path(path).read_bytes())
    return digest.hexdigest()


def python(*words: str) -> subprocess.CompletedProcess[str]:
    """Run Python in the project's folder; what it says is UTF-8."""
    return subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
        check=False,
    )


def kept(key: list[str], make: Callable[[], Any]) -> Any:
    """Return what `make` returns, from before if nothing has changed.

    It is kept as JSON, under the key and the state of the code.
    """
    whole = json.dumps([state(), *key]).encode()
    path = FOLDER / f"{hashlib.sha256(whole).hexdigest()}.json"
    if path.is_file():
        return json.loads(path.read_text(encoding="utf-8"))
    found = make()
    FOLDER.mkdir(parents=True, exist_ok=True)
    # Two builds may write the same at once.
    with written_whole(path) as file:
        file.write(json.dumps(found).encode())
    return found
