"""The page of the book about measured cost, in both languages."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from attention_twice.machine import MIB
from attention_twice.words import translated

from ...pages import BESIDE, grid, in_each_language, publish
from ..kernels import SDPA
from ..machine import machine_lines
from ..plots import write_plot
from .record import FLOAT, HEADS, MODES, Costs, Mode, as_json, exponent

PAGE = "measured"
MARKERS = ("machine", "forward", "back", "memory")


def write_pages(docs: Path, costs: Costs) -> None:
    """Write numbers, plot and both languages of the page."""
    lines = in_each_language(partial(made, costs))
    draw = partial(draw_costs, costs=costs)
    publish(docs, PAGE, draw, as_json(costs), lines)


def made(costs: Costs, tag: str) -> dict[str, list[str]]:
    """Return the lines for every marker of a page."""
    head = ["T", translated(tag, "one score matrix"), *costs.names]
    exponents = translated(tag, "exponent")
    return {
        "machine": about(costs, tag),
        "forward": times(costs, False, tag),
        "back": times(costs, True, tag),
        "memory": grid(head, memory_rows(costs, exponents)),
    }


def about(costs: Costs, tag: str) -> list[str]:
    """Return the machine, and the largest speeds measured on it."""
    flops, exponentials, copied = (x / 1e9 for x in costs.limits)
    threads = ", ".join(f"{name} {n}" for name, n in costs.threads.items())
    limits = translated(
        tag,
        "{flops:.0f} Gflop/s, {exponentials:.1f} exponentials/ns, "
        "copies {copied:.0f} GB/s",
        flops=flops,
        exponentials=exponentials,
        copied=copied,
    )
    return [
        *machine_lines(costs.machine, tag),
        "- " + translated(tag, "Threads: {threads}", threads=threads),
        f"- {limits}",
    ]


def times(costs: Costs, back: bool, tag: str) -> list[str]:
    """Return the table of times, not causal / causal.

    SDPA's are milliseconds, the others' multiples of them.
    """
    modes = [mode for mode in MODES if mode.back == back]
    names = [name for name in costs.names if name != SDPA]

    def line(T: int) -> list[str]:
        least = (costs.least(mode, T) for mode in modes)
        torchs = (milliseconds(costs, mode, SDPA).get(T) for mode in modes)
        ratios = (
            pair(costs.ratio(mode, name, T) for mode in modes)
            for name in names
        )
        return [str(T), pair(least), pair(torchs), *ratios]

    fits = (
        BESIDE.join(exponent(costs.seconds(mode, name)) for mode in modes)
        for name in costs.names
    )
    least, sdpa = translated(tag, "least"), translated(tag, "SDPA, ms")
    exponents = (f.replace(f"-{BESIDE}-", "-") for f in fits)
    last = [translated(tag, "exponent"), "", *exponents]
    return grid(["T", least, sdpa, *names], [*map(line, costs.lengths), last])


def milliseconds(costs: Costs, mode: Mode, name: str) -> dict[int, float]:
    """Return the times of one by T."""
    return {T: 1000 * s for T, s in costs.seconds(mode, name).items()}


def pair(values: Iterable[float | None]) -> str:
    """Return two numbers as text."""
    texts = ["-" if v is None else brief(v) for v in values]
    return "-" if set(texts) == {"-"} else BESIDE.join(texts)


def brief(value: float) -> str:
    """Return a number with one decimal where that says something."""
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def memory_rows(costs: Costs, word: str) -> list[list[str]]:
    """Return the peak of memory in MiB, and what it grows with.

    What is 0 in the table is noise, and no part of the fit.
    """
    columns = [costs.mebibytes(name) for name in costs.names]
    rows = [
        [
            str(T),
            f"{FLOAT * HEADS * T * T / MIB:.0f}",
            *(
                f"{column[T]:.0f}" if T in column else "-"
                for column in columns
            ),
        ]
        for T in costs.lengths
    ]
    seen = (
        {T: v for T, v in column.items() if v >= 0.5} for column in columns
    )
    return [*rows, [word, "2.00", *map(exponent, seen)]]


def draw_costs(path: Path, costs: Costs) -> None:
    """Write time and memory against T as SVG; forward, not causal.

    Less than a MiB is drawn as one, since 0 has no logarithm.
    """
    mode = Mode(causal=False, back=False)
    panels = {
        "ms": {n: milliseconds(costs, mode, n) for n in costs.names},
        "MiB": {
            name: {T: max(1.0, v) for T, v in costs.mebibytes(name).items()}
            for name in costs.names
        },
    }
    write_plot(path, panels)
