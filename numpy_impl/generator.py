"""Random normal numbers: those of `torch.manual_seed`, without torch.

PyTorch draws on the CPU from the Mersenne Twister MT19937 (Matsumoto and
Nishimura 1998) and turns pairs of uniform numbers into pairs of normal ones
by Box and Muller's method (1958): with u₁ and u₂ uniform on [0, 1),

    r = √(-2 ln(1 - u₁))    θ = 2π u₂    r cos θ    r sin θ

The twister's words are the same to the bit. So are the normal numbers if
fewer than 16 are drawn at once. Of 16 or more the last bit or two may
differ, because the logarithms and cosines of two libraries do.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import Array, Indices, from_numpy


class Generator:
    """The normal numbers that follow `torch.manual_seed(seed)`."""

    def __init__(self, seed: int) -> None:
        self._twister = np.random.MT19937()
        self._twister.state = {
            "bit_generator": "MT19937",
            "state": {"key": _knuth_seed(seed), "pos": 624},
        }
        # Box and Muller's method makes two numbers; of a few drawn one by
        # one, the second waits here for the next call.
        self._spare: float | None = None

    def randn(self, *shape: int) -> Array:
        """Return the next numbers, float32, of mean 0 and variance 1.

        torch has two methods, one for fewer than 16 numbers, one for more.
        """
        size = math.prod(shape)
        drawn = self._few(size) if size < 16 else self._many(size)
        return from_numpy(np.reshape(drawn, shape))

    def randint(self, high: int, *shape: int) -> Indices:
        """Return the next integers from 0 to high - 1.

        Each is the remainder of one word: probabilities differ by one part
        in 2³²/high at most. From 2²⁸ on torch takes
        two words for each, which is not written out here.

        Raises ValueError for a `high` below 1 or above 2²⁸ - 1.
        """
        check_high(high)
        words: NDArray[Any] = self._twister.random_raw(math.prod(shape))
        remainders = (words % np.uint64(high)).astype(np.int64)
        return from_numpy(np.reshape(remainders, shape))

    def _few(self, size: int) -> Array:
        numbers = [self._one() for _ in range(size)]
        return np.asarray(numbers, dtype=np.float32)

    def _one(self) -> float:
        """Return one number, computed in double precision."""
        if self._spare is not None:
            number, self._spare = self._spare, None
            return number
        u2, u1 = self._uniform_double(), self._uniform_double()
        r = math.sqrt(-2 * math.log1p(-u1))
        theta = 2 * math.pi * u2
        self._spare = r * math.sin(theta)
        return r * math.cos(theta)

    def _uniform_double(self) -> float:
        """Return the low 53 bits of two words, high word first, on [0, 1)."""
        high, low = (int(word) for word in self._twister.random_raw(2))
        return ((high << 32 | low) & (2**53 - 1)) * 2.0**-53

    def _many(self, size: int) -> Array:
        """Return `size` numbers, at least 16, computed in float32.

        They come in blocks of 16. Where the last block is not full, torch
        draws the last 16 numbers anew, over the tail of those before.
        """
        uniform = self._uniform(size)
        whole = size - size % 16
        if whole == size:
            return _box_muller(uniform)
        head = _box_muller(uniform[:whole])[: size - 16]
        return np.concat([head, _box_muller(self._uniform(16))])

    def _uniform(self, size: int) -> Array:
        """Return the low 24 bits of `size` words as floats on [0, 1)."""
        words: NDArray[Any] = self._twister.random_raw(size)
        return (words & (2**24 - 1)).astype(np.float32) * np.float32(2**-24)


def check_high(high: int) -> None:
    """Check the upper bound of integers."""
    if not 0 < high < 2**28:
        raise ValueError(f"high is {high}, expected 1 to 2**28 - 1")


def _box_muller(uniform: Array) -> Array:
    """Turn blocks of 16 uniform numbers, 8 pairs each, into normal ones."""
    blocks = np.reshape(uniform, (-1, 2, 8))
    u1, u2 = blocks[:, 0, :], blocks[:, 1, :]
    # 1 - u is on (0, 1], so that the logarithm is never taken of 0.
    r = np.sqrt(-2 * np.log(1 - u1))
    theta = 2 * math.pi * u2
    pairs = np.stack([r * np.cos(theta), r * np.sin(theta)], axis=1)
    return np.reshape(pairs, (-1,))


def _knuth_seed(seed: int) -> NDArray[np.uint32]:
    """Return the twister's first 624 words, made from the seed's low 32 bits.

    Knuth, The Art of Computer Programming, volume 2, third edition, page
    106, line 25.
    """
    words = [seed & 0xFFFFFFFF]
    for i in range(1, 624):
        last = words[-1]
        words.append((1812433253 * (last ^ last >> 30) + i) & 0xFFFFFFFF)
    return np.asarray(words, dtype=np.uint32)
