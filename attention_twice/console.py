"""What is drawn on a terminal: its width, and bars that show progress."""

from __future__ import annotations

import shutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
)

Item = TypeVar("Item")


def terminal(width: int = 79) -> Console:
    """Return standard output: as wide as the terminal, `width` in a file."""
    return Console(width=None if sys.stdout.isatty() else width)


@contextmanager
def quiet() -> Iterator[None]:
    """Leave out the warnings of numbers that are inf and NaN on purpose."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def bar() -> Progress:
    """Return a progress bar on standard error, hidden from a file."""
    stderr = Console(stderr=True)
    hidden = not stderr.is_terminal
    return Progress(console=stderr, transient=True, disable=hidden)


def tracked(items: Iterable[Item], label: str) -> Iterator[Item]:
    """Yield items behind a progress bar, if a person is there to see it."""
    items = list(items)
    with quiet(), bar() as progress:
        task = progress.add_task(label, total=len(items))
        for item in items:
            yield item
            progress.advance(task)


@contextmanager
def training_bar(
    shown: Console, label: str, steps: int
) -> Iterator[Callable[[int, float], None]]:
    """Show a bar with the loss; yield what moves it to a step."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[loss]}"),
        TimeElapsedColumn(),
    )
    hidden = not shown.is_terminal
    # A bar that is wider than the terminal would leave its lines behind.
    width = shown.width
    shown.width = min(width, shutil.get_terminal_size().columns)
    with Progress(
        *columns, console=shown, transient=True, disable=hidden
    ) as progress:
        task = progress.add_task(label, total=steps, loss="")
        yield lambda step, loss: progress.update(
            task, completed=step, loss=f"{loss:.4f}"
        )
    shown.width = width
