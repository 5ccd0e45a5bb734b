"""Faults of attention itself: masks, heads, scale, numbers, arguments."""

from __future__ import annotations

from ..tried import forward, in_torch

MASK = "scores = mask_scores(scores, attn_mask)"
TOTAL = "np.where(total == 0, 1.0, total)"
ROW_MAX = "np.where(row_max == -np.inf, 0.0, row_max)"
SOFTMAX = "exponentials / safe_sum(exponentials)"
SCALED = "(query * scale) @ key.mT"
REPEAT = "np.repeat(array, H // G, axis=-3)"
FILL = "np.where(mask, scores, -np.inf)"
DRAWN = "        dropout_mask = draw_dropout_mask(shape, float(dropout_p))\n"

EMPTY_SETS = [
    forward(
        "a dead row is NaN",
        "softmax",
        ROW_MAX,
        "row_max",
        "A row with nothing to see is -inf - (-inf), and NaN from there on.",
        "pytorch/pytorch#103963",
    ),
    forward(
        "a dead row is divided by zero",
        "softmax",
        TOTAL,
        "total",
        "A row with nothing to see is 0/0.",
        "pytorch/pytorch#103963",
    ),
    forward(
        "a dead row sees everything",
        "masks",
        FILL,
        "np.where(mask, scores, -1e9)",
        "A finite fill gives a row with nothing to see the mean of all.",
        "ml-explore/mlx#2395",
    ),
    forward(
        "lse of a dead row is 0",
        "softmax",
        "np.where(empty, -np.inf, log_total)",
        "np.where(empty, 0.0, log_total)",
        "An empty sum is 0 and its logarithm -inf; merging needs it so.",
        "pytorch/pytorch#134650",
    ),
    forward(
        "lse of a dead row is +inf",
        "softmax",
        "np.where(empty, -np.inf, log_total)",
        "np.where(empty, np.inf, log_total)",
        "With +inf an empty part takes all the weight when parts merge.",
        "Dao-AILab/flash-attention#978",
    ),
    forward(
        "no keys at all",
        "softmax",
        """    if x.shape[-1] == 0:
        return np.zeros((*x.shape[:-1], 1), dtype=x.dtype)
""",
        "",
        "The maximum of no keys is an error, where 0 is the right output.",
        "facebookresearch/xformers#1042",
    ),
    in_torch(
        "NaN in the gradient of a dead row",
        "softmax",
        """    exponentials = torch.exp(x - safe_max(x))
    return exponentials / safe_sum(exponentials)
""",
        """    weights = torch.softmax(x, dim=-1)
    return torch.where(torch.isnan(weights), 0.0, weights)
""",
        "Forward the NaN is replaced, backward 0 · NaN comes through where.",
        "pytorch/pytorch#41508",
        kind="gradient",
    ),
    in_torch(
        "nan_to_num after the softmax",
        "softmax",
        """    exponentials = torch.exp(x - safe_max(x))
    return exponentials / safe_sum(exponentials)
""",
        "    return torch.nan_to_num(torch.softmax(x, dim=-1))\n",
        "It hides a dead row's NaN, and every other NaN with it.",
        "pytorch/pytorch#41508",
    ),
]

