"""averaging: in closed form, by its definition, and its gradient."""

from __future__ import annotations

import numpy as np

from .. import bounds
from ..suite import Trial, check

DTYPES = ("float32", "float64")


@check("averaging", "closed form")
def weights_are_one_over_the_number_seen(trial: Trial) -> None:
    """Row i has 1/(i + 1), rounded once, at 0..i."""
    weights = trial.call("averaging.averaging_weights", 5)
    expected = [[1 / (i + 1) * (j <= i) for j in range(5)] for i in range(5)]
    trial.within("weights", weights, expected)


@check("averaging", "closed form")
def whole_numbers_come_out_exactly(trial: Trial) -> None:
    """The means of 1, 2, 3, 6 are 1, 1.5, 2 and 3."""
    x = np.asarray([[1.0], [2.0], [3.0], [6.0]])
    means = trial.call("averaging.running_mean", x)
    trial.within("means", means, [[1], [1.5], [2], [3]])


@check("averaging", "law")
def no_position_sees_a_later_one(trial: Trial) -> None:
    """Rows 0..3 do not depend on what rows 4 and 5 are."""
    rng = np.random.default_rng(6)
    x = rng.standard_normal((6, 3))
    changed = np.concat([x[:4], rng.standard_normal((2, 3))])
    means = trial.call("averaging.running_mean", x)
    others = trial.call("averaging.running_mean", changed)
    trial.within("first rows", means[:4], others[:4])
    assert np.all(means[4:] != others[4:]), "the last rows do not change"


def drawn(dtype: str) -> np.ndarray:
    """Draw x, (B, T, M), with no two sizes equal."""
    rng = np.random.default_rng(237)
    return rng.standard_normal((2, 7, 3)).astype(dtype)


def exact_weights(dtype: str) -> bounds.Bounded:
    """Bound the weights: rounded to float64, then to the type of x."""
    lower = np.tril(np.ones((7, 7))) / np.arange(1, 8)[:, None]
    return bounds.times(bounds.exact(lower), 1.0, dtype)


@check("averaging", "definition", DTYPES)
def means_are_those_of_the_definition(trial: Trial) -> None:
    """Add one after the other and divide by how many there are."""
    x = drawn(trial.case)
    weights = exact_weights(trial.case)
    bound = bounds.matmul(weights, bounds.exact(x), trial.case)
    means = trial.call("averaging.running_mean", x)
    assert means.dtype == trial.case, f"the means are {means.dtype}"
    wide = x.astype(np.float64)
    expected = [[sum(w[: i + 1]) / (i + 1) for i in range(7)] for w in wide]
    trial.within("means", means, np.asarray(expected), bound.error)


@check("averaging", "each other", DTYPES)
def means_and_gradients_agree(trial: Trial) -> None:
    """Compare with the other version, forwards and backwards."""
    x = drawn(trial.case)
    path = "averaging.running_mean"
    weights = exact_weights(trial.case)
    forward = bounds.matmul(weights, bounds.exact(x), trial.case)
    other = trial.other.call(path, x)
    trial.within("means", trial.call(path, x), other, 2 * forward.error)
    upstream = np.flip(x, axis=-2) * 2
    back = bounds.transposed(weights)
    back = bounds.matmul(back, bounds.exact(upstream), trial.case)
    (dx,) = trial.version.gradients_of(path, upstream, x)
    assert dx.dtype == trial.case, f"the gradient is {dx.dtype}"
    trial.within("gradient", dx, back.value, back.error)


@check("averaging", "law")
def what_came_before_gets_the_gradient(trial: Trial) -> None:
    """Mean i alone has a gradient: positions 0..i get 1/(i + 1) of it."""
    upstream = np.zeros((4, 2))
    upstream[1] = 6.0
    (dx,) = trial.version.gradients_of(
        "averaging.running_mean", upstream, np.ones((4, 2))
    )
    trial.within("gradient", dx, [[3, 3], [3, 3], [0, 0], [0, 0]])
