"""language_model: which positions see which, and parameters by name."""

from __future__ import annotations

import math

import numpy as np

from ...judges import bounds
from ...judges.small_models import MODELS, H, T, V, make
from ...suite.register import Trial, check


@check("language_model", "law", ("too small", "too large", "too many"))
def ids_that_are_no_characters_are_refused(trial: Trial) -> None:
    """An index of -1 is not the last character, nor V the first again."""
    model = make(trial.version, MODELS[1])
    bad = {
        "too small": ([[0, -1]], IndexError, "ids has -1 to 0, expected 0 to"),
        "too large": ([[0, V]], IndexError, "ids has 0 to 5, expected 0 to 4"),
        "too many": ([[0] * (T + 1)], ValueError, "ids has shape (1, 5), exp"),
    }
    ids, kind, text = bad[trial.case]
    refusal: Exception | None = None
    try:
        model(trial.version.array(np.asarray(ids)))
    except (IndexError, ValueError) as error:
        refusal = error
    assert type(refusal) is kind, f"{refusal!r}, expected {kind.__name__}"
    assert text in str(refusal), str(refusal)
    got = trial.version.numpy(model(trial.version.array(np.zeros(T, int))))
    assert np.any(got != 0), "the logits are 0"


@check("language_model", "law", MODELS[:4])
def no_position_sees_what_comes_later(trial: Trial) -> None:
    """Another last character changes only the last row of logits."""
    model = make(trial.version, trial.case)
    ids, _ = trial.case.shown()
    other = ids.copy()
    other[:, -1] = (other[:, -1] + 1) % V
    one, two = (
        trial.version.numpy(model(trial.version.array(i)))
        for i in (ids, other)
    )
    trial.within("first rows", two[:, :-1], one[:, :-1])
    assert np.all(one[:, -1] != two[:, -1]), "the last row is the same"


TWO_TIED = MODELS[0]._replace(name="two blocks, tied", tied=True)


@check("language_model", "law", (MODELS[0], TWO_TIED, MODELS[1]))
def weights_of_attention_are_those_of_each_block(trial: Trial) -> None:
    """Rows sum to one and see nothing later; blocks differ."""
    model = make(trial.version, trial.case)
    ids, _ = trial.case.shown()
    tables = model.weights(trial.version.array(ids))
    maps = [trial.version.numpy(w) for w in tables]
    assert len(maps) == trial.case.blocks, len(maps)
    for weights in maps:
        n = trial.case.length
        assert weights.shape == (2, H, n, n), weights.shape
        error = bounds.gamma(4 * T, "float64")
        trial.within("sums", weights.sum(axis=-1), np.ones((2, H, n)), error)
        later = np.triu(weights, k=1)
        trial.within("later", later, np.zeros_like(later))
    assert len(maps) < 2 or np.any(maps[0] != maps[1]), "blocks are alike"
    x = model.embed(trial.version.array(ids))
    for i, block in enumerate(model.blocks):
        steps = block.attention.steps(block.norm_1(x), is_causal=True)
        trial.within(f"block {i}", maps[i], trial.version.numpy(steps.weights))
        x = block(x)


@check("language_model", "law")
def parameters_go_out_and_in_by_name(trial: Trial) -> None:
    """The parameters are those that were set, in the order of the parts."""
    model = make(trial.version, MODELS[0])
    drawn = MODELS[0].draw()
    path = "language_model.parameters"
    parameters = trial.version.function(path)(model)
    assert list(parameters) == list(drawn), list(parameters)
    doubled = {n: trial.version.array(2 * a) for n, a in drawn.items()}
    trial.version.function("language_model.set_parameters")(model, doubled)
    for name, array in trial.version.function(path)(model).items():
        trial.within(name, trial.version.numpy(array), 2 * drawn[name])


@check("language_model", "law", MODELS[:4])
def new_parameters_are_learned_from(trial: Trial) -> None:
    """An optimiser of the old ones moves the new, and not what was given."""
    model = make(trial.version, trial.case)
    drawn = trial.case.draw()
    optimizer = trial.version.function("adam.AdamW")(model, 0.25)
    given = {n: trial.version.array(2 * a) for n, a in drawn.items()}
    trial.version.function("language_model.set_parameters")(model, given)
    ones = {n: np.ones_like(a) for n, a in drawn.items()}
    optimizer.step({n: trial.version.array(a) for n, a in ones.items()})
    path = "language_model.parameters"
    for name, array in trial.version.function(path)(model).items():
        # The first step of Adam has the length of the learning rate, but
        # for the epsilon beside a root of 1.
        must = 2 * drawn[name] - 0.25 / (1 + 1e-8)
        error = bounds.gamma(8, "float64") * (np.abs(must) + 1)
        trial.within(name, trial.version.numpy(array), must, error)
        given_is = trial.version.numpy(given[name])
        trial.within(f"given {name}", given_is, 2 * drawn[name])


@check("language_model", "law", (None, 0.0, 1.0))
def a_new_model_is_drawn_to_scale(trial: Trial) -> None:
    """Standard deviation 1 for embeddings, 1/√rows for a matrix."""
    randn = trial.version.function("generator.Generator")(5).randn
    path = "language_model.initial_model"
    model = trial.version.function(path)(
        randn, V=40, T=30, M=32, H=4, F=64, blocks=2, scale=trial.case
    )
    parameters = trial.version.function("language_model.parameters")(model)
    for name, array in parameters.items():
        numbers = trial.version.numpy(array)
        assert numbers.dtype == np.float32, f"{name} is {numbers.dtype}"
        if numbers.ndim == 1:
            must = np.full(numbers.shape, float(name.endswith("weight")))
            trial.within(name, numbers, must)
            continue
        rows = (
            1
            if name in ("token_embedding", "position_embedding")
            else numbers.shape[0]
        )
        deviation = 1 / math.sqrt(rows)
        error = 6 * deviation / math.sqrt(2 * numbers.size)
        trial.within(name, numbers.std(), deviation, error)
    scales = {block.attention.scale for block in model.blocks}
    assert scales == {trial.case}, scales
