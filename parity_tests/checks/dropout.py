"""dropout: which weights are left, and how large."""

from __future__ import annotations

import numpy as np
import torch

from ..judges import bounds
from ..suite.register import Trial, check


def kept() -> np.ndarray:
    """Draw a dropout mask of shape (2, 3, 5, 7)."""
    return np.random.default_rng(3).random((2, 3, 5, 7)) < 0.6


@check("dropout", "closed form")
def kept_weights_are_divided_by_one_minus_p(trial: Trial) -> None:
    """With p = ½ and ¾, powers of two come out exactly."""
    weights = np.asarray([[0.5, 0.25, 0.125, 1.0]], dtype=np.float32)
    dropout_mask = np.asarray([[True, False, True, True]])
    half = trial.call("dropout.dropout", weights, 0.5, dropout_mask)
    trial.within("p = ½", half, [[1.0, 0.0, 0.25, 2.0]])
    quarter = trial.call("dropout.dropout", weights, 0.75, dropout_mask)
    trial.within("p = ¾", quarter, [[2.0, 0.0, 0.5, 4.0]])


@check("dropout", "closed form", ("float32", "float64"))
def nothing_is_left_of_p_1_and_all_of_p_0(trial: Trial) -> None:
    """With p = 1 zeros, not 0/0; with p = 0 the mask alone decides."""
    weights = np.ones((2, 3), dtype=trial.case)
    dropout_mask = np.ones((2, 3), dtype=bool)
    none = trial.call("dropout.dropout", weights, 1.0, dropout_mask)
    trial.within("p = 1", none, np.zeros((2, 3)))
    path = "dropout.dropout"
    (back,) = trial.version.gradients_of(
        path, weights, weights, 1.0, dropout_mask
    )
    trial.within("gradient, p = 1", back, np.zeros((2, 3)))
    dropout_mask[1, 1] = False
    every = trial.call("dropout.dropout", weights, 0.0, dropout_mask)
    trial.within("p = 0", every, dropout_mask.astype(trial.case))


@check("dropout", "definition", ("float32", "float64"))
def weights_are_kept_or_gone(trial: Trial) -> None:
    """W / (1 - p) where the mask is True, else 0, forward and backward."""
    rng = np.random.default_rng(4)
    weights = rng.random((2, 3, 5, 7)).astype(trial.case)
    dropout_mask, p = kept(), 0.3
    expected = np.where(
        dropout_mask, weights.astype(np.float64) / (1 - p), 0.0
    )
    error = bounds.gamma(3, trial.case) * expected
    got = trial.call("dropout.dropout", weights, p, dropout_mask)
    assert got.dtype == trial.case, f"the weights are {got.dtype}"
    trial.within("weights", got, expected, error)
    path = "dropout.dropout"
    (back,) = trial.version.gradients_of(
        path, weights, weights, p, dropout_mask
    )
    trial.within("gradient", back, expected, error)


@check("dropout", "law")
def a_draw_is_one_of_the_librarys_own(trial: Trial) -> None:
    """NumPy's draws leave its global stream alone; torch's come from it."""
    path, shape = "dropout.draw_dropout_mask", (64, 65)
    before = repr(np.random.get_state())
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        state = torch.get_rng_state()
        one, other = (trial.call(path, shape, 0.5) for _ in range(2))
        moved = not torch.equal(torch.get_rng_state(), state)
        torch.manual_seed(7)
        again = trial.call(path, shape, 0.5)
    assert repr(np.random.get_state()) == before, "NumPy's stream has moved"
    assert np.any(one != other), "two draws are the same"
    assert moved != trial.version.by_hand, "torch's stream"
    # Whoever seeds torch gets the same dropout again.
    seeded = not trial.version.by_hand
    assert np.array_equal(one, again) == seeded, "the seed and the draw"


@check("dropout", "law", (0.0, 2.0**-13, 0.1, 0.75))
def each_weight_is_kept_with_probability_one_minus_p(trial: Trial) -> None:
    """The share that is kept lies within 6 standard deviations."""
    dropout_mask = trial.call(
        "dropout.draw_dropout_mask", (1000, 1000), trial.case
    )
    assert dropout_mask.dtype == bool, f"keep is {dropout_mask.dtype}"
    deviation = np.sqrt(trial.case * (1 - trial.case) / dropout_mask.size)
    trial.within("share", dropout_mask.mean(), 1 - trial.case, 6 * deviation)


@check("dropout", "law", (0, 1, 2, 3))
def each_weight_is_drawn_on_its_own(trial: Trial) -> None:
    """A draw, shifted along any axis, agrees with itself only by chance."""
    dropout_mask = trial.call("dropout.draw_dropout_mask", (4, 5, 64, 65), 0.5)
    agree = np.mean(dropout_mask == np.roll(dropout_mask, 1, axis=trial.case))
    deviation = 0.5 / np.sqrt(dropout_mask.size)
    trial.within("share that agrees", agree, 0.5, 6 * deviation)


@check("dropout", "closed form", ("float32", "float64"))
def what_is_left_out_is_gone_whatever_it_was(trial: Trial) -> None:
    """A dropped NaN or infinity gives 0, and not 0 · NaN."""
    weights = np.asarray([[np.nan, 1.0], [np.inf, 1.0]], dtype=trial.case)
    dropout_mask = np.asarray([[False, True]])
    got = trial.call("dropout.dropout", weights, 0.5, dropout_mask)
    trial.within("weights", got, [[0.0, 2.0], [0.0, 2.0]])


@check("dropout", "law")
def two_draws_differ(trial: Trial) -> None:
    """With p = 1 nothing is kept; with p = ½ two draws differ."""
    none = trial.call("dropout.draw_dropout_mask", (64,), 1.0)
    assert not none.any(), "something is kept"
    halves = [
        trial.call("dropout.draw_dropout_mask", (64,), 0.5) for _ in range(2)
    ]
    assert np.any(halves[0] != halves[1]), "two draws are the same"
