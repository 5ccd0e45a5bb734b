"""Faults of averaging."""

from __future__ import annotations

from ..fault import Fault

FAULTS = (
    Fault(
        name="averaging sees the future",
        module="averaging",
        before="np.tril(np.ones((T, T), dtype=np.float64))",
        after="np.ones((T, T), dtype=np.float64)",
        wrong="Every position gets the mean of all positions.",
    ),
    Fault(
        name="averaging leaves itself out",
        module="averaging",
        before="np.tril(np.ones((T, T), dtype=np.float64))",
        after="np.tril(np.ones((T, T), dtype=np.float64), -1)",
        wrong=(
            "Every position gets the mean of the positions before it, "
            "without itself."
        ),
    ),
    Fault(
        name="averaging sums columns",
        module="averaging",
        before="np.sum(triangle, axis=-1, keepdims=True)",
        after="np.sum(triangle, axis=0, keepdims=True)",
        wrong="The weights of a position do not sum to 1.",
    ),
    Fault(
        name="averaging does not divide",
        module="averaging",
        before="triangle / np.sum(triangle, axis=-1, keepdims=True)",
        after="triangle",
        wrong="Sums are returned in place of means.",
    ),
    Fault(
        name="averaging gives back to the future",
        module="averaging",
        kind="gradient",
        before="np.astype(weights, d_means.dtype).mT @ d_means",
        after="np.astype(weights, d_means.dtype) @ d_means",
        wrong="The matrix of weights is not transposed in the backward pass.",
    ),
    Fault(
        name="the mean's gradient in float64",
        module="averaging",
        kind="gradient",
        before="np.astype(weights, d_means.dtype).mT @ d_means",
        after="weights.mT @ d_means",
        wrong="An x of float32 gets a gradient of float64.",
    ),
)
