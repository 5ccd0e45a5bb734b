"""`recall`: pairs, then one of them again; looking back by content."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .console import training_bar
from .figures import HeatMap
from .page import Page
from .sections import show_sides
from .sides import Side
from .words import N_

Step = Callable[..., float]


class Variant(NamedTuple):
    """A model of the comparison: its label, its scale, its key and value."""

    label: str
    scale: float | None
    tied: bool


VARIANTS = (
    Variant(N_("attention"), None, tied=False),
    Variant(N_("averaging (scale 0)"), 0.0, tied=False),
    Variant(N_("attention, value = key"), None, tied=True),
)
HEAD = (N_("steps"), N_("loss"), N_("accuracy"), N_("seconds"))


class Learned(NamedTuple):
    """A trained model: its row of the table, and its accuracy."""

    model: Any
    cells: list[str]
    accuracy: float


class Example(NamedTuple):
    """The first pairs of the test: what is shown, and what is right."""

    ids: Any
    tokens: list[str]
    answer: str


def run_recall(
    page: Page, sides: Sequence[Side], steps: int | None = None, seed: int = 0
) -> None:
    """Train on pairs: with attention, with averaging, with value = key."""
    side = sides[0]
    module: Any = side.package.training
    test = module.recall_batch(1000, 2**31 + seed)
    example = first_example(side, test)
    page.title("Looking back by content: pairs, then one of them again")
    show_sides(page, [side])
    page.say(
        "{pairs} pairs, then the first of one of them: {example} → {answer}."
        "\nThe pairs are new every time, so nothing can be learned by heart."
        "\nA guess among the {pairs} partners is right {chance:.0%} of the "
        "time.",
        pairs=module.PAIRS,
        example=" ".join(example.tokens),
        answer=example.answer,
        chance=1 / module.PAIRS,
    )
    rows = [["", *map(page.word, HEAD)]]
    learned = []
    for variant in VARIANTS:
        learned.append(learn(page, side, variant, test, steps or 1000, seed))
        rows.append([page.word(variant.label), *learned[-1].cells])
    page.table(rows)
    show_weights(page, side, learned[0], example)


def first_example(side: Side, test: Any) -> Example:
    """Return the first example of a test."""
    module: Any = side.package.training
    characters = module.STEMS + module.BRANCHES
    ids, targets = (side.package.to_numpy(array) for array in test)
    tokens = list(module.decode(ids[0], characters))
    return Example(test.ids[:1], tokens, characters[targets[0, -1]])


def learn(
    page: Page, side: Side, variant: Variant, test: Any, most: int, seed: int
) -> Learned:
    """Train a model until 99.5 % of the test is right."""
    module: Any = side.package.training
    model = module.recall_model(seed, variant.scale)
    step = module.train_step
    if variant.tied:
        module.tie(model)
        step = module.tied_step
    start, accuracy = time.perf_counter(), 0.0
    label = page.word(variant.label)
    for count, loss in pair_losses(page, label, side, model, step, most):
        if count % 50 == 0 or count == most:
            accuracy = module.accuracy(model, test)
        cells = [f"{count}", f"{loss:.3f}", f"{accuracy:.1%}"]
        if accuracy >= 0.995:
            break
    seconds = time.perf_counter() - start
    return Learned(model, [*cells, f"{seconds:.1f}"], accuracy)


def pair_losses(
    page: Page, label: str, side: Side, model: Any, step: Step, most: int
) -> Iterator[tuple[int, float]]:
    """Train on pairs behind a bar; yield the step and its loss."""
    module: Any = side.package.training
    optimizer = side.package.adam.AdamW(model, module.LEARNING_RATE)
    with training_bar(page.console, label, most) as advance:
        for number in range(most):
            # Never a seed of the test, which are beyond 2³¹.
            loss = step(model, optimizer, module.recall_batch(64, number))
            advance(number + 1, loss)
            yield number + 1, loss


def show_weights(
    page: Page, side: Side, learned: Learned, example: Example
) -> None:
    """Print what the last position of an example attends to."""
    maps = learned.model.weights(example.ids)
    last = [side.package.to_numpy(weights)[0, 0, -1] for weights in maps]
    page.console.print()
    if learned.accuracy >= 0.99:
        page.say(
            "What the last position, {asked}, attends to in each block. It "
            "finds the position\nof its partner {answer}, and copies it.",
            asked=example.tokens[-1],
            answer=example.answer,
        )
    else:
        page.say(
            "What the last position, {asked}, attends to in each block. It "
            "has not learned to\nfind its partner {answer}: {share:.0%} are "
            "right.",
            asked=example.tokens[-1],
            answer=example.answer,
            share=learned.accuracy,
        )
    drawn = HeatMap(
        page.word("What the last position attends to"),
        np.stack(last),
        [page.word("block {block}", block=n + 1) for n in range(len(last))],
        example.tokens,
    )
    page.heat_map("recall-looks", drawn)
