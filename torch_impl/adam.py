"""Adam, an optimizer with a step size for each parameter.

    m ← β₁ m + (1 - β₁) g         m̂ = m / (1 - β₁ᵗ)
    v ← β₂ v + (1 - β₂) g²        v̂ = v / (1 - β₂ᵗ)
    w ← w - η λ w - η m̂ / (√v̂ + ε)

(Kingma and Ba 2015, arXiv:1412.6980, algorithm 1; the decay λ as in
Loshchilov and Hutter 2019, arXiv:1711.05101.) Here it is torch's own, given
gradients by name; the NumPy side writes these lines out.
"""

from __future__ import annotations

from typing import Any

import torch

from .arrays import Array
from .language_model import parameters


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
        self.step_count = 0
        self._optimizer = torch.optim.AdamW(
            list(parameters(model).values()),
            lr=learning_rate,
            betas=(beta_1, beta_2),
            eps=epsilon,
            weight_decay=decay,
        )

    def step(self, gradients: dict[str, Array]) -> None:
        """Take a step: give the model new parameters, from gradients by name.

        A parameter without a gradient is a KeyError, and nothing is changed.
        """
        for name, w in parameters(self.model).items():
            w.grad = gradients[name]
        self.step_count += 1
        self._optimizer.step()

    def state_dict(self) -> dict[str, Array]:
        """Return a copy of both running means, as "mean.token_embedding"."""
        state = {}
        for name, w in parameters(self.model).items():
            # Before the first step torch keeps nothing, which means zeros.
            zeros = {k: torch.zeros_like(w) for k in ("exp_avg", "exp_avg_sq")}
            state[name] = zeros | self._optimizer.state.get(w, {})
        mean = {f"mean.{n}": s["exp_avg"].clone() for n, s in state.items()}
        return mean | {
            f"square.{n}": s["exp_avg_sq"].clone() for n, s in state.items()
        }

    def load_state_dict(
        self, step_count: int, state: dict[str, Array]
    ) -> None:
        """Continue after `step_count` steps, from their `state_dict`."""
        self.step_count = step_count
        for name, w in parameters(self.model).items():
            self._optimizer.state[w] = {
                "step": torch.tensor(float(step_count)),
                "exp_avg": state[f"mean.{name}"].clone(),
                "exp_avg_sq": state[f"square.{name}"].clone(),
            }
