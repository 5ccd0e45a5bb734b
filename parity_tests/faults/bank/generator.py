"""Faults of the random number generator."""

from __future__ import annotations

from ..fault import Fault

FAULTS = (
    Fault(
        name="Box and Muller's sine and cosine exchanged",
        module="generator",
        before="np.stack([r * np.cos(theta), r * np.sin(theta)], axis=1)",
        after="np.stack([r * np.sin(theta), r * np.cos(theta)], axis=1)",
        wrong="The numbers are normal, but not in the order of torch's.",
    ),
    Fault(
        name="the tail not drawn anew",
        module="generator",
        before="np.concat([head, _box_muller(self._uniform(16))])",
        after="np.concat([head, _box_muller(uniform[-16:])])",
        wrong=(
            "Where the size is no multiple of 16, the last numbers are "
            "not torch's."
        ),
    ),
    Fault(
        name="the number kept back is lost",
        module="generator",
        before="self._spare = r * math.sin(theta)",
        after="self._spare = None",
        wrong="Every second number of a small draw is skipped.",
    ),
    Fault(
        name="32 bits in place of 24",
        module="generator",
        before="(words & (2**24 - 1)).astype(np.float32) * np.float32(2**-24)",
        after="words.astype(np.float32) * np.float32(2**-32)",
        wrong="All 32 bits are used, where torch uses the low 24.",
    ),
)
