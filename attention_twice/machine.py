"""What the machine has and a process takes; most only Linux tells."""

from __future__ import annotations

import os
import platform
import re
import sys
from pathlib import Path

MIB = 2**20


def free_bytes() -> int | None:
    """Return the memory that is free, or None where nothing tells."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        fields = dict(line.split(":", 1) for line in lines)
        return int(fields["MemAvailable"].split()[0]) * 1024
    except (OSError, KeyError):
        pass
    if sys.platform == "win32":
        return None
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError):
        return None


def forget_peak() -> int | None:
    """Watch this process's memory anew; return its bytes, None if unknown."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
    except OSError:
        return None
    return _status("VmRSS")


def risen(before: int | None) -> int | None:
    """Return how far the memory has risen since, in bytes."""
    return None if before is None else _status("VmHWM") - before


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    line = next(line for line in lines if line.startswith(f"{name}:"))
    return 1024 * int(line.split()[1])


def cpu_name() -> str:
    """Return what the CPU calls itself."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        text = ""
    found = re.search(r"^model name\s*: (.+)$", text, re.M)
    return found[1] if found else platform.processor() or "CPU"
