"""What `bench attention` has measured: times, memory, a machine's limits."""

from __future__ import annotations

import math
import statistics
from typing import Any, NamedTuple

from attention_twice.machine import MIB

from ..kernels import SDPA
from ..machine import Machine

HEADS, WIDTH, FLOAT = 8, 64, 4


class Mode(NamedTuple):
    """Causal or not, forward or forward and backward."""

    causal: bool
    back: bool

    def __str__(self) -> str:
        """Return it in words."""
        causal = "causal" if self.causal else "not causal"
        return f"{causal}, forward{' + backward' if self.back else ''}"


MODES = [
    Mode(causal, back) for back in (False, True) for causal in (False, True)
]


class Limits(NamedTuple):
    """What this machine does at most in a second.

    `flops` of a product of matrices, `exponentials`, and `bytes` copied.
    """

    flops: float
    exponentials: float
    bytes: float

    def seconds(self, T: int, mode: Mode) -> float:
        """Return the time of a kernel that did nothing but what it must.

        There: two products of T² D multiplications and additions, and T²
        exponentials, for each head; back: five products, and the
        exponentials again.
        """
        seen = (T + 1) / 2 / T if mode.causal else 1.0
        products, exponentials = (7, 2) if mode.back else (2, 1)
        pairs = HEADS * T * T * seen
        flops = products * 2 * pairs * WIDTH
        return flops / self.flops + exponentials * pairs / self.exponentials


Times = dict[tuple[Mode, int], dict[str, float]]
Memory = dict[tuple[str, int], float]


class Costs(NamedTuple):
    """One run: seconds by mode, T and name; bytes by name and T."""

    machine: Machine
    threads: dict[str, int]
    limits: Limits
    times: Times
    memory: Memory

    @property
    def names(self) -> list[str]:
        """Return the names of what was measured, in order."""
        return list(
            dict.fromkeys(n for times in self.times.values() for n in times)
        )

    @property
    def lengths(self) -> list[int]:
        """Return every T, from the shortest."""
        return sorted({T for _, T in self.times})

    def seconds(self, mode: Mode, name: str) -> dict[int, float]:
        """Return the times of one by T, where it has any."""
        return {
            T: self.times[mode, T][name]
            for T in self.lengths
            if name in self.times[mode, T]
        }

    def ratio(self, mode: Mode, name: str, T: int) -> float | None:
        """Return a time as a multiple of SDPA's, None where there is none."""
        times = self.times[mode, T]
        known = name in times and SDPA in times
        return times[name] / times[SDPA] if known else None

    def least(self, mode: Mode, T: int) -> float | None:
        """Return the least time as a multiple of SDPA's, None without it."""
        times = self.times[mode, T]
        return (
            self.limits.seconds(T, mode) / times[SDPA]
            if SDPA in times
            else None
        )

    def mebibytes(self, name: str) -> dict[int, float]:
        """Return the memory of one by T, where it was measured."""
        return {
            T: self.memory[name, T] / MIB
            for T in self.lengths
            if (name, T) in self.memory
        }


def exponent(values: dict[int, float]) -> str:
    """Return the exponent p of c · Tᵖ, fitted to T ≥ 1024; - if too few."""
    points = [
        (math.log(T), math.log(v)) for T, v in values.items() if T > 1000
    ]
    if len(points) < 2:
        return "-"
    fit = statistics.linear_regression(*zip(*points, strict=True))
    return f"{fit.slope:.2f}"


def as_json(costs: Costs) -> dict[str, Any]:
    """Return all numbers: seconds and bytes."""
    return {
        "machine": costs.machine._asdict(),
        "threads": costs.threads,
        "limits": costs.limits._asdict(),
        "times": [
            {"mode": str(mode), "T": T, "seconds": seconds}
            for (mode, T), seconds in costs.times.items()
        ],
        "memory": [
            {"kernel": name, "T": T, "bytes": size}
            for (name, T), size in costs.memory.items()
        ],
    }


def from_json(content: dict[str, Any]) -> Costs:
    """Return the record from the result of `as_json`."""
    modes = {str(mode): mode for mode in MODES}
    return Costs(
        Machine(**content["machine"]),
        content["threads"],
        Limits(**content["limits"]),
        {
            (modes[row["mode"]], row["T"]): row["seconds"]
            for row in content["times"]
        },
        {(row["kernel"], row["T"]): row["bytes"] for row in content["memory"]},
    )
