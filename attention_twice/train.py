"""`train`: a small model learns a text, and what it then attends to."""

from __future__ import annotations

import math
import signal
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich.text import Text

from .checkpoint import owner, read_checkpoint, write_checkpoint
from .console import training_bar
from .figures import HeatMap
from .page import Page
from .sections import show_sides
from .sides import Numbers, Side
from .words import N_, RefusalError, visible


class Training:
    """A model that learns a text, and the file that keeps what it knows."""

    def __init__(
        self,
        side: Side,
        text: Path | None = None,
        checkpoint: Path | None = None,
        seed: int = 0,
    ) -> None:
        self.package: Any = side.package
        self.module: Any = side.package.training
        self.seed = seed
        self.text = self.module.POEM if text is None else read_text(text)
        self.path = checkpoint or default_checkpoint(text, seed)
        self.characters = self.module.vocabulary(self.text)
        self.ids = self.module.encode(self.text, self.characters)
        self.T = min(len(self.text) - 1, 32)
        # Stretches that ask for every character but the first.
        last = len(self.text) - 1 - self.T
        self.starts = [*range(0, last, self.T), last]
        self.B = min(len(self.starts), 16)
        V = len(self.characters)
        self.model = self.module.poem_model(V, self.T, seed)
        self.optimizer = self.package.adam.AdamW(
            self.model, self.module.LEARNING_RATE
        )

    def step(self) -> float:
        """Take a step on the batch that belongs to it; return the loss."""
        number = 1_000_003 * self.seed + self.optimizer.step_count
        batch = self.module.text_batch(self.ids, self.T, self.B, number)
        loss: float = self.module.train_step(self.model, self.optimizer, batch)
        return loss

    def accuracy(self, stop: Callable[[], bool] = lambda: False) -> float:
        """Return the share of the text's characters that it predicts.

        0 if `stop` tells it to stop before it has looked through the text.
        """
        shares = []
        for start in self.starts:
            if stop():
                return 0.0
            shown = self.ids[start : start + self.T + 1]
            batch = self.module.Batch(shown[:-1], shown[1:])
            shares.append(self.module.accuracy(self.model, batch))
        mean: float = statistics.mean(shares)
        return mean

    def sample(self, count: int) -> str:
        """Return what it says after the text's first character."""
        ids = self.module.continue_text(self.model, self.ids[:1], count - 1)
        return visible(self.module.decode(ids, self.characters))

    def state(self) -> Numbers:
        """Return what a checkpoint holds, as NumPy arrays without objects."""
        learned = self.package.language_model.parameters(self.model)
        arrays = {
            **{f"weight.{name}": w for name, w in learned.items()},
            **self.optimizer.state_dict(),
        }
        return {
            **{name: self.package.to_numpy(a) for name, a in arrays.items()},
            "belongs": owner(self.text, self.seed),
            "count": np.asarray(self.optimizer.step_count),
        }

    def save(self) -> None:
        """Write the checkpoint."""
        write_checkpoint(self.path, self.state())

    def resume(self) -> bool:
        """Go on from the checkpoint, if there is one."""
        kept = read_checkpoint(self.path, self.state())
        if kept is None:
            return False
        del kept["belongs"]
        count = int(kept.pop("count"))
        arrays = {n: self.package.from_numpy(a) for n, a in kept.items()}
        weights = {
            n.removeprefix("weight."): a
            for n, a in arrays.items()
            if n.startswith("weight.")
        }
        self.package.language_model.set_parameters(self.model, weights)
        self.optimizer.load_state_dict(count, arrays)
        return True


def default_checkpoint(text: Path | None, seed: int) -> Path:
    """Return where a training is kept: a file for each text and seed."""
    stem = "poem" if text is None else text.name
    return Path(f"{stem}-{seed}.npz" if seed else f"{stem}.npz")


def read_text(path: Path) -> str:
    """Return the text of a file, or say what is wrong with it."""
    try:
        text = path.read_text(encoding="utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise RefusalError(
            "--text {path} is not UTF-8: byte {number} cannot be decoded",
            path=path,
            number=error.start + 1,
        ) from error
    except OSError as error:
        raise RefusalError(
            "--text cannot read {path}: {reason}",
            path=path,
            reason=error.strerror,
        ) from error
    if len(text) < 2:
        raise RefusalError(
            "--text {path}: characters found: {count}, expected 2 or more",
            path=path,
            count=len(text),
        )
    return text


