"""layer_norm: mean 0, standard deviation 1, and the gradients."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import gmpy2
import numpy as np
import torch

from ..judges import bounds
from ..judges.definition import PRECISION, Node, Numbers, numbers, propagate
from ..judges.scalar_model import normal
from ..suite.register import Trial, check
from ..suite.versions import Version

M = 7


class Rows(NamedTuple):
    """The x to normalize: (..., M)."""

    dtype: str
    batch: tuple[int, ...]
    spread: float = 1.0
    far: float = 0.0

    def __str__(self) -> str:
        """Return the dtype, the batch, and how far from 0 the rows lie."""
        where = f"spread {self.spread:g}, at {self.far:g}"
        return f"{self.dtype}, batch {self.batch}, {where}"

    def draw(self) -> dict[str, Any]:
        """Draw x, weight, bias and the upstream gradient, in the dtype."""
        rng = np.random.default_rng(14)
        shape = (*self.batch, M)
        drawn = {
            "x": self.far + self.spread * rng.standard_normal(shape),
            "weight": 1 + rng.standard_normal(M),
            "bias": rng.standard_normal(M),
            "d": rng.standard_normal(shape),
        }
        return {name: a.astype(self.dtype) for name, a in drawn.items()}


ROWS = [
    Rows(dtype, batch, spread, far)
    for dtype in ("float32", "float64")
    for batch, spread, far in (
        ((), 1.0, 0.0),
        ((5,), 1.0, 0.0),
        ((2, 5), 1.0, 100.0),
        ((3, 2, 5), 30.0, 0.0),
        ((2, 5), 0.003, 0.0),
    )
]


def by_definition(drawn: dict[str, Any]) -> dict[str, Any]:
    """Return the result and its gradients, number by number."""
    with gmpy2.context(precision=PRECISION):
        parts: dict[str, Numbers] = {
            f"norm.{name}": numbers(drawn[name], Node)
            for name in ("weight", "bias")
        }
        x = numbers(drawn["x"], Node)
        result = np.empty(x.shape, dtype=object)
        for index in np.ndindex(*x.shape[:-1]):
            result[index] = normal(list(x[index]), parts, "norm")
        propagate(list(zip(result.flat, drawn["d"].flat, strict=True)))
        gradient = np.vectorize(lambda n: float(n.gradient))
        return {
            "result": np.vectorize(lambda n: float(n.value))(result),
            "x": gradient(x),
            "weight": gradient(parts["norm.weight"]),
            "bias": gradient(parts["norm.bias"]),
        }


def errors(drawn: dict[str, Any], dtype: str) -> dict[str, Any]:
    """Bound the result and each gradient.

    The error of the mean of M numbers is γ(M + 1) of the largest, and so is
    that of each difference from it. The standard deviation has that error
    and γ(M + 4) of itself. Both enter n = (x - μ) / σ, and n and σ enter the
    gradients.
    """
    wide = {name: a.astype(np.float64) for name, a in drawn.items()}
    x, d, weight = wide["x"], np.abs(wide["d"]), np.abs(wide["weight"])
    greatest = np.abs(x).max(axis=-1, keepdims=True)
    centred = x - x.mean(axis=-1, keepdims=True)
    sigma = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + 1e-5)
    n = np.abs(centred / sigma)
    off = bounds.gamma(M + 2, dtype) * greatest
    # ε itself is rounded to the type: another two roundings.
    off_sigma = off + bounds.gamma(M + 6, dtype) * sigma
    off_n = (off + n * off_sigma) / sigma + bounds.gamma(3, dtype) * n
    result = off_n * weight + bounds.gamma(3, dtype) * (
        (n + off_n) * weight + np.abs(wide["bias"])
    )
    dn = weight * d
    mean, along = (
        a.mean(axis=-1, keepdims=True) for a in (dn, (n + off_n) * dn)
    )
    size = dn + mean + (n + off_n) * along
    lost = off_n * along + (n + off_n) * (off_n * dn).mean(
        axis=-1, keepdims=True
    )
    lost = lost + bounds.gamma(2 * M + 8, dtype) * size
    error = (lost + size * off_sigma / sigma) / sigma
    rows = math.prod(x.shape[:-1])
    axes = tuple(range(x.ndim - 1))
    summed = bounds.gamma(rows + 2, dtype)
    return {
        "result": result,
        # Autograd takes the parts apart: the same sums in another order.
        "x": 2 * error,
        "weight": ((off_n + summed * (n + off_n)) * d).sum(axis=axes),
        "bias": summed * d.sum(axis=axes),
    }


def computed(version: Version, drawn: dict[str, Any]) -> dict[str, Any]:
    """Return the result and its gradients as a version has them."""
    x, weight, bias, d = (version.array(a) for a in drawn.values())
    layer = version.function("layer_norm.LayerNorm")(weight, bias)
    if version.by_hand:
        backward = version.function("layer_norm.layer_norm_backward")
        results = version.numpy(backward(d, layer, x))
        return {"result": version.numpy(layer(x)), **results}
    x.requires_grad_()
    result = layer(x)
    result.backward(d)
    leaves = {"x": x, "weight": layer.weight, "bias": layer.bias}
    gradients = {n: version.numpy(leaf.grad) for n, leaf in leaves.items()}
    return {"result": version.numpy(result), **gradients}


@check("layer_norm", "definition", ROWS)
def result_and_gradients_are_those_of_the_definition(trial: Trial) -> None:
    """Compare with scalars in high precision, differentiated."""
    drawn, dtype = trial.case.draw(), trial.case.dtype
    expected, error = by_definition(drawn), errors(drawn, dtype)
    for name, got in computed(trial.version, drawn).items():
        assert got.dtype == dtype, f"{name} is {got.dtype}"
        trial.within(name, got, expected[name], error[name])


@check("layer_norm", "each other", ROWS)
def both_versions_agree(trial: Trial) -> None:
    """Compare the result and every gradient with the other version's."""
    drawn, dtype = trial.case.draw(), trial.case.dtype
    error = errors(drawn, dtype)
    others = computed(trial.other, drawn)
    for name, got in computed(trial.version, drawn).items():
        trial.within(name, got, others[name], 2 * error[name])


