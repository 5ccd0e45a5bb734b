"""Whole trainings: which tasks are learned, and which cannot be."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import numpy_impl
from parity_tests.cases.sharpness import RECORDED, WIDTHS
from parity_tests.tests.program.running import printed

# A guess among the partners of four pairs.
CHANCE = 1 / 4


def learned(
    side: ModuleType,
    most: int,
    scale: float | None = None,
    tied: bool = False,
) -> float:
    """Return the accuracy on unseen pairs after training.

    Training ends at 99 %, or after a number of steps.
    """
    module: Any = side.training
    model = module.recall_model(0, scale)
    if tied:
        module.tie(model)
    optimizer = side.adam.AdamW(model, module.LEARNING_RATE)
    step = module.tied_step if tied else module.train_step
    test = module.recall_batch(1000, 2**31)
    share = 0.0
    while optimizer.step_count < most and share < 0.99:
        step(model, optimizer, module.recall_batch(64, optimizer.step_count))
        if optimizer.step_count % 50 == 0 or optimizer.step_count == most:
            share = module.accuracy(model, test)
    return share


def test_looking_back_by_content_is_learned(side: ModuleType) -> None:
    assert learned(side, 1) < 0.2
    assert learned(side, 1000) >= 0.99


def test_with_averaging_it_is_not() -> None:
    # Who knows which four partners there are guesses one of them.
    assert learned(numpy_impl, 250, scale=0.0) < CHANCE + 0.1


def test_without_the_scale_it_is_not() -> None:
    assert learned(numpy_impl, 250, scale=1.0) < CHANCE + 0.1


def test_with_value_tied_to_key_it_is() -> None:
    assert learned(numpy_impl, 1000, tied=True) >= 0.99


def test_the_poem_is_known_by_heart(side: ModuleType) -> None:
    module: Any = side.training
    characters = module.vocabulary(module.POEM)
    text = module.encode(module.POEM, characters)
    model = module.poem_model(len(characters), 19)
    optimizer = side.adam.AdamW(model, module.LEARNING_RATE)
    for number in range(40):
        module.train_step(
            model, optimizer, module.text_batch(text, 19, 1, number)
        )
    said = module.decode(module.continue_text(model, text[:1], 19), characters)
    assert said == module.POEM
    start = module.decode(module.continue_text(model, text[:4], 1), characters)
    assert start == "床前明月光"


@pytest.mark.parametrize("page", ["en", "zh_Hant"])
def test_the_page_has_the_recorded_numbers(page: str) -> None:
    root = Path(__file__).parents[3]
    text = (root / "docs" / page / "training.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| (.*) \|$", text, re.MULTILINE)
    numbers = {int(D): tuple(map(float, row.split(" | "))) for D, row in rows}
    assert numbers == RECORDED


def test_the_widths_are_those_of_the_experiment(
    side: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    assert side.experiments.WIDTHS == WIDTHS
    name = side.__name__.removesuffix("_impl")
    out = printed(
        capsys, "scale", "--lang", "en", "--impl", name, "--steps", "8"
    )
    rows = [line.split() for line in out.splitlines()]
    for row in (["64", "3.68", "0.52", "0.18", "0.16"], ["d", "entropy"]):
        assert any(printed_row[: len(row)] == row for printed_row in rows), out
