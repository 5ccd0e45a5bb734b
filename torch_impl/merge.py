"""Merging: attention over some keys, and over others, becomes one.

A row of softmax is a fraction whose numerator Σ exp(s_j) v_j and whose
denominator Σ exp(s_j) are sums over the keys. Split the keys in two, and
both sums are the sums of their parts. Only the maximum that is subtracted
from the scores differs between the parts, so each part is first brought
from its own maximum m to the common one:

    m = max(m₁, m₂)        numerator = n₁ exp(m₁ - m) + n₂ exp(m₂ - m)

and the same for the denominator (Milakov and Gimelshein 2018,
arXiv:1805.02867, section 3.1). What has been divided can be merged too: an
output o with the log-sum-exp lse is a numerator of o and a denominator of
1 with the maximum lse (Dao et al. 2023, FlashDecoding).
"""

from __future__ import annotations

from typing import NamedTuple

import torch

from .arrays import Array


class Partial(NamedTuple):
    """The attention of queries over some of the keys.

    `output` is (..., H, L, E), `log_sum_exp` (..., H, L). Over no key at
    all they are 0 and -inf.
    """

    output: Array
    log_sum_exp: Array


class RunningSoftmax(NamedTuple):
    """The sums that a row has gathered so far, not yet divided.

    `row_max` (..., L, 1) is the maximum that was subtracted, `row_sum`
    (..., L, 1) the sum of the exponentials, `numerator` (..., L, E) that of
    the values times their exponentials.
    """

    row_max: Array
    row_sum: Array
    numerator: Array


def partial_sums(scores: Array, value: Array) -> RunningSoftmax:
    """Return the sums of one part: scores (..., L, S), value (..., S, E).

    The exponentials take the place of the scores: a new tensor would cost as
    much as what is written to it.
    """
    row_max = torch.amax(scores, dim=-1, keepdim=True)
    exponentials = scores.sub_(finite(row_max)).exp_()
    row_sum = torch.sum(exponentials, dim=-1, keepdim=True)
    return RunningSoftmax(row_max, row_sum, exponentials @ value)


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


def normalize(running: RunningSoftmax) -> Partial:
    """Divide; a row that has seen no key gets 0 and -inf."""
    empty = running.row_max == -torch.inf
    row_sum = torch.where(empty, 1.0, running.row_sum)
    lse = torch.where(empty, -torch.inf, running.row_max + torch.log(row_sum))
    return Partial(running.numerator / row_sum, lse[..., 0])


def merge(one: Partial, other: Partial) -> Partial:
    """Return the attention over the keys of both parts.

    With the empty part, (0, -inf), the other comes back to the bit.
    """
    parts = []
    for part in (one, other):
        row_max = part.log_sum_exp[..., None]
        parts.append(
            RunningSoftmax(row_max, torch.ones_like(row_max), part.output)
        )
    merged = normalize(combine(*parts))
    no_one, no_other = (
        part.log_sum_exp == -torch.inf for part in (one, other)
    )
    output = torch.where(no_one[..., None], other.output, merged.output)
    output = torch.where(no_other[..., None], one.output, output)
    lse = torch.where(no_one, other.log_sum_exp, merged.log_sum_exp)
    return Partial(output, torch.where(no_other, one.log_sum_exp, lse))


def finite(row_max: Array) -> Array:
    """Return a maximum with 0 in place of -inf: -inf - (-inf) is NaN."""
    return torch.where(row_max == -torch.inf, 0.0, row_max)
