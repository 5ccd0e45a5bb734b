"""generator: the stream written out in NumPy against torch's own."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import numpy_impl
import torch_impl
from parity_tests.bounds import normal_numbers
from parity_tests.compare import assert_within

SEEDS = [0, 1, 2, 3, 17, 2**31, 2**32 - 1, 2**32, 2**63 + 5, -1]


@pytest.mark.parametrize("seed", SEEDS)
def test_every_size_to_100_from_one_stream(seed: int) -> None:
    one = numpy_impl.generator.Generator(seed)
    other = torch_impl.generator.Generator(seed)
    # One stream for all sizes: what one call leaves behind, a number kept
    # back or words half used, shows in the next.
    for size in range(101):
        got, expected = one.randn(size), other.randn(size)
        assert got.dtype == np.float32
        assert_within(f"randn({size})", got, expected, normal_numbers(size))


@pytest.mark.parametrize("size", [*range(1, 101), 1000 * 1024])
def test_the_first_numbers_after_manual_seed(size: int) -> None:
    torch.manual_seed(size)
    got = numpy_impl.generator.Generator(size).randn(size)
    assert_within("randn", got, torch.randn(size), normal_numbers(size))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_million_numbers(seed: int) -> None:
    shape = (1000, 1024)
    got = numpy_impl.generator.Generator(seed).randn(*shape)
    expected = torch_impl.generator.Generator(seed).randn(*shape)
    assert_within("randn", got, expected, normal_numbers(got.size))


def test_a_number_kept_back_survives_a_large_draw() -> None:
    one = numpy_impl.generator.Generator(0)
    other = torch_impl.generator.Generator(0)
    for shape in ((3,), (4, 5), (2,), (17,), (), (2, 0), (1,)):
        got, expected = one.randn(*shape), other.randn(*shape)
        assert_within(f"randn{shape}", got, expected, normal_numbers(got.size))


def test_torchs_global_stream_is_left_alone() -> None:
    torch.manual_seed(5)
    expected = torch.randn(3)
    torch.manual_seed(5)
    torch_impl.generator.Generator(0).randn(8)
    assert torch.equal(torch.randn(3), expected)


def test_another_seed_gives_other_numbers() -> None:
    draws = [numpy_impl.generator.Generator(s).randn(4) for s in SEEDS]
    # Seeds are taken modulo 2³², as torch does: 0 and 2³² are one.
    same = {(SEEDS.index(0), SEEDS.index(2**32))}
    same.add((SEEDS.index(2**32 - 1), SEEDS.index(-1)))
    for i in range(len(SEEDS)):
        for j in range(i):
            equal = bool(np.all(draws[i] == draws[j]))
            assert equal == ((j, i) in same), (SEEDS[i], SEEDS[j])
