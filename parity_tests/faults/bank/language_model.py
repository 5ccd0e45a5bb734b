"""Faults of the language model."""

from __future__ import annotations

from ..fault import Fault

FAULTS = (
    Fault(
        name="post-norm in place of pre-norm",
        module="language_model",
        before="h = x + self.attention(self.norm_1(x), is_causal=True)",
        after="h = self.norm_1(x + self.attention(x, is_causal=True))",
        wrong=(
            "The norm comes after the residual connection, not before "
            "attention."
        ),
    ),
    Fault(
        name="nothing passes by the network",
        module="language_model",
        before="        y: Array = h + self.feed_forward(self.norm_2(h))\n",
        after="        y: Array = x + self.feed_forward(self.norm_2(h))\n",
        wrong=(
            "The residual connection starts at the block's input, so "
            "attention is passed by."
        ),
    ),
    Fault(
        name="the model sees the future",
        module="language_model",
        before="h = x + self.attention(self.norm_1(x), is_causal=True)",
        after="h = x + self.attention(self.norm_1(x), is_causal=False)",
        wrong="The model sees the next character, which it is to predict.",
    ),
    Fault(
        name="no last normalisation",
        module="language_model",
        before="        return self.unembed(self.norm(x))\n",
        after="        return self.unembed(x)\n",
        wrong="The logits grow with the number of blocks.",
    ),
    Fault(
        name="positions from the end",
        module="language_model",
        before="taken + self.position_embedding[:T, :]",
        after="taken + self.position_embedding[-T:, :]",
        wrong="A short text gets the last positions in place of the first.",
    ),
    Fault(
        name="targets of -1 count",
        module="language_model",
        before="-np.sum(log_weights) / int(np.count_nonzero(right))",
        after="-np.sum(log_weights) / right[..., 0].size",
        wrong="The mean also counts positions without a target.",
    ),
    Fault(
        name="a target of -1 is the last character",
        module="language_model",
        before="ids[..., None] == np.arange(V)",
        after="ids[..., None] % V == np.arange(V)",
        wrong=(
            "A target of -1, which means none, counts from the end of "
            "the vocabulary."
        ),
    ),
    Fault(
        name="the heads of a model share nothing of the scale",
        module="language_model",
        before=(
            "heads = MultiHeadAttention(H, H, w_q, w_k, w_v, w_o, scale=scale)"
        ),
        after="heads = MultiHeadAttention(H, H, w_q, w_k, w_v, w_o)",
        wrong="The model's scale is not passed on to its heads.",
        cases=("a new model is drawn to scale",),
    ),
    Fault(
        name="tied matrices share their memory",
        module="language_model",
        side="torch",
        before="current[name].data = array.detach().clone()",
        after="current[name].data = array.detach()",
        wrong=(
            "Two parameters share their memory, so each step is applied twice."
        ),
        cases=("new parameters are learned from",),
    ),
    Fault(
        name="an optimiser keeps the old parameters",
        module="language_model",
        side="torch",
        before="current[name].data = array.detach().clone()",
        after=(
            "setattr(model.get_submodule(name.rpartition('.')[0]), "
            "name.rpartition('.')[2], nn.Parameter(array.clone()))"
        ),
        wrong=(
            "New parameters are new objects, which the optimiser does "
            "not update."
        ),
        cases=("new parameters are learned from",),
    ),
    Fault(
        name="the weights of every block are the first one's",
        module="language_model",
        before="""\
            weights.append(steps.weights)
            x = block(x)
""",
        after="            weights.append(steps.weights)\n",
        wrong=(
            "Each block's weights are computed from the embedding, not "
            "from its own input."
        ),
        cases=("weights of attention are those of each block",),
    ),
    Fault(
        name="relu's slope at zero is one",
        module="language_model",
        kind="gradient",
        before="d_before = np.where(before > 0, d_hidden, 0.0)",
        after="d_before = np.where(before >= 0, d_hidden, 0.0)",
        wrong=(
            "Where relu's argument is 0, the derivative is 1 in place of "
            "torch's 0."
        ),
    ),
    Fault(
        name="a repeated character learns once",
        module="language_model",
        kind="gradient",
        before=(
            "token = np.reshape(rows, (-1, V)).mT @ np.reshape(d_x, (-1, M))"
        ),
        after="""\
token = np.zeros_like(model.token_embedding)
    token[ids] = d_x""",
        wrong=(
            "A character that occurs twice gets the gradient of one "
            "occurrence only."
        ),
    ),
    Fault(
        name="a tied table learns from one side",
        module="language_model",
        kind="gradient",
        before='embedding["token_embedding"] + gradients["token_embedding"]',
        after='embedding["token_embedding"]',
        wrong=(
            "A tied embedding gets the gradient of one of its two uses only."
        ),
    ),
    Fault(
        name="relu lets everything back",
        module="language_model",
        kind="gradient",
        before="d_before = np.where(before > 0, d_hidden, 0.0)",
        after="d_before = d_hidden",
        wrong="Where relu gave 0, a gradient still comes through.",
    ),
    Fault(
        name="nothing comes back past attention",
        module="language_model",
        kind="gradient",
        before="    return d_h + norm_1.x, learned",
        after="    return norm_1.x, learned",
        wrong="The gradient lacks the residual connection around attention.",
    ),
    Fault(
        name="nothing comes back past the network",
        module="language_model",
        kind="gradient",
        before="d_h = d_result + norm_2.x",
        after="d_h = norm_2.x",
        wrong=(
            "The gradient lacks the residual connection around the "
            "feed-forward network."
        ),
    ),
    Fault(
        name="the loss's gradient is a sum",
        module="language_model",
        kind="gradient",
        before="difference / count",
        after="difference",
        wrong="The loss is a mean, but its gradient is that of a sum.",
    ),
    Fault(
        name="what is not asked for is learned",
        module="language_model",
        kind="gradient",
        before="np.where(asked, difference / count, 0.0)",
        after="difference / count",
        wrong="Positions with a target of -1 get a gradient.",
    ),
    Fault(
        name="positions learn from one sequence",
        module="language_model",
        kind="gradient",
        before="used = broadcast_backward(d_x, d_x.shape[-2:])",
        after="used = np.reshape(d_x, (-1, *d_x.shape[-2:]))[0, ...]",
        wrong="The gradient is not summed over the batch.",
    ),
    Fault(
        name="the inputs of two blocks are exchanged",
        module="language_model",
        kind="gradient",
        before="block_backward(d_x, block, inputs[i])",
        after="block_backward(d_x, block, inputs[i - 1])",
        wrong="The gradient of a block is computed at another block's input.",
    ),
    Fault(
        name="the last normalisation is taken at its result",
        module="language_model",
        kind="gradient",
        before="layer_norm_backward(d_normal, model.norm, inputs[-1])",
        after="layer_norm_backward(d_normal, model.norm, normal)",
        wrong=(
            "The gradient of the last norm is computed at its output, "
            "not its input."
        ),
    ),
)
