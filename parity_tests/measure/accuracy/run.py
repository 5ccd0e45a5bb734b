"""Accuracy: the error of each version, and of torch's function.

The reference is the definition in NumPy's long double, which on x86-64 has
11 bits more than float64; `test_report.py` compares it with the scalar
loops. The error of a row of the output is the largest of its elements, in
units of u · max|value|, where u is the unit roundoff of the dtype. Rounding
the exact output once costs at most one such unit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from torch.nn.functional import scaled_dot_product_attention

from attention_twice.console import terminal, tracked
from attention_twice.files import write_json

from ...cases.draw import rounded
from ...judges.bounds import unit_roundoff
from ...judges.small_tiles import settings
from ...pages import earlier, require_markers
from ...suite.versions import NUMPY, TORCH, Version
from ..kernels import SDPA
from ..machine import this_machine
from ..plots import require_matplotlib
from .page import MARKERS, PAGE, write_pages
from .record import Cell, Errors, as_json, from_json

DTYPES = ("float64", "float32", "float16", "bfloat16")
LENGTHS = (256, 1024, 4096, 16384)
SPREADS = (1.0, 10.0, 100.0, 1e4)
HEADS, ROWS, WIDTH = 8, 32, 64
WIDE = np.finfo(np.longdouble).nmant > np.finfo(np.float64).nmant


def draw(dtype: str, T: int, spread: float) -> list[NDArray[Any]]:
    """Draw query, key, value, by the standard deviation of their scores."""
    rng = np.random.default_rng([T, int(spread), DTYPES.index(dtype)])
    query = spread * rng.standard_normal((1, HEADS, ROWS, WIDTH))
    key = rng.standard_normal((1, HEADS, T, WIDTH))
    value = rng.standard_normal((1, HEADS, T, WIDTH))
    return [rounded(array, dtype) for array in (query, key, value)]


def reference(*arrays: NDArray[Any]) -> NDArray[np.longdouble]:
    """Return softmax(Q Kᵀ / √D) V in long double."""
    query, key, value = (array.astype(np.longdouble) for array in arrays)
    root = np.sqrt(np.longdouble(query.shape[-1]))
    scores = np.matmul(query, key.mT) / root
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
    output: NDArray[np.longdouble] = np.matmul(weights, value)
    return output


def on_numpy(version: Version, path: str) -> Callable[..., NDArray[Any]]:
    """Return a version's function on NumPy arrays of a dtype."""

    def call(dtype: str, *arrays: NDArray[Any]) -> NDArray[Any]:
        if not version.has(dtype):
            # NumPy has no bfloat16: its float32, rounded once, stands in.
            return rounded(call("float32", *arrays), dtype)
        function = version.function(path)
        result = function(*(version.array(a, dtype) for a in arrays))
        output: NDArray[Any] = version.numpy(getattr(result, "output", result))
        return output

    return call


def sdpa(dtype: str, *arrays: NDArray[Any]) -> NDArray[Any]:
    """Return the output of torch's function, on its default backend."""
    tensors = (TORCH.array(a, dtype) for a in arrays)
    output: NDArray[Any] = TORCH.numpy(scaled_dot_product_attention(*tensors))
    return output


def by_proof(dtype: str, *arrays: NDArray[Any]) -> NDArray[Any]:
    """Return the output of fast, made to try its proof at any size."""
    with settings(NUMPY, "fast", WORTH=0):
        return on_numpy(NUMPY, f"fast.{TILED}")(dtype, *arrays)


ALL, TILED = "sdpa.scaled_dot_product_attention", "flash_attention"
FUNCTIONS: dict[str, Callable[..., NDArray[Any]]] = {
    SDPA: sdpa,
    f"{NUMPY.name} naive": on_numpy(NUMPY, ALL),
    f"{TORCH.name} naive": on_numpy(TORCH, ALL),
    f"{NUMPY.name} flash": on_numpy(NUMPY, f"flash.{TILED}"),
    f"{TORCH.name} flash": on_numpy(TORCH, f"flash.{TILED}"),
    f"{NUMPY.name} fast": by_proof,
}


def measure(dtype: str, T: int, spread: float) -> Cell:
    """Return the errors of every function in one cell."""
    arrays = draw(dtype, T, spread)
    exact = reference(*arrays)
    unit = unit_roundoff(dtype) * np.abs(arrays[2]).max()
    medians, worst = {}, {}
    for name, function in FUNCTIONS.items():
        output = function(dtype, *arrays)
        errors = np.abs(output.astype(np.longdouble) - exact).max(axis=-1)
        medians[name] = float(np.median(errors) / unit)
        worst[name] = float(errors.max() / unit)
    return Cell(dtype, T, spread, medians, worst)


def cells(longest: int) -> list[tuple[str, int, float]]:
    """Return where to measure: every dtype, length and spread."""
    return [
        (dtype, T, spread)
        for dtype in DTYPES
        if dtype != "float64" or WIDE
        for T in LENGTHS
        if longest >= T
        for spread in SPREADS
    ]


def accuracy(
    longest: int, source: Path | None, path: Path | None, pages: Path | None
) -> int:
    """Print the table; return 0 if no version is worse than it may be.

    Errors are measured, or read from what an earlier run has written.
    """
    wanted = cells(longest)
    if not wanted:
        print(
            f"accuracy: --longest is {longest}, expected {LENGTHS[0]} or more",
            file=sys.stderr,
        )
        return 2
    if pages is not None:
        require_markers(pages, PAGE, MARKERS)
        require_matplotlib()
    if source is None:
        measured = [measure(*where) for where in tracked(wanted, "accuracy")]
        errors = Errors(this_machine(), measured)
    else:
        errors = earlier(source, from_json)
    if path is not None:
        write_json(path, as_json(errors))
    console = terminal(100)
    console.print(table(errors.cells))
    if not WIDE:
        console.print("float64 needs a long double of more than 64 bits")
    console.print(
        f"Errors in units of u · max|value|: the median and the worst of "
        f"{HEADS * ROWS} rows, D = {WIDTH}; of the others as multiples of "
        f"SDPA's. {errors.machine}.",
        highlight=False,
    )
    if pages is not None:
        write_pages(pages, errors)
    missed = sum(not cell.within() for cell in errors.cells)
    console.print(f"{len(errors.cells) - missed} passed, {missed} failed")
    return 1 if missed else 0


def table(cells: list[Cell]) -> Table:
    """Return the table of errors."""
    drawn = Table("dtype", "T", "spread")
    for name in FUNCTIONS:
        drawn.add_column(name, justify="right")
    for cell in cells:
        row = [cell.dtype, str(cell.length), f"{cell.spread:g}"]
        row.append(f"{cell.medians[SDPA]:.3g}, {cell.worst[SDPA]:.3g}")
        for name in FUNCTIONS:
            if name != SDPA:
                row.append("{:.2f}, {:.2f}".format(*cell.ratios(name)))
        drawn.add_row(*row, style=None if cell.within() else "red")
    return drawn