@check("layer_norm", "SDPA", ROWS)
def it_is_torchs_own_layer_norm(trial: Trial) -> None:
    """Compare with torch.nn.functional.layer_norm and its gradients."""
    drawn, dtype = trial.case.draw(), trial.case.dtype
    x, weight, bias = (
        torch.tensor(drawn[n], requires_grad=True)
        for n in ("x", "weight", "bias")
    )
    output = torch.nn.functional.layer_norm(x, (M,), weight, bias, 1e-5)
    torch.autograd.backward(output, torch.tensor(drawn["d"]))
    leaves = {"x": x, "weight": weight, "bias": bias}
    expected = {n: leaf.grad for n, leaf in leaves.items()}
    expected["result"] = output.detach()
    error = errors(drawn, dtype)
    for name, got in computed(trial.version, drawn).items():
        witness = expected[name]
        assert witness is not None
        trial.within(name, got, witness.numpy(), 2 * error[name])


@check("layer_norm", "closed form", ("float32", "float64"))
def two_numbers_become_minus_one_and_one(trial: Trial) -> None:
    """1 and 3 have mean 2 and variance 1: ∓1/√(1 + ε), then 2 · and + 8."""
    x = np.asarray([[1.0, 3.0], [7.0, 5.0]], dtype=trial.case)
    ones = np.ones(2, dtype=trial.case)
    layer = trial.version.function("layer_norm.LayerNorm")
    norm = layer(*map(trial.version.array, (2 * ones, 8 * ones)))
    got = trial.version.numpy(norm(trial.version.array(x)))
    unit = 2 / math.sqrt(1 + 1e-5)
    expected = [[8 - unit, 8 + unit], [8 + unit, 8 - unit]]
    error = 4 * np.spacing(np.asarray(16, dtype=trial.case))
    trial.within("result", got, expected, error)


@check("layer_norm", "closed form", ("float32", "float64"))
def a_constant_row_gives_the_shift(trial: Trial) -> None:
    """A row of equal numbers gives the bias to the bit, without 0 / 0."""
    x = np.full((3, 4), 6.0, dtype=trial.case)
    bias = np.asarray([1.0, -2.0, 3.0, 0.5], dtype=trial.case)
    layer = trial.version.function("layer_norm.LayerNorm")
    norm = layer(*map(trial.version.array, (5 * bias, bias)))
    got = trial.version.numpy(norm(trial.version.array(x)))
    trial.within("result", got, np.broadcast_to(bias, (3, 4)))


@check("layer_norm", "law", ROWS)
def rows_have_mean_0_and_deviation_1_and_gradients_sum_to_0(
    trial: Trial,
) -> None:
    """Without weight and bias; adding a constant to x changes nothing."""
    drawn, dtype = trial.case.draw(), trial.case.dtype
    drawn |= {"weight": np.ones(M, dtype=dtype)}
    drawn |= {"bias": np.zeros(M, dtype=dtype)}
    results, error = computed(trial.version, drawn), errors(drawn, dtype)
    wide = {n: a.astype(np.float64) for n, a in results.items()}
    lost = error["result"].sum(axis=-1)
    mean = wide["result"].sum(axis=-1)
    trial.within("sum", mean, np.zeros_like(mean), lost)
    variance = drawn["x"].astype(np.float64).var(axis=-1)
    square = (wide["result"] ** 2).mean(axis=-1)
    largest = np.abs(wide["result"]).max(axis=-1)
    spread = variance / (variance + 1e-5)
    trial.within("square", square, spread, 2 * lost * (largest + lost))
    total = wide["x"].sum(axis=-1)
    loose = error["x"].sum(axis=-1)
    trial.within("sum of gradient", total, np.zeros_like(total), loose)
