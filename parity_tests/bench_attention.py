"""What attention costs: time and memory against T, beside SDPA.

Times are medians of runs in turn: every kernel has a few runs in a row, of
which the first warm it up, and then the next has its turn. What another
library's threads still do when they have nothing to do would else be
counted to the one that comes after. What takes long needs fewer. Memory is
that of a process which runs one kernel alone, beyond its inputs and output.
"""

from __future__ import annotations

import math
import multiprocessing
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from rich.console import Console
from rich.table import Table

from attention import free_bytes, write_figure
from numpy_impl import fast

from .kernels import SDPA, Inputs, Kernel, Run, draw, kernels
from .memory import MIB, forget_peak, risen
from .report import bar, quiet, write_json

HEADS, WIDTH, FLOAT = 8, 64, 4
# A kernel that would need more seconds for a run, or more of the memory
# that is free, is left out.
SLOWEST, ROOM = 15.0, 0.6
# Tables of scores that a kernel which keeps them has at once, there and back.
TABLES = 8


class Mode(NamedTuple):
    """Causal or not, there or there and back."""

    causal: bool
    back: bool

    def __str__(self) -> str:
        """Return it in words."""
        causal = "causal" if self.causal else "not causal"
        return f"{causal}, forward{' + backward' if self.back else ''}"


MODES = [
    Mode(causal, back) for back in (False, True) for causal in (False, True)
]


def attention(
    lengths: Sequence[int], path: Path | None, plot: Path | None
) -> int:
    """Time and weigh every kernel, print the tables, write what is asked."""
    chosen = kernels()
    with quiet(), bar() as progress:
        steps = len(lengths) * len(MODES) + len(chosen)
        task = progress.add_task("attention", total=steps)

        def advance() -> None:
            progress.advance(task)

        times = measure_times(chosen, lengths, advance)
        memory = measure_memory(chosen, lengths, advance)
    limits = machine_limits()
    console = Console(
        width=None if sys.stdout.isatty() else 30 + 17 * len(chosen)
    )
    for mode in MODES:
        console.print(table_of_times(mode, times, lengths, chosen, limits))
    console.print(table_of_memory(memory, lengths, chosen))
    console.print(closing(limits), highlight=False)
    if path is not None:
        write_json(path, as_json(times, memory, limits))
    if plot is not None:
        draw_costs(plot, times, memory)
    return 0


Times = dict[tuple[Mode, int], dict[str, float]]


def measure_times(
    chosen: list[Kernel], lengths: Sequence[int], advance: Callable[[], None]
) -> Times:
    """Return the median seconds of each kernel for each mode and length."""
    found: Times = {}
    for mode in MODES:
        last: dict[str, tuple[int, float]] = {}
        for T in lengths:
            inputs = draw(T, mode.causal, HEADS, WIDTH)
            runs = {
                kernel.name: made(kernel, inputs, mode)
                for kernel in chosen
                if affordable(kernel, T, mode, last.get(kernel.name))
            }
            medians = in_turns({n: run for n, run in runs.items() if run})
            last |= {name: (T, seconds) for name, seconds in medians.items()}
            found[mode, T] = medians
            advance()
    return found


def made(kernel: Kernel, inputs: Inputs, mode: Mode) -> Run | None:
    """Return what a kernel runs, None where it has no way back."""
    if not mode.back:
        return kernel.there(inputs)
    return None if kernel.and_back is None else kernel.and_back(inputs)


def affordable(
    kernel: Kernel, T: int, mode: Mode, last: tuple[int, float] | None
) -> bool:
    """Return whether there is memory and time for a kernel."""
    tables = TABLES if mode.back else TABLES / 2
    needed = tables * FLOAT * HEADS * T * T if kernel.table else 0
    free = free_bytes()
    if free is not None and needed > ROOM * free:
        return False
    expected = 0.0 if last is None else last[1] * (T / last[0]) ** 2
    return expected <= SLOWEST


