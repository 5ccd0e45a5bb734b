"""What the machine has: memory."""

from __future__ import annotations

import os
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
