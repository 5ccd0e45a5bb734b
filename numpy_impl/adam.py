"""Adam, an optimizer with a step size for each parameter.

    m ← β₁ m + (1 - β₁) g         m̂ = m / (1 - β₁ᵗ)
    v ← β₂ v + (1 - β₂) g²        v̂ = v / (1 - β₂ᵗ)
    w ← w - η λ w - η m̂ / (√v̂ + ε)

m is a running mean of the gradient g, v of its square; a step has about the
size η whatever the size of g. Both start at 0 and so are biased towards it:
after t steps their weights sum to 1 - βᵗ, and dividing by that corrects the
bias (Kingma and Ba 2015, arXiv:1412.6980, algorithm 1). The weight decay λ
acts on the parameter itself and is not added to g (Loshchilov and Hutter
2019, arXiv:1711.05101).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import Array
from .language_model import parameters, set_parameters


class AdamW:
    """AdamW for the parameters of a model, after `step_count` steps.

    `learning_rate` is η, `decay` the weight decay λ.
    """

    def __init__(
        self,
        model: Any,
        learning_rate: float = 1e-3,
        beta_1: float = 0.9,
        beta_2: float = 0.999,
        epsilon: float = 1e-8,
        decay: float = 0.0,
    ) -> None:
        self.model = model
        self.learning_rate, self.decay = learning_rate, decay
        self.beta_1, self.beta_2, self.epsilon = beta_1, beta_2, epsilon
        self.step_count = 0
        zeros = {n: np.zeros_like(w) for n, w in parameters(model).items()}
        self.mean, self.square = zeros, zeros

    def step(self, gradients: dict[str, Array]) -> None:
        """Take a step: give the model new parameters, from gradients by name.

        A parameter without a gradient is a KeyError, and nothing is changed.
        """
        old = parameters(self.model)
        mean, square = {}, {}
        for name in old:
            g = gradients[name]
            mean[name] = self._next_mean(name, g)
            square[name] = self._next_square(name, g)
        self.step_count += 1
        self.mean, self.square = mean, square
        set_parameters(
            self.model, {name: self._moved(name, old[name]) for name in old}
        )

    def _next_mean(self, name: str, g: Array) -> Array:
        return self.beta_1 * self.mean[name] + (1 - self.beta_1) * g

    def _next_square(self, name: str, g: Array) -> Array:
        return self.beta_2 * self.square[name] + (1 - self.beta_2) * (g * g)

    def _moved(self, name: str, w: Array) -> Array:
        mean = self.mean[name] / (1 - self.beta_1**self.step_count)
        square = self.square[name] / (1 - self.beta_2**self.step_count)
        direction: Array = mean / (np.sqrt(square) + self.epsilon)
        w = w - self.learning_rate * self.decay * w
        return w - self.learning_rate * direction

    def state_dict(self) -> dict[str, Array]:
        """Return both running means, by name: "mean.token_embedding"."""
        mean = {f"mean.{name}": m for name, m in self.mean.items()}
        return mean | {f"square.{n}": v for n, v in self.square.items()}

    def load_state_dict(
        self, step_count: int, state: dict[str, Array]
    ) -> None:
        """Continue after `step_count` steps, from their `state_dict`."""
        self.step_count = step_count
        names = list(parameters(self.model))
        self.mean = {name: state[f"mean.{name}"] for name in names}
        self.square = {name: state[f"square.{name}"] for name in names}