DROPPED = [
    forward(
        "causal ignored",
        "sdpa",
        "    if is_causal:\n        masks.append(causal_mask(L, S))\n",
        "",
        "is_causal is accepted and does nothing.",
        "keras-team/keras#23038",
    ),
    forward(
        "causal dropped where there is a mask",
        "sdpa",
        "    if allowed is not None:\n",
        "    if allowed is not None and attn_mask is None:\n",
        "With a mask and is_causal only the mask holds.",
        "keras-team/keras#23040",
    ),
    forward(
        "mask dropped where it is causal",
        "sdpa",
        "    if attn_mask is not None and is_boolean(attn_mask):\n",
        "    if allowed is not None:\n"
        "        return mask_scores(scores, allowed)\n"
        "    if attn_mask is not None and is_boolean(attn_mask):\n",
        "With a mask and is_causal only the triangle holds.",
        "huggingface/candle#3567",
    ),
    forward(
        "mask or causal, where it must be and",
        "masks",
        "combined = combined & mask",
        "combined = combined | mask",
        "Two constraints allow what either of them allows.",
        "pytorch/pytorch#187801",
    ),
    forward(
        "window ignored",
        "sdpa",
        "        masks.append(window_mask(L, S, left, right))\n",
        "        window_mask(L, S, left, right)\n",
        "The window is accepted and does nothing.",
    ),
    forward(
        "window sees the whole future",
        "masks",
        "return not_before & not_after",
        "return not_before",
        "Without causal, the right side of the window has no bound.",
        "jax-ml/jax#39576",
    ),
    forward(
        "window in place of causal",
        "sdpa",
        "return combine_masks(*masks) if masks else None",
        "return masks[-1] if masks else None",
        "With both, only the window holds.",
    ),
    forward(
        "soft cap ignored",
        "sdpa",
        "    if soft_cap is None:\n        return scores\n",
        "    if soft_cap is None or soft_cap:\n        return scores\n",
        "The cap is accepted and does nothing.",
    ),
    forward(
        "dropout ignored when nothing is drawn",
        "sdpa",
        DRAWN,
        f"{DRAWN}    else:\n        dropout_mask = None\n",
        "The weights that are to be kept are not looked at.",
    ),
]

MASKS = [
    forward(
        "a boolean mask added as 0 and 1",
        "sdpa",
        MASK,
        "scores = scores + cast(attn_mask, scores)",
        "True adds 1 and False adds 0: nothing is forbidden.",
        "huggingface/transformers#41443",
    ),
    forward(
        "polarity turned round",
        "sdpa",
        MASK,
        "scores = mask_scores(scores, ~attn_mask)",
        "True hides a key, as it does for nn.MultiheadAttention.",
        "rasbt/LLMs-from-scratch#1061",
    ),
    forward(
        "(1 - mask) · (-inf)",
        "masks",
        FILL,
        "scores + (1 - mask) * (-np.inf)",
        "At the places that are allowed it adds 0 · inf, which is NaN.",
        "onnx/onnx#8054",
    ),
    forward(
        "fill of -1e-9",
        "masks",
        FILL,
        "np.where(mask, scores, -1e-9)",
        "A sign too many in the exponent: the forbidden score is about 0.",
        "awslabs/gluonts#1401",
    ),
    forward(
        "fill of -1e4",
        "masks",
        FILL,
        "np.where(mask, scores, -1e4)",
        "A forbidden key wins over allowed ones with scores below -10⁴.",
    ),
    forward(
        "fill added in place of set",
        "masks",
        FILL,
        "scores + np.where(mask, 0.0, -np.inf)",
        "NaN at a forbidden key stays NaN, and so does the row.",
        "pytorch/pytorch#101967",
    ),
    forward(
        "a floating mask multiplied",
        "sdpa",
        "mask_scores(scores + bias, bias != -np.inf)",
        "mask_scores(scores * bias, bias != -np.inf)",
        "A floating mask is added, not a factor.",
    ),
    forward(
        "a floating mask read as zero and not zero",
        "sdpa",
        "mask_scores(scores + bias, bias != -np.inf)",
        "mask_scores(scores, bias != 0)",
        "A bias is taken for a boolean mask.",
    ),
    forward(
        "a floating mask with its sign lost",
        "sdpa",
        "mask_scores(scores + bias, bias != -np.inf)",
        "mask_scores(scores - bias, bias != -np.inf)",
        "What should raise a score lowers it.",
    ),
    forward(
        "a floating mask scaled like the scores",
        "sdpa",
        "    bias = cast(attn_mask, scores)\n",
        "    bias = cast(attn_mask, scores) / 2\n",
        "The bias is added before the scale is applied.",
    ),
    forward(
        "-inf added to NaN",
        "sdpa",
        "mask_scores(scores + bias, bias != -np.inf)",
        "scores + bias",
        "NaN at a key that -inf forbids poisons its row.",
        "pytorch/pytorch#101967",
    ),
    forward(
        "mask after the softmax",
        "sdpa",
        "    weights = softmax(masked_scores)\n",
        "    weights = softmax(capped_scores)\n"
        "    weights = np.where(masked_scores == -np.inf, 0.0, weights)\n",
        "Forbidden keys still count in the sum: rows sum to less than one.",
    ),
    forward(
        "a rank-3 mask by batch",
        "sdpa",
        "    given = query\n",
        "    given = query\n"
        "    if attn_mask is not None and attn_mask.ndim == 3:\n"
        "        if attn_mask.shape[0] == query.shape[0]:\n"
        "            attn_mask = attn_mask[:, None, :, :]\n",
        "Where B = H, a mask by head is taken for one by batch.",
    ),
    forward(
        "the mask of the first head for all",
        "sdpa",
        MASK,
        "scores = mask_scores(\n"
        "            scores,\n"
        "            attn_mask[..., :1, :, :] if attn_mask.ndim > 2\n"
        "            else attn_mask,\n"
        "        )",
        "A mask that differs by head is read for one head only.",
    ),
    forward(
        "the mask of the first batch for all",
        "sdpa",
        MASK,
        "first = attn_mask[:1] if attn_mask.ndim > 3 else attn_mask\n"
        "        scores = mask_scores(scores, first)",
        "A mask that differs by batch is read for one batch only.",
    ),
]

