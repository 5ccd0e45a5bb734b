"""Faults of the checks of arguments."""

from __future__ import annotations

from ..fault import Fault

FAULTS = (
    Fault(
        name="heads that do not divide are accepted",
        module="arguments",
        before="    if enable_gqa and (H % G if G else H):\n",
        after="    if enable_gqa and False:\n",
        wrong=(
            "Query heads that are no multiple of the key heads are accepted."
        ),
    ),
    Fault(
        name="heads repeated without being asked",
        module="arguments",
        before="    if not enable_gqa and G not in (1, H):\n",
        after="    if not enable_gqa and (G == 0 or H % G):\n",
        wrong="Grouped heads are accepted without enable_gqa.",
    ),
    Fault(
        name="key and value of different length",
        module="arguments",
        before="    if value.shape[-2] != key.shape[-2]:\n",
        after="    if value.shape[-2] < key.shape[-2]:\n",
        wrong="A value longer than its key is accepted.",
        report="pytorch/pytorch#193728",
    ),
    Fault(
        name="p outside 0 to 1",
        module="arguments",
        before="    if not 0 <= dropout_p <= 1:\n",
        after="    if dropout_p < 0:\n",
        wrong="A probability above 1 is accepted, and so is NaN.",
    ),
    Fault(
        name="a mask of integers",
        module="arguments",
        before="""\
    if not is_boolean(attn_mask) and not is_floating(attn_mask):
""",
        after="    if False:\n",
        wrong="A mask of integers 0 and 1 is accepted and added as a bias.",
    ),
    Fault(
        name="dtypes mixed",
        module="arguments",
        before="    if not query.dtype == key.dtype == value.dtype:\n",
        after="""\
    if query.dtype != key.dtype and query.dtype != value.dtype:
""",
        wrong="One of query, key and value is accepted with another dtype.",
    ),
    Fault(
        name="a mask that widens the scores",
        module="arguments",
        before="    if broadcast_shape(array.shape, shape) != shape:\n",
        after="    if broadcast_shape(array.shape, shape) is None:\n",
        wrong=(
            "A mask of five queries is accepted for one query and gives five."
        ),
    ),
    Fault(
        name="an error of another class",
        module="arguments",
        before="""\
    if not isinstance(flag, bool):
        raise TypeError(""",
        after="""\
    if not isinstance(flag, bool):
        raise ValueError(""",
        wrong="A number in place of a flag raises ValueError, not TypeError.",
    ),
    Fault(
        name="the rank is query's",
        module="arguments",
        before="rank = max(len(a.shape) for a in (query, key, value))",
        after="rank = len(query.shape)",
        wrong=(
            "With a query of lower rank than key, the axis of heads is lost."
        ),
    ),
    Fault(
        name="a cap beyond the dtype",
        module="arguments",
        before="if not smallest <= soft_cap <= largest:",
        after="if not 0 < soft_cap < math.inf:",
        wrong="A cap of 1e39 is inf in float32, and tanh(0) · inf is NaN.",
    ),
)
