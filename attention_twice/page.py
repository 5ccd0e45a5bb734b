"""Where the program prints: words, tables and heat maps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .figures import write_heat_map
from .words import fail, word


class Page:
    """Where words, tables and heat maps go: a terminal or plain text."""

    def __init__(self, lang: str, plain: bool) -> None:
        self.lang = lang
        self.plot: Path | None = None
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

    def word(self, key: str, **values: Any) -> str:
        """Return the words of `key` in the page's language."""
        return word(self.lang, key, **values)

    def title(self, key: str, **values: Any) -> None:
        """Print a heading."""
        self.console.print()
        self.line(Text(self.word(key, **values), style="bold"))

    def say(self, key: str, **values: Any) -> None:
        """Print what WORDS has under `key`."""
        self.line(Text(self.word(key, **values)))

    def line(self, text: Text) -> None:
        """Print text as it is, without breaking its lines anew."""
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

    def compare(self, rows: dict[str, NDArray[Any]]) -> None:
        """Print numbers that should be equal, one row above the other."""
        self.grid(
            [Text(self.word(key)), *(Text(f"{x:8.3f}") for x in row)]
            for key, row in rows.items()
        )

    def matrix(
        self,
        name: str,
        values: NDArray[Any],
        rows: Sequence[str],
        columns: Sequence[str],
        above: Sequence[tuple[str, Iterable[str]]] = (),
        below: Sequence[tuple[str, Iterable[str]]] = (),
        token: str = "光",
    ) -> None:
        """Print a matrix of weights as a heat map, and write it if asked.

        Above and below it may stand rows of text in the same columns.
        """

        def cells(label: str, row: Iterable[str]) -> list[Text]:
            return [Text(label), *(Text(f" {cell:>5}") for cell in row)]

        self.grid(
            [
                cells("", columns),
                *(cells(*row) for row in above),
                *(
                    [Text(label), *map(heat_cell, row)]
                    for label, row in zip(rows, values.tolist(), strict=True)
                ),
                *(cells(*row) for row in below),
            ]
        )
        if not self.zero_explained and np.any(values == 0):
            self.say("zero")
            self.zero_explained = True
        if self.plot is not None:
            path = self.plot / f"{name}.svg"
            title = self.word(name.replace("-", " "), token=token)
            self.draw(path, title, values, rows, columns)

    def draw(
        self,
        path: Path,
        title: str,
        values: NDArray[Any],
        rows: Sequence[str],
        columns: Sequence[str],
    ) -> None:
        """Write a matrix as a heat map."""
        self.write(
            path, partial(write_heat_map, path, title, values, rows, columns)
        )

    def write(self, path: Path, writer: Callable[[], None]) -> None:
        """Write a picture and say where it is, or what is in the way."""
        try:
            writer()
        except OSError as error:
            fail(self.lang, "bad folder", path=path, reason=error.strerror)
        self.say("wrote", path=path)


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
    place = min(max(weight, 0.0), 1.0) * (len(VIRIDIS) - 1)
    left = min(int(place), len(VIRIDIS) - 2)
    red, green, blue = (
        round(a + (b - a) * (place - left))
        for a, b in zip(VIRIDIS[left], VIRIDIS[left + 1], strict=True)
    )
    ink = "black" if weight > 0.6 else "white"
    text = f"{'·' if weight == 0 else format(weight, '.2f'):>6}"
    return Text(text, style=f"{ink} on rgb({red},{green},{blue})")
