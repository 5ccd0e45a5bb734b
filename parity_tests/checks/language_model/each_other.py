"""language_model: NumPy and PyTorch agree, over a hundred steps too."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from ...judges import bounds
from ...judges.small_models import MODELS, ROUNDINGS, computed, error_of
from ...suite.register import Trial, check
from ...suite.versions import NUMPY, Version


@check("language_model", "each other", MODELS)
def both_versions_agree(trial: Trial) -> None:
    """Logits, loss and every gradient, within the roundings of both."""
    results = computed(trial.version, trial.case)
    others = computed(trial.other, trial.case)
    assert list(results) == list(others), list(results)
    for name, got in results.items():
        size = max(1.0, float(np.abs(others[name]).max()))
        error = 2 * bounds.gamma(ROUNDINGS, "float64") * size
        trial.within(name, got, others[name], error)


@check("language_model", "each other", MODELS[:4])
def float32_stays_float32(trial: Trial) -> None:
    """Logits, loss and gradients are of float32, near those of float64."""
    model = trial.case._replace(dtype="float32")
    results = computed(trial.version, model)
    wide = computed(trial.other, trial.case)
    for name, got in results.items():
        assert got.dtype == np.float32, f"{name} is {got.dtype}"
        # Chosen, not derived: gradients of query and key are differences
        # of larger numbers, whose roundings they keep. Seen is 1.5, not 16.
        error = 16 * error_of(wide[name])
        trial.within(name, got, wide[name], error)


class Run(NamedTuple):
    """A hundred steps of training."""

    task: str
    tied: bool = False
    decay: float = 0.0

    def __str__(self) -> str:
        """Return the task and what is special about it."""
        more = ", tied" if self.tied else ""
        return f"{self.task}{more}, decay {self.decay:g}"


RUNS = [Run("poem", tied=True, decay=0.1), Run("pairs")]
# Chosen, not derived: each step multiplies what the ones before it have
# rounded, nobody knows by how much. The versions lie 3e-14 apart.
APART = 1e-10


STEPS = 100


@cache
def curve(version: Version, run: Run) -> list[float]:
    """Return the losses of a run in float64, from NumPy's first weights.

    If each version drew its own, the weights would differ in the last bit
    of float32, and a hundred steps would amplify this.
    """
    module = version.module("training")
    text = module.encode(module.POEM, module.vocabulary(module.POEM))
    model, first = (
        each.poem_model(17, 19) if run.task == "poem" else each.recall_model()
        for each in (module, NUMPY.module("training"))
    )
    names = NUMPY.function("language_model.parameters")(first)
    wide = {n: np.float64(a) for n, a in names.items()}
    if run.tied:
        del wide["lm_head"]
        model.lm_head = None
    path = "language_model.set_parameters"
    parameters = {n: version.array(np.asarray(a)) for n, a in wide.items()}
    version.function(path)(model, parameters)
    optimizer = version.function("adam.AdamW")(
        model, module.LEARNING_RATE, decay=run.decay
    )
    losses = []
    for step in range(STEPS):
        if run.task == "poem":
            batch = module.text_batch(text, 16, 4, step)
        else:
            batch = module.recall_batch(16, step)
        losses.append(module.train_step(model, optimizer, batch))
    return losses


@check("language_model", "each other", RUNS)
def a_hundred_steps_have_the_same_losses(trial: Trial) -> None:
    """In float64, from the same weights on the same batches."""
    losses, others = (
        curve(trial.version, trial.case),
        curve(trial.other, trial.case),
    )
    expected = np.asarray(others)
    trial.within("losses", np.asarray(losses), expected, APART * expected)
    assert losses[-1] < losses[0], "nothing is learned"


@check("language_model", "each other")
def both_versions_draw_the_same_model(trial: Trial) -> None:
    """The same numbers in the same order, from one seed."""
    drawn = []
    for version in (trial.version, trial.other):
        randn = version.function("generator.Generator")(5).randn
        path = "language_model.initial_model"
        model = version.function(path)(randn, 7, 5, 8, 2, 12, 2)
        parameters = version.function("language_model.parameters")(model)
        drawn.append({n: version.numpy(a) for n, a in parameters.items()})
    assert list(drawn[0]) == list(drawn[1]), list(drawn[0])
    for name, array in drawn[0].items():
        error = bounds.normal_numbers(16)
        trial.within(name, array, drawn[1][name], error)