CORNERS = [
    forward(
        "the other corner",
        "sdpa",
        "masks.append(causal_mask(L, S))",
        'masks.append(causal_mask(L, S, "lower_right"))',
        "is_causal starts at the last key where L and S differ.",
        "ml-explore/mlx#2835",
    ),
    forward(
        "the corner flips when L > S",
        "sdpa",
        "masks.append(causal_mask(L, S))",
        "masks.append(\n"
        "            causal_mask(\n"
        '                L, S, "lower_right" if L > S else "upper_left"\n'
        "            )\n"
        "        )",
        "More queries than keys move the triangle.",
        "ml-explore/mlx#2967",
    ),
    forward(
        "lower right shifted the wrong way",
        "masks",
        '"lower_right": S - L',
        '"lower_right": L - S',
        "With a cache, the past is hidden from the new queries.",
        "onnx/onnx#7297",
    ),
    forward(
        "the diagonal is forbidden",
        "masks",
        "return key <= query",
        "return key < query",
        "No query sees itself, and the first sees nothing.",
    ),
    forward(
        "one key too far",
        "masks",
        "return key <= query",
        "return key <= query + 1",
        "Each query sees the key that it is to predict.",
    ),
    forward(
        "the triangle turned over",
        "masks",
        "return key <= query",
        "return key >= query",
        "The future is seen and the past is not.",
    ),
    forward(
        "window counts keys in place of a radius",
        "masks",
        "key >= query - left",
        "key > query - left",
        "A window of left = 1 sees the query alone.",
        "huggingface/transformers#39408",
    ),
    forward(
        "window's sides exchanged",
        "masks",
        """    not_before = (left == -1) | (key >= query - left)
    not_after = (right == -1) | (key <= query + right)
""",
        """    not_before = (right == -1) | (key >= query - right)
    not_after = (left == -1) | (key <= query + left)
""",
        "What was meant for the past is applied to the future.",
    ),
    forward(
        "-1 read as a radius",
        "masks",
        "(left == -1) | (key >= query - left)",
        "key >= query - left",
        "No bound to the left becomes: not even the query itself.",
    ),
    forward(
        "padding off by one",
        "masks",
        "key < lengths",
        "key <= lengths",
        "Each sequence sees one key of its padding.",
    ),
    forward(
        "padding laid over the queries",
        "masks",
        "return key < lengths[:, None, None, None]",
        "return key[:, None] < lengths[:, None, None, None]",
        "Padded queries are cut off in place of padded keys.",
    ),
]

