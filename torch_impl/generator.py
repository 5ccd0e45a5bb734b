"""Normal numbers: the stream of `torch.manual_seed`, which is torch's own.

PyTorch draws on the CPU from the Mersenne Twister MT19937 (Matsumoto and
Nishimura 1998) and turns pairs of uniform numbers into pairs of normal ones
by Box and Muller's method (1958). The NumPy side writes these steps out.
"""

from __future__ import annotations

import torch

from .arrays import Array, Indices


class Generator:
    """The normal numbers that follow `torch.manual_seed(seed)`."""

    def __init__(self, seed: int) -> None:
        # A source of its own leaves torch's global one as the user set it.
        self._source = torch.Generator().manual_seed(seed)

    def randn(self, *shape: int) -> Array:
        """Return the next numbers, float32, of mean 0 and variance 1."""
        return torch.randn(shape, generator=self._source, dtype=torch.float32)

    def randint(self, high: int, *shape: int) -> Indices:
        """Return the next integers from 0 to high - 1.

        Raises ValueError for a `high` below 1 or above 2²⁸ - 1.
        """
        check_high(high)
        return torch.randint(high, shape, generator=self._source)


def check_high(high: int) -> None:
    """Check the upper bound of integers."""
    if not 0 < high < 2**28:
        raise ValueError(f"high is {high}, expected 1 to 2**28 - 1")
