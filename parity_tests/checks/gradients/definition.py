"""gradients: every gradient of every case is the definition's."""

from __future__ import annotations

import numpy as np

from ...cases.recipe import build
from ...cases.table import GRADIENT
from ...judges import definition
from ...judges.attention_bounds import gradient_bounds, has_dtype
from ...judges.control import controlled
from ...suite.register import Trial, check


@check("gradients", "definition", GRADIENT)
def every_gradient_is_the_definitions(trial: Trial) -> None:
    """Compare dP, dS, dQ, dK, dV and the bias's gradient."""
    for case in controlled(trial.case):
        exact = definition.backward(case)
        errors = gradient_bounds(case)
        gradients = trial.version.gradients(build(case), case.dtype)
        assert gradients.keys() == exact.keys(), (
            f"{[*gradients]}, not {[*exact]}"
        )
        for name, got in gradients.items():
            nearest, missing = exact[name]
            inner = name in ("weights", "scores")
            if name == "attn_mask":
                mask = build(case).options.attn_mask
                assert mask is not None
                assert got.dtype == mask.dtype, f"its gradient: {got.dtype}"
            else:
                has_dtype(f"gradient of {name}", got, case.dtype, not inner)
            bound = np.broadcast_to(errors[name], nearest.shape)
            trial.within(f"gradient of {name}", got, nearest, bound, missing)