HEADS = [
    forward(
        "heads tiled in place of repeated",
        "sdpa",
        REPEAT,
        "np.concat([array] * (H // G), axis=-3)",
        "Query head h reads head h mod G, not h // (H/G).",
        "onnx/onnx#7274",
    ),
    forward(
        "the first group for all",
        "sdpa",
        REPEAT,
        "array[..., :1, :, :]",
        "Every query head reads the first key/value head.",
    ),
    forward(
        "heads in reverse",
        "sdpa",
        REPEAT,
        "np.flip(np.repeat(array, H // G, axis=-3), axis=-3)",
        "Groups are right and their order is not.",
    ),
    forward(
        "heads and length reshaped without a transpose",
        "sdpa",
        "output = cast(tiled_sum(dropped_weights, value), given)",
        "output = cast(tiled_sum(dropped_weights, value), given)\n"
        "    if output.ndim > 2:\n"
        "        *batch, heads_, length, width = output.shape\n"
        "        mixed = (*batch, length, heads_, width)\n"
        "        output = np.reshape(output, mixed)\n"
        "        output = np.reshape(\n"
        "            np.moveaxis(output, -3, -2), (*batch, heads_, length,"
        " width)\n"
        "        )",
        "What belongs to one head is read as another's.",
        "onnx/onnx#7118",
    ),
    forward(
        "softmax over the queries",
        "sdpa",
        "    weights = softmax(masked_scores)\n",
        "    weights = softmax(masked_scores.mT).mT\n",
        "Columns sum to one in place of rows.",
        "labmlai/annotated_deep_learning_paper_implementations#146",
    ),
    forward(
        "softmax over heads and keys together",
        "sdpa",
        "    weights = softmax(masked_scores)\n",
        "    weights = softmax(masked_scores)\n"
        "    if weights.ndim > 2 and weights.shape[-3] > 0:\n"
        "        weights = weights / weights.shape[-3]\n",
        "The weights of all heads together sum to one.",
        "facebookresearch/detr#247",
    ),
    forward(
        "heads that do not divide are accepted",
        "arguments",
        "    if enable_gqa and (H % G if G else H):\n",
        "    if enable_gqa and False:\n",
        "Six query heads read four key heads, somehow.",
    ),
    forward(
        "heads repeated without being asked",
        "arguments",
        "    if not enable_gqa and G not in (1, H):\n",
        "    if not enable_gqa and (G == 0 or H % G):\n",
        "A wrong number of heads passes for grouped heads.",
    ),
]

