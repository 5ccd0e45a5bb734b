"""Faults of the forward pass of scaled dot-product attention."""

from __future__ import annotations

from ..fault import Fault

MASK = "scores = mask_scores(scores, attn_mask)"
BIAS = "mask_scores(scores + bias, bias != -np.inf)"
SOFTMAX = "    weights = softmax(masked_scores)\n"
REPEAT = "np.repeat(array, H // G, axis=-3)"
SCALE = "    return 1 / math.sqrt(D) if D > 0 else 1.0\n"
CAP = "cap * np.tanh(scores / cap)"
DRAW = "        dropout_mask = draw_dropout_mask(shape, float(dropout_p))\n"

FAULTS = (
    # Options that have no effect.
    Fault(
        name="causal ignored",
        module="sdpa",
        before="""\
    if options.is_causal:
        masks.append(causal_mask(L, S))
""",
        after="",
        wrong="is_causal is accepted and does nothing.",
        report="keras-team/keras#23038",
    ),
    Fault(
        name="causal dropped where there is a mask",
        module="sdpa",
        before="    if allowed is not None:\n",
        after="    if allowed is not None and attn_mask is None:\n",
        wrong="Given a mask and is_causal, only the mask is applied.",
        report="keras-team/keras#23040",
    ),
    Fault(
        name="mask dropped where it is causal",
        module="sdpa",
        before="    if attn_mask is not None and is_boolean(attn_mask):\n",
        after="""\
    if allowed is not None:
        return mask_scores(scores, allowed)
    if attn_mask is not None and is_boolean(attn_mask):
""",
        wrong="Given a mask and is_causal, only the causal mask is applied.",
        report="huggingface/candle#3567",
    ),
    Fault(
        name="window ignored",
        module="sdpa",
        before="        masks.append(window_mask(L, S, left, right))\n",
        after="        window_mask(L, S, left, right)\n",
        wrong="The window is accepted and does nothing.",
    ),
    Fault(
        name="window in place of causal",
        module="sdpa",
        before="return combine_masks(*masks) if masks else None",
        after="return masks[-1] if masks else None",
        wrong="Given a window and is_causal, only the window is applied.",
    ),
    Fault(
        name="soft cap ignored",
        module="sdpa",
        before="""\
    if soft_cap is None:
        return scores
""",
        after="""\
    if soft_cap is None or soft_cap:
        return scores
""",
        wrong="The cap is accepted and does nothing.",
    ),
    Fault(
        name="dropout ignored when nothing is drawn",
        module="sdpa",
        before=(
            "        dropout_mask = "
            "draw_dropout_mask(weights.shape, dropout_p)\n"
        ),
        after="""\
        dropout_mask = draw_dropout_mask(weights.shape, dropout_p)
    else:
        return weights
""",
        wrong="A dropout mask that is given is ignored.",
    ),
    # Masks.
    Fault(
        name="a boolean mask added as 0 and 1",
        module="sdpa",
        before=MASK,
        after="scores = scores + cast(attn_mask, scores)",
        wrong="True adds 1 and False adds 0, so no key is hidden.",
        report="huggingface/transformers#41443",
    ),
    Fault(
        name="polarity turned round",
        module="sdpa",
        before=MASK,
        after="scores = mask_scores(scores, ~attn_mask)",
        wrong=(
            "True hides a key, as in nn.MultiheadAttention, where SDPA "
            "lets it be seen."
        ),
        report="rasbt/LLMs-from-scratch#1061",
    ),
    Fault(
        name="a floating mask multiplied",
        module="sdpa",
        before=BIAS,
        after="mask_scores(scores * bias, bias != -np.inf)",
        wrong=(
            "The scores are multiplied by a floating mask that should be "
            "added."
        ),
    ),
    Fault(
        name="a floating mask read as zero and not zero",
        module="sdpa",
        before=BIAS,
        after="mask_scores(scores, bias != 0)",
        wrong="A bias is read as a boolean mask.",
    ),
    Fault(
        name="a floating mask with its sign lost",
        module="sdpa",
        before=BIAS,
        after="mask_scores(scores - bias, bias != -np.inf)",
        wrong="The bias is subtracted in place of added.",
    ),
    Fault(
        name="a floating mask scaled like the scores",
        module="sdpa",
        before="    bias = cast(attn_mask, scores)\n",
        after="    bias = cast(attn_mask, scores) / 2\n",
        wrong=(
            "The bias is scaled like the scores, where it should be "
            "added as it is."
        ),
    ),
    Fault(
        name="-inf added to NaN",
        module="sdpa",
        before=BIAS,
        after="scores + bias",
        wrong="A NaN at a key that -inf hides spreads over its row.",
        report="pytorch/pytorch#101967",
        cases=("poison behind a mask of -inf",),
    ),
    Fault(
        name="mask after the softmax",
        module="sdpa",
        before=SOFTMAX,
        after="""\
    weights = softmax(capped_scores)
    weights = np.where(masked_scores == -np.inf, 0.0, weights)
""",
        wrong=(
            "Hidden keys still count in the row sum, so the weights sum "
            "to less than 1."
        ),
    ),
    Fault(
        name="a rank-3 mask by batch",
        module="sdpa",
        before="    given = query\n",
        after="""\
    given = query
    mask = options.attn_mask
    if mask is not None and mask.ndim == 3:
        if mask.shape[0] == query.shape[0]:
            options = options._replace(
                attn_mask=mask[:, None, :, :]
            )
""",
        wrong=(
            "Where B = H, a mask for each head is read as one for each "
            "batch entry."
        ),
    ),
    Fault(
        name="the mask of the first head for all",
        module="sdpa",
        before=MASK,
        after="""\
scores = mask_scores(
            scores,
            attn_mask[..., :1, :, :] if attn_mask.ndim > 2
            else attn_mask,
        )""",
        wrong="All heads use the mask of the first one.",
    ),
    Fault(
        name="the mask of the first batch for all",
        module="sdpa",
        before=MASK,
        after="""\
first = attn_mask[:1] if attn_mask.ndim > 3 else attn_mask
        scores = mask_scores(scores, first)""",
        wrong="All batch entries use the mask of the first one.",
    ),
    # Alignment.
    Fault(
        name="the other corner",
        module="sdpa",
        before="masks.append(causal_mask(L, S))",
        after='masks.append(causal_mask(L, S, "lower_right"))',
        wrong=(
            "Where L and S differ, is_causal is aligned to the lower "
            "right corner."
        ),
        report="ml-explore/mlx#2835",
    ),
    Fault(
        name="the corner flips when L > S",
        module="sdpa",
        before="masks.append(causal_mask(L, S))",
        after="""\
masks.append(
            causal_mask(
                L, S, "lower_right" if L > S else "upper_left"
            )
        )""",
        wrong=(
            "With more queries than keys, is_causal is aligned to the "
            "lower right."
        ),
        report="ml-explore/mlx#2967",
    ),
    # Heads.
    Fault(
        name="heads tiled in place of repeated",
        module="sdpa",
        before=REPEAT,
        after="np.concat([array] * (H // G), axis=-3)",
        wrong="Query head h reads head h mod G, not h // (H/G).",
        report="onnx/onnx#7274",
    ),
    Fault(
        name="the first group for all",
        module="sdpa",
        before=REPEAT,
        after="array[..., :1, :, :]",
        wrong="Every query head reads the first key/value head.",
    ),
    Fault(
        name="heads in reverse",
        module="sdpa",
        before=REPEAT,
        after="np.flip(np.repeat(array, H // G, axis=-3), axis=-3)",
        wrong=(
            "The groups are right, but the query heads read them in "
            "reverse order."
        ),
    ),
    Fault(
        name="heads and length reshaped without a transpose",
        module="sdpa",
        before="output = cast(tiled_sum(dropped_weights, value), given)",
        after="""\
output = cast(tiled_sum(dropped_weights, value), given)
    if output.ndim > 2:
        *batch, heads_, length, width = output.shape
        mixed = (*batch, length, heads_, width)
        output = np.reshape(output, mixed)
        output = np.reshape(
            np.moveaxis(output, -3, -2), (*batch, heads_, length, width)
        )""",
        wrong="Rows of one head are read as rows of another.",
        report="onnx/onnx#7118",
    ),
    Fault(
        name="softmax over the queries",
        module="sdpa",
        before=SOFTMAX,
        after="    weights = softmax(masked_scores.mT).mT\n",
        wrong="The columns of the weights sum to 1 in place of the rows.",
        report="labmlai/annotated_deep_learning_paper_implementations#146",
    ),
    Fault(
        name="softmax over heads and keys together",
        module="sdpa",
        before=SOFTMAX,
        after="""\
    weights = softmax(masked_scores)
    if weights.ndim > 2 and weights.shape[-3] > 0:
        weights = weights / weights.shape[-3]
""",
        wrong="The weights of all heads together sum to 1.",
        report="facebookresearch/detr#247",
    ),
    # Scale and soft cap.
    Fault(
        name="no scale",
        module="sdpa",
        before=SCALE,
        after="    return 1.0\n",
        wrong="The scores grow with the dimension D.",
        report="mlc-ai/mlc-llm#3426",
    ),
    Fault(
        name="scale without the root",
        module="sdpa",
        before=SCALE,
        after="    return 1 / D if D > 0 else 1.0\n",
        wrong="The scale is 1/D in place of 1/√D.",
    ),
    Fault(
        name="multiplied in place of divided",
        module="sdpa",
        before=SCALE,
        after="    return math.sqrt(D) if D > 0 else 1.0\n",
        wrong="The scale is √D in place of 1/√D.",
        report="krasserm/perceiver-io#9",
    ),
    Fault(
        name="the root of the model's width",
        module="sdpa",
        before="return default_scale(query.shape[-1]) if",
        after="return default_scale(query.shape[-1] * heads(query)) if",
        wrong=(
            "The scale is 1/√(H · D), from the dimension of all heads "
            "and not of one."
        ),
        report="karpathy/ng-video-lecture#6",
    ),
    Fault(
        name="the root of a negative scale",
        module="sdpa",
        before="    if abs(scale) <= 1:\n",
        after="""\
    root = math.sqrt(abs(scale))
    if scale < 0:
        return attention_scores(query * root, key * root, 1.0)
    if abs(scale) <= 1:
""",
        wrong="√scale on query and key loses a negative sign, or is NaN.",
        report="pytorch/pytorch#105190",
    ),
    Fault(
        name="a scale of 0 taken for none",
        module="sdpa",
        before="if scale is None else float(scale)",
        after="if not scale else float(scale)",
        wrong="scale=0 is replaced by the default, as if none were given.",
    ),
    Fault(
        name="a large scale before the product",
        module="sdpa",
        before="    if abs(scale) <= 1:\n",
        after="    if abs(scale) <= 1e30:\n",
        wrong="query · scale overflows where the scaled score would not.",
    ),
    Fault(
        name="soft cap after the mask",
        module="sdpa",
        before=(
            "    masked_scores = apply_mask(capped_scores, "
            "options.attn_mask, allowed)\n"
        ),
        after="""\
    masked_scores = apply_mask(scores, options.attn_mask, allowed)
    masked_scores = cap_scores(masked_scores, options.soft_cap)
""",
        wrong="The cap turns -inf into -cap, so hidden keys are seen.",
        report="onnx/onnx#7865",
    ),
    Fault(
        name="soft cap without its factor",
        module="sdpa",
        before=CAP,
        after="np.tanh(scores / cap)",
        wrong="The scores are squeezed into ±1, whatever the cap is.",
    ),
    Fault(
        name="soft cap without its divisor",
        module="sdpa",
        before=CAP,
        after="cap * np.tanh(scores)",
        wrong="tanh is given the scores without the division by the cap.",
    ),
    Fault(
        name="a hard cap",
        module="sdpa",
        before=CAP,
        after="np.clip(scores, -cap, cap)",
        wrong="The scores are clipped, where tanh should bend them.",
    ),
    # Precision.
    Fault(
        name="lse of the unmasked scores",
        module="sdpa",
        before="log_sum_exp(masked_scores),",
        after="log_sum_exp(capped_scores),",
        wrong="Hidden keys count in the log-sum-exp.",
    ),
    Fault(
        name="half types computed in half",
        module="sdpa",
        before="return to_float32(array) if is_half(array) else array",
        after="return array",
        wrong=(
            "Sums are rounded to half precision on the way, and q·k overflows."
        ),
        report="ultralytics/ultralytics#24990",
    ),
    Fault(
        name="half types returned as float32",
        module="sdpa",
        before="output = cast(tiled_sum(dropped_weights, value), given)",
        after="output = tiled_sum(dropped_weights, value)",
        wrong="The output is float32, not the half type that was given.",
    ),
    Fault(
        name="float64 computed in float32",
        module="sdpa",
        before="return to_float32(array) if is_half(array) else array",
        after="return to_float32(array)",
        wrong=(
            "float64 is computed in float32, and half of the digits are lost."
        ),
    ),
    Fault(
        name="the last tile of keys forgotten",
        module="sdpa",
        before="for start in range(TILE, S, TILE):",
        after="for start in range(TILE, S - TILE, TILE):",
        wrong="Keys after the first 128 are not summed.",
    ),
    Fault(
        name="a million roundings",
        module="sdpa",
        side="torch",
        before="TILE = 128",
        after="TILE = 10**9",
        wrong=(
            "One long sum rounds once for each key, so its error grows "
            "with their number."
        ),
        cases=("a million keys that are the same",),
    ),
    Fault(
        name="dropout before the softmax",
        module="sdpa",
        before="    dropped_weights = drop_weights(weights, options)\n",
        after="""\
    dropped_weights = weights
    if options.dropout_mask is not None:
        dropped_weights = softmax(np.where(
            options.dropout_mask, masked_scores, -np.inf
        ))
""",
        wrong="The weight of dropped keys is shared among the others.",
    ),
    # Where two options meet.
    Fault(
        name="one draw for all heads",
        module="sdpa",
        before=(
            "        dropout_mask = "
            "draw_dropout_mask(weights.shape, dropout_p)\n"
        ),
        after=(
            "        dropout_mask = "
            "draw_dropout_mask(weights.shape[-2:], dropout_p)\n"
        ),
        wrong="Every head of every sequence drops the same weights.",
        cases=("a drawn dropout is each weights own",),
    ),
    Fault(
        name="one draw for a whole query",
        module="sdpa",
        before=(
            "        dropout_mask = "
            "draw_dropout_mask(weights.shape, dropout_p)\n"
        ),
        after=(
            "        dropout_mask = "
            "draw_dropout_mask((*weights.shape[:-1], 1), dropout_p)\n"
        ),
        wrong="A query drops either all of its keys or none.",
        cases=("a drawn dropout is each weights own",),
    ),
    Fault(
        name="no draw in groups",
        module="sdpa",
        side="torch",
        before="    if dropout_mask is None and dropout_p == 0:\n",
        after="""\
    if dropout_mask is None and (
        dropout_p == 0 or options.enable_gqa
    ):
""",
        wrong="With grouped heads, no dropout mask is drawn.",
        cases=("a drawn dropout is each weights own",),
    ),
    Fault(
        name="keep by batch where B = H",
        module="sdpa",
        before="    dropout_mask = to_device_of(dropout_mask, weights)\n",
        after="""\
    if len(dropout_mask.shape) == 3 and len(weights.shape) == 4:
        if dropout_mask.shape[0] == weights.shape[0]:
            dropout_mask = dropout_mask[:, None, :, :]
    dropout_mask = to_device_of(dropout_mask, weights)
""",
        wrong=(
            "Where B = H, a dropout mask for each head is read as one "
            "for each batch entry."
        ),
        cases=("B = H, keep",),
    ),
    Fault(
        name="a mask by query where L = S",
        module="sdpa",
        before="    given = query\n",
        after="""\
    given = query
    mask = options.attn_mask
    if mask is not None and len(mask.shape) == 1:
        if mask.shape[0] == query.shape[-2]:
            options = options._replace(attn_mask=mask[:, None])
""",
        wrong="Where L = S, a mask over keys is read as one over queries.",
        cases=("B = L = S, bias (5,)",),
    ),
    Fault(
        name="half types with a window",
        module="sdpa",
        before="    capped_scores = cap_scores(scores, options.soft_cap)\n",
        after="""\
    capped_scores = cap_scores(scores, options.soft_cap)
    if options.window is not None:
        capped_scores = upcast(cast(capped_scores, given))
""",
        wrong="With a window, the scores are rounded to the half type.",
        cases=("float16, window",),
    ),
    Fault(
        name="a scale of another kind",
        module="sdpa",
        side="torch",
        before="if scale is None else float(scale)",
        after="if scale is None else scale",
        wrong="A scale that is a Fraction raises an error in torch.",
        cases=("other kinds of numbers count the same",),
    ),
    Fault(
        name="a batch of values is left out",
        module="sdpa",
        before="""\
    query = np.broadcast_to(query, (*shape[:-1], query.shape[-1]))
""",
        after="",
        wrong="The query lacks a batch dimension that only value has.",
    ),
)
