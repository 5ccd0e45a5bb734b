"""The output of the program: words, tables and heat maps."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .figures import HeatMap
from .words import RefusalError, translated

# Rows of text that belong to the columns of a heat map, by their labels.
Rows = Sequence[tuple[str, Iterable[str]]]


def columns() -> int:
    """Return the columns of the terminal."""
    return shutil.get_terminal_size().columns


class Page:
    """Where words, tables and heat maps go: a terminal or plain text."""

    def __init__(
        self, lang: str, plain: bool, program: str = "attention.py"
    ) -> None:
        self.lang = lang
        # How the program is started, as a person would type it.
        self.program = (
            f".venv/bin/python {program}"
            if program.endswith(".py")
            else program
        )
        # The folder for heat maps.
        self.plot: Path | None = None
        # PyTorch is installed and does not load, and that has been said.
        self.torch_fails = False
        self.zero_explained = False
        # A narrower terminal breaks a line of a table; rich would cut it.
        self.console = Console(
            width=79,
            color_system=None if plain else "auto",
            force_terminal=False if plain else None,
            highlight=False,
            markup=False,
            emoji=False,
        )

    def word(self, message: str, /, **values: Any) -> str:
        """Return a message in the page's language."""
        return translated(self.lang, message, **values)

    def title(self, message: str, /, **values: Any) -> None:
        """Print a heading."""
        self.console.print()
        self.line(Text(self.word(message, **values), style="bold"))

    def say(self, message: str, /, **values: Any) -> None:
        """Print a message; a narrow terminal breaks its lines anew."""
        text = self.word(message, **values)
        if self.is_narrow():
            text = text.replace("\n", " " if self.lang == "en" else "")
        self.line(Text(text))

    def is_narrow(self) -> bool:
        """Return whether a terminal is narrower than what is written for."""
        return self.console.is_terminal and columns() < self.console.width

    def line(self, text: Text) -> None:
        """Print text; lines that are too long break between words."""
        if self.is_narrow():
            self.console.print(text, width=columns())
        else:
            self.console.print(text, soft_wrap=True)

    def grid(self, rows: Iterable[Sequence[Text]]) -> None:
        """Print rows of cells in columns; CJK characters are two wide."""
        table = Table.grid()
        for number, row in enumerate(rows):
            if number == 0:
                table.add_column(no_wrap=True)
                for _ in row[1:]:
                    table.add_column(no_wrap=True, justify="right")
            table.add_row(*row)
        self.console.print(table)

    def table(self, rows: Iterable[Sequence[str]], width: int = 1) -> None:
        """Print rows of text: a label, and cells of at least this width."""
        self.grid(
            [Text(label), *(Text(f"  {cell:>{width}}") for cell in cells)]
            for label, *cells in rows
        )

    def compare(self, rows: dict[str, NDArray[Any]]) -> None:
        """Print numbers that should be equal, one row above the other."""
        self.grid(
            [Text(label), *(Text(f"{x:8.3f}") for x in row)]
            for label, row in rows.items()
        )

    def heat_map(
        self, name: str, drawn: HeatMap, above: Rows = (), below: Rows = ()
    ) -> None:
        """Print weights on their colours, and draw them if asked to.

        Above and below them stand rows of text in the same columns.
        """
        weights = zip(drawn.rows, drawn.weights.tolist(), strict=True)
        self.grid(
            [
                text_cells("", drawn.columns),
                *(text_cells(*row) for row in above),
                *(
                    [Text(label), *map(heat_cell, row)]
                    for label, row in weights
                ),
                *(text_cells(*row) for row in below),
            ]
        )
        if not self.zero_explained and np.any(drawn.weights == 0):
            self.say("· is exactly 0.")
            self.zero_explained = True
        if self.plot is not None:
            self.draw(self.plot / f"{name}.svg", drawn.write)

    def draw(self, path: Path, write: Callable[[Path], None]) -> None:
        """Write a picture and say where it is, or what is in the way."""
        try:
            write(path)
        except OSError as error:
            raise cannot_plot(path, error) from error
        self.say("wrote {path}", path=path)


def cannot_plot(path: Path, error: OSError) -> RefusalError:
    """Return the error for a path where no picture can be written."""
    return RefusalError(
        "--plot cannot write to {path}: {reason}",
        path=path,
        reason=error.strerror,
    )


def text_cells(label: str, row: Iterable[str]) -> list[Text]:
    """Return a row of text in the columns of a heat map."""
    return [Text(label), *(Text(f" {cell:>5}") for cell in row)]


# Five colours of matplotlib's viridis, which its heat maps have too.
VIRIDIS = (
    (68, 1, 84),
    (59, 82, 139),
    (33, 145, 140),
    (94, 201, 98),
    (253, 231, 37),
)


def heat_cell(weight: float) -> Text:
    """Return a weight with its colour behind it; an exact 0 is a dot."""
    position = min(max(weight, 0.0), 1.0) * (len(VIRIDIS) - 1)
    left = min(int(position), len(VIRIDIS) - 2)
    red, green, blue = (
        round(a + (b - a) * (position - left))
        for a, b in zip(VIRIDIS[left], VIRIDIS[left + 1], strict=True)
    )
    ink = "black" if weight > 0.6 else "white"
    text = f"{'·' if weight == 0 else format(weight, '.2f'):>6}"
    return Text(text, style=f"{ink} on rgb({red},{green},{blue})")
