"""Merging the attention over two sets of keys into one.

A row of softmax is a fraction whose numerator Σ exp(s_j) v_j and whose
denominator Σ exp(s_j) are sums over the keys. Split the keys in two, and
both sums are the sums of their parts. Only the maximum that is subtracted
from the scores differs between the parts, so each part is first brought
from its own maximum m to the common one:

    m = max(m₁, m₂)        numerator = n₁ exp(m₁ - m) + n₂ exp(m₂ - m)

and the same for the denominator (Milakov and Gimelshein 2018,
arXiv:1805.02867, section 3.1). Normalized results merge too: output o with
log-sum-exp lse is taken for the numerator o, the denominator 1 and the
maximum lse (Dao et al. 2023, FlashDecoding).
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from .arrays import Array
from .sdpa import tiled_sum
from .softmax import finite


class Partial(NamedTuple):
    """The attention of queries over some of the keys.

    `output` is (..., H, L, E), `log_sum_exp` (..., H, L). Over no key at
    all they are 0 and -inf.
    """

    output: Array
    log_sum_exp: Array


class RunningSoftmax(NamedTuple):
    """The sums of online softmax over the keys so far, not yet divided.

    `row_max` (..., L, 1) is the maximum that was subtracted, `row_sum`
    (..., L, 1) the sum of the exponentials, `numerator` (..., L, E) that of
    the values times their exponentials.
    """

    row_max: Array
    row_sum: Array
    numerator: Array


def partial_sums(scores: Array, value: Array) -> RunningSoftmax:
    """Return the sums of one part: scores (..., L, S), value (..., S, E)."""
    row_max = torch.amax(scores, dim=-1, keepdim=True)
    exponentials = torch.exp(scores - finite(row_max))
    row_sum = torch.sum(exponentials, dim=-1, keepdim=True)
    return RunningSoftmax(row_max, row_sum, tiled_sum(exponentials, value))


def combine(one: RunningSoftmax, other: RunningSoftmax) -> RunningSoftmax:
    """Return the sums of two parts, both brought to the common maximum."""
    row_max = torch.maximum(one.row_max, other.row_max)
    factor_1 = torch.exp(one.row_max - finite(row_max))
    factor_2 = torch.exp(other.row_max - finite(row_max))
    return RunningSoftmax(
        row_max,
        one.row_sum * factor_1 + other.row_sum * factor_2,
        one.numerator * factor_1 + other.numerator * factor_2,
    )


def normalize(sums: RunningSoftmax) -> Partial:
    """Divide; a row that has seen no key gets 0 and -inf."""
    empty = sums.row_max == -torch.inf
    row_sum = torch.where(empty, 1.0, sums.row_sum)
    lse = sums.row_max + torch.log(row_sum)
    lse = torch.where(empty, -torch.inf, lse)
    return Partial(sums.numerator / row_sum, lse[..., 0])


def merge(one: Partial, other: Partial) -> Partial:
    """Return the attention over the keys of both parts.

    With the empty part, (0, -inf), the other comes back to the bit.
    """
    parts = []
    for part in (one, other):
        row_max = part.log_sum_exp[..., None]
        row_sum = torch.ones_like(row_max)
        parts.append(RunningSoftmax(row_max, row_sum, part.output))
    merged = normalize(combine(*parts))
    no_one = one.log_sum_exp == -torch.inf
    no_other = other.log_sum_exp == -torch.inf
    output = torch.where(no_one[..., None], other.output, merged.output)
    output = torch.where(no_other[..., None], one.output, output)
    lse = torch.where(no_one, other.log_sum_exp, merged.log_sum_exp)
    return Partial(output, torch.where(no_other, one.log_sum_exp, lse))