SCALES = [
    forward(
        "no scale",
        "sdpa",
        "    return 1 / math.sqrt(D) if D > 0 else 1.0\n",
        "    return 1.0\n",
        "The scores grow with the width.",
        "mlc-ai/mlc-llm#3426",
    ),
    forward(
        "scale without the root",
        "sdpa",
        "    return 1 / math.sqrt(D) if D > 0 else 1.0\n",
        "    return 1 / D if D > 0 else 1.0\n",
        "1/D in place of 1/√D.",
    ),
    forward(
        "multiplied in place of divided",
        "sdpa",
        "    return 1 / math.sqrt(D) if D > 0 else 1.0\n",
        "    return math.sqrt(D) if D > 0 else 1.0\n",
        "√D in place of 1/√D.",
        "krasserm/perceiver-io#9",
    ),
    forward(
        "the root of the model's width",
        "sdpa",
        "return default_scale(query.shape[-1]) if",
        "return default_scale(query.shape[-1] * heads(query)) if",
        "√ of H · D: the width of all heads, not of one.",
        "karpathy/ng-video-lecture#6",
    ),
    forward(
        "divided twice",
        "attention",
        SCALED,
        "(query * scale) @ (key * scale).mT",
        "The scale is applied to query and to key.",
    ),
    forward(
        "the root of a negative scale",
        "sdpa",
        "    if abs(scale) <= 1:\n",
        "    root = math.sqrt(abs(scale))\n"
        "    if scale < 0:\n"
        "        return attention_scores(query * root, key * root, 1.0)\n"
        "    if abs(scale) <= 1:\n",
        "√scale on both sides loses the sign, or is NaN.",
        "pytorch/pytorch#105190",
    ),
    forward(
        "a scale of 0 taken for none",
        "sdpa",
        "if scale is None else float(scale)",
        "if not scale else float(scale)",
        "0 is a number and not the absence of one.",
    ),
    forward(
        "scale after the product",
        "attention",
        SCALED,
        "(query @ key.mT) * scale",
        "q·k overflows where the scaled score does not.",
        "ultralytics/ultralytics#24990",
    ),
    forward(
        "a large scale before the product",
        "sdpa",
        "    if abs(scale) <= 1:\n",
        "    if abs(scale) <= 1e30:\n",
        "query · scale overflows where the scaled score does not.",
    ),
    forward(
        "soft cap after the mask",
        "sdpa",
        "    masked_scores = apply_mask(capped_scores, attn_mask, allowed)\n",
        "    masked_scores = apply_mask(scores, attn_mask, allowed)\n"
        "    masked_scores = cap_scores(masked_scores, soft_cap)\n",
        "-inf becomes -cap, and the forbidden key is seen.",
        "onnx/onnx#7865",
    ),
    forward(
        "soft cap without its factor",
        "sdpa",
        "cap * np.tanh(scores / cap)",
        "np.tanh(scores / cap)",
        "The scores are squeezed into ±1, whatever the cap.",
    ),
    forward(
        "soft cap without its divisor",
        "sdpa",
        "cap * np.tanh(scores / cap)",
        "cap * np.tanh(scores)",
        "Small scores are multiplied by the cap.",
    ),
    forward(
        "a hard cap",
        "sdpa",
        "cap * np.tanh(scores / cap)",
        "np.clip(scores, -cap, cap)",
        "The scores are cut off and not softened.",
    ),
]

