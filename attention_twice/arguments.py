"""What the command line says."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class Arguments(NamedTuple):
    """What the command line says, and where it is silent, the default."""

    command: str
    impl: str
    lang: str
    sections: list[int]
    plain: bool
    plot: Path | None
    query: list[float]
    lengths: list[int]
    answers: bool
    text: Path | None
    checkpoint: Path | None
    steps: int | None
    seed: int
    help: bool
