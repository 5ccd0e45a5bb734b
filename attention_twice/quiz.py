"""Three questions, whose answers have numbers from the lesson."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .page import Page
from .sides import Side
from .words import N_


class Question(NamedTuple):
    """A question and its answer."""

    question: str
    answer: str


QUESTIONS = (
    Question(
        N_("1  What do query, key and value each do?"),
        N_(
            "The query asks, the key is what the query is compared with, and "
            "the\nvalue is what is handed over. In section 2 the query of "
            "{token} and the\nkey of {best} have the score {score:.2f}: in a "
            "head with these weights {weight:.0%}\nof the output of {token} "
            "would be the value of {best}. Values do not\nchange the weights."
        ),
    ),
    Question(
        N_("2  How is the causal mask made, and why before the softmax?"),
        N_(
            "On the diagonal and below it scores stay, above it they become "
            "-inf:\na position is trained to predict what comes next and "
            "must not see it.\nAfter the softmax, weights set to 0 would "
            "leave row 1 of section 3 with\na sum of {late:.2f}, and each "
            "row would have to be divided by its sum once\nmore; -inf before "
            "it gives {early:.2f} at once."
        ),
    ),
    Question(
        N_("3  Why are the scores divided by √d?"),
        N_(
            "A dot product adds d products, so its standard deviation grows "
            "as √d:\nfor d = {d} it was {deviation:.2f}, and √d is "
            "{root:.2f}. Such scores give one\nkey nearly all of the weight, "
            "{unscaled:.2f} on average, and the others\nhardly any gradient; "
            "divided, it is {scaled:.2f}."
        ),
    ),
)


def run_quiz(page: Page, sides: Sequence[Side], answers: bool = False) -> None:
    """Print the questions, and each answer when it is asked for."""
    wait = not answers and sys.stdin.isatty() and sys.stdout.isatty()
    page.title("Three questions")
    for (question, answer), values in zip(
        QUESTIONS, quiz_numbers(sides[0]), strict=True
    ):
        page.title(question)
        if wait:
            page.say("Press Enter for the answer.")
            input()
        if wait or answers:
            page.say(answer, **values)
    if not wait and not answers:
        page.console.print()
        page.say("The answers: {program} quiz --answers", program=page.program)


def quiz_numbers(side: Side) -> list[dict[str, Any]]:
    """Return what the answers say in numbers, computed from the lesson."""
    lesson = side.lesson
    match, back, widths = (side.section(number) for number in (2, 3, 4))
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
