"""Faults of multi-head attention."""

from __future__ import annotations

from ..fault import Fault

FAULTS = (
    Fault(
        name="split straight into heads",
        module="multi_head",
        before="""\
    pieces = np.reshape(x, (*batch, T, H, width // H))
    return np.moveaxis(pieces, -2, -3)
""",
        after="    return np.reshape(x, (*batch, H, T, width // H))\n",
        wrong="Without a transpose, a head gets parts of other positions.",
        report="onnx/onnx#7118",
    ),
    Fault(
        name="merged without a transpose",
        module="multi_head",
        before="pieces = np.moveaxis(x, -3, -2)",
        after="pieces = x",
        wrong=(
            "Without a transpose, the rows of the output mix heads and "
            "positions."
        ),
        report="reczoo/FuxiCTR#30",
    ),
    Fault(
        name="heads cut from every H-th column",
        module="multi_head",
        before="""\
    pieces = np.reshape(x, (*batch, T, H, width // H))
    return np.moveaxis(pieces, -2, -3)
""",
        after="""\
    pieces = np.reshape(x, (*batch, T, width // H, H))
    return np.moveaxis(pieces, -1, -3)
""",
        wrong="Head h takes every H-th column in place of its own block.",
    ),
    Fault(
        name="cross-attention looks at itself",
        module="multi_head",
        before="""\
        source = x if context is None else context
        query""",
        after="""\
        same = context is not None and context.shape == x.shape
        source = x if context is None or same else context
        query""",
        wrong="A context of the same shape as x is ignored.",
    ),
    Fault(
        name="the key's bias for the query",
        module="multi_head",
        before="query = split_heads(project(x, self.w_q, self.b_q), self.H)",
        after="""\
bias = self.b_k if self.G == self.H else self.b_q
        query = split_heads(project(x, self.w_q, bias), self.H)""",
        wrong="The bias of the key is added to the query.",
    ),
    Fault(
        name="the output's bias forgotten",
        module="multi_head",
        before="return project(merge_heads(steps.output), self.w_o, self.b_o)",
        after="return project(merge_heads(steps.output), self.w_o, None)",
        wrong="The bias of the output is accepted and not added.",
    ),
    Fault(
        name="a layer forgets is_causal",
        module="multi_head",
        before="attn_mask, is_causal=is_causal, scale=self.scale, ",
        after="attn_mask, scale=self.scale, ",
        wrong="The causal layer sees the future.",
        report="keras-team/keras#23038",
    ),
    Fault(
        name="x learns from its query alone",
        module="multi_head",
        kind="gradient",
        before="d_x = d_x + d_source if context is None else d_x",
        after="d_x = d_x if context is None else d_x",
        wrong="In self-attention x lacks the gradients of its key and value.",
    ),
    Fault(
        name="the context learns from its keys alone",
        module="multi_head",
        kind="gradient",
        before="d_source = from_key + from_value",
        after="d_source = from_key",
        wrong="The context lacks the gradient of its values.",
    ),
    Fault(
        name="a bias's gradient is the mean",
        module="multi_head",
        kind="gradient",
        before=(
            "db = None if b is None else broadcast_backward(d_result, b.shape)"
        ),
        after="""\
db = None if b is None else broadcast_backward(
        d_result / d_result.shape[-2], b.shape
    )""",
        wrong=(
            "A bias gets the mean over positions, where it should get the sum."
        ),
    ),
    Fault(
        name="the output projection learns from unmerged heads",
        module="multi_head",
        kind="gradient",
        before="""\
    merged = merge_heads(steps.output)
    d_merged""",
        after="""\
    merged = np.reshape(
        steps.output, merge_heads(steps.output).shape
    )
    d_merged""",
        wrong="The gradient of W_o mixes heads and positions.",
    ),
    Fault(
        name="a layer's own scale is lost in the backward pass",
        module="multi_head",
        kind="gradient",
        before="d_heads, steps, query, key, value, options",
        after=(
            "d_heads, steps, query, key, value, options._replace(scale=None)"
        ),
        wrong="The backward pass uses 1/√D in place of the layer's scale.",
    ),
)