NUMBERS = [
    forward(
        "no maximum subtracted",
        "softmax",
        "    exponentials = np.exp(x - safe_max(x))\n    return expo",
        "    exponentials = np.exp(x)\n    return expo",
        "exp(1000) overflows, and inf/inf is NaN.",
        "pytorch/executorch#18407",
    ),
    forward(
        "the maximum of everything",
        "softmax",
        "row_max = np.max(x, axis=-1, keepdims=True)",
        "row_max = np.max(x, keepdims=True)",
        "A row far below the others becomes 0/0.",
    ),
    forward(
        "lse without its maximum",
        "softmax",
        "log_total = row_max + np.log(total)",
        "log_total = np.log(total)",
        "The logarithm is that of the shifted sum.",
    ),
    forward(
        "lse of the unmasked scores",
        "sdpa",
        "log_sum_exp(masked_scores),",
        "log_sum_exp(capped_scores),",
        "Forbidden keys count in the log-sum-exp.",
    ),
    forward(
        "a constant in the denominator",
        "softmax",
        SOFTMAX,
        "exponentials / (safe_sum(exponentials) + 1e-6)",
        "Rows sum to a little less than one.",
    ),
    forward(
        "one more in the denominator",
        "softmax",
        SOFTMAX,
        "exponentials / (safe_sum(exponentials) + 1)",
        "Softmax with an extra nothing to look at, unasked.",
    ),
    forward(
        "a power of two for a power of e",
        "softmax",
        "    exponentials = np.exp(x - safe_max(x))\n    return expo",
        "    exponentials = np.exp2(x - safe_max(x))\n    return expo",
        "exp2 without log₂e in the scale.",
    ),
    forward(
        "half types computed in half",
        "sdpa",
        "return to_float32(array) if is_half(array) else array",
        "return array",
        "Sums are rounded to 11 bits on the way, and q·k overflows.",
        "ultralytics/ultralytics#24990",
    ),
    forward(
        "half types returned as float32",
        "sdpa",
        "output = cast(tiled_sum(dropped_weights, value), given)",
        "output = tiled_sum(dropped_weights, value)",
        "The result is not of the dtype that was given.",
    ),
    forward(
        "float64 computed in float32",
        "sdpa",
        "return to_float32(array) if is_half(array) else array",
        "return to_float32(array)",
        "Half of the digits are lost, and nothing says so.",
    ),
    forward(
        "the last tile of keys forgotten",
        "sdpa",
        "for start in range(TILE, S, TILE):",
        "for start in range(TILE, S - TILE, TILE):",
        "Beyond 128 keys the rest is not summed.",
    ),
    in_torch(
        "a million roundings",
        "sdpa",
        "TILE = 128",
        "TILE = 10**9",
        "One sum over all keys gathers a rounding for each of them.",
    ),
    forward(
        "dropout in place of its rescaling",
        "dropout",
        "weights / (1 - dropout_p)",
        "weights",
        "The kept weights are not divided by 1 - p.",
        "karpathy/nanoGPT#240",
    ),
    forward(
        "dropout rescaled by p",
        "dropout",
        "weights / (1 - dropout_p)",
        "weights / dropout_p",
        "The kept weights are divided by p.",
    ),
    forward(
        "dropout keeps what it should drop",
        "dropout",
        "np.where(dropout_mask, weights / (1 - dropout_p), 0.0)",
        "np.where(dropout_mask, 0.0, weights / (1 - dropout_p))",
        "The two are exchanged.",
    ),
    forward(
        "dropout of everything divides by zero",
        "dropout",
        "    if dropout_p == 1:\n        return 0 * weights\n",
        "",
        "p = 1 gives NaN in place of 0.",
    ),
    forward(
        "dropout draws with p for 1 - p",
        "dropout",
        ">= dropout_p",
        "< dropout_p",
        "Each weight is kept with probability p.",
    ),
    forward(
        "dropout before the softmax",
        "sdpa",
        "        dropped_weights = dropout("
        "weights, float(dropout_p), dropout_mask)\n",
        "        dropped_weights = softmax(\n"
        "            np.where(dropout_mask, masked_scores, -np.inf)\n"
        "        )\n",
        "What is dropped is shared out among the rest.",
    ),
]

ARGUMENTS = [
    forward(
        "key and value of different length",
        "arguments",
        "    if value.shape[-2] != key.shape[-2]:\n",
        "    if value.shape[-2] < key.shape[-2]:\n",
        "A value that is too long passes.",
        "pytorch/pytorch#193728",
    ),
    forward(
        "p outside 0 to 1",
        "arguments",
        "    if not 0 <= dropout_p <= 1:\n",
        "    if dropout_p < 0:\n",
        "A probability above 1 passes, and so does NaN.",
    ),
    forward(
        "a mask of integers",
        "arguments",
        "    if not is_boolean(attn_mask) and not is_floating(attn_mask):\n",
        "    if False:\n",
        "0 and 1 could mean either: they are added.",
    ),
    forward(
        "dtypes mixed",
        "arguments",
        "    if not query.dtype == key.dtype == value.dtype:\n",
        "    if query.dtype != key.dtype and query.dtype != value.dtype:\n",
        "One of the three may be of another dtype.",
    ),
    forward(
        "a mask that widens the scores",
        "arguments",
        "    if broadcast_shape(array.shape, shape) != shape:\n",
        "    if broadcast_shape(array.shape, shape) is None:\n",
        "A mask of five queries makes five of one.",
    ),
    forward(
        "an error of another class",
        "arguments",
        "    if not isinstance(flag, bool):\n        raise TypeError(",
        "    if not isinstance(flag, bool):\n        raise ValueError(",
        "A number for a flag is of the wrong kind, not out of range.",
    ),
]

