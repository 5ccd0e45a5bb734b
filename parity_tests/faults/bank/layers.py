"""Faults of the rooms around attention."""

from __future__ import annotations

from ..tried import forward, gradient, in_torch

ROOMS = [
    forward(
        "averaging sees the future",
        "averaging",
        "np.tril(np.ones((T, T), dtype=np.float64))",
        "np.ones((T, T), dtype=np.float64)",
        "Every position takes the mean of all.",
    ),
    forward(
        "averaging leaves itself out",
        "averaging",
        "np.tril(np.ones((T, T), dtype=np.float64))",
        "np.tril(np.ones((T, T), dtype=np.float64), -1)",
        "Every position takes the mean of those before it.",
    ),
    forward(
        "averaging sums columns",
        "averaging",
        "np.sum(triangle, axis=-1, keepdims=True)",
        "np.sum(triangle, axis=0, keepdims=True)",
        "The weights of a position do not sum to one.",
    ),
    forward(
        "averaging does not divide",
        "averaging",
        "triangle / np.sum(triangle, axis=-1, keepdims=True)",
        "triangle",
        "Sums in place of means.",
    ),
    forward(
        "query and key exchanged",
        "head",
        "        query = x @ self.w_q\n        key = x @ self.w_k\n",
        "        query = x @ self.w_k\n        key = x @ self.w_q\n",
        "The scores are transposed.",
    ),
    forward(
        "value projected by the key's matrix",
        "head",
        "value = x @ self.w_v",
        "value = x @ self.w_k",
        "W_v is never used.",
    ),
    forward(
        "a head forgets its mask",
        "head",
        "return attention(query, key, value, mask)",
        "return attention(query, key, value)",
        "The causal head sees the future.",
    ),
    forward(
        "attention scores without the scale",
        "attention",
        "scale = 1 / math.sqrt(query.shape[-1])\n    # Scaled",
        "scale = 1.0\n    # Scaled",
        "The simple function leaves out what the whole one does.",
    ),
    forward(
        "attention weights forget the mask",
        "attention",
        "        scores = mask_scores(scores, mask)\n",
        "        mask_scores(scores, mask)\n",
        "The masked scores are computed and thrown away.",
    ),
    forward(
        "Box and Muller's sine and cosine exchanged",
        "generator",
        "np.stack([r * np.cos(theta), r * np.sin(theta)], axis=1)",
        "np.stack([r * np.sin(theta), r * np.cos(theta)], axis=1)",
        "Normal numbers all the same, in another order.",
    ),
    forward(
        "the tail not drawn anew",
        "generator",
        "np.concat([head, _box_muller(self._uniform(16))])",
        "np.concat([head, _box_muller(uniform[-16:])])",
        "Where the size is no multiple of 16, the stream goes on elsewhere.",
    ),
    forward(
        "the number kept back is lost",
        "generator",
        "self._spare = r * math.sin(theta)",
        "self._spare = None",
        "Every second number of a small draw is skipped.",
    ),
    forward(
        "32 bits in place of 24",
        "generator",
        "(words & (2**24 - 1)).astype(np.float32) * np.float32(2**-24)",
        "words.astype(np.float32) * np.float32(2**-32)",
        "The high bits are used where torch uses the low ones.",
    ),
]

