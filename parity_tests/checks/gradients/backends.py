"""gradients: those of torch's own function, on every backend of the CPU."""

from __future__ import annotations

from ...judges.sdpa_backends import (
    GRADIENTS,
    controlled,
    gradient_testimony,
    silent,
)
from ...suite.register import Trial, check


@check("gradients", "SDPA", GRADIENTS)
def the_gradients_are_what_torchs_function_gives(trial: Trial) -> None:
    """Its own backward pass, on one backend, within the bounds of both."""
    for seen in controlled(trial.case):
        gradients = trial.version.gradients(silent(seen.case), seen.dtype)
        for name, (witness, error) in gradient_testimony(seen).items():
            trial.within(
                f"gradient of {name}", gradients[name], witness, error
            )
