"""The machine and the versions that numbers were measured with."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
from collections.abc import Iterable
from typing import NamedTuple

import torch

from attention_twice.machine import cpu_name
from attention_twice.words import translated


class Machine(NamedTuple):
    """What the numbers depend on, without names of hosts or paths."""

    cpu: str
    architecture: str
    vectors: str
    cores: int
    system: str
    date: str
    versions: dict[str, str]

    def __str__(self) -> str:
        """Return it in words, without the date."""
        versions = ", ".join(f"{n} {v}" for n, v in self.versions.items())
        return (
            f"{self.cpu} ({self.architecture}, {self.vectors}), {self.cores} "
            f"cores, {self.system}; {versions}"
        )


def this_machine(packages: Iterable[str] = ()) -> Machine:
    """Return this machine, with the versions of these packages as well."""
    names = ["numpy", "torch", *packages]
    versions = {n: importlib.metadata.version(n) for n in names}
    return Machine(
        cpu_name(),
        platform.machine(),
        torch.backends.cpu.get_cpu_capability(),
        os.cpu_count() or 1,
        platform.system(),
        datetime.date.today().isoformat(),
        {"Python": platform.python_version(), **versions},
    )


def machine_lines(machine: Machine, tag: str) -> list[str]:
    """Return what was measured on as a list, in a language."""
    hardware = translated(
        tag,
        "{cpu} ({architecture}, {vectors}), {cores} cores, {system}",
        **machine._asdict(),
    )
    versions = ", ".join(f"{n} {v}" for n, v in machine.versions.items())
    date = translated(tag, "Measured on {date}", date=machine.date)
    return [f"- {line}" for line in (hardware, versions, date)]
