"""Progress bars."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial

from rich.console import Console

from .page import Page


@contextmanager
def progress(label: str, steps: int) -> Iterator[Callable[[], None]]:
    """Show a progress bar on a terminal's standard error; yield its step."""
    from rich.progress import Progress

    console = Console(stderr=True)
    hidden = not console.is_terminal
    with Progress(console=console, transient=True, disable=hidden) as bar:
        task = bar.add_task(label, total=steps)
        yield partial(bar.advance, task)


@contextmanager
def training_bar(
    page: Page, label: str, steps: int
) -> Iterator[Callable[[int, float], None]]:
    """Show a bar with the loss; yield what moves it to a step."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[loss]}"),
        TimeElapsedColumn(),
    )
    console = page.console
    hidden = not console.is_terminal
    # A bar that is wider than the terminal would leave its lines behind.
    width = console.width
    console.width = min(width, shutil.get_terminal_size().columns)
    with Progress(
        *columns, console=console, transient=True, disable=hidden
    ) as bar:
        task = bar.add_task(label, total=steps, loss="")
        yield lambda step, loss: bar.update(
            task, completed=step, loss=f"{loss:.4f}"
        )
    console.width = width
