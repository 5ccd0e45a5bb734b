"""What attention costs: time and memory against T, beside SDPA.

Times are medians. The kernels take turns, each with a few runs in a row, of
which the first warm it up. Otherwise the spinning threads of one library
would be charged to the next. Slow kernels get fewer runs. Memory is that of a
process which runs one kernel once, beyond its inputs and output.
"""

from __future__ import annotations

import importlib.util
import itertools
import multiprocessing
import statistics
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch
from rich.table import Table

from attention_twice.console import bar, quiet, terminal
from attention_twice.files import write_json
from attention_twice.machine import forget_peak, free_bytes, risen
from numpy_impl import fast

from ...pages import earlier, require_markers
from ..kernels import Inputs, Kernel, Run, draw, kernels, others
from ..machine import this_machine
from ..plots import require_matplotlib
from .page import MARKERS, PAGE, draw_costs, memory_rows, write_pages
from .record import (
    FLOAT,
    HEADS,
    MODES,
    WIDTH,
    Costs,
    Limits,
    Memory,
    Mode,
    Times,
    as_json,
    exponent,
    from_json,
)

# A kernel that would need more seconds for a run, or more of the memory
# that is free, is left out.
SLOWEST, SHARE = 15.0, 0.6
# Tables of scores that a kernel which keeps them has at once, there and back.
TABLES = 8


def attention(
    lengths: Sequence[int],
    source: Path | None,
    path: Path | None,
    plot: Path | None,
    pages: Path | None,
) -> int:
    """Print what every kernel costs, write what is asked; return 0.

    It is measured, or read from what an earlier run has written.
    """
    if pages is not None:
        require_markers(pages, PAGE, MARKERS)
    if pages is not None or plot is not None:
        require_matplotlib()
    costs = measure(lengths) if source is None else earlier(source, from_json)
    console = terminal(30 + 17 * len(costs.names))
    for mode in MODES:
        console.print(table_of_times(mode, costs))
    console.print(table_of_memory(costs))
    console.print(closing(costs), highlight=False)
    if path is not None:
        write_json(path, as_json(costs))
    if plot is not None:
        draw_costs(plot, costs)
    if pages is not None:
        write_pages(pages, costs)
    return 0


def measure(lengths: Sequence[int]) -> Costs:
    """Time and weigh every kernel."""
    chosen = kernels()
    with quiet(), bar() as progress:
        steps = len(lengths) * len(MODES) + len(chosen)
        task = progress.add_task("attention", total=steps)

        def advance() -> None:
            progress.advance(task)

        times = measure_times(chosen, lengths, advance)
        memory = measure_memory(chosen, lengths, advance)
    packages = [*itertools.chain.from_iterable(others()), "threadpoolctl"]
    return Costs(
        this_machine(filter(importlib.util.find_spec, packages)),
        {"torch": torch.get_num_threads(), "numpy_impl.fast": fast.THREADS},
        machine_limits(),
        times,
        memory,
    )


def measure_times(
    chosen: list[Kernel], lengths: Sequence[int], advance: Callable[[], None]
) -> Times:
    """Return the median seconds of each kernel for each mode and length."""
    times: Times = {}
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
            times[mode, T] = medians
            advance()
    return times


def made(kernel: Kernel, inputs: Inputs, mode: Mode) -> Run | None:
    """Return what a kernel runs, None where it has no backward pass."""
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
    if free is not None and needed > SHARE * free:
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
    return {
        name: statistics.median(seconds) for name, seconds in times.items()
    }


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


def measure_memory(
    chosen: list[Kernel], lengths: Sequence[int], advance: Callable[[], None]
) -> Memory:
    """Return the bytes that each kernel takes beyond inputs and output."""
    memory: Memory = {}
    context = multiprocessing.get_context("spawn")
    # A process for each, so that nothing of another's is counted, nor
    # hidden: what a shorter T has freed would serve the longer one.
    with context.Pool(1, maxtasksperchild=1) as pool:
        for kernel in chosen:
            for T in lengths:
                if affordable(kernel, T, Mode(False, False), None):
                    weighed = pool.apply(weigh, (kernel.name, T))
                    if weighed is not None:
                        memory[kernel.name, T] = weighed
            advance()
    return memory


def weigh(name: str, T: int) -> float | None:
    """Return by how much a kernel raises the memory of this process."""
    kernel = next(kernel for kernel in kernels() if kernel.name == name)
    kernel.there(draw(128, False, HEADS, WIDTH))()
    run = kernel.there(draw(T, False, HEADS, WIDTH))
    before = forget_peak()
    output = run()
    rise = risen(before)
    del output
    return None if rise is None else max(0.0, rise - FLOAT * HEADS * T * WIDTH)


def machine_limits() -> Limits:
    """Measure a large product, exp2 on all cores, and a copy."""
    rng = np.random.default_rng(0)
    square = rng.standard_normal((2048, 2048), dtype=np.float32)
    product = min(timed(lambda: square @ square) for _ in range(7))
    tile = rng.standard_normal((fast.KEYS, fast.QUERIES), dtype=np.float32)
    out = np.empty_like(tile)
    exponential = min(timed(lambda: np.exp2(tile, out=out)) for _ in range(99))
    large = np.zeros(2**25, dtype=np.float32)
    target = np.empty_like(large)
    copied = min(timed(lambda: np.copyto(target, large)) for _ in range(5))
    return Limits(
        2 * 2048**3 / product,
        fast.THREADS * tile.size / exponential,
        2 * large.nbytes / copied,
    )


def table_of_times(mode: Mode, costs: Costs) -> Table:
    """Return one mode's times, each beside SDPA's, and exponents."""
    drawn = Table("T", "least, ms", title=f"{mode}: ms (times SDPA)")
    for name in costs.names:
        drawn.add_column(name, justify="right")
    columns = [costs.seconds(mode, name) for name in costs.names]
    for T in costs.lengths:
        cells = []
        for name, column in zip(costs.names, columns, strict=True):
            ratio = costs.ratio(mode, name, T)
            cells.append(
                "-"
                if ratio is None
                else f"{1000 * column[T]:.4g} ({ratio:.2f})"
            )
        least = f"{1000 * costs.limits.seconds(T, mode):.3g}"
        drawn.add_row(str(T), least, *cells)
    drawn.add_row("exponent", "", *map(exponent, columns))
    return drawn


def table_of_memory(costs: Costs) -> Table:
    """Return the peak of memory beyond inputs and output, forward."""
    drawn = Table(
        "T",
        "table, MiB",
        title="forward, peak of memory beyond inputs and output, MiB",
    )
    for name in costs.names:
        drawn.add_column(name, justify="right")
    for row in memory_rows(costs, "exponent"):
        drawn.add_row(*row)
    return drawn


def closing(costs: Costs) -> str:
    """Return what was measured, and on what."""
    machine, limits = costs.machine, costs.limits
    held = (
        "held back" if "threadpoolctl" in machine.versions else "not held back"
    )
    threads = ", ".join(f"{n} of {name}" for name, n in costs.threads.items())
    return (
        f"float32, B 1, H {HEADS}, D {WIDTH}; threads: {threads}, BLAS's own "
        f'{held} by threadpoolctl; {machine}. "least" is the time of '
        f"the products and exponentials alone, at this machine's "
        f"{limits.flops / 1e9:.0f} Gflop/s and "
        f"{limits.exponentials / 1e9:.1f} exponentials/ns; it copies "
        f"{limits.bytes / 1e9:.0f} GB/s, and a score matrix is written and "
        "read four times."
    )
