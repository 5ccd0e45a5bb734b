"""The three exercises."""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.text import Text

from .console import progress
from .machine import MIB, free_bytes
from .page import Page
from .sections import key_rows, show_sdpa, vector
from .sides import VERSIONS, Version, largest_difference
from .words import fail

# Tables of scores that stand in memory at once at the peak: the scores,
# the masked scores, their powers and the weights, and the mask itself.
PEAK_TABLES = 4.5


def run_exercise_1(
    page: Page, versions: Sequence[Version], query: Sequence[float]
) -> None:
    """Print the weights of another query beside those of section 2."""
    lesson = versions[0].lesson
    before = versions[0].section(2)["weights"]
    after, *others = (
        version.to_numpy(version.lesson.match_keys(tuple(query)))
        for version in versions
    )
    token = lesson.TOKENS[-1]
    page.title("exercise 1", token=token)
    page.say(
        "text e1",
        token=token,
        before=vector(lesson.QUERY),
        after=vector(query),
    )
    changes = after["weights"] - before
    page.matrix(
        "exercise-1",
        np.stack([after["sharp_weights"], after["weights"], before]),
        [
            page.word("sharp weight", times=lesson.SHARPNESS),
            page.word("weight"),
            page.word("weight before"),
        ],
        lesson.TOKENS,
        key_rows(page, versions[0], after["scores"]),
        [(page.word("change"), [f"{x:+.2f}" for x in changes])],
    )
    for other in others:
        page.say("difference", largest=largest_difference(after, other))


def run_exercise_2(page: Page, versions: Sequence[Version]) -> None:
    """Print the head with its mask and without it."""
    first = versions[0]
    tokens = first.lesson.TOKENS
    page.title("exercise 2")
    page.say("text e2")
    masked = first.to_numpy(first.head(causal=True))
    page.matrix("section-5", masked["weights"], tokens, tokens)
    opened, *others = (v.to_numpy(v.head(causal=False)) for v in versions)
    page.console.print()
    page.matrix("exercise-2", opened["weights"], tokens, tokens)
    show_sdpa(page, versions, causal=False)
    for other in others:
        page.say("difference", largest=largest_difference(opened, other))


RUNS = 3


WIDTH = 64


def run_exercise_3(
    page: Page, versions: Sequence[Version], lengths: Sequence[int]
) -> None:
    """Print the time of a head for each length, and how it grows."""
    page.title("exercise 3")
    page.say("text e3", width=WIDTH, runs=RUNS)
    if any(version.name == VERSIONS["torch"] for version in versions):
        page.say("text e3 torch")
    steps = len(lengths) * len(versions)
    with progress(page.word("timing"), steps) as advance:
        times: list[list[float]] = []
        for T in lengths:
            times.append([])
            for version in versions:
                times[-1].append(median_time(version, T))
                advance()
    names = (page.word("time", name=version.name) for version in versions)
    rows = [["T", page.word("table"), *names]]
    for T, row in zip(lengths, times, strict=True):
        cells = (f"{seconds * 1000:.1f}" for seconds in row)
        rows.append([str(T), f"{table_bytes(T) / MIB:.1f}", *cells])
    fitted = len(set(lengths)) > 1
    if fitted:
        slopes = (
            slope(lengths, column) for column in zip(*times, strict=True)
        )
        cells = (f"{x:.2f}" for x in slopes)
        rows.append([page.word("exponent"), "2.00", *cells])
    page.grid(
        [Text(row[0]), *(Text(f"  {c:>12}") for c in row[1:])] for row in rows
    )
    if fitted:
        page.say("text exponent")


def median_time(version: Version, T: int) -> float:
    """Return the seconds one causal head of T positions takes."""
    package: Any = version.package
    randn = package.generator.Generator(0).randn
    query, key, value = (randn(T, WIDTH) for _ in range(3))
    mask = package.masks.causal_mask(T, T)
    times = []
    for _ in range(1 + RUNS):
        start = time.perf_counter()
        package.attention.attention(query, key, value, mask)
        times.append(time.perf_counter() - start)
    # The first run warms up: it loads what the others find loaded.
    return statistics.median(times[1:])


def slope(lengths: Sequence[int], times: Sequence[float]) -> float:
    """Return the exponent p of the line time = c · Tᵖ through the points."""
    logs = [math.log(T) for T in lengths], [math.log(t) for t in times]
    return statistics.linear_regression(*logs).slope


def table_bytes(T: int) -> int:
    """Return the bytes of one table of T × T scores in float32."""
    return 4 * T * T


def check_room(lang: str, T: int) -> None:
    """Refuse a table of scores that the memory has no room for."""
    free = free_bytes()
    peak = PEAK_TABLES * table_bytes(T)
    if free is None or peak <= free:
        return
    fail(
        lang,
        "no room",
        T=T,
        table=table_bytes(T) / MIB,
        peak=peak / MIB,
        free=free / MIB,
        fits=math.isqrt(int(free / PEAK_TABLES / table_bytes(1))),
    )
