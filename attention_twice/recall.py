"""Training on pairs: looking back by content."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from rich.text import Text

from .arguments import Arguments
from .console import training_bar
from .page import Page
from .sections import show_versions
from .sides import Version


def run_recall(page: Page, version: Version, arguments: Arguments) -> None:
    """Train on pairs: with attention, with averaging, with value = key."""
    room: Any = version.package.training
    characters = room.STEMS + room.BRANCHES
    test = room.recall_batch(1000, 2**31 + arguments.seed)
    ids, targets = (version.package.to_numpy(a) for a in test)
    example = room.decode(ids[0], characters)
    answer = characters[targets[0, -1]]
    page.title("recall")
    show_versions(page, [version])
    page.say(
        "text recall",
        pairs=room.PAIRS,
        example=" ".join(example),
        answer=answer,
        chance=1 / room.PAIRS,
    )
    most = arguments.steps or 1000
    rows = [["", *map(page.word, ("steps", "loss", "right", "seconds"))]]
    models, shares = [], []
    for name, scale, step in (
        ("attention", None, room.train_step),
        ("averaging", 0.0, room.train_step),
        ("value is key", None, room.tied_step),
    ):
        own = room.recall_model(arguments.seed, scale)
        if step is room.tied_step:
            room.tie(own)
        label = page.word(name)
        result = learn_pairs(page, label, version, own, step, test, most)
        rows.append([label, *result.cells])
        models.append(own)
        shares.append(result.right)
    page.grid(
        [Text(row[0]), *(Text(f"  {c}") for c in row[1:])] for row in rows
    )
    maps = models[0].weights(test.ids[:1])
    last = [version.package.to_numpy(w)[0, 0, -1] for w in maps]
    page.console.print()
    said = "text found" if shares[0] >= 0.99 else "text not found"
    page.say(said, asked=example[-1], answer=answer, share=shares[0])
    names = [page.word("block", block=n + 1) for n in range(len(last))]
    page.matrix("recall-looks", np.stack(last), names, list(example))


class Learned(NamedTuple):
    """What came of training on pairs: a row of the table, and its share."""

    cells: list[str]
    right: float


def learn_pairs(
    page: Page,
    label: str,
    version: Version,
    model: Any,
    step: Callable[..., float],
    test: Any,
    most: int,
) -> Learned:
    """Train until 99.5 % of the test is right; return what came of it."""
    room: Any = version.package.training
    start, right = time.perf_counter(), 0.0
    for count, loss in pair_losses(page, label, version, model, step, most):
        if count % 50 == 0 or count == most:
            right = room.accuracy(model, test)
        numbers = (f"{count}", f"{loss:.3f}", f"{right:.1%}")
        if right >= 0.995:
            break
    seconds = time.perf_counter() - start
    return Learned([*numbers, f"{seconds:.1f}"], right)


def pair_losses(
    page: Page,
    label: str,
    version: Version,
    model: Any,
    step: Callable[..., float],
    most: int,
) -> Iterator[tuple[int, float]]:
    """Train on pairs behind a bar; yield the step and its loss."""
    room: Any = version.package.training
    optimizer = version.package.adam.AdamW(model, room.LEARNING_RATE)
    with training_bar(page, label, most) as advance:
        for number in range(most):
            # Never a seed of the test, which are beyond 2³¹.
            loss = step(model, optimizer, room.recall_batch(64, number))
            advance(number + 1, loss)
            yield number + 1, loss
