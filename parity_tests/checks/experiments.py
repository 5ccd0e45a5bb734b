"""experiments: sharpness with the division by √D and without it."""

from __future__ import annotations

import math

import numpy as np

from ..cases.sharpness import RECORDED, WIDTHS
from ..judges import bounds
from ..suite.register import Trial, check


@check("experiments", "closed form", WIDTHS)
def sharpness_has_its_recorded_numbers(trial: Trial) -> None:
    """Entropy and gradient for each dimension, to the printed digit."""
    function = trial.version.function("experiments.sharpness")
    numbers = (*function(trial.case), *function(trial.case, 1.0))
    printed = [float(f"{number:.2f}") for number in numbers]
    trial.within("numbers", np.asarray(printed), RECORDED[trial.case])


@check("experiments", "law", (0, 1, 2))
def only_the_division_keeps_weights_soft(trial: Trial) -> None:
    """Divided by √D the entropy stays; otherwise it falls as D grows.

    Four times D is twice the standard deviation of the scores, and nothing
    else differs: at D = 1024 less than a tenth of the entropy is left.
    """
    function = trial.version.function("experiments.sharpness")
    seed = trial.case
    soft = [function(D, None, seed) for D in WIDTHS]
    sharp = [function(D, 1.0, seed) for D in WIDTHS]
    entropies = [result.entropy for result in sharp]
    assert sorted(entropies, reverse=True) == entropies, entropies
    assert max(result.entropy for result in soft) < math.log(64)
    assert min(result.entropy for result in soft) > 10 * entropies[-1]
    assert soft[-1].gradient > 2 * sharp[-1].gradient


@check("experiments", "each other", (0, 1, 2))
def another_seed_is_another_draw(trial: Trial) -> None:
    """Both versions agree for a seed; scale 0 makes all weights equal."""
    path = "experiments.sharpness"
    for scale in (None, 1.0):
        one = trial.version.function(path)(16, scale, trial.case)
        other = trial.other.function(path)(16, scale, trial.case)
        later = trial.version.function(path)(16, scale, trial.case + 1)
        got, must = np.asarray(one), np.asarray(other)
        trial.within("numbers", got, must, bounds.gamma(2**10, "float32"))
        assert one != later, "two seeds are alike"
    flat = trial.version.function(path)(16, 0.0, trial.case)
    error = bounds.gamma(256, "float32") * math.log(64)
    trial.within("entropy", flat.entropy, math.log(64), error)


@check("experiments", "definition", ("float32", "float64"))
def entropy_and_gradient_are_those_of_the_definition(trial: Trial) -> None:
    """-Σ P log P, and Σ_i dP_i P_i (δ_ij - P_j), in float64 and loops."""
    rng = np.random.default_rng(37)
    scores = (3 * rng.standard_normal((2, 5, 7))).astype(trial.case)
    d = rng.standard_normal((2, 5, 7)).astype(trial.case)
    wide = np.exp(scores.astype(np.float64))
    weights = wide / wide.sum(axis=-1, keepdims=True)
    expected = np.zeros((2, 5))
    gradient = np.zeros((2, 5, 7))
    for b, i in np.ndindex(2, 5):
        p = weights[b, i].tolist()
        expected[b, i] = -sum(x * math.log(x) for x in p)
        for j, k in np.ndindex(7, 7):
            slope = p[k] * (float(j == k) - p[j])
            gradient[b, i, j] += float(d[b, i, k]) * slope
    got = trial.call("experiments.entropy", scores)
    assert got.dtype == trial.case, got.dtype
    lost = bounds.gamma(64, trial.case)
    trial.within("entropy", got, expected, 8 * lost)
    back = trial.call("experiments.score_gradient", scores, d)
    assert back.dtype == trial.case, back.dtype
    trial.within("gradient", back, gradient, lost * np.abs(d).max())
    native = trial.version.array(scores)
    path = "experiments.score_gradient"
    trial.version.function(path)(native, trial.version.array(d))
    assert not getattr(native, "requires_grad", False), (
        "the scores are changed"
    )


@check("experiments", "closed form", (2, 8, 64))
def equal_scores_have_the_greatest_entropy(trial: Trial) -> None:
    """Log S nats, and dS = (dP - mean(dP))/S."""
    S = trial.case
    got = trial.call("experiments.entropy", np.full((1, S), 3.0))
    trial.within("entropy", got, [math.log(S)], 16 * np.spacing(4.0))
    d = np.zeros((1, S))
    d[0, 0] = S
    expected = np.full((1, S), -1 / S)
    expected[0, 0] = 1 - 1 / S
    back = trial.call("experiments.score_gradient", np.zeros((1, S)), d)
    trial.within("gradient", back, expected, 4 * np.spacing(1.0))


@check("experiments", "each other", (None, 1.0))
def the_poem_is_learned_with_the_same_losses(trial: Trial) -> None:
    """Sixty steps in float32: from chance to a tenth, alike.

    Later steps amplify the rounding errors of earlier ones; so the curves
    are compared within a hundredth of their height.
    """
    losses = trial.version.function("experiments.poem_losses")(60, trial.case)
    others = trial.other.function("experiments.poem_losses")(60, trial.case)
    assert len(losses) == 60, len(losses)
    assert losses[0] > 2.0, losses[0]
    assert losses[-1] < 0.1, losses[-1]
    expected = np.asarray(others)
    trial.within("losses", np.asarray(losses), expected, expected / 100)
    other = trial.version.function("experiments.poem_losses")(1, trial.case, 1)
    assert other[0] != losses[0], "another seed has the same loss"
    scale = {None: 1.0, 1.0: None}[trial.case]
    other = trial.version.function("experiments.poem_losses")(1, scale)
    assert other[0] != losses[0], "another scale has the same loss"
