"""sdpa: every step of every case is the definition's."""

from __future__ import annotations

import numpy as np

from ...cases.recipe import build
from ...cases.table import CASES
from ...judges import definition
from ...judges.attention_bounds import has_dtype, step_bounds
from ...judges.control import controlled
from ...suite.register import Trial, check


@check("sdpa", "definition", CASES)
def every_step_is_the_definitions(trial: Trial) -> None:
    """Compare each step with the scalar loops."""
    for case in controlled(trial.case):
        exact = definition.forward(case)
        errors = step_bounds(case)
        for name, got in trial.version.steps(build(case), case.dtype).items():
            nearest, missing = exact[name]
            has_dtype(name, got, case.dtype, name == "output")
            bound = np.broadcast_to(errors[name], nearest.shape)
            trial.within(name, got, nearest, bound, missing)
