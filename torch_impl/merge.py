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


class Running(NamedTuple):
    """The sums that a row has gathered so far, not yet divided.

    `highest` (..., L, 1) is the maximum that was subtracted, `denominator`
    (..., L, 1) the sum of the powers, `numerator` (..., L, E) that of the
    values times their powers.
    """

    highest: Array
    denominator: Array
    numerator: Array


def gather(scores: Array, value: Array) -> Running:
    """Return the sums of one part: scores (..., L, S), value (..., S, E).

    The powers take the place of the scores: a new tensor would cost as much
    as what is written to it.
    """
    highest = torch.amax(scores, dim=-1, keepdim=True)
    powers = scores.sub_(finite(highest)).exp_()
    denominator = torch.sum(powers, dim=-1, keepdim=True)
    return Running(highest, denominator, powers @ value)


def combine(one: Running, other: Running) -> Running:
    """Return the sums of two parts, both brought to the common maximum."""
    highest = torch.maximum(one.highest, other.highest)
    factor_1 = torch.exp(one.highest - finite(highest))
    factor_2 = torch.exp(other.highest - finite(highest))
    return Running(
        highest,
        one.denominator * factor_1 + other.denominator * factor_2,
        one.numerator * factor_1 + other.numerator * factor_2,
    )


def finish(running: Running) -> Partial:
    """Divide; a row that has seen no key gets 0 and -inf."""
    empty = running.highest == -torch.inf
    denominator = torch.where(empty, 1.0, running.denominator)
    lse = torch.where(
        empty, -torch.inf, running.highest + torch.log(denominator)
    )
    return Partial(running.numerator / denominator, lse[..., 0])


def merge(one: Partial, other: Partial) -> Partial:
    """Return the attention over the keys of both parts.

    With the empty part, (0, -inf), the other comes back to the bit.
    """
    parts = []
    for part in (one, other):
        highest = part.log_sum_exp[..., None]
        parts.append(Running(highest, torch.ones_like(highest), part.output))
    merged = finish(combine(*parts))
    no_one, no_other = (
        part.log_sum_exp == -torch.inf for part in (one, other)
    )
    output = torch.where(no_one[..., None], other.output, merged.output)
    output = torch.where(no_other[..., None], one.output, output)
    lse = torch.where(no_one, other.log_sum_exp, merged.log_sum_exp)
    return Partial(output, torch.where(no_other, one.log_sum_exp, lse))


def finite(highest: Array) -> Array:
    """Return a maximum with 0 in place of -inf: -inf - (-inf) is NaN."""
    return torch.where(highest == -torch.inf, 0.0, highest)
