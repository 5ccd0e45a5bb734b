"""sdpa: what torch's own function gives, on every backend of the CPU."""

from __future__ import annotations

from ...cases.recipe import build
from ...judges.sdpa_backends import WITNESSED, controlled, testimony
from ...suite.register import Trial, check


@check("sdpa", "SDPA", WITNESSED)
def the_output_is_what_torchs_function_gives(trial: Trial) -> None:
    """Within the bounds of both, on one backend."""
    for seen in controlled(trial.case):
        witness, error = testimony(seen)
        steps = trial.version.steps(build(seen.case), seen.dtype)
        trial.within("output", steps["output"], witness, error)
