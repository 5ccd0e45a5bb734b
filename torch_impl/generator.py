"""Normal numbers: the stream of `torch.manual_seed`, which is torch's own.

PyTorch draws on the CPU from the Mersenne Twister MT19937 (Matsumoto and
Nishimura 1998) and turns pairs of uniform numbers into pairs of normal ones
by Box and Muller's method (1958). The NumPy side writes these steps out.
"""

from __future__ import annotations

import torch

from .arrays import Array


class Generator:
    """The normal numbers that follow `torch.manual_seed(seed)`."""

    def __init__(self, seed: int) -> None:
        # A source of its own leaves torch's global one as the user set it.
        self._source = torch.Generator().manual_seed(seed)

    def randn(self, *shape: int) -> Array:
        """Return the next normal numbers, float32, of mean 0, deviation 1."""
        return torch.randn(shape, generator=self._source, dtype=torch.float32)
