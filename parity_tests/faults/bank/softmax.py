"""Faults of softmax, log-softmax and log-sum-exp."""

from __future__ import annotations

from ..fault import Fault

FAULTS = (
    Fault(
        name="a dead row is NaN",
        module="softmax",
        before="np.where(row_max == -np.inf, 0.0, row_max)",
        after="row_max",
        wrong=(
            "A row that may see no key computes -inf - (-inf), which is NaN."
        ),
        report="pytorch/pytorch#103963",
    ),
    Fault(
        name="a dead row is divided by zero",
        module="softmax",
        before="np.where(total == 0, 1.0, total)",
        after="total",
        wrong="A row that may see no key is divided by its sum, 0.",
        report="pytorch/pytorch#103963",
    ),
    Fault(
        name="lse of a dead row is 0",
        module="softmax",
        before="np.where(empty, -np.inf, log_total)",
        after="np.where(empty, 0.0, log_total)",
        wrong=(
            "The log-sum-exp of no keys must be -inf, so that merging "
            "gives it no weight."
        ),
        report="pytorch/pytorch#134650",
    ),
    Fault(
        name="lse of a dead row is +inf",
        module="softmax",
        before="np.where(empty, -np.inf, log_total)",
        after="np.where(empty, np.inf, log_total)",
        wrong=(
            "When parts are merged, an empty one with +inf takes all the "
            "weight."
        ),
        report="Dao-AILab/flash-attention#978",
    ),
    Fault(
        name="no keys at all",
        module="softmax",
        before="""\
    if x.shape[-1] == 0:
        return np.zeros((*x.shape[:-1], 1), dtype=x.dtype)
""",
        after="",
        wrong=(
            "The maximum over no keys raises an error, where the output "
            "should be 0."
        ),
        report="facebookresearch/xformers#1042",
    ),
    Fault(
        name="NaN in the gradient of a dead row",
        module="softmax",
        side="torch",
        kind="gradient",
        before="""\
    exponentials = torch.exp(x - safe_max(x))
    return exponentials / safe_sum(exponentials)
""",
        after="""\
    weights = torch.softmax(x, dim=-1)
    return torch.where(torch.isnan(weights), 0.0, weights)
""",
        wrong=(
            "The output's NaN is replaced by 0, but the backward pass "
            "computes 0 · NaN."
        ),
        report="pytorch/pytorch#41508",
    ),
    Fault(
        name="nan_to_num after the softmax",
        module="softmax",
        side="torch",
        before="""\
    exponentials = torch.exp(x - safe_max(x))
    return exponentials / safe_sum(exponentials)
""",
        after="    return torch.nan_to_num(torch.softmax(x, dim=-1))\n",
        wrong=(
            "It hides the NaN of a row with no key, and every other NaN too."
        ),
        report="pytorch/pytorch#41508",
    ),
    Fault(
        name="no maximum subtracted",
        module="softmax",
        before="""\
    exponentials = np.exp(x - safe_max(x))
    return expo""",
        after="""\
    exponentials = np.exp(x)
    return expo""",
        wrong="exp(1000) overflows, and inf/inf is NaN.",
        report="pytorch/executorch#18407",
    ),
    Fault(
        name="the maximum of everything",
        module="softmax",
        before="row_max = np.max(x, axis=-1, keepdims=True)",
        after="row_max = np.max(x, keepdims=True)",
        wrong="A row far below the largest score of all becomes 0/0.",
    ),
    Fault(
        name="lse without its maximum",
        module="softmax",
        before="log_total = row_max + np.log(total)",
        after="log_total = np.log(total)",
        wrong="The log-sum-exp lacks the maximum that was subtracted.",
    ),
    Fault(
        name="a constant in the denominator",
        module="softmax",
        before="exponentials / safe_sum(exponentials)",
        after="exponentials / (safe_sum(exponentials) + 1e-6)",
        wrong="The weights of a row sum to a little less than 1.",
    ),
    Fault(
        name="one more in the denominator",
        module="softmax",
        before="exponentials / safe_sum(exponentials)",
        after="exponentials / (safe_sum(exponentials) + 1)",
        wrong="The row sum has an extra 1, as for softmax with a zero sink.",
    ),
    Fault(
        name="a power of two for a power of e",
        module="softmax",
        before="""\
    exponentials = np.exp(x - safe_max(x))
    return expo""",
        after="""\
    exponentials = np.exp2(x - safe_max(x))
    return expo""",
        wrong="2 is raised to the scores in place of e.",
    ),
    Fault(
        name="the row sum is missing",
        module="softmax",
        kind="gradient",
        before="return weights * (d_weights - inner)",
        after="return weights * d_weights",
        wrong="dS is P ∘ dP, without the row sum that is subtracted from dP.",
        report="ooples/AiDotNet.Tensors#49",
    ),
    Fault(
        name="the row sum over the wrong axis",
        module="softmax",
        kind="gradient",
        before=(
            "inner: Array = np.sum(weights * d_weights, axis=-1, "
            "keepdims=True)"
        ),
        after=(
            "inner: Array = np.sum(weights * d_weights, axis=-2, "
            "keepdims=True)"
        ),
        wrong="The sum in dS runs over the queries in place of the keys.",
        report="ooples/AiDotNet.Tensors#49",
    ),
    Fault(
        name="the row sum without the weights",
        module="softmax",
        kind="gradient",
        before="np.sum(weights * d_weights, axis=-1, keepdims=True)",
        after="np.mean(d_weights, axis=-1, keepdims=True)",
        wrong=(
            "The mean of dP replaces its weighted sum, which is right "
            "for equal weights only."
        ),
    ),
    Fault(
        name="the log-sum-exp gives back to every key alike",
        module="softmax",
        kind="gradient",
        before="return d_log[..., None] * weights",
        after="return d_log[..., None] + 0 * weights",
        wrong=(
            "Every score gets the same gradient, where each should get "
            "its weight."
        ),
    ),
    Fault(
        name="a dead row gives back",
        module="softmax",
        kind="gradient",
        before="return weights * (d_weights - inner)",
        after="""\
dead = np.all(weights == 0, axis=-1, keepdims=True)
    alive = weights * (d_weights - inner)
    return np.where(dead, d_weights, alive)""",
        wrong="A row that may see no key gets a gradient.",
        report="Dao-AILab/flash-attention#1947",
    ),
    Fault(
        name="log-softmax's sum weighed",
        module="softmax",
        kind="gradient",
        before="total: Array = np.sum(d_log, axis=-1, keepdims=True)",
        after="total: Array = np.sum(d_log * weights, axis=-1, keepdims=True)",
        wrong=(
            "The row sum is weighted, as for softmax, where log-softmax "
            "has a plain sum."
        ),
    ),
)
