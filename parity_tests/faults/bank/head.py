"""Faults of one attention head."""

from __future__ import annotations

from ..fault import Fault

FAULTS = (
    Fault(
        name="query and key exchanged",
        module="head",
        before="""\
        query = x @ self.w_q
        key = x @ self.w_k
""",
        after="""\
        query = x @ self.w_k
        key = x @ self.w_q
""",
        wrong="The scores are transposed.",
    ),
    Fault(
        name="value projected by the key's matrix",
        module="head",
        before="value = x @ self.w_v",
        after="value = x @ self.w_k",
        wrong="W_v is not used.",
    ),
    Fault(
        name="a head forgets its mask",
        module="head",
        before="return attention(query, key, value, mask)",
        after="return attention(query, key, value)",
        wrong="The causal head sees the future.",
    ),
    Fault(
        name="a head's x learns from its values alone",
        module="head",
        kind="gradient",
        before="d_x = dq @ head.w_q.mT + dk @ head.w_k.mT + dv @ head.w_v.mT",
        after="d_x = dv @ head.w_v.mT",
        wrong="x lacks the gradients of its query and key.",
    ),
    Fault(
        name="a head's matrices learn from one sequence",
        module="head",
        kind="gradient",
        before="broadcast_backward(x.mT @ d, w.shape)",
        after="(x.mT @ d)[0, ...]",
        wrong="The gradient is not summed over the batch.",
    ),
)
