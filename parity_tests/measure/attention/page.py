"""The page of the book about measured cost, in both languages."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from attention_twice.machine import MIB

from ...pages import BESIDE, grid, publish
from ..kernels import SDPA
from ..machine import machine_lines
from ..plots import write_plot
from .record import FLOAT, HEADS, MODES, Costs, Mode, as_json, exponent

PAGE = "measured"
MARKERS = ("machine", "forward", "back", "memory")
WORDS = {
    "en": {
        "least": "least",
        "SDPA": "SDPA, ms",
        "table": "one score matrix",
        "exponent": "exponent",
        "threads": "Threads: {}",
        "limits": "{:.0f} Gflop/s, {:.1f} exponentials/ns, copies {:.0f} GB/s",
    },
    "zh_Hant": {
        "least": "下限",
        "SDPA": "SDPA（ms）",
        "table": "一個分數矩陣",
        "exponent": "指數",
        "threads": "執行緒：{}",
        "limits": "{:.0f} Gflop/s，每 ns 算 {:.1f} 個指數函數，"
        "複製 {:.0f} GB/s",
    },
}


def write_pages(docs: Path, costs: Costs) -> None:
    """Write numbers, plot and both languages of the page."""
    lines = {lang: made(costs, lang) for lang in WORDS}
    draw = partial(draw_costs, costs=costs)
    publish(docs, PAGE, draw, as_json(costs), lines)


def made(costs: Costs, language: str) -> dict[str, list[str]]:
    """Return the lines for every marker of a page."""
    words = WORDS[language]
    head = ["T", words["table"], *costs.names]
    return {
        "machine": about(costs, language),
        "forward": times(costs, False, words),
        "back": times(costs, True, words),
        "memory": grid(head, memory_rows(costs, words["exponent"])),
    }


def about(costs: Costs, language: str) -> list[str]:
    """Return the machine, and the largest speeds measured on it."""
    words, limits = WORDS[language], costs.limits
    threads = ", ".join(f"{name} {n}" for name, n in costs.threads.items())
    return [
        *machine_lines(costs.machine, language),
        "- " + words["threads"].format(threads),
        "- " + words["limits"].format(*(x / 1e9 for x in limits)),
    ]


def times(costs: Costs, back: bool, words: dict[str, str]) -> list[str]:
    """Return the table of times, not causal / causal.

    SDPA's are milliseconds, the others' multiples of them.
    """
    modes = [mode for mode in MODES if mode.back == back]
    names = [name for name in costs.names if name != SDPA]

    def line(T: int) -> list[str]:
        least = (costs.least(mode, T) for mode in modes)
        own = (milliseconds(costs, mode, SDPA).get(T) for mode in modes)
        ratios = (
            pair(costs.ratio(mode, name, T) for mode in modes)
            for name in names
        )
        return [str(T), pair(least), pair(own), *ratios]

    fits = (
        BESIDE.join(exponent(costs.seconds(mode, name)) for mode in modes)
        for name in costs.names
    )
    return grid(
        ["T", words["least"], words["SDPA"], *names],
        [
            *map(line, costs.lengths),
            [
                words["exponent"],
                "",
                *(f.replace(f"-{BESIDE}-", "-") for f in fits),
            ],
        ],
    )


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
            *(f"{own[T]:.0f}" if T in own else "-" for own in columns),
        ]
        for T in costs.lengths
    ]
    seen = ({T: v for T, v in own.items() if v >= 0.5} for own in columns)
    return [*rows, [word, "2.00", *map(exponent, seen)]]


def draw_costs(path: Path, costs: Costs) -> None:
    """Write time and memory against T as SVG; forward, not causal.

    Less than a MiB is drawn as one: a logarithm has no place for none.
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
