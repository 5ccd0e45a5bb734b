"""The bank of faults: wrong versions that the suite must turn away.

A fault is a few lines of a room with something wrong in them, most of them
mistakes that public code really made. It is applied to a copy of a package,
and the whole suite is run on that copy: a fault that passes, or that is
seen at one place only, is a hole in the suite.
"""

from __future__ import annotations

import importlib
import itertools
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy_impl
import torch_impl

from .suite import Outcome, Place, applies, places, run
from .versions import Version

PACKAGES = {"numpy": numpy_impl, "torch": torch_impl}
_numbers = itertools.count()


@dataclass(frozen=True)
class Fault:
    """One mistake.

    In the file `room` the text `before`, which stands there once, becomes
    `after`. `wrong` says what goes wrong with it, and `report` names a
    public report of it, repository and number, or is empty.
    """

    name: str
    room: str
    before: str
    after: str
    wrong: str
    report: str = ""
    side: str = "numpy"
    kind: str = "forward"

    def __str__(self) -> str:
        """Return the name."""
        return self.name


def forward(
    name: str, room: str, before: str, after: str, wrong: str, report: str = ""
) -> Fault:
    """Return a fault of the forward pass."""
    return Fault(name, room, before, after, wrong, report)


def gradient(
    name: str, room: str, before: str, after: str, wrong: str, report: str = ""
) -> Fault:
    """Return a fault of a gradient that is derived by hand."""
    return Fault(name, room, before, after, wrong, report, kind="gradient")


def in_torch(
    name: str,
    room: str,
    before: str,
    after: str,
    wrong: str,
    report: str = "",
    kind: str = "forward",
) -> Fault:
    """Return a fault of the PyTorch side."""
    return Fault(name, room, before, after, wrong, report, "torch", kind)


MASK = "scores = mask_scores(scores, attn_mask)"
TOTAL = "np.where(total == 0, 1.0, total)"
HIGHEST = "np.where(highest == -np.inf, 0.0, highest)"
SOFTMAX = "exponentials / positive_sum(exponentials)"
SCALED = "(query * scale) @ key.mT"
REPEAT = "np.repeat(array, H // G, axis=-3)"
FILL = "np.where(mask, scores, -np.inf)"

