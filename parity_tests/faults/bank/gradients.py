"""Faults of the gradients of scaled dot-product attention."""

from __future__ import annotations

from ..fault import Fault

FAULTS = (
    Fault(
        name="the default scale where one was given",
        module="sdpa",
        kind="gradient",
        before="        scale_of(query, options.scale),\n",
        after="        scale_of(query, None),\n",
        wrong=(
            "The backward pass uses 1/√D in place of the scale that was given."
        ),
        cases=("scale 0.0", "scale -1.0"),
    ),
    Fault(
        name="dV of the weights before dropout",
        module="sdpa",
        kind="gradient",
        before="upcast(d_output), steps.dropped_weights,",
        after="upcast(d_output), steps.weights,",
        wrong="A value gets a gradient from weights that were dropped.",
    ),
    Fault(
        name="dropout forgotten in the backward pass",
        module="sdpa",
        kind="gradient",
        before="""\
    if options.dropout_mask is not None:
        d_weights = dropout_backward""",
        after="""\
    if False:
        d_weights = dropout_backward""",
        wrong="Weights that were dropped get a gradient.",
    ),
    Fault(
        name="the soft cap's slope forgotten",
        module="sdpa",
        kind="gradient",
        before="d_scores: Array = d_capped * (1 - tanh * tanh)",
        after="d_scores: Array = d_capped",
        wrong="The gradient lacks the derivative of tanh.",
    ),
    Fault(
        name="the soft cap's slope of the scores",
        module="sdpa",
        kind="gradient",
        before="tanh = capped_scores / float(soft_cap)",
        after="tanh = capped_scores",
        wrong=(
            "The derivative of tanh is computed without dividing by the cap."
        ),
    ),
    Fault(
        name="the log-sum-exp gives nothing back",
        module="sdpa",
        kind="gradient",
        before="    if d_log_sum_exp is not None:\n",
        after="    if False:\n",
        wrong="The gradient of the log-sum-exp is ignored.",
    ),
    Fault(
        name="the bias's gradient not summed",
        module="sdpa",
        kind="gradient",
        before=(
            "cast(broadcast_backward(d_masked, attn_mask.shape), attn_mask)"
        ),
        after="cast(d_masked, attn_mask)",
        wrong="The gradient has the shape of the scores, not of the bias.",
        report="jax-ml/jax#30593",
    ),
    Fault(
        name="the bias's gradient averaged",
        module="broadcasting",
        kind="gradient",
        before="summed = np.sum(gradient, axis=axes, keepdims=True)",
        after="summed = np.mean(gradient, axis=axes, keepdims=True)",
        wrong=(
            "What was broadcast gets the mean of the gradients, not their sum."
        ),
        report="pytorch-labs/attention-gym#20",
    ),
    Fault(
        name="the bias's gradient after the cap",
        module="sdpa",
        kind="gradient",
        before="d_mask = cast(broadcast_backward(d_masked,",
        after="""\
sloped = cap_scores_backward(
            d_masked, steps.capped_scores, options.soft_cap
        )
        d_mask = cast(broadcast_backward(sloped,""",
        wrong=(
            "The gradient has the slope of the cap, but the bias is "
            "added after the cap."
        ),
    ),
    Fault(
        name="the bias gets no gradient",
        module="sdpa",
        kind="gradient",
        before="""\
    if attn_mask is not None and not is_boolean(attn_mask):
        d_mask""",
        after="""\
    if False:
        d_mask""",
        wrong="A floating mask gets no gradient.",
        report="pytorch/pytorch#148476",
    ),
    Fault(
        name="groups not summed",
        module="sdpa",
        kind="gradient",
        before="summed: Array = np.sum(grouped, axis=-3)",
        after="summed: Array = grouped[..., 0, :, :]",
        wrong="A key head gets the gradient of its first query head only.",
    ),
    Fault(
        name="groups summed the other way",
        module="sdpa",
        kind="gradient",
        before="""\
grouped = np.reshape(gradient, (*batch, G, group, S, D))
    summed: Array = np.sum(grouped, axis=-3)""",
        after="""\
grouped = np.reshape(gradient, (*batch, group, G, S, D))
    summed: Array = np.sum(grouped, axis=-4)""",
        wrong="The gradients are summed as if the heads had been tiled.",
    ),
    Fault(
        name="weights detached",
        module="sdpa",
        side="torch",
        kind="gradient",
        before="    weights = softmax(masked_scores)\n",
        after="""\
    weights = softmax(masked_scores)
    large = weights > 0.5
    weights = torch.where(large, weights.detach(), weights)
""",
        wrong=(
            "Where a weight is large it is detached, so autograd misses "
            "its gradient."
        ),
    ),
    Fault(
        name="the scores' gradient is cut",
        module="sdpa",
        side="torch",
        kind="gradient",
        before="    scores = scaled_scores(query, key, options.scale)\n",
        after=(
            "    scores = scaled_scores(query.detach(), key, options.scale)\n"
        ),
        wrong="The query is detached, so it gets no gradient from the scores.",
    ),
    # Where two options meet.
    Fault(
        name="a given scale is lost in groups",
        module="sdpa",
        kind="gradient",
        before="        scale_of(query, options.scale),\n",
        after="""\
        scale_of(
            query, options.scale if heads(key) == H else None
        ),
""",
        wrong=(
            "With grouped heads, the backward pass uses 1/√D in place of "
            "the given scale."
        ),
        cases=("groups, scale 0.3",),
    ),
    Fault(
        name="a mask's gradient in query's dtype",
        module="sdpa",
        kind="gradient",
        before="attn_mask.shape), attn_mask)",
        after="attn_mask.shape), query)",
        wrong="A mask of float64 gets a gradient of float32.",
        cases=("mask of float64", "bias of float64, (5, 7)"),
    ),
    Fault(
        name="what comes back is written to",
        module="sdpa",
        kind="gradient",
        before="        d_lse = upcast(d_log_sum_exp)\n",
        after="""\
        d_lse = upcast(d_log_sum_exp)
        d_lse[~np.isfinite(steps.log_sum_exp)] = 0
""",
        wrong=(
            "The backward pass changes the caller's gradient of the "
            "log-sum-exp."
        ),
    ),
    Fault(
        name="query is cut off in groups",
        module="sdpa",
        side="torch",
        kind="gradient",
        before="    given = query\n",
        after="""\
    given = query
    if options.enable_gqa and options.scale is not None:
        query = query.detach()
""",
        wrong="With grouped heads and a scale, the query gets no gradient.",
        cases=("groups, scale 0.3",),
    ),
)
