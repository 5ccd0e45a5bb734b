"""ring: a sequence in stretches gives the same as in one piece.

PyTorch's ranks are threads here, with the interface of `Ring`;
`test_ring.py` runs them as processes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from queue import Queue
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention

from ..cases.recipe import Case, build
from ..judges import attention_bounds, definition
from ..judges.small_tiles import spread
from ..suite.computation import cached
from ..suite.register import Trial, check
from ..suite.versions import Version

NAMES = ("query", "key", "value")


class Shared(NamedTuple):
    """A case, and the number of ranks that share it."""

    ranks: int
    case: Case

    @property
    def dtype(self) -> str:
        """Return the dtype of the case."""
        return self.case.dtype

    def __str__(self) -> str:
        """Return the case and the ranks."""
        return f"{self.case}, {self.ranks} ranks"


def sequence(
    name: str, *lead: int, G: int, T: int = 12, **options: Any
) -> Case:
    """Return a case of T positions, `lead` ending in its heads."""
    *batch, H = lead
    key = (*batch, G, T)
    return Case(name, (*batch, H, T, 4), (*key, 4), (*key, 3), **options)


CAUSAL: dict[str, Any] = {"is_causal": True}
CASES = [
    sequence("ring, plain", 2, 6, G=6),
    sequence("ring, causal", 2, 6, G=6, **CAUSAL),
    sequence("ring, grouped", 6, G=2, enable_gqa=True, **CAUSAL),
    sequence("ring, a scale of its own", 2, 3, G=3, scale=-0.7),
    sequence("ring, float64", 3, G=3, dtype="float64", **CAUSAL),
    sequence("ring, float16", 3, G=1, dtype="float16", **CAUSAL),
    sequence("ring, bfloat16", 3, G=3, dtype="bfloat16"),
    sequence("ring, far apart", 3, G=3, dtype="float64", scale=300.0),
    Case("ring, no head", (12, 4), (12, 4), (12, 3), is_causal=True),
]
SHARED = [Shared(ranks, case) for case in CASES for ranks in (1, 2, 3, 4)]
FEW = [shared for shared in SHARED if shared.ranks in (2, 4)]


class Rank:
    """A rank among threads: what torch's `Ring` is among processes."""

    def __init__(
        self,
        rank: int,
        ways: list[Queue[Any]],
        shared: list[Any],
        barrier: threading.Barrier,
    ) -> None:
        self.rank, self.size = rank, len(ways)
        self.ways, self.shared, self.barrier = ways, shared, barrier

    def pass_on(self, tensors: tuple[Any, ...]) -> Any:
        """Send tensors to the next rank; return a handle to wait for."""
        after = self.ways[(self.rank + 1) % self.size]
        after.put([tensor.clone() for tensor in tensors])
        return _Waiting(self.ways[self.rank])

    def gather(self, part: Any) -> list[Any]:
        """Return what each rank has in this round."""
        self.shared[self.rank] = part
        self.barrier.wait(60)
        parts = list(self.shared)
        self.barrier.wait(60)
        return parts


class _Waiting(NamedTuple):
    way: Queue[Any]

    def wait(self) -> Any:
        """Return the tensors that have arrived."""
        return self.way.get(timeout=60)


def in_threads(ranks: int, task: Callable[[Rank], Any]) -> list[Any]:
    """Return the results of several ranks, which run at the same time."""
    ways: list[Queue[Any]] = [Queue() for _ in range(ranks)]
    shared: list[Any] = [None] * ranks
    barrier = threading.Barrier(ranks)
    states = [Rank(rank, ways, shared, barrier) for rank in range(ranks)]
    with ThreadPoolExecutor(ranks) as pool:
        return list(pool.map(task, states))


def stretches(array: Any, ranks: int) -> list[Any]:
    """Return the stretches of a sequence, whose positions come second last."""
    return np.split(array, ranks, axis=-2)


def compute(
    version: Version, shared: Shared, d: Any, d_lse: Any
) -> dict[str, Any]:
    """Return output, log-sum-exp and gradients, put together again."""
    inputs, case, R = build(shared.case), shared.case, shared.ranks
    parts = [stretches(getattr(inputs, name), R) for name in NAMES]
    shard = version.function("ring.Shard")
    shards = [
        shard(*(version.array(a.copy(), case.dtype) for a in arrays))
        for arrays in zip(*parts, strict=True)
    ]
    ds = [version.array(a.copy(), case.dtype) for a in stretches(d, R)]
    d_lses = [version.array(a.copy()) for a in np.split(d_lse, R, axis=-1)]
    options = {"is_causal": case.is_causal, "scale": case.scale}
    options["enable_gqa"] = case.enable_gqa
    attend = version.function("ring.ring_attention")
    if version.by_hand:
        results = attend(shards, **options)
        path = "ring.ring_attention_backward"
        back = version.function(path)(
            ds, shards, **options, d_log_sum_exps=d_lses
        )
    else:

        def task(state: Rank) -> Any:
            leaves = shards[state.rank]
            for leaf in leaves:
                leaf.requires_grad_()
            made = attend(state, leaves, **options)
            upstream = [ds[state.rank], d_lses[state.rank]]
            torch.autograd.backward(list(made), upstream)
            return made, shard(*(leaf.grad for leaf in leaves))

        results, back = zip(*in_threads(R, task), strict=True)
    outputs, lses = zip(*map(version.numpy, map(tuple, results)), strict=True)
    gradients = zip(*(version.numpy(tuple(b)) for b in back), strict=True)
    result = {
        "output": np.concat(outputs, axis=-2),
        "log_sum_exp": np.concat(lses, axis=-1),
    }
    for name, gradient in zip(NAMES, gradients, strict=True):
        result[f"gradient of {name}"] = np.concat(gradient, axis=-2)
    return result


