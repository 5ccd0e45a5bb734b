"""lesson: its recorded numbers, from both versions."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..judges import bounds
from ..suite.register import Trial, check
from ..suite.versions import Version

# Rounded to the printed digit, section by section.
AVERAGES = [
    [1.00, 0.00, 0.00, 0.00, 0.00],
    [0.50, 0.50, 0.00, 0.00, 0.00],
    [0.33, 0.33, 0.33, 0.00, 0.00],
    [0.25, 0.25, 0.25, 0.25, 0.00],
    [0.20, 0.20, 0.20, 0.20, 0.20],
]
MATCH = {
    (1.0, 0.0): (
        [0.10, 0.00, 0.90, 1.00, 0.80],
        [0.12, 0.11, 0.26, 0.29, 0.23],
        [0.01, 0.00, 0.30, 0.50, 0.18],
    ),
    (0.0, 1.0): (
        [0.90, 1.00, 0.10, 0.00, 0.20],
        [0.29, 0.32, 0.13, 0.12, 0.14],
        [0.37, 0.61, 0.01, 0.00, 0.01],
    ),
}
CAUSAL = [
    [1.00, 0.00, 0.00, 0.00, 0.00],
    [0.96, 0.04, 0.00, 0.00, 0.00],
    [0.24, 0.26, 0.50, 0.00, 0.00],
    [0.09, 0.39, 0.43, 0.09, 0.00],
    [0.02, 0.14, 0.02, 0.09, 0.73],
]
WIDTHS = {
    "deviation": [3.89, 8.17, 16.08, 32.53],
    "unscaled": [0.79, 0.86, 0.95, 0.92],
    "scaled": [0.53, 0.47, 0.47, 0.39],
}


def printed(trial: Trial, name: str, got: Any, expected: Any) -> None:
    """Assert that numbers are the expected ones when rounded to print."""
    text = np.vectorize(lambda x: float(f"{x:.2f}"), otypes=[float])
    trial.within(name, text(np.asarray(got)), np.asarray(expected))


def inputs(version: Version) -> Any:
    """Return the lesson's random numbers, drawn by the version."""
    return version.function("lesson.draw_inputs")()


@check("lesson", "closed form")
def section_1_has_its_recorded_numbers(trial: Trial) -> None:
    """The weights, and row 3 as the mean of the first three vectors."""
    past = inputs(trial.version).past
    result = trial.version.function("lesson.average_the_past")(past)
    steps = trial.version.numpy(result)
    printed(trial, "weights", steps["weights"], AVERAGES)
    x = trial.version.numpy(past)
    error = bounds.gamma(8, np.float32) * np.abs(x[:3]).sum(axis=0)
    trial.within("row 3", steps["means"][2], x[:3].mean(axis=0), error)


@check("lesson", "closed form", list(MATCH))
def section_2_has_its_recorded_numbers(trial: Trial) -> None:
    """Scores, weights and weights of scores × 5, of both queries."""
    steps = trial.version.numpy(
        trial.version.function("lesson.match_keys")(trial.case)
    )
    names = ("scores", "weights", "sharp_weights")
    for name, expected in zip(names, MATCH[trial.case], strict=True):
        printed(trial, name, steps[name], expected)


@check("lesson", "closed form")
def section_3_has_its_recorded_numbers(trial: Trial) -> None:
    """The causal weights of random query and key."""
    drawn = inputs(trial.version)
    result = trial.version.function("lesson.look_back")(drawn.query, drawn.key)
    printed(trial, "weights", trial.version.numpy(result)["weights"], CAUSAL)


@check("lesson", "closed form")
def section_4_has_its_recorded_numbers(trial: Trial) -> None:
    """Standard deviation and largest weights for each dimension."""
    widths = inputs(trial.version).widths
    result = trial.version.function("lesson.vary_width")(widths)
    for name, expected in WIDTHS.items():
        printed(trial, name, result._asdict()[name], expected)


# The longest chain of roundings of section 5: sums of 16, 8 and 5 terms and
# the functions between them, in either version.
ROUNDINGS = 2 * (16 + 8 + 5 + 2 * bounds.FUNCTION_ULPS)