def in_turns(runs: dict[str, Run]) -> dict[str, float]:
    """Return the median seconds of each, some of each in turn.

    As many turns as fit into some seconds, three at least and twenty at
    most.
    """
    first = {name: timed(run) for name, run in runs.items()}
    turns = min(20, max(3, int(2 / sum(first.values()))))
    times: dict[str, list[float]] = {name: [] for name in runs}
    for _ in range(turns):
        for name, run in runs.items():
            warm, counted = runs_in_a_turn(first[name])
            for _ in range(warm):
                run()
            times[name] += [timed(run) for _ in range(counted)]
    return {name: statistics.median(own) for name, own in times.items()}


def runs_in_a_turn(seconds: float) -> tuple[int, int]:
    """Return how many runs warm up and how many count, by their length."""
    if seconds > 0.5:
        return 0, 1
    return (1, 1) if seconds > 0.1 else (2, 3)


def timed(run: Run) -> float:
    """Return the seconds of one run."""
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


Memory = dict[tuple[str, int], float]


def measure_memory(
    chosen: list[Kernel], lengths: Sequence[int], advance: Callable[[], None]
) -> Memory:
    """Return the bytes that each kernel takes beyond inputs and output."""
    found: Memory = {}
    context = multiprocessing.get_context("spawn")
    for kernel in chosen:
        possible = [
            T
            for T in lengths
            if affordable(kernel, T, Mode(False, False), None)
        ]
        # A process of its own, so that nothing of another's is counted.
        with context.Pool(1) as pool:
            weighed = pool.apply(weigh, (kernel.name, possible))
        found |= {(kernel.name, T): bytes_ for T, bytes_ in weighed.items()}
        advance()
    return found


def weigh(name: str, lengths: list[int]) -> dict[int, float]:
    """Return how far a kernel makes the memory of this process rise."""
    kernel = next(kernel for kernel in kernels() if kernel.name == name)
    kernel.there(draw(128, False, HEADS, WIDTH))()
    found = {}
    for T in lengths:
        run = kernel.there(draw(T, False, HEADS, WIDTH))
        before = forget_peak()
        output = run()
        rise = risen(before)
        del output
        if rise is None:
            break
        found[T] = max(0.0, rise - FLOAT * HEADS * T * WIDTH)
    return found


class Limits(NamedTuple):
    """What this machine does at most: products, powers, bytes a second."""

    flops: float
    powers: float
    bytes: float

    def seconds(self, T: int, mode: Mode) -> float:
        """Return the time of a kernel that did nothing but what it must.

        There: two products of T² D multiplications and additions, and T²
        powers, for each head; back: five products, and the powers again.
        """
        seen = (T + 1) / 2 / T if mode.causal else 1.0
        products, powers = (7, 2) if mode.back else (2, 1)
        pairs = HEADS * T * T * seen
        flops = products * 2 * pairs * WIDTH
        return flops / self.flops + powers * pairs / self.powers


def machine_limits() -> Limits:
    """Measure a large product, exp2 on all cores, and a copy."""
    rng = np.random.default_rng(0)
    square = rng.standard_normal((2048, 2048), dtype=np.float32)
    product = min(timed(lambda: square @ square) for _ in range(7))
    tile = rng.standard_normal((fast.KEYS, fast.QUERIES), dtype=np.float32)
    out = np.empty_like(tile)
    power = min(timed(lambda: np.exp2(tile, out=out)) for _ in range(99))
    large = np.zeros(2**25, dtype=np.float32)
    target = np.empty_like(large)
    copied = min(timed(lambda: np.copyto(target, large)) for _ in range(5))
    return Limits(
        2 * 2048**3 / product,
        fast.THREADS * tile.size / power,
        2 * large.nbytes / copied,
    )


def table_of_times(
    mode: Mode,
    times: Times,
    lengths: Sequence[int],
    chosen: list[Kernel],
    limits: Limits,
) -> Table:
    """Return one mode's times, each beside SDPA's, and exponents."""
    drawn = Table("T", "least, ms", title=f"{mode}: ms (times SDPA)")
    names = [k.name for k in chosen]
    for name in names:
        drawn.add_column(name, justify="right")
    for T in lengths:
        own = times[mode, T]
        cells = [
            f"{1000 * own[n]:.4g} ({own[n] / own[SDPA]:.2f})"
            if n in own
            else "-"
            for n in names
        ]
        least = f"{1000 * limits.seconds(T, mode):.3g}"
        drawn.add_row(str(T), least, *cells)
    slopes = [
        exponent({T: times[mode, T].get(n) for T in lengths}) for n in names
    ]
    drawn.add_row("exponent", "", *slopes)
    return drawn


