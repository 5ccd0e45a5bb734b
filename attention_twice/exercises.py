"""The three exercises: another query, no mask, and what length costs."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from .console import tracked
from .figures import HeatMap
from .machine import MIB, free_bytes
from .page import Page
from .sections import (
    SECTIONS,
    key_rows,
    sharp_weight,
    show_difference,
    show_sdpa,
    vector,
)
from .sides import NAMES, Side, largest_difference
from .words import N_, RefusalError

RUNS = 3
# The dimension of the head whose time is measured.
D = 64
# Score matrices that are in memory at once at the peak: the scores, the
# masked scores, their exponentials and the weights, and the mask itself.
PEAK_MATRICES = 4.5


def run_exercise_1(
    page: Page, sides: Sequence[Side], query: Sequence[float] = (0, 1)
) -> None:
    """Print the weights of another query beside those of section 2."""
    first = sides[0]
    before = first.section(2)["weights"]
    after, *others = (
        side.to_numpy(side.lesson.match_keys(tuple(query))) for side in sides
    )
    token = first.lesson.TOKENS[-1]
    title = N_("Exercise 1  Another query for {token}")
    page.title(title, token=token)
    page.say(
        "The query of {token} was {before}; now it is {after}.\n"
        "The keys are the same, so only the question has changed.\n"
        "Try your own: exercise 1 --query 0.5 0.5",
        token=token,
        before=vector(first.lesson.QUERY),
        after=vector(query),
    )
    drawn = HeatMap(
        page.word(title, token=token),
        np.stack([after["sharp_weights"], after["weights"], before]),
        [
            sharp_weight(page, first),
            page.word("weight"),
            page.word("weight before"),
        ],
        first.lesson.TOKENS,
    )
    changes = [f"{x:+.2f}" for x in after["weights"] - before]
    page.heat_map(
        "exercise-1",
        drawn,
        above=key_rows(page, first, after["scores"]),
        below=[(page.word("change"), changes)],
    )
    for other in others:
        show_difference(page, largest_difference(after, other))


def run_exercise_2(page: Page, sides: Sequence[Side]) -> None:
    """Print the head with its mask and without it."""
    first = sides[0]
    tokens = first.lesson.TOKENS
    title = N_("Exercise 2  The head without its causal mask")
    page.title(title)
    page.say(
        "With the mask (above) and without it (below): every position now\n"
        "sees the whole line. The last row had seen it all before."
    )
    masked = first.to_numpy(first.head(causal=True))["weights"]
    head = page.word(SECTIONS[4].title)
    page.heat_map("section-5", HeatMap(head, masked, tokens, tokens))
    opened, *others = (
        side.to_numpy(side.head(causal=False)) for side in sides
    )
    page.console.print()
    drawn = HeatMap(page.word(title), opened["weights"], tokens, tokens)
    page.heat_map("exercise-2", drawn)
    show_sdpa(page, sides, causal=False)
    for other in others:
        show_difference(page, largest_difference(opened, other))


def run_exercise_3(
    page: Page,
    sides: Sequence[Side],
    lengths: Sequence[int] = (1000, 2000, 4000),
) -> None:
    """Print the time of a head for each length, and how it grows."""
    check_memory(max(lengths))
    page.title("Exercise 3  What length costs")
    page.say(
        "One causal head of dimension {D}, float32; the median of {runs} "
        "runs, after\none to warm up. "
        "Try your own: exercise 3 --lengths 500 1000 2000",
        D=D,
        runs=RUNS,
    )
    if any(side.name == NAMES["torch"] for side in sides):
        page.say(
            "PyTorch runs the head written out step by step here, not its "
            "fused\nfunction."
        )
    runs = [(side, T) for T in lengths for side in sides]
    measured = [
        median_time(*run) for run in tracked(runs, page.word("timing"))
    ]
    times = np.reshape(measured, (len(lengths), len(sides)))
    names = (page.word("{name}, ms", name=side.name) for side in sides)
    rows = [["T", page.word("score matrix, MiB"), *names]]
    for T, row in zip(lengths, times * 1000, strict=True):
        cells = (f"{milliseconds:.1f}" for milliseconds in row)
        rows.append([str(T), f"{matrix_bytes(T) / MIB:.1f}", *cells])
    if len(set(lengths)) == 1:
        page.table(rows, width=12)
        return
    exponents = (
        f"{exponent(lengths, column):.2f}" for column in times.T.tolist()
    )
    page.table([*rows, [page.word("exponent"), "2.00", *exponents]], width=12)
    page.say("Time grows as T to the power of the exponent; the matrix as T².")


def median_time(side: Side, T: int) -> float:
    """Return the seconds one causal head of T positions takes."""
    package: Any = side.package
    randn = package.generator.Generator(0).randn
    query, key, value = (randn(T, D) for _ in range(3))
    mask = package.masks.causal_mask(T, T)
    times = []
    for _ in range(1 + RUNS):
        start = time.perf_counter()
        package.attention.attention(query, key, value, mask)
        times.append(time.perf_counter() - start)
    # The first run warms up: it loads what the others find loaded.
    return statistics.median(times[1:])


def exponent(lengths: Sequence[int], times: Sequence[float]) -> float:
    """Return the exponent p of the line time = c · Tᵖ through the points."""
    logs = [math.log(T) for T in lengths], [math.log(t) for t in times]
    return statistics.linear_regression(*logs).slope


def matrix_bytes(T: int) -> int:
    """Return the bytes of one matrix of T × T scores in float32."""
    return 4 * T * T


def check_memory(T: int) -> None:
    """Refuse a score matrix that does not fit the free memory."""
    free = free_bytes()
    peak = PEAK_MATRICES * matrix_bytes(T)
    if free is None or peak <= free:
        return
    raise RefusalError(
        "--lengths {T}: the score matrix takes {matrix:.0f} MiB, with its "
        "copies {peak:.0f} MiB; {free:.0f} MiB are free, enough for {fits}",
        T=T,
        matrix=matrix_bytes(T) / MIB,
        peak=peak / MIB,
        free=free / MIB,
        fits=math.isqrt(int(free / PEAK_MATRICES / matrix_bytes(1))),
    )
