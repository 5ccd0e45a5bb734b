"""averaging: in closed form, by its definition, and its gradient."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..judges import bounds
from ..suite.register import Trial, check


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


class Drawn(NamedTuple):
    """The x to average: (..., T, M), with no two sizes equal."""

    dtype: str
    batch: tuple[int, ...]

    def __str__(self) -> str:
        """Return the dtype and the batch."""
        return f"{self.dtype}, batch {self.batch}"

    def draw(self) -> np.ndarray:
        """Draw x."""
        rng = np.random.default_rng(237)
        return rng.standard_normal((*self.batch, 7, 3)).astype(self.dtype)


DRAWN = [
    Drawn(dtype, batch)
    for dtype in ("float32", "float64")
    for batch in ((), (2,), (4, 2))
]


def exact_weights(dtype: str) -> bounds.Bounded:
    """Bound the weights: rounded to float64, then to the type of x."""
    lower = np.tril(np.ones((7, 7))) / np.arange(1, 8)[:, None]
    return bounds.times(bounds.exact(lower), 1.0, dtype)


@check("averaging", "definition", DRAWN)
def means_are_those_of_the_definition(trial: Trial) -> None:
    """Compare with sums, each divided by its count, in a loop."""
    x, dtype = trial.case.draw(), trial.case.dtype
    bound = bounds.matmul(exact_weights(dtype), bounds.exact(x), dtype)
    means = trial.call("averaging.running_mean", x)
    assert means.dtype == dtype, f"the means are {means.dtype}"
    expected = np.zeros(x.shape)
    for index in np.ndindex(*trial.case.batch):
        for i in range(7):
            rows = x[index][: i + 1].astype(np.float64)
            expected[(*index, i)] = sum(rows) / (i + 1)
    trial.within("means", means, expected, bound.error)


@check("averaging", "definition", DRAWN)
def gradients_are_those_of_the_definition(trial: Trial) -> None:
    """Position j gets 1/(i + 1) of the gradient of each mean i ≥ j."""
    x, dtype = trial.case.draw(), trial.case.dtype
    upstream = np.flip(x, axis=-2) * 2
    back = bounds.transposed(exact_weights(dtype))
    back = bounds.matmul(back, bounds.exact(upstream), dtype)
    path = "averaging.running_mean"
    (dx,) = trial.version.gradients_of(path, upstream, x)
    assert dx.dtype == dtype, f"the gradient is {dx.dtype}"
    trial.within("gradient", dx, back.value, back.error)


@check("averaging", "each other", DRAWN)
def means_and_gradients_agree(trial: Trial) -> None:
    """Compare with the other version, forwards and backwards."""
    x, dtype = trial.case.draw(), trial.case.dtype
    path, weights = "averaging.running_mean", exact_weights(dtype)
    forward = bounds.matmul(weights, bounds.exact(x), dtype)
    means, other = trial.call(path, x), trial.other.call(path, x)
    assert means.dtype == other.dtype, f"the means are {means.dtype}"
    trial.within("means", means, other, 2 * forward.error)
    back = bounds.matmul(bounds.transposed(weights), bounds.exact(x), dtype)
    (dx,) = trial.version.gradients_of(path, x, x)
    (other,) = trial.other.gradients_of(path, x, x)
    assert dx.dtype == other.dtype, f"the gradient is {dx.dtype}"
    trial.within("gradient", dx, other, 2 * back.error)


@check("averaging", "law")
def what_came_before_gets_the_gradient(trial: Trial) -> None:
    """Mean i alone has a gradient: positions 0..i get 1/(i + 1) of it."""
    upstream = np.zeros((4, 2))
    upstream[1] = 6.0
    (dx,) = trial.version.gradients_of(
        "averaging.running_mean", upstream, np.ones((4, 2))
    )
    trial.within("gradient", dx, [[3, 3], [3, 3], [0, 0], [0, 0]])
