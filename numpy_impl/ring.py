"""Ring attention: a sequence spread over ranks that form a ring.

Each of R ranks holds a stretch of the sequence: its queries, and as many
keys and values. The queries stay. Keys and values go round: at each step a
rank attends to the block it holds, merges the partial result into its own,
and sends the block on to the next rank. After R steps each query has seen
every key, and no rank has held more than two blocks besides its own
(Liu et al. 2023, arXiv:2310.01889). In the backward pass the gradients of
keys and values go round with them: each rank adds its part, and after R
steps they are back at their owner.

Under a causal mask a rank's queries see nothing of the stretches after its
own, the triangle of its own, and all of those before.

Here the ranks are the elements of a list, and passing on rotates the list.
In `torch_impl` they are processes, possibly on different machines.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .arguments import Options, check_arguments_backward
from .arrays import Array, cast
from .flash import (
    FlashGradients,
    Forward,
    Upstream,
    Visibility,
    flash_backward,
    flash_forward,
    make_visibility,
    upstream_of,
)
from .merge import Partial, merge
from .sdpa import upcast


class Shard(NamedTuple):
    """A rank's stretch of the sequence: its queries, keys and values."""

    query: Array
    key: Array
    value: Array


def ring_attention(
    shards: list[Shard],
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> list[Partial]:
    """Return the attention of each rank's queries over the keys of all.

    A shard is query (..., H, L, D), key (..., G, L, D), value (..., G, L, E),
    L = T / R, the same for all; a result is (..., H, L, E) with its
    log-sum-exp, (..., H, L). The other arguments are those of
    `scaled_dot_product_attention`, and so are the exceptions.
    """
    sight = [
        visibility_of(shard, is_causal, scale, enable_gqa) for shard in shards
    ]
    check_alike([shapes_of(shard) for shard in shards])
    results = ring_forward(shards, sight)
    return [
        Partial(cast(part.output, shard.query), part.log_sum_exp)
        for part, shard in zip(results, shards, strict=True)
    ]


def visibility_of(
    shard: Shard, is_causal: bool, scale: float | None, enable_gqa: bool
) -> Visibility:
    """Check a shard; return what its queries see of its own keys."""
    options = Options(is_causal=is_causal, scale=scale, enable_gqa=enable_gqa)
    sight = make_visibility(*shard, options, "upper_left")
    query, key = (tuple(array.shape) for array in shard[:2])
    if query[-2] != key[-2]:
        raise ValueError(
            f"key has shape {key}, expected {query[-2]} positions as query "
            f"has, {query}"
        )
    return sight


def check_alike(shapes: list[list[tuple[int, ...]]]) -> None:
    """Check that the shards of all ranks have the same shapes."""
    for rank, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise ValueError(
                f"rank {rank} has shapes {shape}, expected those of rank 0, "
                f"{shapes[0]}"
            )


def shapes_of(shard: Shard) -> list[tuple[int, ...]]:
    """Return the shapes of query, key and value."""
    return [tuple(array.shape) for array in shard]


def visibility_between(
    sight: Visibility, rank: int, source: int
) -> Visibility | None:
    """Return what a rank sees of another's keys; None if nothing."""
    if sight.right is None or source == rank:
        return sight
    return sight._replace(right=None) if source < rank else None


def ring_forward(
    shards: list[Shard], sight: list[Visibility]
) -> list[Partial]:
    """Return each rank's attention, in the compute dtype."""
    size = len(shards)
    held = [(shard.key, shard.value) for shard in shards]
    results: list[Partial] = []
    for step in range(size):
        for rank, (key, value) in enumerate(held):
            source = (rank - step) % size
            seen = visibility_between(sight[rank], rank, source)
            if seen is None:
                continue
            made = flash_forward(shards[rank].query, key, value, seen)
            part = Partial(made.output, made.log_sum_exp)
            # The first keys are a rank's own, and all see some of those.
            if step == 0:
                results.append(part)
            else:
                results[rank] = merge(results[rank], part)
        held = passed_on(held)
    return results


def passed_on(held: list[Any]) -> list[Any]:
    """Return what each rank holds after all have sent theirs on."""
    return held[-1:] + held[:-1]


def ring_attention_backward(
    d_outputs: list[Array],
    shards: list[Shard],
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    d_log_sum_exps: list[Array] | None = None,
) -> list[FlashGradients]:
    """Return the gradients of each rank's queries, keys and values.

    A rank's `d_output` is (..., H, L, E), its d_log_sum_exp, if any,
    (..., H, L). The other arguments are those of ring_attention, and so are
    the exceptions.
    """
    sight = [
        visibility_of(shard, is_causal, scale, enable_gqa) for shard in shards
    ]
    check_alike([shapes_of(shard) for shard in shards])
    results = ring_forward(shards, sight)
    upstream = []
    for rank, part in enumerate(results):
        d_output = d_outputs[rank]
        d_lse = None if d_log_sum_exps is None else d_log_sum_exps[rank]
        like = Partial(cast(part.output, shards[rank].query), part.log_sum_exp)
        check_arguments_backward(d_output, d_lse, like, Options())
        upstream.append(upstream_of(d_output, d_lse, from_log_sum_exp(part)))
    return ring_backward(upstream, shards, sight)


def ring_backward(
    upstream: list[Upstream],
    shards: list[Shard],
    sight: list[Visibility],
) -> list[FlashGradients]:
    """Return the gradients; those of keys and values go round with them.

    The weights are computed from the log-sum-exp of all keys,
    P = exp(S - lse): it takes the role of a row's maximum, with a
    denominator of 1.
    """
    size = len(shards)
    wide = [Shard(*map(upcast, shard)) for shard in shards]
    d_query = [np.zeros_like(shard.query) for shard in wide]
    held = [
        (key, value, np.zeros_like(key), np.zeros_like(value))
        for _, key, value in wide
    ]
    for step in range(size):
        for rank, (key, value, d_key, d_value) in enumerate(held):
            seen = visibility_between(sight[rank], rank, (rank - step) % size)
            if seen is None:
                continue
            query = wide[rank].query
            parts = flash_backward(upstream[rank], query, key, value, seen)
            d_query[rank] = d_query[rank] + parts[0]
            held[rank] = (key, value, d_key + parts[1], d_value + parts[2])
        held = passed_on(held)
    return [
        FlashGradients(
            *(cast(g, shard.query) for g in (d_query[rank], *held[rank][2:]))
        )
        for rank, shard in enumerate(shards)
    ]


def from_log_sum_exp(part: Partial) -> Forward:
    """Return what flash's backward pass reads, with lse for the maximum."""
    row_max = part.log_sum_exp[..., None]
    ones = np.ones_like(row_max)
    return Forward(part.output, part.log_sum_exp, row_max, ones)
