"""Faults of online softmax: partial sums and their merging."""

from __future__ import annotations

from ..fault import Fault

FAULTS = (
    Fault(
        name="the old sums are not rescaled",
        module="merge",
        before="one.numerator * factor_1 + other.numerator * factor_2",
        after="one.numerator + other.numerator * factor_2",
        wrong="When the maximum rises, the old weighted sum is not rescaled.",
    ),
    Fault(
        name="the old denominator is not rescaled",
        module="merge",
        before="one.row_sum * factor_1 + other.row_sum * factor_2",
        after="one.row_sum + other.row_sum * factor_2",
        wrong="When the maximum rises, the old row sum is not rescaled.",
    ),
    Fault(
        name="the new tile is not rescaled",
        module="merge",
        before="one.numerator * factor_1 + other.numerator * factor_2",
        after="one.numerator * factor_1 + other.numerator",
        wrong="A tile with a lower maximum counts too much.",
    ),
    Fault(
        name="factors turned round",
        module="merge",
        before="factor_1 = np.exp(one.row_max - finite(row_max))",
        after="factor_1 = np.exp(finite(row_max) - one.row_max)",
        wrong=(
            "When the maximum rises, the old sums grow in place of shrinking."
        ),
    ),
    Fault(
        name="the first tile empty is NaN",
        module="merge",
        before="exponentials = np.exp(scores - finite(row_max))",
        after="exponentials = np.exp(scores - row_max)",
        wrong=(
            "Where the first tile has no key, -inf - (-inf) makes the row NaN."
        ),
        report="pytorch/pytorch#127055",
    ),
    Fault(
        name="the maximum of the last tile",
        module="merge",
        before="row_max = np.maximum(one.row_max, other.row_max)",
        after="row_max = other.row_max",
        wrong="An earlier maximum is lost, so the exponentials overflow.",
    ),
    Fault(
        name="log-sum-exp without the maximum",
        module="merge",
        before="lse = sums.row_max + np.log(row_sum)",
        after="lse = np.log(row_sum)",
        wrong="The log-sum-exp lacks the maximum that was subtracted.",
    ),
    Fault(
        name="log-sum-exp of an empty row is 0",
        module="merge",
        before="lse = np.where(empty, -np.inf, lse)",
        after="lse = np.where(empty, 0.0, lse)",
        wrong="In merging, an empty part would have a weight.",
        report="Dao-AILab/flash-attention#978",
    ),
    Fault(
        name="merging with nothing on the right",
        module="merge",
        before="""\
    output = np.where(no_other[..., None], one.output, output)
""",
        after="",
        wrong=(
            "Merged with an empty part, the other one does not come back "
            "bit for bit."
        ),
    ),
    Fault(
        name="merging with nothing on the left",
        module="merge",
        before="np.where(no_one[..., None], other.output, merged.output)",
        after="merged.output",
        wrong=(
            "Merged with an empty part, the other one does not come back "
            "bit for bit."
        ),
    ),
    Fault(
        name="parts count alike",
        module="merge",
        before="        row_max = part.log_sum_exp[..., None]\n",
        after="        row_max = np.minimum(part.log_sum_exp, 0)[..., None]\n",
        wrong="When parts are merged, a log-sum-exp above 0 counts as 0.",
    ),
)
