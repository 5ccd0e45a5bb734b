"""Faults of the gradients that are derived by hand."""

from __future__ import annotations

from ..tried import gradient, in_torch

GRADIENTS = [
    gradient(
        "the row sum is missing",
        "softmax",
        "return weights * (d_weights - inner)",
        "return weights * d_weights",
        "dS = P ∘ dP: as if the weights did not sum to one.",
        "ooples/AiDotNet.Tensors#49",
    ),
    gradient(
        "the row sum over the wrong axis",
        "softmax",
        "inner: Array = np.sum(weights * d_weights, axis=-1, keepdims=True)",
        "inner: Array = np.sum(weights * d_weights, axis=-2, keepdims=True)",
        "Sums over the queries in place of the keys.",
        "ooples/AiDotNet.Tensors#49",
    ),
    gradient(
        "the row sum without the weights",
        "softmax",
        "np.sum(weights * d_weights, axis=-1, keepdims=True)",
        "np.mean(d_weights, axis=-1, keepdims=True)",
        "The mean of dP is right only for equal weights.",
    ),
    gradient(
        "scale missing in dQ",
        "attention",
        "d_query = scale * (d_scores @ key)",
        "d_query = d_scores @ key",
        "The query learns √D times too fast.",
        "ooples/AiDotNet.Tensors#49",
    ),
    gradient(
        "scale missing in dK",
        "attention",
        "d_key = scale * (d_scores.mT @ query)",
        "d_key = d_scores.mT @ query",
        "The key learns √D times too fast.",
        "ooples/AiDotNet.Tensors#49",
    ),
    gradient(
        "the default scale where one was given",
        "sdpa",
        "        scale_of(query, scale),\n",
        "        scale_of(query, None),\n",
        "Forward the given scale, backward 1/√D.",
    ),
    gradient(
        "dP with key in place of value",
        "attention",
        "    d_weights = d_output @ value.mT\n",
        "    d_weights = np.flip(d_output, axis=-2) @ value.mT\n",
        "The rows of what comes back are in reverse.",
    ),
    gradient(
        "dV of the weights before dropout",
        "sdpa",
        "upcast(d_output), steps.dropped_weights,",
        "upcast(d_output), steps.weights,",
        "A value that was dropped learns all the same.",
    ),
    gradient(
        "dropout forgotten on the way back",
        "sdpa",
        "    if dropout_mask is not None:\n"
        "        d_weights = dropout_backward",
        "    if False:\n        d_weights = dropout_backward",
        "Weights that were dropped get a gradient.",
    ),
    gradient(
        "dropout without its rescaling on the way back",
        "dropout",
        "return dropout(d_dropped, dropout_p, dropout_mask)",
        "return dropout(d_dropped, 0.0, dropout_mask)",
        "The gradient of kept weights is 1 - p times too small.",
    ),
    gradient(
        "the soft cap's slope forgotten",
        "sdpa",
        "d_scores: Array = d_capped * (1 - tanh * tanh)",
        "d_scores: Array = d_capped",
        "Capped scores learn as if they were not.",
    ),
    gradient(
        "the soft cap's slope of the scores",
        "sdpa",
        "tanh = capped_scores / float(soft_cap)",
        "tanh = capped_scores",
        "tanh is read without the division by the cap.",
    ),
    gradient(
        "the log-sum-exp gives nothing back",
        "sdpa",
        "    if d_log_sum_exp is not None:\n",
        "    if False:\n",
        "What comes back to the log-sum-exp is lost.",
    ),
    gradient(
        "the log-sum-exp gives back to every key alike",
        "softmax",
        "return d_log[..., None] * weights",
        "return d_log[..., None] + 0 * weights",
        "The gradient of a log-sum-exp is the weights.",
    ),
    gradient(
        "the bias's gradient not summed",
        "sdpa",
        "cast(broadcast_backward(d_masked, attn_mask.shape), attn_mask)",
        "cast(d_masked, attn_mask)",
        "The gradient has the shape of the scores, not of the bias.",
        "jax-ml/jax#30593",
    ),
    gradient(
        "the bias's gradient averaged",
        "broadcasting",
        "summed = np.sum(gradient, axis=axes, keepdims=True)",
        "summed = np.mean(gradient, axis=axes, keepdims=True)",
        "What was used many times gets the mean of what comes back.",
        "pytorch-labs/attention-gym#20",
    ),
    gradient(
        "the bias's gradient after the cap",
        "sdpa",
        "d_mask = cast(broadcast_backward(d_masked,",
        "capped = steps.capped_scores\n"
        "        sloped = cap_scores_backward(d_masked, capped, soft_cap)\n"
        "        d_mask = cast(broadcast_backward(sloped,",
        "The bias is added after the cap: its slope is no part of it.",
    ),
    gradient(
        "the bias gets no gradient",
        "sdpa",
        "    if attn_mask is not None and not is_boolean(attn_mask):\n"
        "        d_mask",
        "    if False:\n        d_mask",
        "Where only the mask is to learn, nothing does.",
        "pytorch/pytorch#148476",
    ),
    gradient(
        "groups not summed",
        "sdpa",
        "summed: Array = np.sum(grouped, axis=-3)",
        "summed: Array = grouped[..., 0, :, :]",
        "A key head learns from its first query head alone.",
    ),
    gradient(
        "groups summed the other way",
        "sdpa",
        "grouped = np.reshape(gradient, (*batch, G, group, S, D))\n"
        "    summed: Array = np.sum(grouped, axis=-3)",
        "grouped = np.reshape(gradient, (*batch, group, G, S, D))\n"
        "    summed: Array = np.sum(grouped, axis=-4)",
        "As if the heads had been tiled.",
    ),
    gradient(
        "query and key exchanged on the way back",
        "attention",
        "d_key = scale * (d_scores.mT @ query)",
        "d_key = scale * (np.flip(d_scores, axis=-2).mT @ query)",
        "dK is taken from the queries in reverse.",
    ),
    gradient(
        "a dead row gives back",
        "softmax",
        "return weights * (d_weights - inner)",
        "dead = np.all(weights == 0, axis=-1, keepdims=True)\n"
        "    alive = weights * (d_weights - inner)\n"
        "    return np.where(dead, d_weights, alive)",
        "Forbidden weights are not set to zero before the products.",
        "Dao-AILab/flash-attention#1947",
    ),
    gradient(
        "log-softmax's sum weighed",
        "softmax",
        "total: Array = np.sum(d_log, axis=-1, keepdims=True)",
        "total: Array = np.sum(d_log * weights, axis=-1, keepdims=True)",
        "The row sum of softmax in the place of log-softmax's.",
    ),
    gradient(
        "averaging gives back to the future",
        "averaging",
        "np.astype(weights, d_means.dtype).mT @ d_means",
        "np.astype(weights, d_means.dtype) @ d_means",
        "The matrix is not transposed on the way back.",
    ),
    gradient(
        "a head's x learns from its values alone",
        "head",
        "d_x = dq @ head.w_q.mT + dk @ head.w_k.mT + dv @ head.w_v.mT",
        "d_x = dv @ head.w_v.mT",
        "x was used three times and must get three gradients.",
    ),
    gradient(
        "a head's matrices learn from one sequence",
        "head",
        "broadcast_backward(x.mT @ d, w.shape)",
        "(x.mT @ d)[0, ...]",
        "The gradient is not summed over the batch.",
    ),
    in_torch(
        "weights detached",
        "sdpa",
        "    weights = softmax(masked_scores)\n",
        "    weights = softmax(masked_scores)\n"
        "    large = weights > 0.5\n"
        "    weights = torch.where(large, weights.detach(), weights)\n",
        "Autograd is cut where a weight is large: forward all is right.",
        kind="gradient",
    ),
    in_torch(
        "the scores' gradient is cut",
        "sdpa",
        "    scores = scaled_scores(query, key, scale)\n",
        "    scores = scaled_scores(query.detach(), key, scale)\n",
        "The query never learns: forward all is right.",
        kind="gradient",
    ),
]

