"""softmax, log_softmax, log_sum_exp: all five judges, and the gradients."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import gmpy2
import numpy as np
import torch

from ..judges import bounds
from ..judges.definition import (
    PRECISION,
    Node,
    exp,
    log,
    plain,
    propagate,
    split,
    total,
)
from ..suite.register import Trial, check

WITNESSES: dict[str, Callable[[torch.Tensor], torch.Tensor]] = {
    "softmax": lambda x: torch.softmax(x, dim=-1),
    "log_softmax": lambda x: torch.log_softmax(x, dim=-1),
    "log_sum_exp": lambda x: torch.logsumexp(x, dim=-1),
}


class Rows(NamedTuple):
    """Rows of numbers for one function."""

    name: str
    spread: float
    dtype: str

    def __str__(self) -> str:
        """Return what is special about the rows."""
        return f"{self.name}, spread {self.spread:g}, {self.dtype}"

    def draw(self) -> Any:
        """Draw (2, 5, 7): two rows far apart, ties, some -inf, one dead."""
        rng = np.random.default_rng(len(self.name))
        x = self.spread * rng.standard_normal((2, 5, 7))
        x[0, 1] += 1e4
        x[0, 2, 1:4] = -math.inf
        x[1, 3] = -math.inf
        x[1, 4, :3] = x[1, 4].max()
        return x.astype(self.dtype)

    def bound(self) -> bounds.Bounded:
        """Return the values, and how far a computation may be off."""
        function = getattr(bounds, self.name)
        bounded: bounds.Bounded = function(
            bounds.exact(self.draw()), self.dtype
        )
        if self.name == "log_sum_exp":
            return bounds.Bounded(bounded.value[..., 0], bounded.error[..., 0])
        return bounded


ROWS = [
    Rows(name, spread, dtype)
    for name, spread, dtype in itertools.product(
        WITNESSES, (0.0, 1.0, 30.0, 1000.0), ("float32", "float64")
    )
]


def by_definition(name: str, row: Any, make: Callable[[Any], Any]) -> Any:
    """Return one row's result in high precision, and its numbers."""
    numbers = [
        None if np.isneginf(x) else make(gmpy2.mpfr(float(x))) for x in row
    ]
    exponentials = [None if x is None else exp(x) for x in numbers]
    seen = [x for x in exponentials if x is not None]
    everything = total(seen) if seen else None
    if name == "log_sum_exp":
        return [log(everything) if seen else None], numbers
    weights = [None if p is None else p / everything for p in exponentials]
    if name == "softmax":
        return weights, numbers
    return [None if w is None else log(w) for w in weights], numbers


@check("softmax", "definition", ROWS)
def results_are_those_of_the_definition(trial: Trial) -> None:
    """Compare with Σ exp(x) in high precision, nothing subtracted."""
    rows: Rows = trial.case
    x, bound = rows.draw(), rows.bound()
    got = trial.call(f"softmax.{rows.name}", x)
    assert got.dtype == rows.dtype, f"the result is {got.dtype}"
    absent = gmpy2.mpfr(0 if rows.name == "softmax" else "-inf")
    exact = np.empty((2, 5, got.shape[-1] if got.ndim > 2 else 1), object)
    with gmpy2.context(precision=PRECISION):
        for index in np.ndindex(2, 5):
            values, _ = by_definition(rows.name, x[index], plain)
            exact[index] = [absent if v is None else v for v in values]
        nearest, missing = split(exact.reshape(got.shape))
    trial.within(rows.name, got, nearest, bound.error, missing)


@check("softmax", "each other", ROWS)
def results_agree(trial: Trial) -> None:
    """Compare with the other version."""
    rows: Rows = trial.case
    path, x = f"softmax.{rows.name}", rows.draw()
    got, other = trial.call(path, x), trial.other.call(path, x)
    trial.within(rows.name, got, other, 2 * rows.bound().error)


@check("softmax", "SDPA", ROWS)
def results_are_those_of_torchs_own_function(trial: Trial) -> None:
    """Compare with torch.softmax and the like, except dead rows."""
    rows: Rows = trial.case
    x, bound = rows.draw(), rows.bound()
    got = trial.call(f"softmax.{rows.name}", x)
    witness = WITNESSES[rows.name](torch.tensor(x)).numpy()
    alive = np.isfinite(x).any(axis=-1)
    error = 2 * bound.error[alive]
    trial.within(rows.name, got[alive], witness[alive], error)


@check("softmax", "closed form")
def huge_scores_do_not_overflow(trial: Trial) -> None:
    """Two scores of 1000 weigh a half each; one score weighs 1."""
    for x, expected in (
        ([1000.0, 1000.0], [0.5, 0.5]),
        ([-60000.0], [1.0]),
        ([-1e30, 1e30], [0.0, 1.0]),
        ([0.0] * 8, [0.125] * 8),
    ):
        for dtype in ("float32", "float64"):
            row = np.asarray([x], dtype=dtype)
            got = trial.call("softmax.softmax", row)
            trial.within("weights", got, [expected])


@check("softmax", "closed form")
def logarithms_of_one_score(trial: Trial) -> None:
    """One score is its own log-sum-exp, and its log-softmax is 0."""
    x = np.asarray([[-60000.0], [88.5], [12345.0]], dtype=np.float32)
    lse = trial.call("softmax.log_sum_exp", x)
    trial.within("log_sum_exp", lse, x[:, 0])
    logs = trial.call("softmax.log_softmax", np.concat([x, x], axis=-1))
    half = np.full((3, 2), np.float32(-math.log(2)))
    trial.within("log_softmax", logs, half, np.spacing(np.float32(1)))


