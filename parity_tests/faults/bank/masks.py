"""Faults of the masks."""

from __future__ import annotations

from ..fault import Fault

FILL = "np.where(mask, scores, -np.inf)"
CAUSAL = "return key <= query"

FAULTS = (
    Fault(
        name="a dead row sees everything",
        module="masks",
        before=FILL,
        after="np.where(mask, scores, -1e9)",
        wrong=(
            "With a finite fill, a row that may see no key gets the mean "
            "of all values."
        ),
        report="ml-explore/mlx#2395",
    ),
    Fault(
        name="mask or causal, where it must be and",
        module="masks",
        before="combined = combined & mask",
        after="combined = combined | mask",
        wrong="A key is allowed if either mask allows it, where both must.",
        report="pytorch/pytorch#187801",
    ),
    Fault(
        name="window sees the whole future",
        module="masks",
        before="return not_before & not_after",
        after="return not_before",
        wrong="Without causal, the right side of the window has no bound.",
        report="jax-ml/jax#39576",
    ),
    Fault(
        name="(1 - mask) · (-inf)",
        module="masks",
        before=FILL,
        after="scores + (1 - mask) * (-np.inf)",
        wrong="Where a key is allowed, it adds 0 · (-inf), which is NaN.",
        report="onnx/onnx#8054",
    ),
    Fault(
        name="fill of -1e-9",
        module="masks",
        before=FILL,
        after="np.where(mask, scores, -1e-9)",
        wrong=(
            "A hidden score becomes about 0, because of one sign in the "
            "exponent."
        ),
        report="awslabs/gluonts#1401",
    ),
    Fault(
        name="fill of -1e4",
        module="masks",
        before=FILL,
        after="np.where(mask, scores, -1e4)",
        wrong=(
            "A hidden key wins over allowed keys whose scores are below -10⁴."
        ),
    ),
    Fault(
        name="fill added in place of set",
        module="masks",
        before=FILL,
        after="scores + np.where(mask, 0.0, -np.inf)",
        wrong="A NaN at a hidden key stays NaN, and spreads over its row.",
        report="pytorch/pytorch#101967",
    ),
    Fault(
        name="lower right shifted the wrong way",
        module="masks",
        before='"lower_right": S - L',
        after='"lower_right": L - S',
        wrong="New queries do not see the keys in the cache.",
        report="onnx/onnx#7297",
    ),
    Fault(
        name="the diagonal is forbidden",
        module="masks",
        before=CAUSAL,
        after="return key < query",
        wrong=(
            "No query sees its own position, and the first query sees no key."
        ),
    ),
    Fault(
        name="one key too far",
        module="masks",
        before=CAUSAL,
        after="return key <= query + 1",
        wrong="Each query sees the next position, which it is to predict.",
    ),
    Fault(
        name="the triangle turned over",
        module="masks",
        before=CAUSAL,
        after="return key >= query",
        wrong="Each query sees the future and not the past.",
    ),
    Fault(
        name="window counts keys in place of a radius",
        module="masks",
        before="key >= query - left",
        after="key > query - left",
        wrong="With left = 1, a query sees itself and not the key before it.",
        report="huggingface/transformers#39408",
    ),
    Fault(
        name="window's sides exchanged",
        module="masks",
        before="""\
    not_before = (left == -1) | (key >= query - left)
    not_after = (right == -1) | (key <= query + right)
""",
        after="""\
    not_before = (right == -1) | (key >= query - right)
    not_after = (left == -1) | (key <= query + left)
""",
        wrong=(
            "The left bound is applied to the right, and the right one "
            "to the left."
        ),
    ),
    Fault(
        name="-1 read as a radius",
        module="masks",
        before="(left == -1) | (key >= query - left)",
        after="key >= query - left",
        wrong=(
            "-1, which stands for no bound, hides even the query's own "
            "position."
        ),
    ),
    Fault(
        name="padding off by one",
        module="masks",
        before="key < lengths",
        after="key <= lengths",
        wrong="Each sequence sees the first key of its padding.",
    ),
    Fault(
        name="padding laid over the queries",
        module="masks",
        before="return key < lengths[:, None, None, None]",
        after="return key[:, None] < lengths[:, None, None, None]",
        wrong="Padded queries are hidden in place of padded keys.",
    ),
    Fault(
        name="positions of 8 bits",
        module="masks",
        before="""\
    key = np.arange(S)[None, :]
    return query, key""",
        after="""\
    key = np.arange(S)[None, :]
    return query.astype(np.int8), key.astype(np.int8)""",
        wrong="Positions after 127 overflow, so the mask is wrong there.",
    ),
)