def head_error(expected: Any) -> Any:
    """Bound the error of float32 in a step of section 5."""
    size = np.abs(expected[np.isfinite(expected)]).max()
    return bounds.gamma(ROUNDINGS, np.float32) * max(size, 1)


def head_steps(version: Version, drawn: Any, causal: bool) -> Any:
    """Return the steps of section 5 from inputs given as NumPy arrays."""
    mask = np.arange(5) <= np.arange(5)[:, None] if causal else None
    arrays = [version.array(a) for a in (*drawn, mask)]
    return version.numpy(version.function("lesson.one_head")(*arrays))


@check("lesson", "each other", (True, False))
def section_5_agrees_step_by_step(trial: Trial) -> None:
    """Query, key, value, scores, weights and output of both."""
    drawn = [trial.version.numpy(a) for a in inputs(trial.version)[4:]]
    steps = head_steps(trial.version, drawn, trial.case)
    others = head_steps(trial.other, drawn, trial.case)
    assert list(steps) == list(others), list(steps)
    for name, got in steps.items():
        trial.within(name, got, others[name], head_error(others[name]))


@check("lesson", "SDPA", (True, False))
def section_5_is_what_sdpa_gives(trial: Trial) -> None:
    """The output is that of torch's own function."""
    import torch
    from torch.nn.functional import scaled_dot_product_attention

    drawn = [trial.version.numpy(a) for a in inputs(trial.version)[4:]]
    steps = head_steps(trial.version, drawn, trial.case)
    q, k, v = (torch.tensor(steps[n])[None] for n in ("query", "key", "value"))
    output = scaled_dot_product_attention(q, k, v, is_causal=trial.case)
    witness = output[0].numpy()
    trial.within("output", steps["output"], witness, head_error(witness))
    assert steps["output"].any(), "the output is 0"


@check("lesson", "each other")
def both_versions_draw_the_same_inputs(trial: Trial) -> None:
    """Every random number, in the order in which it is drawn."""
    flat = []
    for version in (trial.version, trial.other):
        drawn = inputs(version)
        rows = [a for width in drawn.widths for a in width]
        flat.append([*drawn[:3], *rows, *drawn[4:]])
        flat[-1] = [version.numpy(array) for array in flat[-1]]
    assert len(flat[0]) == 31, len(flat[0])
    for number, (a, b) in enumerate(zip(*flat, strict=True)):
        trial.within(f"input {number}", a, b, bounds.normal_numbers(16))


def near(trial: Trial, name: str, got: Any, expected: Any) -> None:
    """Assert that float32 numbers of order 1 are those of float64."""
    expected = np.asarray(expected)
    finite = np.where(np.isfinite(expected), np.abs(expected), 0)
    error = bounds.gamma(64, np.float32) * max(1.0, finite.max())
    trial.within(name, got, expected, error)


def weights_of(scores: Any) -> Any:
    """Return the softmax of each row in float64."""
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


@check("lesson", "definition", (0, 1))
def section_1_is_recomputed(trial: Trial) -> None:
    """The means are right for other inputs, too."""
    past = trial.version.function("lesson.draw_inputs")(trial.case).past
    result = trial.version.function("lesson.average_the_past")(past)
    steps, x = trial.version.numpy(result), trial.version.numpy(past)
    weights = np.tri(5) / np.arange(1, 6)[:, None]
    near(trial, "weights", steps["weights"], weights)
    near(trial, "means", steps["means"], weights @ x)


@check("lesson", "definition", [*MATCH, (-0.5, 2.0)])
def section_2_is_recomputed(trial: Trial) -> None:
    """The dot products with the five keys, and two rows of weights."""
    steps = trial.version.numpy(
        trial.version.function("lesson.match_keys")(trial.case)
    )
    keys = [[0.1, 0.9], [0.0, 1.0], [0.9, 0.1], [1.0, 0.0], [0.8, 0.2]]
    scores = np.asarray(keys) @ np.asarray(trial.case)
    near(trial, "scores", steps["scores"], scores)
    near(trial, "weights", steps["weights"], weights_of(scores))
    near(
        trial, "sharp weights", steps["sharp_weights"], weights_of(5 * scores)
    )