@check("softmax", "closed form")
def a_dead_row_is_an_empty_sum(trial: Trial) -> None:
    """A row of -inf: weights 0, log-sum-exp -inf; other rows are right."""
    x = np.asarray([[-math.inf] * 4, [0.0] * 4])
    weights = trial.call("softmax.softmax", x)
    trial.within("weights", weights, [[0.0] * 4, [0.25] * 4])
    logs = trial.call("softmax.log_softmax", x)
    trial.within("log_softmax", logs[0], x[0])
    lse = trial.call("softmax.log_sum_exp", x)
    error = 4 * np.spacing(1.0)
    trial.within("log_sum_exp", lse, [-math.inf, math.log(4)], error)


@check("softmax", "closed form", ("float32", "float64"))
def no_entries_are_an_empty_sum(trial: Trial) -> None:
    """Rows of length 0: log-sum-exp -inf, in the dtype given."""
    x = np.zeros((3, 2, 0), dtype=trial.case)
    for name in ("softmax", "log_softmax"):
        got = trial.call(f"softmax.{name}", x)
        assert got.shape == x.shape, f"{name} is {got.shape}"
        assert got.dtype == x.dtype, f"{name} is {got.dtype}"
    lse = trial.call("softmax.log_sum_exp", x)
    assert lse.dtype == x.dtype, f"log_sum_exp is {lse.dtype}"
    trial.within("log_sum_exp", lse, np.full((3, 2), -math.inf))


@check("softmax", "law")
def a_constant_added_changes_nothing(trial: Trial) -> None:
    """Sixty-fourths and 4096 add without rounding: equal to the bit."""
    rng = np.random.default_rng(64)
    x = np.round(64 * rng.standard_normal((5, 7))) / 64
    one = trial.call("softmax.softmax", x)
    trial.within("weights", one, trial.call("softmax.softmax", x + 4096.0))
    assert one.any(), "every weight is 0"


@check("softmax", "law")
def rows_sum_to_one_and_keep_their_order(trial: Trial) -> None:
    """Each row sums to one, and the greater score weighs more."""
    x = np.random.default_rng(57).standard_normal((5, 7))
    weights = trial.call("softmax.softmax", x)
    bound = bounds.softmax(bounds.exact(x), "float64").error.sum(axis=-1)
    bound = bound + bounds.gamma(7, "float64")
    trial.within("sums", weights.sum(axis=-1), np.ones(5), bound)
    trial.within("order", weights.argsort(axis=-1), x.argsort(axis=-1))


@check("softmax", "law")
def nan_stays_in_its_row(trial: Trial) -> None:
    """A NaN makes its own row NaN and no other."""
    x = np.asarray([[0, math.nan], [0, 0]])
    weights = trial.call("softmax.softmax", x)
    trial.within("weights", weights, [[math.nan] * 2, [0.5] * 2])


@check("softmax", "law")
def permuting_a_row_permutes_its_weights(trial: Trial) -> None:
    """Weights follow their scores, within the rounding of the sum."""
    x = np.random.default_rng(58).standard_normal((5, 7))
    order = np.asarray([3, 1, 6, 0, 2, 5, 4])
    one = trial.call("softmax.softmax", x)[:, order]
    other = trial.call("softmax.softmax", x[:, order])
    error = bounds.softmax(bounds.exact(x[:, order]), "float64").error
    trial.within("weights", one, other, 2 * error)
    assert np.ptp(one) > 0.1, "every weight is the same"


@check("softmax", "definition", ROWS)
def gradients_are_those_of_the_definition(trial: Trial) -> None:
    """Differentiate the definition, number by number."""
    rows: Rows = trial.case
    x, bound = rows.draw(), rows.bound()
    rng = np.random.default_rng(1)
    upstream = rng.standard_normal(bound.value.shape)
    # Nothing comes back to a logarithm of 0: no loss can have asked for it.
    upstream = np.where(np.isneginf(bound.value), 0, upstream)
    upstream = upstream.astype(rows.dtype)
    (got,) = trial.version.gradients_of(f"softmax.{rows.name}", upstream, x)
    expected = np.zeros(x.shape)
    with gmpy2.context(precision=PRECISION):
        for index in np.ndindex(2, 5):
            results, nodes = by_definition(rows.name, x[index], Node)
            d = np.atleast_1d(upstream[index])
            pairs = zip(results, d, strict=True)
            propagate([(f, u) for f, u in pairs if f is not None])
            values = [0 if n is None else n.gradient for n in nodes]
            expected[index] = [float(value) for value in values]
    error = gradient_bound(rows, upstream)
    trial.within("gradient", got, expected, error)
    if rows.name == "softmax":
        sums = got.astype(np.float64).sum(axis=-1)
        trial.within("row sums", sums, np.zeros((2, 5)), error.sum(axis=-1))


def gradient_bound(rows: Rows, upstream: Any) -> Any:
    """Bound the gradient, derived by hand or by autograd.

    Both take sums of products of a weight and an upstream gradient: the
    roundings are counted on the absolute values of all terms.
    """
    dtype = rows.dtype
    weights = bounds.softmax(bounds.exact(rows.draw()), dtype)
    greatest = weights.value + weights.error
    d = np.abs(upstream.astype(np.float64))
    if rows.name == "log_sum_exp":
        return (
            weights.error * d[..., None]
            + bounds.gamma(16, dtype) * greatest * (d[..., None])
        )
    parts = d * (greatest if rows.name == "softmax" else 1.0)
    inner = parts.sum(axis=-1, keepdims=True) * greatest
    lost = weights.error.sum(axis=-1, keepdims=True) * d.max() * greatest
    lost = lost + weights.error * (d + parts.sum(axis=-1, keepdims=True))
    tiny = bounds.format_of(dtype).tiny
    return lost + bounds.gamma(24, dtype) * (parts + inner) + tiny