@contextmanager
def stop_asked() -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether Ctrl-C was pressed.

    The first press lets the current step finish; another, at least a second
    later, raises KeyboardInterrupt. On leaving after a press SIGINT is
    ignored: what is left to do is too short to be interrupted.
    """
    pressed: list[float] = []

    def note(*_: Any) -> None:
        now = time.monotonic()
        if pressed and now > pressed[0] + 1:
            raise KeyboardInterrupt
        pressed.append(now)

    before = signal.signal(signal.SIGINT, note)
    try:
        yield lambda: bool(pressed)
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN if pressed else before)


def run_train(
    page: Page,
    sides: Sequence[Side],
    text: Path | None = None,
    checkpoint: Path | None = None,
    steps: int | None = None,
    seed: int = 0,
) -> None:
    """Train a model on a text, and show what it then attends to."""
    side = sides[0]
    training = Training(side, text, checkpoint, seed)
    resumed = training.resume()
    # Before anything is learned: what cannot be kept need not be.
    training.save()
    introduce(page, side, training)
    if resumed:
        page.say(
            "Resumes from step {step}, saved in {path}.",
            step=training.optimizer.step_count,
            path=training.path,
        )
    # To the end, since a terminal may send Ctrl-C twice in one moment.
    with stop_asked() as stop:
        train(page, training, steps, stop)
        training.save()
        if stop():
            page.say("Stopped; what was learned is saved.")
        else:
            show_result(page, training)
        page.say("saved in {path}", path=training.path)
        show_weights(page, side, training)


def introduce(page: Page, side: Side, training: Training) -> None:
    """Print what is trained, and on what."""
    blocks = training.model.blocks
    learned = side.package.language_model.parameters(training.model)
    page.title("Training: predict the next character")
    show_sides(page, [side])
    page.say(
        "A model of {blocks} blocks with {heads} heads each, "
        "{count} parameters in all, sees the\ntext again and again: "
        "{characters} characters, {kinds} different ones.",
        blocks=len(blocks),
        heads=blocks[0].attention.H,
        count=sum(math.prod(w.shape) for w in learned.values()),
        characters=len(training.text),
        kinds=len(training.characters),
    )


def train(
    page: Page,
    training: Training,
    most: int | None,
    stop: Callable[[], bool],
) -> None:
    """Train until the text is known, or `stop` says that Ctrl-C was pressed.

    With a number of steps it is trained for so many, known or not.
    """
    shown = min(len(training.text), 40)
    last = training.optimizer.step_count + (most or 1000)
    saved = time.monotonic()
    with training_bar(page.console, page.word("training"), last) as advance:
        while training.optimizer.step_count < last and not stop():
            step = training.optimizer.step_count
            # Looking through a long text costs as much as many steps.
            due = step % len(training.starts) == 0
            if most is None and due and training.accuracy(stop) == 1:
                break
            loss = training.step()
            if not math.isfinite(loss):
                break
            step = training.optimizer.step_count
            advance(step, loss)
            if step.bit_count() == 1:
                page.say(
                    "step {step:>5}   loss {loss:7.4f}   {sample}",
                    step=step,
                    loss=loss,
                    sample=training.sample(shown),
                )
            if time.monotonic() > saved + 10:
                training.save()
                saved = time.monotonic()


def show_result(page: Page, training: Training) -> None:
    """Say how much of the text it knows."""
    share, step = training.accuracy(), training.optimizer.step_count
    known = training.sample(min(len(training.text), training.T + 1))
    if share == 1:
        shown = min(4, len(known) - 1)
        page.say(
            "After {step} steps it knows the text by heart: after {start} "
            "it says {next}.",
            step=step,
            start=known[:shown],
            next=known[shown:],
        )
        return
    page.say(
        "After {step} steps it predicts {share:.0%} of the characters.",
        step=step,
        share=share,
    )
    page.line(Text(known))


def show_weights(page: Page, side: Side, training: Training) -> None:
    """Print what the fifth character attends to, before and after."""
    shown = min(5, training.T)
    tokens = list(visible(training.text).replace(" ", "␣"))
    token = tokens[shown - 1]
    weights = training.model.weights(training.ids[: training.T])
    maps = [side.package.to_numpy(heads) for heads in weights]
    labels = [page.word("random")]
    rows = [side.section(3)["weights"][shown - 1, :shown]]
    for block, heads in enumerate(maps, start=1):
        for head, table in enumerate(heads, start=1):
            labels.append(
                page.word("block {block}, head {head}", block=block, head=head)
            )
            rows.append(table[shown - 1, :shown])
    page.console.print()
    page.say(
        "What {token} attends to: with section 3's random query and key,\n"
        "and in each head of each block, now that they are trained.",
        token=token,
    )
    title = page.word("What {token} attends to", token=token)
    drawn = HeatMap(title, np.stack(rows), labels, tokens[:shown])
    page.heat_map("train-looks", drawn)
    if page.plot is None:
        return
    title = N_("Block {block}: the mean of its heads")
    names = tokens[: training.T]
    for block, heads in enumerate(maps, start=1):
        drawn = HeatMap(
            page.word(title, block=block), heads.mean(axis=0), names, names
        )
        page.draw(page.plot / f"train-block-{block}.svg", drawn.write)
