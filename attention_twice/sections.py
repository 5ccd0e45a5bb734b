"""The five sections of the lesson."""

from __future__ import annotations

import importlib
import importlib.util
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.text import Text

from .page import Page
from .sides import VERSIONS, Version, largest_difference, sdpa_difference


def show_section_1(page: Page, version: Version) -> None:
    """Print section 1."""
    tokens = version.lesson.TOKENS
    numbers = version.section(1)
    page.matrix("section-1", numbers["weights"], tokens, tokens)
    past = version.package.to_numpy(version.inputs.past)
    page.compare(
        {"row 3": numbers["means"][2], "mean of 3": past[:3].mean(axis=0)}
    )


def show_section_2(page: Page, version: Version) -> None:
    """Print section 2."""
    lesson, numbers = version.lesson, version.section(2)
    page.matrix(
        "section-2",
        np.stack([numbers["weights"], numbers["sharp_weights"]]),
        [
            page.word("weight"),
            page.word("sharp weight", times=lesson.SHARPNESS),
        ],
        lesson.TOKENS,
        key_rows(page, version, numbers["scores"]),
    )


def key_rows(
    page: Page, version: Version, scores: NDArray[Any]
) -> list[tuple[str, Iterable[str]]]:
    """Return the keys and the scores of section 2 as rows of text."""
    keys = np.asarray(version.lesson.KEYS).T
    rows = {"key 0": keys[0], "key 1": keys[1], "score": scores}
    return [
        (page.word(key), [score(x) for x in row]) for key, row in rows.items()
    ]


def score(x: float) -> str:
    """Return a score as text that fits a column, whatever the query."""
    return format(x, ".2f" if abs(x) < 1000 else ".1e")


def show_section_3(page: Page, version: Version) -> None:
    """Print section 3."""
    tokens = version.lesson.TOKENS
    page.matrix("section-3", version.section(3)["weights"], tokens, tokens)


def show_section_4(page: Page, version: Version) -> None:
    """Print section 4."""
    numbers = version.section(4)
    page.say("columns 4")
    names = ("deviation", "unscaled", "scaled")
    first, *rest = (page.word(name) for name in names)
    header = ["d", first, "√d", *rest]
    rows = [
        [str(d), *(f"{x:.2f}" for x in (deviation, math.sqrt(d), *weights))]
        for d, deviation, *weights in zip(
            version.lesson.WIDTHS,
            *(numbers[name] for name in names),
            strict=True,
        )
    ]
    page.grid([Text(f"  {c:>10}") for c in row] for row in (header, *rows))


def show_section_5(page: Page, version: Version) -> None:
    """Print section 5."""
    tokens = version.lesson.TOKENS
    numbers = version.section(5)
    page.say(
        "shapes",
        x=tuple(version.inputs.x.shape),
        query=numbers["query"].shape,
        output=numbers["output"].shape,
    )
    weights, value = numbers["weights"], numbers["value"]
    page.matrix("section-5", weights, tokens, tokens)
    gathered = sum(w * v for w, v in zip(weights[-1], value, strict=True))
    page.compare(
        {
            "last output": numbers["output"][-1][:4],
            "weighted values": np.asarray(gathered)[:4],
        }
    )


def show_sdpa(page: Page, versions: Sequence[Version], causal: bool) -> None:
    """Print how far each version's head lies from PyTorch's function."""
    if all(version.name == VERSIONS["numpy"] for version in versions):
        torch = importlib.util.find_spec("torch")
        page.say("no sdpa" if torch else "no torch sdpa")
        return
    page.say("sdpa")
    for version in versions:
        steps = version.to_numpy(version.head(causal))
        difference = sdpa_difference(steps, causal)
        page.line(Text(f"  {version.name} {difference:.1e}"))


SECTIONS = (
    show_section_1,
    show_section_2,
    show_section_3,
    show_section_4,
    show_section_5,
)


def run_lesson(
    page: Page, versions: Sequence[Version], sections: Sequence[int]
) -> None:
    """Print the sections, and after each how far the versions differ."""
    lesson = versions[0].lesson
    page.title("title")
    page.say("poem", tokens=" ".join(lesson.TOKENS))
    show_versions(page, versions)
    for number in sections:
        page.title(f"section {number}")
        page.say(
            f"text {number}",
            token=lesson.TOKENS[-1],
            query=vector(lesson.QUERY),
        )
        SECTIONS[number - 1](page, versions[0])
        if number == 5:
            show_sdpa(page, versions, causal=True)
        if len(versions) == 2:
            one, other = (version.section(number) for version in versions)
            page.say("difference", largest=largest_difference(one, other))
        if number == 5:
            page.say("cost")
    page.console.print()
    page.say("next")


def show_versions(page: Page, versions: Sequence[Version]) -> None:
    """Print which version computes."""
    names = [version.name for version in versions]
    if VERSIONS["torch"] not in names:
        page.say("numpy")
        return
    import torch

    key = "both" if len(names) == 2 else "torch"
    page.say(key, version=torch.__version__)


def vector(numbers: Iterable[float]) -> str:
    """Return numbers as they are written in a text: [1, 0]."""
    return f"[{', '.join(format(x, 'g') for x in numbers)}]"