@check("lesson", "definition", (0, 1))
def section_3_is_recomputed(trial: Trial) -> None:
    """Scores, masked scores and weights."""
    drawn = trial.version.function("lesson.draw_inputs")(trial.case)
    result = trial.version.function("lesson.look_back")(drawn.query, drawn.key)
    steps = trial.version.numpy(result)
    q, k = (trial.version.numpy(a) for a in (drawn.query, drawn.key))
    scores = q.astype(float) @ k.astype(float).T / np.sqrt(8)
    masked = np.where(np.tri(5, dtype=bool), scores, -np.inf)
    near(trial, "scores", steps["scores"], scores)
    near(trial, "masked scores", steps["masked_scores"], masked)
    near(trial, "weights", steps["weights"], weights_of(masked))


@check("lesson", "definition", (0, 1))
def section_4_is_recomputed(trial: Trial) -> None:
    """Standard deviations of dot products, and mean row maxima."""
    drawn = trial.version.function("lesson.draw_inputs")(trial.case).widths
    result = trial.version.function("lesson.vary_width")(drawn)
    for number, width in enumerate(drawn):
        a, b, *rows = (trial.version.numpy(x).astype(float) for x in width)
        D = a.shape[-1]
        products = (a * b).sum(axis=-1)
        deviation = products.std(ddof=1)
        plain, scaled = (
            weights_of(q @ k.T * scale).max(axis=-1).mean()
            for q, k, scale in ((*rows[:2], 1.0), (*rows[2:], D**-0.5))
        )
        # Each score gathers D roundings of terms of order 1.
        error = bounds.gamma(8 * D, np.float32) * np.sqrt(D)
        for name, must in (
            ("deviation", deviation),
            ("unscaled", plain),
            ("scaled", scaled),
        ):
            got = getattr(result, name)[number]
            trial.within(f"{name}, D {D}", got, must, error)


@check("lesson", "definition", (True, False))
def section_5_is_recomputed(trial: Trial) -> None:
    """Every step of the head."""
    drawn = [trial.version.numpy(a) for a in inputs(trial.version)[4:]]
    steps = head_steps(trial.version, drawn, trial.case)
    x, *matrices = (a.astype(float) for a in drawn)
    q, k, v = (x @ w for w in matrices)
    scores = q @ k.T / np.sqrt(8)
    seen = np.tri(5, dtype=bool) if trial.case else np.ones((5, 5), dtype=bool)
    masked = np.where(seen, scores, -np.inf)
    weights = weights_of(masked)
    expected = (q, k, v, scores, masked, weights, weights @ v)
    names = ["query", "key", "value", "scores"]
    names += ["masked_scores", "weights", "output"]
    assert list(steps) == names, list(steps)
    for name, must in zip(names, expected, strict=True):
        near(trial, name, steps[name], must)


@check("lesson", "law")
def another_seed_draws_other_inputs(trial: Trial) -> None:
    """The seed is 0 unless one is given."""
    draw = trial.version.function("lesson.draw_inputs")
    default, zero, one = draw(), draw(0), draw(1)
    for name in ("past", "query", "key", "x", "w_q", "w_k", "w_v"):
        a, b, c = (
            trial.version.numpy(getattr(d, name)) for d in (default, zero, one)
        )
        trial.within(name, a, b)
        assert np.all(a != c), f"{name} is the same for another seed"


@check("lesson", "law", (0, 1))
def inputs_have_the_deviations_they_are_to_have(trial: Trial) -> None:
    """1, and ¼ for the matrices, within 6 of their standard errors."""
    drawn = trial.version.function("lesson.draw_inputs")(trial.case)
    matrices = [trial.version.numpy(a) for a in drawn[5:]]
    rows = [trial.version.numpy(a) for a in (*drawn[:3], drawn.x)]
    for name, arrays, must in (("matrices", matrices, 0.25), ("x", rows, 1.0)):
        numbers = np.concatenate([a.ravel() for a in arrays])
        error = 6 * must / np.sqrt(2 * numbers.size)
        trial.within(name, numbers.std(), must, error)
