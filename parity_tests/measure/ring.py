"""A ring of processes: its errors, the bytes it sends, and its memory.

    torchrun --nproc-per-node 4 -m parity_tests ring

Every rank draws its stretch of a sequence, runs forward and backward, and
counts. Rank 0 compares the results with attention in one piece.
"""

from __future__ import annotations

import os
import sys
from datetime import timedelta
from typing import Any, NamedTuple

import torch
import torch.distributed as dist
from rich.table import Table

from attention_twice.console import terminal
from attention_twice.machine import MIB, forget_peak, risen
from torch_impl.flash import KEYS, QUERIES, flash_attention
from torch_impl.ring import Ring, Shard, ring_attention

from ..judges.bounds import gamma

HEADS, WIDTH = 8, 64
FLOAT = 4
# How long a rank waits for another before it says that it is gone.
PATIENCE = timedelta(seconds=120)


class Counted(NamedTuple):
    """What one rank has sent, in bytes, and held beyond its inputs."""

    sent_there: int
    sent_back: int
    held_there: int | None
    held_back: int | None


def ring_report(length: int, causal: bool, backend: str) -> int:
    """Run one rank; on rank 0 print the table; return 0 if all is right."""
    if "RANK" not in os.environ:
        print(
            "ring: it runs under torchrun: "
            "torchrun --nproc-per-node 2 -m parity_tests ring",
            file=sys.stderr,
        )
        return 2
    dist.init_process_group(backend, timeout=PATIENCE)
    try:
        ring = Ring()
        if length % ring.size or length < ring.size:
            if ring.rank == 0:
                print(
                    f"ring: --length is {length}, expected a multiple of "
                    f"{ring.size}, the number of ranks",
                    file=sys.stderr,
                )
            return 2
        return compared(ring, length, causal)
    finally:
        dist.destroy_process_group()


def compared(ring: Ring, length: int, causal: bool) -> int:
    """Run forward and backward, count, and compare with one piece."""
    # Once in small: what a library keeps from its first call is not ours.
    small, d_small = drawn(ring, 1)
    ring_attention(ring, small).output.backward(d_small)  # type: ignore[no-untyped-call]  # as torch has it
    ring.sent = 0
    shard, d_output = drawn(ring, length // ring.size)
    before = forget_peak()
    output = ring_attention(ring, shard, is_causal=causal).output
    there, sent = risen(before), ring.sent
    before = forget_peak()
    output.backward(d_output)  # type: ignore[no-untyped-call]  # as torch has it
    counted = Counted(sent, ring.sent - sent, there, risen(before))
    gradients = [leaf.grad for leaf in shard]
    everything = ring.gather((counted, shard, output, gradients, d_output))
    if ring.rank > 0:
        return 0
    error = furthest(everything, causal)
    return 0 if printed(everything, ring.size, length, causal, error) else 1


def drawn(ring: Ring, L: int) -> tuple[Shard, torch.Tensor]:
    """Draw a rank's stretch of L positions, and its upstream gradient."""
    source = torch.Generator().manual_seed(ring.rank)
    shape = (1, HEADS, L, WIDTH)
    query, key, value, d = (
        torch.randn(shape, generator=source) for _ in range(4)
    )
    leaves = (query, key, value)
    return Shard(*(leaf.requires_grad_() for leaf in leaves)), d


def furthest(everything: list[Any], causal: bool) -> float:
    """Return the largest difference from one piece, in shares of a bound.

    A sum here has at most 2 T terms, and an exponential one more rounding:
    γ of so many, times the largest number of the result, is the bound.
    """
    _, shards, outputs, gradients, upstream = zip(*everything, strict=True)
    leaves = [
        torch.cat([part.detach() for part in parts], dim=-2).requires_grad_()
        for parts in zip(*shards, strict=True)
    ]
    query, key, value = leaves
    whole = flash_attention(query, key, value, is_causal=causal).output
    whole.backward(torch.cat(upstream, dim=-2))  # type: ignore[no-untyped-call]  # as torch has it
    pairs = [(whole.detach(), outputs)]
    for leaf, gradient in zip(
        leaves, zip(*gradients, strict=True), strict=True
    ):
        assert leaf.grad is not None
        pairs.append((leaf.grad, gradient))
    shares = []
    for must, parts in pairs:
        got = torch.cat([part.detach() for part in parts], dim=-2)
        bound = gamma(2 * must.shape[-2], "float32") * must.abs().max()
        shares.append(float((got - must).abs().max() / bound))
    return max(shares)


def printed(
    everything: list[Any], size: int, length: int, causal: bool, error: float
) -> bool:
    """Print the table; return whether it is as the formulas say."""
    stretch = HEADS * (length // size) * WIDTH * FLOAT
    # Keys and values, each time but the last; in the backward pass their
    # gradients as well, each time.
    there = 2 * stretch * (size - 1)
    back = there + (2 * stretch * size if size > 1 else 0)
    # What is held and what arrives; two partial results and their sums; the
    # scores of a tile with their exponentials. In the backward pass the
    # gradients too.
    tile = 3 * HEADS * min(QUERIES, length) * KEYS * FLOAT
    hold = (4 + 4) * stretch + tile
    table = Table("rank", "sent, MiB", "formula", "held, MiB", "formula")
    good = error <= 1
    for rank, (counted, *_) in enumerate(everything):
        sent = (counted.sent_there, counted.sent_back)
        good = good and sent == (there, back)
        held = (counted.held_there, counted.held_back)
        table.add_row(
            str(rank),
            " + ".join(f"{n / MIB:.2f}" for n in sent),
            f"{there / MIB:.2f} + {back / MIB:.2f}",
            " + ".join("?" if n is None else f"{n / MIB:.1f}" for n in held),
            f"{hold / MIB:.1f} + {(hold + 8 * stretch) / MIB:.1f}",
        )
    console = terminal(100)
    console.print(table)
    console.print(
        f"T = {length}, {size} ranks, {'causal' if causal else 'not causal'}: "
        f"there + back. Held is beyond a rank's inputs; the score matrix "
        f"would be {FLOAT * HEADS * length**2 / MIB:.0f} MiB. Largest "
        f"difference from one piece: {error:.1%} of its bound.",
        highlight=False,
    )
    console.print("as it must be" if good else "NOT as it must be")
    return good
