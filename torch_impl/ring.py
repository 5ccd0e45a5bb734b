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

Here the ranks are processes of `torch.distributed`, started by torchrun: a
`Ring` is what a rank knows of the others. In `numpy_impl` they are the
places of a list.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
import torch.distributed as dist

from .arguments import Options
from .arrays import Array, cast
from .flash import (
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


class Ring:
    """A rank's place among the processes of a group; None is all of them.

    `sent` counts the bytes that it has passed on. gloo or nccl carries them,
    whichever `torch.distributed.init_process_group` was told; its `timeout`
    says how long a rank waits for another.
    """

    def __init__(self, group: Any = None) -> None:
        self.group = group
        self.rank, self.size = dist.get_rank(group), dist.get_world_size(group)
        self.sent = 0

    def pass_on(self, tensors: tuple[Array, ...]) -> Arriving:
        """Send tensors to the next rank; return what the one before sends.

        All ranks pass on tensors of the same shapes. ConnectionError says
        that another rank has ended.
        """
        sent = [tensor.contiguous() for tensor in tensors]
        if self.size == 1:
            return Arriving(self.rank, sent, [])
        arriving = [torch.empty_like(tensor) for tensor in sent]
        after, before = self._peer(self.rank + 1), self._peer(self.rank - 1)
        operations = []
        for tensor, empty in zip(sent, arriving, strict=True):
            operations += [
                dist.P2POp(dist.isend, tensor, after, self.group),
                dist.P2POp(dist.irecv, empty, before, self.group),
            ]
        with broken_ring(self.rank):
            works = dist.batch_isend_irecv(operations)
        self.sent += sum(tensor.nbytes for tensor in sent)
        return Arriving(self.rank, arriving, works)

    def gather(self, record: Any) -> list[Any]:
        """Return what each rank has in this place."""
        records: list[Any] = [None] * self.size
        with broken_ring(self.rank):
            dist.all_gather_object(records, record, self.group)
        return records

    def _peer(self, place: int) -> int:
        """Return the number that a place of the group has among all."""
        place = place % self.size
        if self.group is None:
            return place
        return dist.get_global_rank(self.group, place)


class Arriving(NamedTuple):
    """Tensors that are on their way to a rank."""

    rank: int
    tensors: list[Array]
    works: list[Any]

    def wait(self) -> list[Array]:
        """Return the tensors when they are there, and what was sent gone."""
        with broken_ring(self.rank):
            for work in self.works:
                work.wait()
        return self.tensors


@contextmanager
def broken_ring(rank: int) -> Iterator[None]:
    """Say in one line that another rank has ended or does not answer."""
    try:
        yield
    except RuntimeError as error:
        reason = str(error).strip().partition("\n")[0]
        raise ConnectionError(
            f"rank {rank}: another rank of the ring has ended or does not "
            f"answer ({reason})"
        ) from error


def ring_attention(
    ring: Ring,
    shard: Shard,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Partial:
    """Return what this rank's queries gather from the keys of all ranks.

    A shard is query (..., H, L, D), key (..., G, L, D), value (..., G, L, E),
    L = T / R, the same for all; the result is (..., H, L, E) with its
    log-sum-exp, (..., H, L). All ranks call it, and all go back through it.
    The other arguments are those of `scaled_dot_product_attention`, and so
    are the exceptions; there may also be a ConnectionError.
    """
    sight = visibility_of(shard, is_causal, scale, enable_gqa)
    check_alike(ring.gather(shapes_of(shard)))
    # torch gives its Function no types.
    result = _RingAttention.apply(*shard, ring, sight)  # type: ignore[no-untyped-call]
    return Partial(*result)


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


class _RingAttention(torch.autograd.Function):
    """The forward and the backward pass, as autograd asks for them."""

    @staticmethod
    def forward(
        ctx: Any,
        query: Array,
        key: Array,
        value: Array,
        ring: Ring,
        sight: Visibility,
    ) -> tuple[Array, Array]:
        """Return output and log-sum-exp; keep what the backward pass needs."""
        result = ring_forward(ring, Shard(query, key, value), sight)
        ctx.save_for_backward(query, key, value, *result)
        ctx.ring, ctx.sight = ring, sight
        return cast(result.output, query), result.log_sum_exp

    @staticmethod
    def backward(
        ctx: Any, d_output: Array, d_log_sum_exp: Array
    ) -> tuple[Array | None, ...]:
        """Return the gradients of query, key and value."""
        query, key, value, *kept = ctx.saved_tensors
        shard, forward = Shard(query, key, value), Partial(*kept)
        upstream = upstream_of(
            d_output, d_log_sum_exp, from_log_sum_exp(forward)
        )
        gradients = ring_backward(ctx.ring, upstream, shard, ctx.sight)
        return (*gradients, None, None)


def ring_forward(ring: Ring, shard: Shard, sight: Visibility) -> Partial:
    """Return this rank's attention, in the compute dtype."""
    key, value = shard.key, shard.value
    result = None
    for step in range(ring.size):
        last = step == ring.size - 1
        # What comes next is on its way while this is computed.
        arriving = None if last else ring.pass_on((key, value))
        source = (ring.rank - step) % ring.size
        seen = visibility_between(sight, ring.rank, source)
        if seen is not None:
            made = flash_forward(shard.query, key, value, seen)
            part = Partial(made.output, made.log_sum_exp)
            result = part if result is None else merge(result, part)
        if arriving is not None:
            key, value = arriving.wait()
    # The first keys are a rank's own, and all see some of those.
    assert result is not None
    return result


def ring_backward(
    ring: Ring, upstream: Upstream, shard: Shard, sight: Visibility
) -> tuple[Array, Array, Array]:
    """Return the gradients; those of keys and values go round with them.

    The weights are computed from the log-sum-exp of all keys,
    P = exp(S - lse): it takes the role of a row's maximum, with a
    denominator of 1.
    """
    query, key, value = map(upcast, shard)
    d_query, d_key, d_value = map(torch.zeros_like, (query, key, value))
    for step in range(ring.size):
        last = step == ring.size - 1
        arriving = None if last else ring.pass_on((key, value))
        source = (ring.rank - step) % ring.size
        seen = visibility_between(sight, ring.rank, source)
        if seen is not None:
            parts = flash_backward(upstream, query, key, value, seen)
            d_query = d_query + parts[0]
            d_key, d_value = d_key + parts[1], d_value + parts[2]
        if arriving is not None:
            key, value = arriving.wait()
        d_key, d_value = ring.pass_on((d_key, d_value)).wait()
    return (
        cast(d_query, shard.query),
        cast(d_key, shard.key),
        cast(d_value, shard.value),
    )


def from_log_sum_exp(part: Partial) -> Forward:
    """Return what flash's backward pass reads, with lse for the maximum."""
    row_max = part.log_sum_exp[..., None]
    ones = torch.ones_like(row_max)
    return Forward(part.output, part.log_sum_exp, row_max, ones)
