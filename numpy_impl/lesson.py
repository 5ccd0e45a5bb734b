"""The lesson: five sections, each a function that returns its numbers.

The tokens are the first line of 靜夜思 by 李白 (public domain). The
program in `attention_twice` prints them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .arrays import Array, Mask
from .attention import attention_scores, weighted_sum
from .averaging import averaging_weights, running_mean
from .generator import Generator
from .head import AttentionHead
from .masks import causal_mask, mask_scores
from .softmax import softmax

TOKENS = ("床", "前", "明", "月", "光")
SEED = 0
# What each token offers and what 光 asks for, on two scales made up for
# the lesson: how much it has to do with light, and with a place.
KEYS = ((0.1, 0.9), (0.0, 1.0), (0.9, 0.1), (1.0, 0.0), (0.8, 0.2))
QUERY = (1.0, 0.0)
SHARPNESS = 5.0
WIDTHS = (16, 64, 256, 1024)
PAIRS = 1000


class WidthInputs(NamedTuple):
    """The random rows of section 4 for one dimension D."""

    first: Array
    second: Array
    unscaled_query: Array
    unscaled_key: Array
    scaled_query: Array
    scaled_key: Array


class Inputs(NamedTuple):
    """Every random number of the lesson, in the order it is drawn."""

    past: Array
    query: Array
    key: Array
    widths: tuple[WidthInputs, ...]
    x: Array
    w_q: Array
    w_k: Array
    w_v: Array


class Averages(NamedTuple):
    """Section 1: weights (T, T) and means (T, M)."""

    weights: Array
    means: Array


class Match(NamedTuple):
    """Section 2: one query against S keys, each (S,)."""

    scores: Array
    weights: Array
    sharp_weights: Array


class LookBack(NamedTuple):
    """Section 3: each (T, T)."""

    scores: Array
    masked_scores: Array
    weights: Array


class Widths(NamedTuple):
    """Section 4: a number for each dimension.

    `deviation` is the standard deviation of dot products of random rows;
    `unscaled` and `scaled` are the mean over the queries of the greatest
    weight.
    """

    deviation: tuple[float, ...]
    unscaled: tuple[float, ...]
    scaled: tuple[float, ...]


class OneHead(NamedTuple):
    """Section 5: every step of a head, from x (T, M) to output (T, E)."""

    query: Array
    key: Array
    value: Array
    scores: Array
    masked_scores: Array
    weights: Array
    output: Array


def draw_inputs(seed: int = SEED) -> Inputs:
    """Draw the lesson's random numbers, all from one stream."""
    randn = Generator(seed).randn
    T = len(TOKENS)
    past = randn(T, 4)
    query, key = randn(T, 8), randn(T, 8)
    widths = tuple(
        WidthInputs(
            randn(PAIRS, D),
            randn(PAIRS, D),
            *(randn(T, D) for _ in range(4)),
        )
        for D in WIDTHS
    )
    x = randn(T, 16)
    w_q, w_k, w_v = (randn(16, 8) / math.sqrt(16) for _ in range(3))
    return Inputs(past, query, key, widths, x, w_q, w_k, w_v)


def average_the_past(x: Array) -> Averages:
    """Section 1: each position takes the mean of itself and all before."""
    return Averages(averaging_weights(x.shape[-2]), running_mean(x))


def match_keys(query: tuple[float, ...] = QUERY) -> Match:
    """Section 2: the scores of one query with all keys, and the weights.

    Scores × 5 give the same order with sharper weights.
    """
    keys = np.asarray(KEYS, dtype=np.float32)
    asked = np.asarray([query], dtype=np.float32)
    scores = attention_scores(asked, keys, scale=1.0)[0, ...]
    return Match(scores, softmax(scores), softmax(SHARPNESS * scores))


def look_back(query: Array, key: Array) -> LookBack:
    """Section 3: no position sees a later one."""
    scores = attention_scores(query, key)
    mask = causal_mask(query.shape[-2], key.shape[-2])
    masked_scores = mask_scores(scores, mask)
    return LookBack(scores, masked_scores, softmax(masked_scores))


def vary_width(widths: tuple[WidthInputs, ...]) -> Widths:
    """Section 4: dot products grow as √D, and the weights get sharper."""
    return Widths(
        tuple(deviation(w.first, w.second) for w in widths),
        tuple(
            mean_row_maximum(
                attention_scores(w.unscaled_query, w.unscaled_key, scale=1.0)
            )
            for w in widths
        ),
        tuple(
            mean_row_maximum(attention_scores(w.scaled_query, w.scaled_key))
            for w in widths
        ),
    )


def deviation(first: Array, second: Array) -> float:
    """Return the standard deviation of the row-wise dot products."""
    products = np.sum(first * second, axis=-1)
    return float(np.std(products, correction=1))


def mean_row_maximum(scores: Array) -> float:
    """Return the largest weight of a row, averaged over the rows."""
    return float(np.mean(np.max(softmax(scores), axis=-1)))


def one_head(
    x: Array, w_q: Array, w_k: Array, w_v: Array, mask: Mask | None = None
) -> OneHead:
    """Section 5: a complete head, step by step; exercise 2: no mask."""
    query, key, value = AttentionHead(w_q, w_k, w_v).project(x)
    scores = attention_scores(query, key)
    masked_scores = scores if mask is None else mask_scores(scores, mask)
    weights = softmax(masked_scores)
    output = weighted_sum(weights, value)
    return OneHead(query, key, value, scores, masked_scores, weights, output)
