"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any


@contextmanager
def written_whole(path: Path) -> Iterator[IO[bytes]]:
    """Yield a new file that takes the place of `path` when all is written.

    It has a name that nothing had before. Where `path` is a link, what it
    leads to is replaced, and what may not be written to is not.
    """
    path = path.resolve()
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    unfinished = path.with_name(f"{secrets.token_hex(8)}.part")
    with open(unfinished, "xb") as file:
        try:
            yield file
            file.close()
            unfinished.replace(path)
        finally:
            with suppress(OSError):
                unfinished.unlink()


def write_json(path: Path, content: Any) -> None:
    """Write JSON, whole or not at all."""
    text = json.dumps(content, indent=1, ensure_ascii=False)
    with written_whole(path) as file:
        file.write(f"{text}\n".encode())


@contextmanager
def folder_whole(path: Path) -> Iterator[Path]:
    """Yield a new folder that is put at `path` when all is written."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=path.parent) as beside:
        unfinished = Path(beside) / path.name
        unfinished.mkdir()
        yield unfinished
        shutil.move(str(unfinished), str(path))
