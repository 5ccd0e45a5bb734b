"""The lesson, to run: `.venv/bin/python attention.py --help` says how."""

from __future__ import annotations

import sys

try:
    from attention_twice.cli import main, start
except (ModuleNotFoundError, KeyboardInterrupt) as error:
    # Whoever imports this file wants the exception; who runs it does not.
    if __name__ != "__main__":
        raise
    if isinstance(error, KeyboardInterrupt):
        sys.exit(130)
    missing = str(error.name).partition(".")[0]
    print(
        f"attention.py: {missing} is not installed for this Python; "
        "try .venv/bin/python attention.py",
        file=sys.stderr,
    )
    sys.exit(2)

__all__ = ["main", "start"]

if __name__ == "__main__":
    start()
