"""Experiments: what the division by √D is for, measured.

Dot products of random rows of dimension D have the standard deviation √D.
Without the division and with a large D the softmax is saturated, nearly
one-hot, and almost no gradient passes through it: dS = P ∘ (dP - Σ P dP)
vanishes where P is 0 and where it is 1 (Vaswani et al. 2017, section 3.2.1).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .adam import AdamW
from .arrays import Array
from .attention import attention_scores
from .generator import Generator
from .softmax import log_softmax, softmax, softmax_backward
from .training import (
    LEARNING_RATE,
    POEM,
    encode,
    poem_model,
    text_batch,
    train_step,
    vocabulary,
)

WIDTHS = (4, 16, 64, 256, 1024)
ROWS = 64


class Sharpness(NamedTuple):
    """How sharp the weights are: means over the rows.

    `entropy` is in nats, from 0 (one key has all) to log S (all equal);
    `gradient` is the norm of the gradient of a row of scores.
    """

    entropy: float
    gradient: float


def sharpness(D: int, scale: float | None = None, seed: int = 0) -> Sharpness:
    """Return how sharp attention is over random rows of dimension D.

    `scale` None is 1/√D; 1 leaves the division out.
    """
    randn = Generator(seed).randn
    query, key, d_weights = randn(ROWS, D), randn(ROWS, D), randn(ROWS, ROWS)
    scores = attention_scores(query, key, scale)
    gradient = score_gradient(scores, d_weights)
    norm = np.sqrt(np.sum(gradient * gradient, axis=-1))
    return Sharpness(float(np.mean(entropy(scores))), float(np.mean(norm)))


def entropy(scores: Array) -> Array:
    """Return -Σ P log P of each row's weights: (..., S) to (...), in nats."""
    weights = softmax(scores)
    total: Array = -np.sum(weights * log_softmax(scores), axis=-1)
    return total


def score_gradient(scores: Array, d_weights: Array) -> Array:
    """Return the gradient of the scores, through the softmax."""
    return softmax_backward(d_weights, softmax(scores))


def poem_losses(
    steps: int, scale: float | None = None, seed: int = 0
) -> list[float]:
    """Return the loss of each step of learning the poem by heart."""
    characters = vocabulary(POEM)
    text, T = encode(POEM, characters), len(POEM) - 1
    model = poem_model(len(characters), T, seed, scale)
    optimizer = AdamW(model, LEARNING_RATE)
    batch = text_batch(text, T, 1, seed)
    return [train_step(model, optimizer, batch) for _ in range(steps)]
