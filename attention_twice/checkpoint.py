"""The file that keeps what was learned."""

from __future__ import annotations

import io
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .words import fail

FORMAT = "attention, written twice: training 1"


def read_checkpoint(lang: str, path: Path) -> dict[str, NDArray[Any]] | None:
    """Return the arrays of a checkpoint, read without pickle; None if none."""
    try:
        if not path.exists():
            return None
        content = path.read_bytes() if path.is_file() else b""
    except OSError as error:
        fail(lang, "bad read", path=path, reason=error.strerror)
    try:
        with warnings.catch_warnings():
            # A warning has nothing to add to what is said below.
            warnings.simplefilter("ignore")
            with np.load(io.BytesIO(content), allow_pickle=False) as held:
                return {name: np.asarray(held[name]) for name in held.files}
    except Exception:  # broken bytes raise nearly anything, and mean one thing
        fail(lang, "bad checkpoint", path=path)


def alike(kept: dict[str, NDArray[Any]], own: dict[str, NDArray[Any]]) -> bool:
    """Return whether a checkpoint has the arrays of a model, all finite."""
    kinds = [
        {name: (a.shape, a.dtype) for name, a in held.items()}
        for held in (kept, own)
    ]
    fits = kinds[0] == kinds[1] and all(map(is_finite, kept.values()))
    return fits and all(
        np.all((a >= 0) & (a < 2**53))
        for name, a in kept.items()
        if name.startswith(("count", "square."))
    )


def is_finite(array: NDArray[Any]) -> bool:
    """Return whether an array holds no NaN or infinity, or holds text."""
    return array.dtype.kind == "U" or bool(np.all(np.isfinite(array)))