LAYERS = [
    forward(
        "split straight into heads",
        "multi_head",
        "    pieces = np.reshape(x, (*batch, T, H, width // H))\n"
        "    return np.moveaxis(pieces, -2, -3)\n",
        "    return np.reshape(x, (*batch, H, T, width // H))\n",
        "A head gets pieces of other positions.",
        "onnx/onnx#7118",
    ),
    forward(
        "merged without a transpose",
        "multi_head",
        "pieces = np.moveaxis(x, -3, -2)",
        "pieces = x",
        "The rows of the output are heads and not positions.",
        "reczoo/FuxiCTR#30",
    ),
    forward(
        "heads cut from every H-th column",
        "multi_head",
        "    pieces = np.reshape(x, (*batch, T, H, width // H))\n"
        "    return np.moveaxis(pieces, -2, -3)\n",
        "    pieces = np.reshape(x, (*batch, T, width // H, H))\n"
        "    return np.moveaxis(pieces, -1, -3)\n",
        "Head h takes the columns h, h + H, ... in place of its own block.",
    ),
    forward(
        "cross-attention looks at itself",
        "multi_head",
        "        source = x if context is None else context\n        query",
        "        same = context is not None and context.shape == x.shape\n"
        "        source = x if context is None or same else context\n"
        "        query",
        "Where the two are of one shape, the context is not looked at.",
    ),
    forward(
        "the key's bias for the query",
        "multi_head",
        "query = split_heads(project(x, self.w_q, self.b_q), self.H)",
        "bias = self.b_k if self.G == self.H else self.b_q\n"
        "        query = split_heads(project(x, self.w_q, bias), self.H)",
        "The query is given the key's bias.",
    ),
    forward(
        "the output's bias forgotten",
        "multi_head",
        "return project(merge_heads(steps.output), self.w_o, self.b_o)",
        "return project(merge_heads(steps.output), self.w_o, None)",
        "A bias is accepted and not added.",
    ),
    forward(
        "a layer forgets is_causal",
        "multi_head",
        "            attn_mask,\n            is_causal=is_causal,\n"
        "            scale=self.scale,\n",
        "            attn_mask,\n            scale=self.scale,\n",
        "The causal layer sees the future.",
        "keras-team/keras#23038",
    ),
    forward(
        "sines and cosines in two halves",
        "positions",
        "pairs = np.stack([np.sin(angles), np.cos(angles)], axis=-1)",
        "pairs = np.concat([np.sin(angles), np.cos(angles)], axis=-1)",
        "All sines first, where sine and cosine should take turns.",
    ),
    forward(
        "angles with the base of the first pair",
        "positions",
        "-2 * math.log(10000.0) / D * pair",
        "-1 * math.log(10000.0) / D * pair",
        "The exponent lacks its 2: the clocks run too fast.",
    ),
    forward(
        "rotary ignores its offset",
        "positions",
        "angles = rotary_angles(x.shape[-2], x.shape[-1], offset)",
        "angles = rotary_angles(x.shape[-2], x.shape[-1])",
        "Every chunk starts at position 0.",
    ),
    forward(
        "rotary off by one",
        "positions",
        "np.arange(T, dtype=np.float64) + offset",
        "np.arange(T, dtype=np.float64) + offset + 1",
        "The first position is turned too.",
    ),
    forward(
        "rotary turns the wrong way for half of each pair",
        "positions",
        "    half = x.shape[-1] // 2\n"
        "    first, second = x[..., :half], x[..., half:]\n"
        "    rotated = [first * cosine - second * sine, "
        "second * cosine + first * sine]\n",
        "    half = x.shape[-1] // 2\n"
        "    first, second = x[..., :half], x[..., half:]\n"
        "    rotated = [first * cosine - second * sine, "
        "second * cosine - first * sine]\n",
        "It is no rotation: norms change.",
    ),
    forward(
        "neighbours paired as halves",
        "positions",
        "first, second = x[..., 0::2], x[..., 1::2]",
        "half = x.shape[-1] // 2\n"
        "    first, second = x[..., :half], x[..., half:]",
        "Weights trained with one pairing are read with the other.",
    ),
    forward(
        "rotary angles in float32",
        "positions",
        "angles: Array = position[:, None] * inverse_frequencies",
        "angles: Array = np.astype("
        "position[:, None] * inverse_frequencies, np.float32)",
        "The angle of a large position has few digits left.",
    ),
    forward(
        "ALiBi at the wrong corner",
        "positions",
        "query = np.arange(L, dtype=np.float64)[:, None] + (S - L)",
        "query = np.arange(L, dtype=np.float64)[:, None]",
        "With a cache, distances are counted from the first key.",
    ),
    forward(
        "ALiBi rewards distance",
        "positions",
        "bias: Array = -slopes[:, None, None] * (query - key)",
        "bias: Array = slopes[:, None, None] * (query - key)",
        "The further back, the more.",
    ),
    forward(
        "ALiBi's slopes from 1",
        "positions",
        "head = np.arange(H, dtype=np.float64) + 1",
        "head = np.arange(H, dtype=np.float64)",
        "The first slope is 1 in place of 2^(-8/H).",
    ),
    forward(
        "a cache in the upper-left corner",
        "cache",
        'mask = causal_mask(query.shape[-2], cache.length, "lower_right")',
        "mask = causal_mask(query.shape[-2], cache.length)",
        "The new queries see the beginning of the past alone.",
        "onnx/onnx#7297",
    ),
    in_torch(
        "the mask of a cache is made elsewhere",
        "cache",
        "    mask = to_device_of(mask, query)\n",
        "",
        "Keys on a GPU, the mask in the main memory: an error.",
    ),
    forward(
        "a cache that forgets its past",
        "cache",
        "        self.key, self.value = key, value\n        return",
        "        self.key, self.value = key[..., -1:, :], value[..., -1:, :]\n"
        "        return",
        "Only the last position is kept.",
    ),
    forward(
        "a cache put together in the wrong order",
        "cache",
        "key = np.concat([self.key, key], axis=-2)",
        "key = np.concat([key, self.key], axis=-2)",
        "New keys stand before old ones, values after them.",
    ),
    forward(
        "a cache without its triangle",
        "cache",
        "query, all_keys, all_values, mask, enable_gqa=True",
        "query, all_keys, all_values, None, enable_gqa=True",
        "Inside a chunk each query sees those after it.",
        "microsoft/onnxruntime#28904",
    ),
    gradient(
        "rotary turns on in place of back",
        "positions",
        "return rotate_half(d_rotated, cosine, -sine)",
        "return rotate_half(d_rotated, cosine, sine)",
        "The gradient is turned forwards: the inverse is the transpose.",
    ),
    gradient(
        "rotary's gradient without its offset",
        "positions",
        "    cosine, sine = cos_sin(d_rotated, offset)\n"
        "    return rotate_interleaved(d_rotated, cosine, -sine)",
        "    cosine, sine = cos_sin(d_rotated, 0)\n"
        "    return rotate_interleaved(d_rotated, cosine, -sine)",
        "It is turned back by another angle.",
    ),
    gradient(
        "x learns from its query alone",
        "multi_head",
        "d_x = d_x + d_source if context is None else d_x",
        "d_x = d_x if context is None else d_x",
        "In self-attention x was query, key and value.",
    ),
    gradient(
        "the context learns from its keys alone",
        "multi_head",
        "d_source = from_key + from_value",
        "d_source = from_key",
        "What the values give back is lost.",
    ),
    gradient(
        "a bias's gradient is the mean",
        "multi_head",
        "db = None if b is None else broadcast_backward(d_result, b.shape)",
        "db = None if b is None else broadcast_backward(\n"
        "        d_result / d_result.shape[-2], b.shape\n    )",
        "A bias that was added T times gets the sum.",
    ),
    gradient(
        "the output projection learns from unmerged heads",
        "multi_head",
        "    merged = merge_heads(steps.output)\n    d_merged",
        "    merged = np.reshape(\n"
        "        steps.output, merge_heads(steps.output).shape\n    )\n"
        "    d_merged",
        "dW_o is taken with heads and positions mixed.",
    ),
]