# Mistakes that a reader set out to make, and that an earlier suite let pass.
CROSSED = [
    gradient(
        "a given scale is lost in groups",
        "sdpa",
        "        scale_of(query, scale),\n",
        "        scale_of(query, scale if heads(key) == H else None),\n",
        "The gradient has 1/√D where the scores had the scale given.",
    ),
    gradient(
        "a mask's gradient in query's dtype",
        "sdpa",
        "attn_mask.shape), attn_mask)",
        "attn_mask.shape), query)",
        "A mask of float64 gets a gradient of float32.",
    ),
    gradient(
        "what comes back is written to",
        "sdpa",
        "        d_lse = upcast(d_log_sum_exp)\n",
        "        d_lse = upcast(d_log_sum_exp)\n"
        "        d_lse[~np.isfinite(steps.log_sum_exp)] = 0\n",
        "The caller's array is changed.",
    ),
    gradient(
        "the mean's gradient in float64",
        "averaging",
        "np.astype(weights, d_means.dtype).mT @ d_means",
        "weights.mT @ d_means",
        "A gradient of float64 comes back to an x of float32.",
    ),
    in_torch(
        "query is cut off in groups",
        "sdpa",
        "    given = query\n",
        "    given = query\n"
        "    if enable_gqa and scale is not None:\n"
        "        query = query.detach()\n",
        "With groups and a scale the query never learns.",
        kind="gradient",
    ),
    gradient(
        "nothing kept gives back",
        "dropout",
        "    return dropout(d_dropped, dropout_p, dropout_mask)",
        "    kept = np.where(dropout_mask, d_dropped, 0.0)\n"
        "    return kept / max(1 - dropout_p, 1e-9)",
        "With p = 1 what was kept gets 10⁹ times its gradient.",
    ),
]
