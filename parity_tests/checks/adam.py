"""adam: every step, by the algorithm and by torch's own optimiser."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import torch

from ..judges import bounds
from ..suite.register import Trial, check
from ..suite.versions import Version

M = 5
STEPS = 12
NAMES = ("weight", "bias")


class Settings(NamedTuple):
    """The settings of an optimizer, and the dtype of the parameters."""

    dtype: str = "float64"
    learning_rate: float = 1e-3
    beta_1: float = 0.9
    beta_2: float = 0.999
    epsilon: float = 1e-8
    decay: float = 0.0
    size: float = 1.0

    def __str__(self) -> str:
        """Return the settings that are not the defaults."""
        settings = self._asdict()
        other = [f"{n} {v}" for n, v in settings.items() if v != DEFAULTS[n]]
        return ", ".join(other) or "defaults"

    def options(self) -> dict[str, float]:
        """Return the optimiser's arguments."""
        options = self._asdict()
        return {n: options[n] for n in options if n not in ("dtype", "size")}

    def draw(self) -> tuple[dict[str, Any], list[dict[str, Any]]]:
        """Draw two parameters, and gradients for each step."""
        rng = np.random.default_rng(21)

        def drawn(size: float) -> dict[str, Any]:
            rows = size * rng.standard_normal((2, M))
            return dict(zip(NAMES, rows.astype(self.dtype), strict=True))

        return drawn(1.0), [drawn(self.size) for _ in range(STEPS)]


DEFAULTS = Settings._field_defaults
SETTINGS = [
    Settings(),
    Settings(dtype="float32"),
    Settings(learning_rate=0.1),
    Settings(learning_rate=0.1, dtype="float32"),
    Settings(beta_1=0.5, beta_2=0.75, learning_rate=0.05),
    Settings(epsilon=0.1, learning_rate=0.05),
    Settings(decay=0.5, learning_rate=0.05),
    Settings(decay=0.01, beta_1=0.0, learning_rate=0.05),
    Settings(size=1e-6, learning_rate=0.05),
    Settings(size=1e6, learning_rate=0.05),
]


def make(version: Version, settings: Settings, start: dict[str, Any]) -> Any:
    """Return an optimiser of a small model: weight and bias."""
    parameters = [version.array(start[name]) for name in NAMES]
    model = version.function("layer_norm.LayerNorm")(*parameters)
    return version.function("adam.AdamW")(model, **settings.options())


