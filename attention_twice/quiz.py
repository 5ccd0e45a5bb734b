"""Three questions, with numbers from the lesson."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from .page import Page
from .sides import Version


def run_quiz(page: Page, versions: Sequence[Version], answers: bool) -> None:
    """Print the questions, and each answer when it is asked for."""
    wait = not answers and sys.stdin.isatty() and sys.stdout.isatty()
    numbers = quiz_numbers(versions[0])
    page.title("quiz")
    for question, values in enumerate(numbers, start=1):
        page.title(f"question {question}")
        if wait:
            page.say("show")
            input()
        if wait or answers:
            page.say(f"answer {question}", **values)
    if not wait and not answers:
        page.console.print()
        page.say("answers")


def quiz_numbers(version: Version) -> list[dict[str, Any]]:
    """Return what the answers say in numbers, computed from the lesson."""
    lesson = version.lesson
    match, back, widths = (version.section(number) for number in (2, 3, 4))
    best = int(np.argmax(match["weights"]))
    unmasked = np.exp(back["scores"][0])
    return [
        {
            "token": lesson.TOKENS[-1],
            "best": lesson.TOKENS[best],
            "score": match["scores"][best],
            "weight": match["weights"][best],
        },
        {
            "late": unmasked[0] / unmasked.sum(),
            "early": back["weights"][0].sum(),
        },
        {
            "d": lesson.WIDTHS[-1],
            "root": math.sqrt(lesson.WIDTHS[-1]),
            **{name: column[-1] for name, column in widths.items()},
        },
    ]
