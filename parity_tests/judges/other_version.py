"""Each other: the results of the other version, and how far two may differ."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cases.recipe import Case, build
from ..suite.register import Trial
from ..suite.versions import Version


def common(trial: Trial) -> Case:
    """Return the case in a dtype that both versions have."""
    case: Case = trial.case
    known = trial.other.has(case.dtype)
    return case if known else replace(case, dtype="float32")


@cache
def right_steps(version: Version, case: Case) -> dict[str, NDArray[Any]]:
    """Return the steps of the version that another is compared with."""
    return version.steps(build(case), case.dtype)


@cache
def right_gradients(version: Version, case: Case) -> dict[str, NDArray[Any]]:
    """Return the gradients of the version another is compared with."""
    return version.gradients(build(case), case.dtype)


def fit(error: Any, got: NDArray[Any]) -> Any:
    """Return twice a bound, in the shape of what it bounds."""
    return 2 * np.broadcast_to(error, got.shape)
