"""The time of a training step: both versions in turn, in one process.

Times belong to this machine and this minute, so only their ratio is compared.
The versions take turns, so that other work of the machine slows both down
alike. Each time is a median.
"""

from __future__ import annotations

import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from rich.table import Table

from attention_twice.console import terminal, tracked
from attention_twice.files import write_json

from ..suite.versions import VERSIONS, Version

TURNS = 60
WARM = 5


class Task(NamedTuple):
    """The model and the batch of a step."""

    name: str
    model: str
    sizes: tuple[int, ...]
    B: int
    T: int


TASKS = (
    Task("the poem, B 1, T 19", "poem_model", (17, 19), 1, 19),
    Task("pairs, B 64, T 9", "recall_model", (), 64, 9),
    Task("a text, B 16, T 32", "poem_model", (91, 32), 16, 32),
)


def step_of(version: Version, task: Task) -> Callable[[], Any]:
    """Return a training step of a version: loss, gradients, AdamW."""
    module = version.module("training")
    model = version.function(f"training.{task.model}")(*task.sizes)
    optimizer = version.function("adam.AdamW")(model, module.LEARNING_RATE)
    text = version.array(np.arange(200) % 17)
    if task.model == "recall_model":
        batch = module.recall_batch(task.B, 0)
    else:
        batch = module.text_batch(text, task.T, task.B, 0)
    return lambda: module.train_step(model, optimizer, batch)


def in_turns(steps: dict[str, Callable[[], Any]]) -> dict[str, float]:
    """Return the median seconds of each step, taken one after the other."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for turn in range(WARM + TURNS):
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            if turn >= WARM:
                times[name].append(time.perf_counter() - start)
    return {
        name: statistics.median(seconds) for name, seconds in times.items()
    }


def training(path: Path | None) -> int:
    """Print what a training step costs in both versions."""
    table = Table("step", "NumPy, ms", "PyTorch, ms", "NumPy / PyTorch")
    rows = []
    for task in tracked(TASKS, "training"):
        steps = {v.name: step_of(v, task) for v in VERSIONS}
        medians = in_turns(steps)
        ratio = medians["numpy"] / medians["torch"]
        cells = [f"{1000 * medians[n]:.2f}" for n in ("numpy", "torch")]
        table.add_row(task.name, *cells, f"{ratio:.2f}")
        rows.append({"step": task.name, "ratio": ratio, **medians})
    console = terminal(100)
    console.print(table)
    console.print(
        f"Median of {TURNS} steps taken in turn: loss, gradients, AdamW. "
        f"torch {torch.__version__}, numpy {np.__version__}, "
        f"{torch.get_num_threads()} threads, {platform.machine()}.",
        highlight=False,
    )
    if path is not None:
        write_json(path, rows)
    return 0
