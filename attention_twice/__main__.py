"""`python -m attention_twice`: the program, as `python attention.py`."""

from __future__ import annotations

import signal
import sys
from contextlib import suppress
from typing import NoReturn


def start(prog: str = "attention-twice") -> NoReturn:
    """Run the program and end Python with its exit status."""
    try:
        from .cli import main

        status = main(prog)
    except ModuleNotFoundError as error:
        missing = str(error.name).partition(".")[0]
        print(
            f"{prog}: {missing} is not installed for this Python; "
            "try .venv/bin/python attention.py",
            file=sys.stderr,
        )
        status = 2
    except KeyboardInterrupt:
        status = 130
    # All is done: a Ctrl-C while Python ends would change the status alone.
    with suppress(KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(status)


if __name__ == "__main__":
    start("python -m attention_twice")