@cached
def errors(case: Case, parts: int) -> dict[str, Any]:
    """Return the bounds of a case whose keys come in several parts."""
    with np.errstate(all="ignore"):
        results = attention_bounds.in_tiles(build(case), case.dtype, parts)
    return {name: bounded.error for name, bounded in results.items()}


@check("ring", "definition", SHARED)
def each_rank_gets_what_the_definition_says(trial: Trial) -> None:
    """Output, log-sum-exp and every gradient, in the scalar loops' bounds."""
    case, inputs = trial.case.case, build(trial.case.case)
    exact = dict(definition.forward(case))
    back = definition.backward(case)
    exact |= {f"gradient of {name}": back[name] for name in NAMES}
    # A merge is two factors more, and its division one rounding.
    error = errors(case, 2 * trial.case.ranks + 1)
    d, d_lse = inputs.d_output, inputs.d_log_sum_exp
    for name, got in compute(trial.version, trial.case, d, d_lse).items():
        nearest, missing = exact[name]
        bound = spread(error[name], nearest)
        trial.within(name, got, nearest, bound, missing)


@check("ring", "each other", FEW)
def both_versions_agree(trial: Trial) -> None:
    """A list of shards, and ranks that pass on: the same numbers."""
    case, inputs = trial.case.case, build(trial.case.case)
    d, d_lse = inputs.d_output, inputs.d_log_sum_exp
    if not trial.other.has(case.dtype):
        case = replace(case, dtype="float32")
        trial.case = Shared(trial.case.ranks, case)
        inputs = build(case)
    error = errors(case, 2 * trial.case.ranks + 1)
    results = compute(trial.version, trial.case, d, d_lse)
    others = compute(trial.other, trial.case, d, d_lse)
    for name, got in results.items():
        bound = 2 * spread(error[name], got)
        trial.within(name, got, others[name], bound)


@check("ring", "closed form", (1, 2, 3, 4, 6))
def every_rank_sees_all_that_is_before_it(trial: Trial) -> None:
    """Scores 0, value the identity: 1/n on the n keys seen."""
    zeros, eye = np.zeros((1, 12, 4)), np.eye(12)[None]
    for causal in (False, True):
        got = plainly(trial, trial.case, zeros, zeros, eye, is_causal=causal)
        seen = np.tri(12) if causal else np.ones((12, 12))
        expected = seen / seen.sum(axis=-1, keepdims=True)
        error = 16 * np.spacing(expected)
        trial.within("output", got[0], expected, error * (expected > 0))


def plainly(trial: Trial, ranks: int, *arrays: Any, **options: Any) -> Any:
    """Return the output of NumPy arrays shared out over ranks."""
    version = trial.version
    shard = version.function("ring.Shard")
    parts = (stretches(array, ranks) for array in arrays)
    shards = [
        shard(*(version.array(a.copy()) for a in arrays_of_rank))
        for arrays_of_rank in zip(*parts, strict=True)
    ]
    attend = version.function("ring.ring_attention")
    if version.by_hand:
        results = attend(shards, **options)
    else:
        results = in_threads(
            ranks, lambda state: attend(state, shards[state.rank], **options)
        )
    outputs = [version.numpy(part.output) for part in results]
    return np.concat(outputs, axis=-2)


@check("ring", "SDPA", (2, 4))
def a_long_sequence_is_what_sdpa_gives(trial: Trial) -> None:
    """T = 512 on several ranks, causal and not: SDPA's output."""
    for causal in (False, True):
        case = sequence("long", 2, 4, G=4, T=512, is_causal=causal)
        inputs = build(case)
        arrays = [getattr(inputs, name) for name in NAMES]
        got = plainly(trial, trial.case, *arrays, is_causal=causal)
        q, k, v = map(torch.tensor, arrays)
        witness = scaled_dot_product_attention(q, k, v, is_causal=causal)
        error = errors(case, 2 * trial.case + 5)["output"]
        trial.within("output", got, witness.numpy(), 2 * error)


@check("ring", "law", ("key", "rank", "dtype"))
def shards_that_do_not_fit_are_refused(trial: Trial) -> None:
    """Fewer keys than queries, another shape on one rank, two dtypes."""
    ones = np.ones((2, 4, 3), dtype=np.float32)
    good = [[ones] * 3, [ones] * 3]
    text: str
    kind: type[Exception] = ValueError
    if trial.case == "key":
        good = [[ones, ones[:, :3], ones[:, :3]]] * 2
        text = "key has shape (2, 3, 3), expected 4 positions as query has"
    elif trial.case == "rank":
        good[1] = [ones[:, :2]] * 3
        text = "rank 1 has shapes [(2, 2, 3), (2, 2, 3), (2, 2, 3)], expected"
    else:
        good[1] = [ones, ones.astype(np.float64), ones]
        text, kind = "expected one dtype for all three", TypeError
    version = trial.version
    shard = version.function("ring.Shard")
    shards = [shard(*map(version.array, arrays)) for arrays in good]
    attend = version.function("ring.ring_attention")
    refusal: Exception | None = None
    try:
        if version.by_hand:
            attend(shards)
        elif trial.case == "rank":
            in_threads(2, lambda state: attend(state, shards[state.rank]))
        else:
            attend(None, shards[1])
    except (TypeError, ValueError) as error:
        refusal = error
    assert type(refusal) is kind, f"{refusal!r}, expected {kind.__name__}"
    assert text in str(refusal), str(refusal)
    plain = plainly(trial, 2, ones, ones, ones)
    trial.within("output", plain, ones, 8 * np.spacing(np.float32(1)))
