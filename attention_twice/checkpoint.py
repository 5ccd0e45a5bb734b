"""The checkpoint of a training, a file without pickle."""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from .files import written_whole
from .sides import Numbers
from .words import RefusalError

FORMAT = "attention, written twice: training 1"


def owner(text: str, seed: int) -> NDArray[np.str_]:
    """Return the text and the seed to which a checkpoint belongs."""
    digest = hashlib.sha256(text.encode()).hexdigest()
    return np.asarray(f"{FORMAT} {digest} {seed}")


def write_checkpoint(path: Path, state: Numbers) -> None:
    """Write the state of a training, whole or not at all."""
    if not all(map(is_finite, state.values())):
        raise RefusalError(
            "at step {step} the model's numbers are no longer finite; {path} "
            "keeps what was saved last",
            step=int(state["count"]),
            path=path,
        )
    try:
        with written_whole(path) as file:
            np.savez(file, allow_pickle=False, **state)
    except OSError as error:
        raise RefusalError(
            "--checkpoint cannot write {path}: {reason}",
            path=path,
            reason=error.strerror,
        ) from error


def read_checkpoint(path: Path, expected: Numbers) -> Numbers | None:
    """Return the state that a file keeps; None where there is no file.

    Args:
        path: The file.
        expected: The state of the training that is to go on from it.

    Raises:
        RefusalError: The file is broken, or another training's.
    """
    content = read(path)
    if content is None:
        return None
    kept = arrays(content)
    belongs = str(kept.get("belongs", ""))
    if re.fullmatch(f"{FORMAT} [0-9a-f]{{64}} [0-9]+", belongs) is None:
        raise broken(path)
    if belongs != str(expected["belongs"]):
        raise RefusalError(
            "--checkpoint {path} belongs to another text or seed; "
            "give another file, or move it away",
            path=path,
        )
    if not alike(kept, expected):
        raise broken(path)
    return kept


def read(path: Path) -> bytes | None:
    """Return what a file holds; None where there is no file."""
    try:
        if not path.exists():
            return None
        return path.read_bytes() if path.is_file() else b""
    except OSError as error:
        raise RefusalError(
            "--checkpoint cannot read {path}: {reason}",
            path=path,
            reason=error.strerror,
        ) from error


def arrays(content: bytes) -> Numbers:
    """Return the arrays of a checkpoint; none where it is broken."""
    try:
        with warnings.catch_warnings():
            # A warning has nothing to add to what the refusal says.
            warnings.simplefilter("ignore")
            with np.load(io.BytesIO(content), allow_pickle=False) as held:
                return {name: np.asarray(held[name]) for name in held.files}
    except Exception:  # broken bytes raise nearly anything, and mean one thing
        return {}


def broken(path: Path) -> RefusalError:
    """Return the error for a file that is no checkpoint."""
    return RefusalError(
        "--checkpoint {path} is not a whole checkpoint of this command; "
        "give another file, or move it away",
        path=path,
    )


def alike(kept: Numbers, expected: Numbers) -> bool:
    """Return whether a checkpoint has the arrays of a model, all finite."""
    kinds = [
        {name: (a.shape, a.dtype) for name, a in held.items()}
        for held in (kept, expected)
    ]
    fits = kinds[0] == kinds[1] and all(map(is_finite, kept.values()))
    return fits and all(
        np.all((a >= 0) & (a < 2**53))
        for name, a in kept.items()
        if name.startswith(("count", "square."))
    )


def is_finite(array: NDArray[np.generic]) -> bool:
    """Return whether an array holds no NaN or infinity, or holds text."""
    return array.dtype.kind == "U" or bool(np.all(np.isfinite(array)))
