"""Files are written whole or not at all."""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


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
