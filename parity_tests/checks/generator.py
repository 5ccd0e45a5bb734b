"""generator: the stream written out in NumPy against torch's own."""

from __future__ import annotations

import numpy as np
import torch

from ..bounds import normal_numbers
from ..suite import Trial, check

SEEDS = (0, 1, 2, 3, 17, 2**31, 2**32 - 1, 2**32, 2**63 + 5, -1)


@check("generator", "SDPA", SEEDS)
def every_size_to_100_from_one_stream(trial: Trial) -> None:
    """Draw 0, 1, ... 100 numbers in turn.

    What one call leaves behind, a number kept back or words half used,
    shows in the next.
    """
    stream = trial.version.function("generator.Generator")(trial.case)
    torch.manual_seed(trial.case)
    for size in range(101):
        got = trial.version.numpy(stream.randn(size))
        assert got.dtype == np.float32, f"the numbers are {got.dtype}"
        expected = torch.randn(size).numpy()
        trial.within(f"randn({size})", got, expected, normal_numbers(size))


@check("generator", "SDPA", (*range(1, 101), 1000 * 1024))
def the_first_numbers_after_manual_seed(trial: Trial) -> None:
    """Draw once, with the size as the seed."""
    size = trial.case
    torch.manual_seed(size)
    stream = trial.version.function("generator.Generator")(size)
    got = trial.version.numpy(stream.randn(size))
    expected = torch.randn(size).numpy()
    trial.within("randn", got, expected, normal_numbers(size))


@check("generator", "SDPA", SEEDS)
def a_million_numbers(trial: Trial) -> None:
    """Draw (1000, 1024) with each seed."""
    stream = trial.version.function("generator.Generator")(trial.case)
    got = trial.version.numpy(stream.randn(1000, 1024))
    torch.manual_seed(trial.case)
    expected = torch.randn(1000, 1024).numpy()
    trial.within("randn", got, expected, normal_numbers(got.size))


@check("generator", "SDPA")
def a_number_kept_back_survives_a_large_draw(trial: Trial) -> None:
    """An odd number of numbers leaves one for the next small draw."""
    stream = trial.version.function("generator.Generator")(0)
    torch.manual_seed(0)
    for shape in ((3,), (4, 5), (2,), (17,), (), (2, 0), (1,)):
        got = trial.version.numpy(stream.randn(*shape))
        expected = torch.randn(shape).numpy()
        trial.within(f"randn{shape}", got, expected, normal_numbers(got.size))


@check("generator", "law")
def a_stream_is_its_own(trial: Trial) -> None:
    """Drawing leaves the libraries' global streams where they were."""
    torch.manual_seed(5)
    before = torch.get_rng_state(), repr(np.random.get_state())
    stream = trial.version.function("generator.Generator")(3)
    first = trial.version.numpy(stream.randn(3, 7))
    assert torch.equal(torch.get_rng_state(), before[0]), "torch's has moved"
    assert repr(np.random.get_state()) == before[1], "NumPy's has moved"
    assert first.any(), "the numbers are 0"
    # Nor does a second stream move the first.
    other = trial.version.function("generator.Generator")(3)
    trial.version.function("generator.Generator")(4).randn(2)
    trial.within("numbers", trial.version.numpy(other.randn(3, 7)), first)


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
    """Of 10⁶ numbers the mean lies within 6/√n of 0, the deviation of 1."""
    stream = trial.version.function("generator.Generator")(7)
    drawn = trial.version.numpy(stream.randn(1_000_000)).astype(np.float64)
    trial.within("mean", drawn.mean(), 0.0, 6e-3)
    trial.within("deviation", drawn.std(), 1.0, 6e-3 / np.sqrt(2))
