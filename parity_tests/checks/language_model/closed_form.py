"""language_model: losses, networks and draws that are known exactly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...judges.small_models import loss_and_slope
from ...suite.register import Trial, check


@check("language_model", "closed form", ("float32", "float64"))
def equal_logits_cost_the_logarithm_of_the_vocabulary(trial: Trial) -> None:
    """Every character is as likely as any other: -log(1/V) = log V."""
    logits = np.full((2, 3, 8), 5.0, dtype=trial.case)
    targets = np.asarray([[0, 7, -1], [-1, 3, -1]])
    got = trial.call("language_model.cross_entropy", logits, targets)
    assert got.dtype == trial.case, got.dtype
    error = 8 * np.spacing(np.asarray(1, dtype=trial.case))
    trial.within("loss", got, np.asarray(math.log(8)), error)


@check("language_model", "closed form")
def what_is_not_asked_for_costs_nothing(trial: Trial) -> None:
    """A certain right answer costs 0, and so does a target of -1."""
    logits = np.asarray([[[800.0, 0.0], [0.0, 800.0], [0.0, 0.0]]])
    path = "language_model.cross_entropy"
    got = trial.call(path, logits, np.asarray([[0, -1, -1]]))
    trial.within("sure", got, np.asarray(0.0))
    got = trial.call(path, logits, np.asarray([[0, -1, 1]]))
    error = 4 * np.spacing(1.0)
    trial.within("half sure", got, np.asarray(math.log(2) / 2), error)
    got = trial.call(path, logits, np.asarray([[1, -1, 1]]))
    must = np.asarray((800 + math.log(2)) / 2)
    trial.within("quite wrong", got, must, 8 * np.spacing(800.0))


@check("language_model", "closed form", (-1, -2, -100, 3, 6))
def what_is_no_character_asks_for_nothing(trial: Trial) -> None:
    """Such a target has no loss and no gradient; without targets, NaN."""
    logits = np.asarray([[0.0, 0.0, 9.0], [5.0, 7.0, 1.0]])
    targets = np.asarray([1, trial.case])
    got, back = loss_and_slope(trial.version, logits, targets)
    first, alone = loss_and_slope(trial.version, logits[:1], targets[:1])
    trial.within("loss", got, first)
    trial.within("gradient", back, np.concat([alone, np.zeros((1, 3))]))
    assert np.any(alone != 0), "the gradient is 0"
    with np.errstate(all="ignore"):
        got, back = loss_and_slope(trial.version, logits, 0 * targets - 1)
    trial.within("nothing asked", got, np.asarray(np.nan))
    trial.within("its gradient", np.where(np.isnan(back), 0, back), 0 * back)


@check("language_model", "closed form")
def a_character_is_one_among_all(trial: Trial) -> None:
    """True at its index; -1 has no True."""
    places = trial.call(
        "language_model.one_hot", np.asarray([[2, -1], [0, 1]]), 3
    )
    expected = [
        [[False, False, True], [False, False, False]],
        [[True, False, False], [False, True, False]],
    ]
    trial.within("places", places, expected)


@check("language_model", "closed form", ("float32", "float64"))
def a_network_for_each_position(trial: Trial) -> None:
    """relu(x - 1) doubled, plus 3: whole numbers."""
    arrays = ([[1.0]], [-1.0], [[2.0]], [3.0])
    native = [
        trial.version.array(np.asarray(a, dtype=trial.case)) for a in arrays
    ]
    network = trial.version.function("language_model.FeedForward")(*native)
    x = np.asarray([[4.0], [1.0], [-7.0]], dtype=trial.case)
    got = trial.version.numpy(network(trial.version.array(x)))
    assert got.dtype == trial.case, got.dtype
    trial.within("result", got, [[9.0], [3.0], [3.0]])
    relu = trial.call("language_model.relu", x - 1)
    trial.within("relu", relu, [[3.0], [0.0], [0.0]])
    lost = trial.call("language_model.relu", np.asarray([np.nan, 1.0]))
    trial.within("relu of NaN", lost, [0.0, 1.0])


@check("language_model", "closed form")
def a_model_is_drawn_in_the_order_of_its_parts(trial: Trial) -> None:
    """The n-th array drawn is all n: each part must have its number."""
    drawn = iter(range(99))

    def randn(*shape: int) -> Any:
        """Return the number of the draw, everywhere."""
        return trial.version.array(np.full(shape, float(next(drawn))))

    path = "language_model.initial_model"
    model = trial.version.function(path)(randn, 7, 5, 4, 2, 16, 2)
    parameters = trial.version.function("language_model.parameters")(model)
    order = ["token_embedding", "position_embedding"]
    for i in range(2):
        names = ("attention.w_q", "attention.w_k", "attention.w_v")
        more = ("attention.w_o", "feed_forward.w_1", "feed_forward.w_2")
        order += [f"blocks.{i}.{name}" for name in (*names, *more)]
    for n, name in enumerate([*order, "lm_head"]):
        got = trial.version.numpy(parameters[name])
        root = 1 if n < 2 else math.sqrt(got.shape[0])
        trial.within(name, got, np.full(got.shape, n / root))


@check("language_model", "closed form", ("float32", "float64"))
def relu_gives_nothing_back_at_zero(trial: Trial) -> None:
    """Where relu's argument is exactly 0 its slope is 0, as in torch."""
    version = trial.version
    arrays = ([[1.0]], [-1.0], [[2.0]], [3.0])
    native = [version.array(np.asarray(a, dtype=trial.case)) for a in arrays]
    network = version.function("language_model.FeedForward")(*native)
    x = version.array(np.asarray([[4.0], [1.0], [-7.0]], dtype=trial.case))
    d = version.array(np.asarray([[1.0], [10.0], [100.0]], dtype=trial.case))
    if version.by_hand:
        path = "language_model.feed_forward_backward"
        gradients = version.function(path)(d, network, x)
        back = {n: version.numpy(g) for n, g in gradients._asdict().items()}
    else:
        x.requires_grad_()
        network(x).backward(d)
        leaves = {"x": x, **dict(network.named_parameters())}
        back = {n: version.numpy(leaf.grad) for n, leaf in leaves.items()}
    trial.within("x", back["x"], [[2.0], [0.0], [0.0]])
    trial.within("w_1", back["w_1"], [[8.0]])
    trial.within("b_1", back["b_1"], [2.0])
    trial.within("w_2", back["w_2"], [[3.0]])
    trial.within("b_2", back["b_2"], [111.0])
