"""Faults of dropout."""

from __future__ import annotations

from ..fault import Fault

FAULTS = (
    Fault(
        name="dropout in place of its rescaling",
        module="dropout",
        before="weights / (1 - dropout_p)",
        after="weights",
        wrong="Weights that stay are not divided by 1 - p.",
        report="karpathy/nanoGPT#240",
    ),
    Fault(
        name="dropout rescaled by p",
        module="dropout",
        before="weights / (1 - dropout_p)",
        after="weights / dropout_p",
        wrong="Weights that stay are divided by p in place of 1 - p.",
    ),
    Fault(
        name="dropout keeps what it should drop",
        module="dropout",
        before="np.where(dropout_mask, weights / (1 - dropout_p), 0.0)",
        after="np.where(dropout_mask, 0.0, weights / (1 - dropout_p))",
        wrong="The dropout mask is inverted.",
    ),
    Fault(
        name="dropout of everything divides by zero",
        module="dropout",
        before="""\
    if dropout_p == 1:
        return 0 * weights
""",
        after="",
        wrong="p = 1 gives NaN in place of 0.",
    ),
    Fault(
        name="dropout draws with p for 1 - p",
        module="dropout",
        before=">= dropout_p",
        after="< dropout_p",
        wrong="A weight stays with probability p in place of 1 - p.",
    ),
    Fault(
        name="what is left out may be NaN",
        module="dropout",
        before="np.where(dropout_mask, weights / (1 - dropout_p), 0.0)",
        after="weights * dropout_mask / (1 - dropout_p)",
        wrong="A dropped NaN is multiplied by 0, which is still NaN.",
    ),
    Fault(
        name="dropout without its rescaling in the backward pass",
        module="dropout",
        kind="gradient",
        before="return dropout(d_dropped, dropout_p, dropout_mask)",
        after="return dropout(d_dropped, 0.0, dropout_mask)",
        wrong="The gradient of weights that stay is not divided by 1 - p.",
    ),
    Fault(
        name="nothing kept gives back",
        module="dropout",
        kind="gradient",
        before="    return dropout(d_dropped, dropout_p, dropout_mask)",
        after="""\
    kept = np.where(dropout_mask, d_dropped, 0.0)
    return kept / max(1 - dropout_p, 1e-9)""",
        wrong=(
            "With p = 1, the gradient is divided by 10⁻⁹ in place of being 0."
        ),
    ),
)