def exponent(values: dict[int, float | None]) -> str:
    """Return the exponent p of c · Tᵖ, fitted to T ≥ 1024; - if too few."""
    points = [
        (math.log(T), math.log(v)) for T, v in values.items() if v and T > 1000
    ]
    if len(points) < 2:
        return "-"
    fit = statistics.linear_regression(*zip(*points, strict=True))
    return f"{fit.slope:.2f}"


def table_of_memory(
    memory: Memory, lengths: Sequence[int], chosen: list[Kernel]
) -> Table:
    """Return the peak of memory beyond inputs and output, forward."""
    drawn = Table(
        "T",
        "table, MiB",
        title="forward, peak of memory beyond inputs and output, MiB",
    )
    names = [k.name for k in chosen]
    for name in names:
        drawn.add_column(name, justify="right")
    for T in lengths:
        found = [memory.get((n, T)) for n in names]
        cells = ["-" if b is None else f"{b / MIB:.1f}" for b in found]
        drawn.add_row(str(T), f"{FLOAT * HEADS * T * T / MIB:.0f}", *cells)
    slopes = [
        exponent({T: memory.get((n, T)) for T in lengths}) for n in names
    ]
    drawn.add_row("exponent", "", *slopes)
    return drawn


def closing(limits: Limits) -> str:
    """Return what was measured, and on what."""
    held = "held back" if fast.blas_threads() else "not held back"
    return (
        f"float32, B 1, H {HEADS}, D {WIDTH}, {torch.get_num_threads()} "
        f"threads of torch, {fast.THREADS} of numpy_impl.fast, BLAS's own "
        f"{held} by threadpoolctl; torch {torch.__version__}, numpy "
        f'{np.__version__}, {platform.machine()}. "least" is the time of '
        f"the products and powers alone, at this machine's "
        f"{limits.flops / 1e9:.0f} Gflop/s and {limits.powers / 1e9:.1f} "
        f"powers/ns; it copies {limits.bytes / 1e9:.0f} GB/s, and a table of "
        "scores is written and read four times."
    )


def as_json(times: Times, memory: Memory, limits: Limits) -> dict[str, Any]:
    """Return all numbers: seconds and bytes."""
    return {
        "times": [
            {"mode": str(mode), "T": T, "seconds": own}
            for (mode, T), own in times.items()
        ],
        "memory": [
            {"kernel": name, "T": T, "bytes": own}
            for (name, T), own in memory.items()
        ],
        "limits": limits._asdict(),
        "torch": torch.__version__,
        "numpy": np.__version__,
        "machine": platform.machine(),
        "threads": fast.THREADS,
    }


def draw_costs(path: Path, times: Times, memory: Memory) -> None:
    """Write time and memory against T, both axes logarithmic, as SVG."""
    own: dict[str, dict[int, float]] = {}
    for (mode, T), seconds in times.items():
        if mode == Mode(False, False):
            for name, value in seconds.items():
                own.setdefault(name, {})[T] = 1000 * value
    weights: dict[str, dict[int, float]] = {}
    for (name, T), value in memory.items():
        if value > 0:
            weights.setdefault(name, {})[T] = value / MIB

    def panels(figure: Any) -> None:
        left, right = figure.subplots(1, 2)
        for axes, lines, label in (
            (left, own, "forward, ms"),
            (right, weights, "memory beyond inputs and output, MiB"),
        ):
            for name, line in lines.items():
                pair = (list(line), list(line.values()))
                axes.plot(*pair, marker="o", label=name)
            axes.set(xscale="log", yscale="log", xlabel="T", ylabel=label)
            axes.set_xticks(sorted({T for _, T in times}))
            axes.xaxis.set_major_formatter("{x:.0f}")
            axes.minorticks_off()
        left.legend()

    write_figure(path, (10, 5), panels)
