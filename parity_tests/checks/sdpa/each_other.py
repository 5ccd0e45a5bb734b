"""sdpa: NumPy and PyTorch take the same steps in every case."""

from __future__ import annotations

from ...cases.recipe import build
from ...cases.table import CASES
from ...judges.attention_bounds import step_bounds
from ...judges.control import controlled
from ...judges.other_version import common, fit, right_steps
from ...suite.register import Trial, check


@check("sdpa", "each other", CASES)
def both_versions_take_the_same_steps(trial: Trial) -> None:
    """Compare each step with the other version's."""
    for case in controlled(common(trial)):
        steps = trial.version.steps(build(case), case.dtype)
        others = right_steps(trial.other, case)
        errors = step_bounds(case)
        for name, got in steps.items():
            trial.within(name, got, others[name], fit(errors[name], got))
