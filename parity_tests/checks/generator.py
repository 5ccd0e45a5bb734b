"""generator: the stream written out in NumPy against torch's own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch

from ..judges.bounds import normal_numbers
from ..suite.register import Trial, check

SEEDS = (0, 1, 2, 3, 17, 2**31, 2**32 - 1, 2**32, 2**63 + 5, -1)


@contextmanager
def manual_seed(seed: int) -> Iterator[None]:
    """Seed torch's global generator, and restore its state afterwards."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        yield


@check("generator", "SDPA", SEEDS)
def every_size_to_100_from_one_stream(trial: Trial) -> None:
    """Draw 0, 1, ... 100 numbers in turn.

    A number that one call keeps for the next, or a word half used, shows in
    the next call.
    """
    stream = trial.version.function("generator.Generator")(trial.case)
    with manual_seed(trial.case):
        expected = [torch.randn(size).numpy() for size in range(101)]
    for size, must in enumerate(expected):
        got = trial.version.numpy(stream.randn(size))
        assert got.dtype == np.float32, f"the numbers are {got.dtype}"
        trial.within(f"randn({size})", got, must, normal_numbers(size))


@check("generator", "SDPA", (*range(1, 101), 1000 * 1024))
def the_first_numbers_after_manual_seed(trial: Trial) -> None:
    """Draw once, with the size as the seed."""
    size = trial.case
    stream = trial.version.function("generator.Generator")(size)
    got = trial.version.numpy(stream.randn(size))
    with manual_seed(size):
        expected = torch.randn(size).numpy()
    trial.within("randn", got, expected, normal_numbers(size))


@check("generator", "SDPA", SEEDS)
def a_million_numbers(trial: Trial) -> None:
    """Draw (1000, 1024) with each seed."""
    stream = trial.version.function("generator.Generator")(trial.case)
    got = trial.version.numpy(stream.randn(1000, 1024))
    with manual_seed(trial.case):
        expected = torch.randn(1000, 1024).numpy()
    trial.within("randn", got, expected, normal_numbers(got.size))


ODD: dict[str, list[tuple[int, ...]]] = {
    "from a call for 3": [(3,), (4, 5), (2,), (17,), (), (2, 0), (1,)],
    "from a call for 1": [(1,), (32,), (1,), (100,), (1, 1, 1)],
    "over a large draw": [(5,), (1000,), (5,), (16,), (15,), (16,), (1,)],
}


@check("generator", "SDPA", list(ODD))
def a_number_kept_back_survives(trial: Trial) -> None:
    """An odd number of numbers leaves one for the next small draw."""
    stream = trial.version.function("generator.Generator")(0)
    with manual_seed(0):
        expected = [torch.randn(shape).numpy() for shape in ODD[trial.case]]
    for shape, must in zip(ODD[trial.case], expected, strict=True):
        got = trial.version.numpy(stream.randn(*shape))
        trial.within(f"randn{shape}", got, must, normal_numbers(got.size))


@check("generator", "law", ("NumPy", "torch"))
def a_stream_is_its_own(trial: Trial) -> None:
    """Drawing does not change the state of a global generator."""

    def state() -> str:
        if trial.case == "torch":
            return str(torch.get_rng_state().tolist())
        return repr(np.random.get_state())

    with manual_seed(99):
        before = state()
        stream = trial.version.function("generator.Generator")(3)
        first = trial.version.numpy(stream.randn(3, 7))
        assert state() == before, f"{trial.case}'s global stream has moved"
    assert first.any(), "the numbers are 0"


@check("generator", "law", (4, 40))
def one_stream_does_not_move_another(trial: Trial) -> None:
    """Two streams of one seed, drawn from in turn, give the same."""
    make = trial.version.function("generator.Generator")
    one, other, third = make(3), make(3), make(4)
    for size in (trial.case, 3, trial.case):
        first = trial.version.numpy(one.randn(size))
        third.randn(size)
        trial.within("numbers", trial.version.numpy(other.randn(size)), first)
        assert first.any(), "the numbers are 0"


@check("generator", "law")
def another_seed_gives_other_numbers(trial: Trial) -> None:
    """Seeds are taken modulo 2³²: 0 and 2³² are one, the others differ."""
    make = trial.version.function("generator.Generator")
    draws = {s: trial.version.numpy(make(s).randn(4)) for s in SEEDS}
    trial.within("2**32", draws[2**32], draws[0])
    trial.within("-1", draws[-1], draws[2**32 - 1])
    different = {array.tobytes() for array in draws.values()}
    assert len(different) == len(SEEDS) - 2, "two seeds give one stream"


@check("generator", "law")
def mean_and_deviation_are_those_of_a_normal(trial: Trial) -> None:
    """For n = 10⁶ mean and standard deviation are within 6/√n of 0 and 1."""
    stream = trial.version.function("generator.Generator")(7)
    drawn = trial.version.numpy(stream.randn(1_000_000)).astype(np.float64)
    trial.within("mean", drawn.mean(), 0.0, 6e-3)
    trial.within("deviation", drawn.std(), 1.0, 6e-3 / np.sqrt(2))
