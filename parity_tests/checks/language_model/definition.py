"""language_model: logits, loss and gradients are the definition's."""

from __future__ import annotations

import numpy as np

from ...judges.small_models import MODELS, by_definition, computed, error_of
from ...suite.register import Trial, check


@check("language_model", "definition", MODELS)
def logits_loss_and_gradients_are_the_definitions(trial: Trial) -> None:
    """Compare with scalars in loops, in high precision."""
    logits, loss, gradients = by_definition(trial.case)
    expected = {"logits": logits, "loss": np.asarray(loss), **gradients}
    results = computed(trial.version, trial.case)
    assert list(results)[2:] == list(gradients), list(results)
    for name, got in results.items():
        must = expected[name]
        trial.within(name, got, must, error_of(must))
        assert np.any(must != 0) or "blocks" in name, f"{name} is 0"
