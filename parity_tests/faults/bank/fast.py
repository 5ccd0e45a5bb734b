"""Faults of the tuned version."""

from __future__ import annotations

from ..fault import Fault

FAULTS = (
    Fault(
        name="fast: a late maximum leaves the denominator",
        module="fast",
        before="            total *= factor\n",
        after="",
        wrong="When the maximum rises, the old row sum is not rescaled.",
    ),
    Fault(
        name="fast: a late maximum leaves the values",
        module="fast",
        before="                gathered *= factor\n",
        after="                pass\n",
        wrong="When the maximum rises, the old weighted sum is not rescaled.",
    ),
    Fault(
        name="fast: no proof, no maximum",
        module="fast",
        before="steepest <= STEEPEST",
        after="steepest <= 1e9",
        wrong="Exponentials overflow where the norms do not bound the scores.",
        cases=("float32 spread 30",),
    ),
    Fault(
        name="fast: values are not looked at",
        module="fast",
        before="all(map(is_moderate, others))",
        after="others",
        wrong=(
            "Large exponentials times large values overflow, and small "
            "ones vanish."
        ),
        cases=("no power overflows or vanishes",),
    ),
    Fault(
        name="fast: log2 e forgotten",
        module="fast",
        before="Steepness(scale * math.log2(math.e), 1.0, True)",
        after="Steepness(scale, 1.0, True)",
        wrong="2 is raised to the scores in place of e.",
    ),
    Fault(
        name="fast: lse without its maximum",
        module="fast",
        before="np.where(empty, -np.inf, result.row_max + logs)",
        after="np.where(empty, -np.inf, logs)",
        wrong="The log-sum-exp lacks the maximum that was subtracted.",
        report="Dao-AILab/flash-attention#978",
    ),
    Fault(
        name="fast: lse of an empty row is 0",
        module="fast",
        before="np.where(empty, -np.inf, result.row_max + logs)",
        after="np.where(empty, 0.0, result.row_max + logs)",
        wrong="Merging takes the row for one with a single key.",
        report="pytorch/pytorch#134650",
    ),
    Fault(
        name="fast: an empty row is divided by 0",
        module="fast",
        before="        divisor = np.where(total == 0, 1.0, total).mT\n",
        after="        divisor = total.mT\n",
        wrong="A row that may see no key is NaN.",
        report="pytorch/pytorch#103963",
    ),
    Fault(
        name="fast: the triangle is one key too wide",
        module="fast_scores",
        before="hidden = ahead(first + cut - sight.right, m - cut, n)",
        after="hidden = ahead(first + cut - sight.right - 1, m - cut, n)",
        wrong="Each query sees the key after its own position.",
    ),
    Fault(
        name="fast: the window is one key too wide",
        module="fast_scores",
        before="hidden = behind(first + sight.left, cut, n)",
        after="hidden = behind(first + sight.left + 1, cut, n)",
        wrong="A left bound of n shows n + 1 keys.",
        report="huggingface/transformers#39408",
        cases=("window",),
    ),
    Fault(
        name="fast: a NaN under the mask",
        module="fast_scores",
        before="            seen = bias != -np.inf\n",
        after="            seen = bias == bias\n",
        wrong="A NaN plus -inf is NaN, where the score should be set to -inf.",
        report="pytorch/pytorch#101967",
        cases=("mask with nan", "poison behind a mask of -inf"),
    ),
    Fault(
        name="fast: two names for one memory",
        module="fast_threads",
        before="vars(_kept), name + dtype.char",
        after="vars(_kept), dtype.char",
        wrong="A tile of scores is overwritten before it is read.",
    ),
    Fault(
        name="fast: a batch reads the first one's keys",
        module="fast",
        before="np.ascontiguousarray(upcast(array[index[:-1]]))",
        after="""\
np.ascontiguousarray(
            upcast(array[(*(0 * i for i in index[:-2]), index[-2])]))""",
        wrong="Every sequence attends to the keys of the first one.",
    ),
    Fault(
        name="fast: a row's sum is not divided",
        module="fast",
        kind="gradient",
        before="inner = (np.vecdot(d_output, output) - d_lse) / total",
        after="inner = np.vecdot(d_output, output) - d_lse",
        wrong=(
            "The correction in dS is not divided by the row sum, as the "
            "weights are."
        ),
    ),
    Fault(
        name="fast: lse pulls the wrong way",
        module="fast",
        kind="gradient",
        before="inner = (np.vecdot(d_output, output) - d_lse) / total",
        after="inner = (np.vecdot(d_output, output) + d_lse) / total",
        wrong="The gradient of the log-sum-exp has the wrong sign.",
    ),
    Fault(
        name="fast: keys learn without the scale",
        module="fast",
        kind="gradient",
        before="        result.key[group] *= scale\n",
        after="",
        wrong="The gradient of the key is not multiplied by the scale.",
    ),
    Fault(
        name="fast: a group learns from one head",
        module="fast",
        kind="gradient",
        before="summed: Array = np.sum(gradient, axis=-3, keepdims=True)",
        after="summed: Array = gradient[..., :1, :, :]",
        wrong="A key head gets the gradient of its first query head only.",
        cases=("small heads are taken together",),
    ),
    Fault(
        name="fast: the cap has no slope",
        module="fast",
        kind="gradient",
        before="                d_scores *= slope\n",
        after="                pass\n",
        wrong="The gradient lacks the derivative of tanh.",
    ),
    Fault(
        name="fast: what is hidden gives back",
        module="fast",
        kind="gradient",
        before="            hide(share, rows, columns, exponentials)\n",
        after="",
        wrong="The backward pass does not apply the mask.",
        report="Dao-AILab/flash-attention#1947",
    ),
)
