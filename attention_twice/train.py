"""Training on a text."""

from __future__ import annotations

import hashlib
import math
import re
import signal
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rich.text import Text

from .arguments import Arguments
from .checkpoint import FORMAT, alike, is_finite, read_checkpoint
from .console import training_bar
from .files import written_whole
from .page import Page
from .sections import show_versions
from .sides import Version
from .words import fail, visible


class Training:
    """A model that learns a text, and the file that keeps what it knows."""

    def __init__(self, version: Version, arguments: Arguments) -> None:
        self.package: Any = version.package
        self.room: Any = version.package.training
        self.lang, self.seed = arguments.lang, arguments.seed
        poem = arguments.text is None
        self.text = self.room.POEM if poem else read_text(arguments)
        stem = "poem" if arguments.text is None else arguments.text.name
        more = f"-{self.seed}" if self.seed else ""
        self.path = arguments.checkpoint or Path(f"{stem}{more}.npz")
        self.characters = self.room.vocabulary(self.text)
        self.ids = self.room.encode(self.text, self.characters)
        self.T = min(len(self.text) - 1, 32)
        # Stretches that ask for every character but the first.
        last = len(self.text) - 1 - self.T
        self.starts = [*range(0, last, self.T), last]
        self.B = min(len(self.starts), 16)
        V = len(self.characters)
        self.model = self.room.poem_model(V, self.T, self.seed)
        self.optimizer = self.package.adam.AdamW(
            self.model, self.room.LEARNING_RATE
        )

    def step(self) -> float:
        """Take a step on the batch that belongs to it; return the loss."""
        number = 1_000_003 * self.seed + self.optimizer.step_count
        batch = self.room.text_batch(self.ids, self.T, self.B, number)
        loss: float = self.room.train_step(self.model, self.optimizer, batch)
        return loss

    def right(self, stop: Callable[[], bool] = lambda: False) -> float:
        """Return the share of the text's characters that it expects.

        0 if `stop` tells it to stop before it has looked through the text.
        """
        shares = []
        for start in self.starts:
            if stop():
                return 0.0
            shown = self.ids[start : start + self.T + 1]
            batch = self.room.Batch(shown[:-1], shown[1:])
            shares.append(self.room.accuracy(self.model, batch))
        mean: float = statistics.mean(shares)
        return mean

    def sample(self, count: int) -> str:
        """Return what it says after the text's first character."""
        ids = self.room.continue_text(self.model, self.ids[:1], count - 1)
        return visible(self.room.decode(ids, self.characters))

    def state(self) -> dict[str, NDArray[Any]]:
        """Return what a checkpoint holds, as NumPy arrays without objects."""
        learned = self.package.language_model.parameters(self.model)
        arrays = {
            **{f"weight.{name}": w for name, w in learned.items()},
            **self.optimizer.state_dict(),
        }
        found = {n: self.package.to_numpy(a) for n, a in arrays.items()}
        digest = hashlib.sha256(self.text.encode()).hexdigest()
        return found | {
            "belongs": np.asarray(f"{FORMAT} {digest} {self.seed}"),
            "count": np.asarray(self.optimizer.step_count),
        }

    def save(self) -> None:
        """Write the checkpoint, whole or not at all."""
        state = self.state()
        if not all(map(is_finite, state.values())):
            count = self.optimizer.step_count
            fail(self.lang, "not finite", step=count, path=self.path)
        try:
            with written_whole(self.path) as file:
                np.savez(file, allow_pickle=False, **state)
        except OSError as error:
            reason = {"path": self.path, "reason": error.strerror}
            fail(self.lang, "bad write", **reason)

    def resume(self) -> bool:
        """Go on from the checkpoint, if there is one."""
        kept = read_checkpoint(self.lang, self.path)
        if kept is None:
            return False
        own = self.state()
        belongs = [str(held.pop("belongs", "")) for held in (kept, own)]
        if re.fullmatch(f"{FORMAT} [0-9a-f]{{64}} [0-9]+", belongs[0]) is None:
            fail(self.lang, "bad checkpoint", path=self.path)
        if belongs[0] != belongs[1]:
            fail(self.lang, "other checkpoint", path=self.path)
        if not alike(kept, own):
            fail(self.lang, "bad checkpoint", path=self.path)
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


