"""Faults of AdamW."""

from __future__ import annotations

from ..fault import Fault

FAULTS = (
    Fault(
        name="means of Adam not corrected",
        module="adam",
        before="mean = self.mean[name] / (1 - self.beta_1**self.step_count)",
        after="mean = self.mean[name]",
        wrong="The first steps are ten times too small.",
    ),
    Fault(
        name="squares of Adam not corrected",
        module="adam",
        before=(
            "square = self.square[name] / (1 - self.beta_2**self.step_count)"
        ),
        after="square = self.square[name]",
        wrong="The first steps are thirty times too large.",
    ),
    Fault(
        name="Adam counts from 0",
        module="adam",
        before="        self.step_count += 1\n",
        after="",
        wrong="The bias correction divides by 1 - β⁰ = 0.",
    ),
    Fault(
        name="epsilon under Adam's root",
        module="adam",
        before="(np.sqrt(square) + self.epsilon)",
        after="np.sqrt(square + self.epsilon)",
        wrong="Where the gradient is small, the step is far too small.",
    ),
    Fault(
        name="decay added to the gradient",
        module="adam",
        before="            g = gradients[name]\n",
        after="            g = gradients[name] + self.decay * old[name]\n",
        wrong=(
            "The decay is divided by √v̂ like a gradient, which is Adam "
            "with L2."
        ),
    ),
    Fault(
        name="decay after the step",
        module="adam",
        before="""\
        w = w - self.learning_rate * self.decay * w
        return w - self.learning_rate * direction""",
        after="""\
        w = w - self.learning_rate * direction
        return w - self.learning_rate * self.decay * w""",
        wrong="The decay also applies to the step just taken.",
    ),
    Fault(
        name="a broken-off run starts its count anew",
        module="adam",
        before="        self.step_count = step_count\n",
        after="        self.step_count = 0\n",
        wrong="A resumed run uses the bias correction of a first step.",
    ),
    Fault(
        name="moments go on changing",
        module="adam",
        side="torch",
        before='s["exp_avg_sq"].clone()',
        after='s["exp_avg_sq"]',
        wrong="A saved state changes with each later step.",
    ),
    Fault(
        name="a missing gradient is none",
        module="adam",
        side="torch",
        before="w.grad = gradients[name]",
        after="w.grad = gradients.get(name)",
        wrong="A parameter without a gradient is skipped without an error.",
    ),
)