EMPTY_SETS = [
    forward(
        "a dead row is NaN",
        "softmax",
        HIGHEST,
        "highest",
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
        """    exponentials = torch.exp(x - finite_maximum(x))
    return exponentials / positive_sum(exponentials)
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
        """    exponentials = torch.exp(x - finite_maximum(x))
    return exponentials / positive_sum(exponentials)
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
        "    if dropout_p > 0 or keep is not None:\n",
        "    if dropout_p > 0 and keep is None:\n",
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
        "A sign lost in the exponent: the forbidden score is about 0.",
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
        "scale = default_scale(query.shape[-1]) if",
        "scale = default_scale(query.shape[-1] * heads(query)) if",
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
        "if scale is None else float(scale)\n    if abs",
        "if not scale else float(scale)\n    if abs",
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
        "    masked_scores = soften(masked_scores, soft_cap)\n",
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
        "    exponentials = np.exp(x - finite_maximum(x))\n    return expo",
        "    exponentials = np.exp(x)\n    return expo",
        "exp(1000) overflows, and inf/inf is NaN.",
        "pytorch/executorch#18407",
    ),
    forward(
        "the maximum of everything",
        "softmax",
        "highest = np.max(x, axis=-1, keepdims=True)",
        "highest = np.max(x, keepdims=True)",
        "A row far below the others becomes 0/0.",
    ),
    forward(
        "lse without its maximum",
        "softmax",
        "log_total = highest + np.log(total)",
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
        "exponentials / (positive_sum(exponentials) + 1e-6)",
        "Rows sum to a little less than one.",
    ),
    forward(
        "one more in the denominator",
        "softmax",
        SOFTMAX,
        "exponentials / (positive_sum(exponentials) + 1)",
        "Softmax with an extra nothing to look at, unasked.",
    ),
    forward(
        "a power of two for a power of e",
        "softmax",
        "    exponentials = np.exp(x - finite_maximum(x))\n    return expo",
        "    exponentials = np.exp2(x - finite_maximum(x))\n    return expo",
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
        "for start in range(TILE, weights.shape[-1], TILE):",
        "for start in range(TILE, weights.shape[-1] - TILE, TILE):",
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
        "np.where(keep, weights / (1 - dropout_p), 0.0)",
        "np.where(keep, 0.0, weights / (1 - dropout_p))",
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
        "        dropped_weights = dropout(weights, float(dropout_p), keep)\n",
        "        dropped_weights = softmax(\n"
        "            np.where(keep, masked_scores, -np.inf)\n"
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
        "            enable_gqa=True,\n        )\n\n    def __call__",
        "            attn_mask,\n"
        "            enable_gqa=True,\n        )\n\n    def __call__",
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
        "    turned = [first * cosine - second * sine, "
        "second * cosine + first * sine]\n",
        "    half = x.shape[-1] // 2\n"
        "    first, second = x[..., :half], x[..., half:]\n"
        "    turned = [first * cosine - second * sine, "
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
        "angles: Array = position[:, None] * slowness",
        "angles: Array = np.astype(position[:, None] * slowness, np.float32)",
        "The angle of a large position has few digits left.",
    ),
    forward(
        "ALiBi at the wrong corner",
        "positions",
        "query = np.arange(L)[:, None] + (S - L)",
        "query = np.arange(L)[:, None]",
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
        "return turn_half(d_turned, cosine, -sine)",
        "return turn_half(d_turned, cosine, sine)",
        "The gradient is turned forwards: the inverse is the transpose.",
    ),
    gradient(
        "rotary's gradient without its offset",
        "positions",
        "    cosine, sine = turns(d_turned, offset)\n"
        "    return turn_interleaved(d_turned, cosine, -sine)",
        "    cosine, sine = turns(d_turned, 0)\n"
        "    return turn_interleaved(d_turned, cosine, -sine)",
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
        "if scale is None else float(scale),\n",
        "if scale is None or scale else 0.0,\n",
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
        "widen(d_output), steps.dropped_weights,",
        "widen(d_output), steps.weights,",
        "A value that was dropped learns all the same.",
    ),
    gradient(
        "dropout forgotten on the way back",
        "sdpa",
        "    if keep is not None:\n        d_weights = dropout_backward",
        "    if False:\n        d_weights = dropout_backward",
        "Weights that were dropped get a gradient.",
    ),
    gradient(
        "dropout without its rescaling on the way back",
        "dropout",
        "return dropout(d_dropped, dropout_p, keep)",
        "return dropout(d_dropped, 0.0, keep)",
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
        "attention",
        "summed = np.sum(gradient, axis=axes, keepdims=True)",
        "summed = np.mean(gradient, axis=axes, keepdims=True)",
        "What was used many times gets the mean of what comes back.",
        "pytorch-labs/attention-gym#20",
    ),
    gradient(
        "the bias's gradient after the cap",
        "sdpa",
        "d_mask = cast(broadcast_backward(d_masked,",
        "sloped = soften_backward(d_masked, steps.capped_scores, soft_cap)\n"
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

FAULTS = tuple(
    itertools.chain(
        EMPTY_SETS,
        DROPPED,
        MASKS,
        CORNERS,
        HEADS,
        SCALES,
        NUMBERS,
        ARGUMENTS,
        ROOMS,
        LAYERS,
        GRADIENTS,
    )
)


def mutated(fault: Fault) -> str:
    """Return the text of the room with the fault in it."""
    package = PACKAGES[fault.side]
    path = Path(str(package.__file__)).with_name(f"{fault.room}.py")
    text = path.read_text(encoding="utf-8")
    count = text.count(fault.before)
    if count != 1:
        raise ValueError(
            f"fault {fault.name!r}: {fault.before!r} stands {count} times in "
            f"{path.name}, expected once"
        )
    return text.replace(fault.before, fault.after)


@contextmanager
def copy_of(side: str, **rooms: str) -> Iterator[ModuleType]:
    """Import a copy of a package, some of its rooms with another text."""
    original = Path(str(PACKAGES[side].__file__)).parent
    name = f"{original.name}_copy_{next(_numbers)}"
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / name
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(original, copy, ignore=ignored)
        for room, text in rooms.items():
            (copy / f"{room}.py").write_text(text, encoding="utf-8")
        sys.path.insert(0, folder)
        try:
            yield importlib.import_module(name)
        finally:
            sys.path.remove(folder)
            own = [m for m in sys.modules if m.split(".")[0] == name]
            for module in own:
                del sys.modules[module]


def tried(fault: Fault, enough: int | None = None) -> list[Outcome]:
    """Return the failures of a fault, or as many of them as are enough."""
    failures: list[Outcome] = []
    with copy_of(fault.side, **{fault.room: mutated(fault)}) as package:
        version = Version(fault.side, package)
        for place in nearest_first(fault):
            if not applies(place, version):
                continue
            outcome = run(place, version)
            if outcome.failure is not None:
                failures.append(outcome)
            if enough is not None and len(failures) >= enough:
                break
    return failures


def nearest_first(fault: Fault) -> list[Place]:
    """Return all places, those first where the fault is likely to show."""
    whole = "gradients" if fault.kind == "gradient" else "sdpa"
    inner = fault.room in ("sdpa", "attention", "softmax", "dropout")
    likely = [whole, fault.room] if inner else [fault.room]
    judges = ("closed form", "each other", "definition", "law", "SDPA")

    def distance(place: Place) -> tuple[int, int]:
        concept, judge = place.check.concept, place.check.judge
        near = likely.index(concept) if concept in likely else len(likely)
        return near, judges.index(judge)

    return sorted(places(), key=distance)