def read_text(arguments: Arguments) -> str:
    """Return the text of a file, or say what is wrong with it."""
    path = arguments.text
    assert path is not None
    try:
        text = path.read_text(encoding="utf-8").removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        fail(arguments.lang, "bad utf-8", path=path, place=error.start + 1)
    except OSError as error:
        fail(arguments.lang, "bad text", path=path, reason=error.strerror)
    if len(text) < 2:
        fail(arguments.lang, "short text", path=path, count=len(text))
    return text


@contextmanager
def stop_asked() -> Iterator[Callable[[], bool]]:
    """Yield whether Ctrl-C was pressed; a step is not broken off by it.

    Pressed again, a second later or more, it ends the program at once; and
    once it was pressed, what is left to do is too short to be broken off.
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


def run_train(page: Page, version: Version, arguments: Arguments) -> None:
    """Train a model on a text, and show what it then looks at."""
    training = Training(version, arguments)
    resumed = training.resume()
    # Before anything is learned: what cannot be kept need not be.
    training.save()
    page.title("train")
    show_versions(page, [version])
    blocks = training.model.blocks
    learned = version.package.language_model.parameters(training.model)
    page.say(
        "text train",
        blocks=len(blocks),
        heads=blocks[0].attention.H,
        count=sum(math.prod(w.shape) for w in learned.values()),
        characters=len(training.text),
        kinds=len(training.characters),
    )
    if resumed:
        count = training.optimizer.step_count
        page.say("resumed", step=count, path=training.path)
    # To the end, since a terminal may send Ctrl-C twice in one moment.
    with stop_asked() as stop:
        train(page, training, arguments.steps, stop)
        training.save()
        if stop():
            page.say("stopped")
        else:
            say_result(page, training)
        page.say("kept", path=training.path)
        show_looks(page, version, training)


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
    with training_bar(page, page.word("training"), last) as advance:
        while training.optimizer.step_count < last and not stop():
            step = training.optimizer.step_count
            # Looking through a long text costs as much as many steps.
            due = step % len(training.starts) == 0
            if most is None and due and training.right(stop) == 1:
                break
            loss = training.step()
            if not math.isfinite(loss):
                break
            step = training.optimizer.step_count
            advance(step, loss)
            if step.bit_count() == 1:
                sample = training.sample(shown)
                page.say("step", step=step, loss=loss, sample=sample)
            if time.monotonic() > saved + 10:
                training.save()
                saved = time.monotonic()


def say_result(page: Page, training: Training) -> None:
    """Say how much of the text it knows."""
    share, step = training.right(), training.optimizer.step_count
    known = training.sample(min(len(training.text), training.T + 1))
    if share == 1:
        shown = min(4, len(known) - 1)
        page.say("known", step=step, start=known[:shown], next=known[shown:])
    else:
        page.say("not known", step=step, share=share)
        page.line(Text(known))


def show_looks(page: Page, version: Version, training: Training) -> None:
    """Print what the fifth character looks at, before and after."""
    shown = min(5, training.T)
    tokens = list(visible(training.text).replace(" ", "␣"))
    found = training.model.weights(training.ids[: training.T])
    maps = [version.package.to_numpy(weights) for weights in found]
    back = version.section(3)["weights"][shown - 1, :shown]
    rows = [page.word("random")]
    weights = [back]
    for block, heads in enumerate(maps, start=1):
        for head, own in enumerate(heads, start=1):
            rows.append(page.word("block head", block=block, head=head))
            weights.append(own[shown - 1, :shown])
    page.console.print()
    page.say("text looks", token=tokens[shown - 1])
    page.matrix(
        "train-looks",
        np.stack(weights),
        rows,
        tokens[:shown],
        token=tokens[shown - 1],
    )
    if page.plot is None:
        return
    for block, heads in enumerate(maps, start=1):
        path = page.plot / f"train-block-{block}.svg"
        title = page.word("train block", block=block)
        names = tokens[: training.T]
        page.draw(path, title, heads.mean(axis=0), names, names)
