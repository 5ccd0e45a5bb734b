"""Faults of the tasks and of training."""

from __future__ import annotations

from ..fault import Fault

FAULTS = (
    Fault(
        name="targets are the characters shown",
        module="training",
        before="Batch(stretch[:, :-1], stretch[:, 1:])",
        after="Batch(stretch[:, :-1], stretch[:, :-1])",
        wrong=(
            "The targets are the inputs, so the model learns to repeat them."
        ),
    ),
    Fault(
        name="the last stretch is never shown",
        module="training",
        before="randint(text.shape[0] - T, B)",
        after="randint(max(text.shape[0] - T - 1, 1), B)",
        wrong="The end of a text is never used in training.",
    ),
    Fault(
        name="the partner of another",
        module="training",
        before="np.where(asked, second, 0)",
        after="np.where(asked[:, ::-1], second, 0)",
        wrong="The answer is the one of another pair.",
    ),
    Fault(
        name="every position is marked",
        module="training",
        before="right = np.count_nonzero((best == batch.targets) & asked)",
        after="right = np.sum(best == batch.ids)",
        wrong="The accuracy compares every position with its input.",
    ),
    Fault(
        name="a text goes on from its start",
        module="training",
        before="seen = ids[first:]",
        after="seen = ids[: model.position_embedding.shape[0]]",
        wrong=(
            "After its length T, the model is always given the text's "
            "beginning."
        ),
    ),
    Fault(
        name="the key matrix starts as the value matrix",
        module="training",
        before='{"w_v": block.attention.w_k}',
        after='{"w_k": block.attention.w_v}',
        wrong="Key starts as value, where value should start as key.",
    ),
)
