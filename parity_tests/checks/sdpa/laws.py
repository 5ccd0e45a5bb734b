"""sdpa: the laws of the forward pass, and of dropout that is drawn."""

from __future__ import annotations

import math

import numpy as np

from ...cases.recipe import build
from ...judges import laws
from ...judges.law_cases import law_cases
from ...suite.register import Trial, check
from ...suite.versions import ATTENTION, STEPS


@check("sdpa", "law", law_cases(laws.FORWARD))
def laws_of_the_forward_pass_hold(trial: Trial) -> None:
    """Run one law on one case."""
    trial.case.law(trial, build(trial.case.case), trial.case.dtype)


@check("sdpa", "law", ("plain", "causal", "groups", "one group", "values"))
def a_drawn_dropout_is_each_weights_own(trial: Trial) -> None:
    """Scores 0, p = ¼: a weight is 0 or 1/n/¾, drawn apart from all others.

    No head, batch or query has the draw of its neighbour.
    """
    shapes = {
        "groups": [(4, 6, 33, 2), (4, 3, 33, 2), (4, 3, 33, 33)],
        "one group": [(4, 6, 33, 2), (4, 1, 33, 2), (4, 1, 33, 33)],
        "values": [(1, 6, 33, 2), (1, 6, 33, 2), (4, 6, 33, 33)],
    }
    same = [(4, 6, 33, 2), (4, 6, 33, 2), (4, 6, 33, 33)]
    drawn = [np.zeros(s, np.float32) for s in shapes.get(trial.case, same)]
    options = {
        "dropout_p": 0.25,
        "is_causal": trial.case == "causal",
        "enable_gqa": "group" in trial.case,
    }
    drawn[2] = drawn[2] + np.eye(33, dtype=np.float32)
    output = trial.call(ATTENTION, *drawn, **options)
    number = np.full((33, 1), 33)
    seen = np.ones((33, 33), dtype=bool)
    if trial.case == "causal":
        number, seen = np.arange(1, 34)[:, None], np.tri(33, dtype=bool)
    kept = output != 0
    expected = kept * (1 / number / 0.75)
    trial.within("output", output, expected, 4 * np.spacing(np.float32(1)))
    assert not np.any(kept & ~seen), "a key that is not seen has a weight"
    for axis in (0, 1) if trial.case == "causal" else range(4):
        agree = (kept == np.roll(kept, 1, axis=axis))[..., seen]
        chance = 0.75**2 + 0.25**2
        deviation = math.sqrt(chance * (1 - chance) / agree.size)
        trial.within("agree", agree.mean(), chance, 12 * deviation)


@check("sdpa", "law", (0.1, 0.5))
def dropout_is_drawn_where_it_is_not_given(trial: Trial) -> None:
    """The share of weights that are kept lies within 6 deviations."""
    p, shape = trial.case, (100, 64)
    query = np.zeros((shape[0], 1), dtype=np.float32)
    key, value = (np.zeros((shape[1], 1), dtype=np.float32) for _ in "kv")
    steps = trial.call(STEPS, query, key, value, dropout_p=p)
    kept = (steps["dropped_weights"] != 0).mean()
    deviation = math.sqrt(p * (1 - p) / math.prod(shape))
    trial.within("share that is kept", kept, 1 - p, 6 * deviation)
    again = trial.call(STEPS, query, key, value, dropout_p=p)
    same = steps["dropped_weights"] == again["dropped_weights"]
    assert not same.all(), "two calls draw the same"
