"""gradients: NumPy and PyTorch give the same in every case."""

from __future__ import annotations

from ...cases.recipe import build
from ...cases.table import GRADIENT
from ...judges.attention_bounds import gradient_bounds
from ...judges.control import controlled
from ...judges.other_version import common, fit, right_gradients
from ...suite.register import Trial, check


@check("gradients", "each other", GRADIENT)
def both_versions_give_the_same_gradients(trial: Trial) -> None:
    """Compare each gradient with the other version's."""
    for case in controlled(common(trial)):
        gradients = trial.version.gradients(build(case), case.dtype)
        others = right_gradients(trial.other, case)
        errors = gradient_bounds(case)
        for name, got in gradients.items():
            bound = fit(errors[name], got)
            trial.within(f"gradient of {name}", got, others[name], bound)