# Mistakes that a reader set out to make, and that an earlier suite let pass.
CROSSED = [
    forward(
        "one draw for all heads",
        "sdpa",
        DRAWN,
        DRAWN.replace("(shape, ", "(shape[-2:], "),
        "Every head of every sequence leaves out the same weights.",
    ),
    forward(
        "one draw for a whole query",
        "sdpa",
        DRAWN,
        DRAWN.replace("(shape, ", "((*shape[:-1], 1), "),
        "A query keeps all of its keys or none.",
    ),
    in_torch(
        "no draw in groups",
        "sdpa",
        "    if dropout_p > 0 and dropout_mask is None:\n",
        "    if dropout_p > 0 and dropout_mask is None and not enable_gqa:\n",
        "Dropout is dropped on the path of grouped heads.",
    ),
    forward(
        "what is left out may be NaN",
        "dropout",
        "np.where(dropout_mask, weights / (1 - dropout_p), 0.0)",
        "weights * dropout_mask / (1 - dropout_p)",
        "0 · NaN is NaN: a weight that is left out must not come back.",
    ),
    forward(
        "the rank is query's",
        "arguments",
        "rank = max(len(a.shape) for a in (query, key, value))",
        "rank = len(query.shape)",
        "A query of fewer axes than key loses the axis of heads.",
    ),
    forward(
        "keep by batch where B = H",
        "sdpa",
        "        dropout_mask = to_device_of(dropout_mask, weights)\n",
        "        if len(dropout_mask.shape) == 3 and len(shape) == 4:\n"
        "            if dropout_mask.shape[0] == shape[0]:\n"
        "                dropout_mask = dropout_mask[:, None, :, :]\n"
        "        dropout_mask = to_device_of(dropout_mask, weights)\n",
        "Where B = H a keep of rank 3 is taken by sequence, not by head.",
    ),
    forward(
        "a mask by query where L = S",
        "sdpa",
        "    given = query\n",
        "    given = query\n"
        "    if attn_mask is not None and len(attn_mask.shape) == 1:\n"
        "        if attn_mask.shape[0] == query.shape[-2]:\n"
        "            attn_mask = attn_mask[:, None]\n",
        "Where L = S a mask of rank 1 is taken by query, not by key.",
    ),
    forward(
        "a mask of nothing is no mask",
        "attention",
        "    if mask is not None:\n        scores",
        "    if mask is not None and mask.any():\n        scores",
        "A mask that forbids everything is ignored.",
    ),
    forward(
        "half types with a window",
        "sdpa",
        "    capped_scores = cap_scores(scores, soft_cap)\n",
        "    capped_scores = cap_scores(scores, soft_cap)\n"
        "    if window is not None:\n"
        "        capped_scores = upcast(cast(capped_scores, given))\n",
        "On one path the scores are rounded to the half type.",
    ),
    in_torch(
        "a scale of another kind",
        "sdpa",
        "if scale is None else float(scale)",
        "if scale is None else scale",
        "A fraction is no number to torch.",
    ),
    forward(
        "a cap beyond the dtype",
        "arguments",
        "if not smallest <= soft_cap <= largest:",
        "if not 0 < soft_cap < math.inf:",
        "A cap of 1e39 is inf in float32, and tanh(0) · inf is NaN.",
    ),
    forward(
        "positions of 8 bits",
        "masks",
        "    key = np.arange(S)[None, :]\n    return query, key",
        "    key = np.arange(S)[None, :]\n"
        "    return query.astype(np.int8), key.astype(np.int8)",
        "Beyond position 127 the triangle starts anew.",
    ),
    forward(
        "a batch of values is left out",
        "sdpa",
        "    query = np.broadcast_to(query, (*shape[:-1], query.shape[-1]))\n",
        "",
        "The steps lack a batch that value alone has.",
    ),
]