def walk(
    version: Version, optimizer: Any, gradients: list[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the parameters after each step."""
    steps = []
    for gradient in gradients:
        optimizer.step({n: version.array(g) for n, g in gradient.items()})
        now = version.function("language_model.parameters")(optimizer.model)
        steps.append({n: version.numpy(w).copy() for n, w in now.items()})
    return steps


def by_algorithm(settings: Settings) -> list[dict[str, Any]]:
    """Return the parameters after each step, computed number by number."""
    start, gradients = settings.draw()
    b1, b2, lr = settings.beta_1, settings.beta_2, settings.learning_rate
    steps: list[dict[str, Any]] = [{} for _ in gradients]
    for name in NAMES:
        columns = np.zeros((len(gradients), M))
        for i in range(M):
            w, m, v = float(start[name][i]), 0.0, 0.0
            for t, gradient in enumerate(gradients, start=1):
                g = float(gradient[name][i])
                m = b1 * m + (1 - b1) * g
                v = b2 * v + (1 - b2) * g**2
                fair_m, fair_v = m / (1 - b1**t), v / (1 - b2**t)
                w -= lr * settings.decay * w
                w -= lr * fair_m / (math.sqrt(fair_v) + settings.epsilon)
                columns[t - 1, i] = w
        for t, column in enumerate(columns):
            steps[t][name] = column
    return steps


def error_of(settings: Settings, step: int, start: Any) -> Any:
    """Bound a parameter after so many steps.

    A step, divided by η, is at most 1/√(1 - β₂) · (1 - β₁ᵗ)⁻¹. It has the
    roundings of both means: ten for each step so far.
    """
    u = bounds.gamma(10 * (step + 1) + 20, settings.dtype)
    # Where gradients change their sign m̂ is the small sum of large parts.
    longest = settings.learning_rate * (step + 1)
    longest = longest / math.sqrt(1 - settings.beta_2)
    return u * (np.abs(start) + longest)


@check("adam", "definition", SETTINGS)
def every_step_is_the_algorithms(trial: Trial) -> None:
    """Compare with Adam's algorithm 1 in Python's own floats."""
    settings: Settings = trial.case
    start, gradients = settings.draw()
    optimizer = make(trial.version, settings, start)
    expected = by_algorithm(settings)
    for t, values in enumerate(walk(trial.version, optimizer, gradients)):
        for name, got in values.items():
            assert got.dtype == settings.dtype, f"{name} is {got.dtype}"
            error = error_of(settings, t, start[name])
            trial.within(f"{name}, step {t}", got, expected[t][name], error)
    assert optimizer.step_count == STEPS, optimizer.step_count


@check("adam", "each other", SETTINGS)
def both_versions_take_the_same_steps(trial: Trial) -> None:
    """Compare the parameters after every step."""
    settings: Settings = trial.case
    start, gradients = settings.draw()
    one, other = (
        walk(version, make(version, settings, start), gradients)
        for version in (trial.version, trial.other)
    )
    for t, (values, must) in enumerate(zip(one, other, strict=True)):
        for name, got in values.items():
            error = 2 * error_of(settings, t, start[name])
            trial.within(f"{name}, step {t}", got, must[name], error)


@check("adam", "SDPA", SETTINGS)
def every_step_is_torchs_adamw(trial: Trial) -> None:
    """Compare with torch.optim.AdamW, set up as its documentation says."""
    settings: Settings = trial.case
    start, gradients = settings.draw()
    leaves = {n: torch.tensor(w, requires_grad=True) for n, w in start.items()}
    torchs = torch.optim.AdamW(
        list(leaves.values()),
        lr=settings.learning_rate,
        betas=(settings.beta_1, settings.beta_2),
        eps=settings.epsilon,
        weight_decay=settings.decay,
    )
    optimizer = make(trial.version, settings, start)
    steps = walk(trial.version, optimizer, gradients)
    for t, given in enumerate(gradients):
        for name, leaf in leaves.items():
            leaf.grad = torch.tensor(given[name])
        torchs.step()
        for name, leaf in leaves.items():
            witness = leaf.detach().numpy()
            error = 2 * error_of(settings, t, start[name])
            trial.within(f"{name}, step {t}", steps[t][name], witness, error)


@check("adam", "closed form", (1.0, -8.0, 2.0**-20, 2.0**40))
def the_first_step_has_the_learning_rates_size(trial: Trial) -> None:
    """Whatever the size of the gradient: m̂ / √v̂ is its sign."""
    settings = Settings(learning_rate=0.25, epsilon=0.0)
    start = {name: np.ones(M) for name in NAMES}
    gradients = [{name: np.full(M, trial.case) for name in NAMES}] * 3
    optimizer = make(trial.version, settings, start)
    for t, values in enumerate(walk(trial.version, optimizer, gradients)):
        expected = np.full(M, 1 - np.sign(trial.case) * 0.25 * (t + 1))
        for name, got in values.items():
            trial.within(name, got, expected, 16 * np.spacing(1.0))


@check("adam", "closed form", (0.5, 1.0))
def decay_is_taken_from_the_parameter_alone(trial: Trial) -> None:
    """With a gradient of 0 a parameter becomes w (1 - η λ)."""
    settings = Settings(learning_rate=0.25, decay=trial.case)
    start = {name: np.asarray([1.0, -2.0, 4.0, 8.0, 0.0]) for name in NAMES}
    gradients = [{name: np.zeros(M) for name in NAMES}]
    (values,) = walk(
        trial.version, make(trial.version, settings, start), gradients
    )
    for name, got in values.items():
        trial.within(name, got, start[name] * (1 - 0.25 * trial.case))


@check("adam", "law", SETTINGS)
def a_run_goes_on_where_it_was_broken_off(trial: Trial) -> None:
    """Five steps, then a new optimiser with the moments: to the bit."""
    settings: Settings = trial.case
    start, gradients = settings.draw()
    version = trial.version
    whole = walk(version, make(version, settings, start), gradients)
    first = make(version, settings, start)
    middle = walk(version, first, gradients[:5])[-1]
    kept = {n: version.numpy(a).copy() for n, a in first.state_dict().items()}
    assert len(kept) == 2 * len(NAMES), list(kept)
    second = make(version, settings, middle)
    second.load_state_dict(5, {n: version.array(a) for n, a in kept.items()})
    rest = walk(version, second, gradients[5:])
    for got, expected in zip(rest, whole[5:], strict=True):
        for name in NAMES:
            trial.within(name, got[name], expected[name])
    assert second.step_count == STEPS, second.step_count
    for name, array in second.state_dict().items():
        moved = np.any(version.numpy(array) != kept[name])
        assert moved, f"{name} has not moved"


@check("adam", "law", SETTINGS[:4])
def what_is_given_and_taken_stays_as_it_is(trial: Trial) -> None:
    """No step changes a state_dict that was loaded, or that was returned."""
    version = trial.version
    start, gradients = trial.case.draw()
    first = make(version, trial.case, start)
    walk(version, first, gradients[:2])
    taken = first.state_dict()
    kept = {n: version.numpy(a).copy() for n, a in taken.items()}
    walk(version, first, gradients[2:4])
    second = make(version, trial.case, start)
    second.load_state_dict(2, taken)
    walk(version, second, gradients[4:6])
    for name, array in taken.items():
        assert np.all(kept[name] != 0), f"{name} has gathered nothing"
        trial.within(name, version.numpy(array), kept[name])


@check("adam", "law", SETTINGS[:4])
def moments_of_another_model_are_refused(trial: Trial) -> None:
    """If one is missing, a KeyError names it."""
    version = trial.version
    start, gradients = trial.case.draw()
    optimizer = make(version, trial.case, start)
    walk(version, optimizer, gradients[:1])
    moments = optimizer.state_dict()
    moments["square.other"] = moments.pop("square.bias")
    missing = ""
    try:
        optimizer.load_state_dict(1, moments)
    except KeyError as error:
        missing = str(error.args[0])
    assert missing == "square.bias", f"the KeyError names {missing!r}"


@check("adam", "law", SETTINGS[:4])
def no_gradient_is_no_step(trial: Trial) -> None:
    """If a gradient is missing, a KeyError, and nothing has changed."""
    version = trial.version
    start, gradients = trial.case.draw()
    optimizer = make(version, trial.case, start)
    given = {n: version.array(g) for n, g in gradients[0].items()}
    del given[NAMES[1]]
    missing = ""
    try:
        optimizer.step(given)
    except KeyError as error:
        missing = str(error.args[0])
    assert missing == NAMES[1], f"the KeyError names {missing!r}"
    now = version.function("language_model.parameters")(optimizer.model)
    for name in NAMES:
        trial.within(name, version.numpy(now[name]), start[name])
    assert optimizer.step_count == 0, optimizer.step_count
    for name, array in optimizer.state_dict().items():
        trial.within(name, version.numpy(array), np.zeros(M))
