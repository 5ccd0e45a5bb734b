"""Training: two tasks, their batches, a step, and what a model has learned.

The first task is a text: predict the next character. The second is looking
back by content: pairs of characters, then the first of one pair again, whose
partner is the answer. A text can be learned from positions alone. The pairs
are new in every batch, so the model must find the same character earlier on:
its two blocks form an induction head (Olsson et al. 2022, arXiv:2209.11895).

The batch of a step depends only on the seed and the step, so that a run that
was interrupted continues as if it had not been.
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from .adam import AdamW
from .arrays import Array, Indices
from .generator import Generator
from .language_model import (
    LanguageModel,
    initial_model,
    loss_and_gradients,
    set_parameters,
)

# 靜夜思 by 李白 (public domain): twenty characters.
POEM = "床前明月光疑是地上霜舉頭望明月低頭思故鄉"
# The ten heavenly stems are the first of a pair, the twelve earthly
# branches the second.
STEMS = "甲乙丙丁戊己庚辛壬癸"
BRANCHES = "子丑寅卯辰巳午未申酉戌亥"
PAIRS = 4
# The learning rate of both tasks.
LEARNING_RATE = 3e-3


class Batch(NamedTuple):
    """Inputs `ids` and `targets`, both (B, T); -1 is no target."""

    ids: Indices
    targets: Indices


def vocabulary(text: str) -> str:
    """Return the characters of a text, each once, in order."""
    return "".join(sorted(set(text)))


def encode(text: str, characters: str) -> Indices:
    """Return the index of each character in `characters`: (len(text),).

    A character that is not among them is a ValueError.
    """
    return torch.tensor([characters.index(c) for c in text], dtype=torch.int64)


def decode(ids: Indices, characters: str) -> str:
    """Return the characters with the indices `ids`, (T,)."""
    return "".join(characters[int(i)] for i in ids)


def text_batch(text: Indices, T: int, B: int, seed: int) -> Batch:
    """Return B stretches of T characters, each with the one that follows.

    text is (N,), N > T, and a stretch starts anywhere.
    """
    starts = Generator(seed).randint(text.shape[0] - T, B)
    parts = [text[start : start + T + 1] for start in map(int, starts)]
    stretch = torch.stack(parts)
    return Batch(stretch[:, :-1], stretch[:, 1:])


def recall_batch(B: int, seed: int) -> Batch:
    """Return B times four pairs and the first of one pair: (B, 9).

    Only the last position has a target: the partner.
    """
    source = Generator(seed)
    first = torch.argsort(source.randn(B, len(STEMS)), dim=-1)[:, :PAIRS]
    second = torch.argsort(source.randn(B, len(BRANCHES)), dim=-1)[:, :PAIRS]
    second = second + len(STEMS)
    asked = source.randint(PAIRS, B)[:, None] == torch.arange(PAIRS)
    pairs = torch.reshape(torch.stack([first, second], dim=-1), (B, 2 * PAIRS))
    last = torch.sum(torch.where(asked, first, 0), dim=-1, keepdim=True)
    answer = torch.sum(torch.where(asked, second, 0), dim=-1, keepdim=True)
    ids = torch.cat([pairs, last], dim=-1)
    return Batch(ids, torch.cat([torch.full_like(pairs, -1), answer], dim=-1))


def poem_model(
    V: int, T: int, seed: int = 0, scale: float | None = None
) -> LanguageModel:
    """Return a model for a text of V characters, T of them at a time."""
    randn = Generator(seed).randn
    return initial_model(randn, V, T, M=32, H=4, F=64, blocks=2, scale=scale)


def recall_model(seed: int = 0, scale: float | None = None) -> LanguageModel:
    """Return a model for pairs: two blocks, each with a single head."""
    randn = Generator(seed).randn
    V, T = len(STEMS + BRANCHES), 2 * PAIRS + 1
    return initial_model(randn, V, T, M=32, H=1, F=64, blocks=2, scale=scale)


def train_step(model: LanguageModel, optimizer: AdamW, batch: Batch) -> float:
    """Take one step, and return the loss before it."""
    loss, gradients = loss_and_gradients(model, batch.ids, batch.targets)
    optimizer.step(gradients)
    return float(loss)


def tied_step(model: LanguageModel, optimizer: AdamW, batch: Batch) -> float:
    """Take one step in which value stays tied to key, W_v = W_k.

    A matrix that is used twice gets the sum of both gradients.
    """
    loss, gradients = loss_and_gradients(model, batch.ids, batch.targets)
    optimizer.step(tied(gradients))
    return float(loss)


def tied(gradients: dict[str, Array]) -> dict[str, Array]:
    """Return gradients in which W_k and W_v have the sum of theirs."""
    both = dict(gradients)
    for name in gradients:
        if name.endswith("w_k"):
            other = f"{name[:-1]}v"
            both[name] = both[other] = gradients[name] + gradients[other]
    return both


def tie(model: LanguageModel) -> None:
    """Set every value matrix to the key matrix."""
    for block in model.blocks:
        set_parameters(block.attention, {"w_v": block.attention.w_k})


def accuracy(model: LanguageModel, batch: Batch) -> float:
    """Return the share of the targets that the model predicts."""
    best = torch.argmax(model(batch.ids), dim=-1)
    asked = batch.targets >= 0
    right = torch.count_nonzero((best == batch.targets) & asked)
    return float(right) / float(torch.count_nonzero(asked))


def continue_text(model: LanguageModel, ids: Indices, steps: int) -> Indices:
    """Return ids, (T,), and `steps` more, each the most likely next one.

    The model sees as many of the last characters as it has positions.
    """
    for _ in range(steps):
        first = max(0, ids.shape[0] - model.position_embedding.shape[0])
        seen = ids[first:]
        logits = model(seen)[-1, :]
        ids = torch.cat([ids, torch.argmax(logits, keepdim=True)])
    return ids
