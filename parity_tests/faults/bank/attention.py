"""Faults of attention in its simple form."""

from __future__ import annotations

from ..fault import Fault

FAULTS = (
    Fault(
        name="divided twice",
        module="attention",
        before="(query * scale) @ key.mT",
        after="(query * scale) @ (key * scale).mT",
        wrong="The scale is applied to both query and key.",
    ),
    Fault(
        name="scale after the product",
        module="attention",
        before="(query * scale) @ key.mT",
        after="(query @ key.mT) * scale",
        wrong="q·k overflows where the scaled score would not.",
        report="ultralytics/ultralytics#24990",
        cases=(
            "a product that overflows is scaled first",
            "a product beyond the range",
        ),
    ),
    Fault(
        name="a mask of nothing is no mask",
        module="attention",
        before="""\
    if mask is not None:
        scores""",
        after="""\
    if mask is not None and mask.any():
        scores""",
        wrong="A mask that hides every key is ignored.",
    ),
    Fault(
        name="attention scores without the scale",
        module="attention",
        before="""\
scale = 1 / math.sqrt(query.shape[-1])
    # Scaled""",
        after="""\
scale = 1.0
    # Scaled""",
        wrong="The scores are not divided by √D.",
    ),
    Fault(
        name="attention weights forget the mask",
        module="attention",
        before="        scores = mask_scores(scores, mask)\n",
        after="        mask_scores(scores, mask)\n",
        wrong="The masked scores are computed and not used.",
    ),
    Fault(
        name="scale missing in dQ",
        module="attention",
        kind="gradient",
        before="d_query = scale * (d_scores @ key)",
        after="d_query = d_scores @ key",
        wrong="The gradient of the query is √D times too large.",
        report="ooples/AiDotNet.Tensors#49",
    ),
    Fault(
        name="scale missing in dK",
        module="attention",
        kind="gradient",
        before="d_key = scale * (d_scores.mT @ query)",
        after="d_key = d_scores.mT @ query",
        wrong="The gradient of the key is √D times too large.",
        report="ooples/AiDotNet.Tensors#49",
    ),
    Fault(
        name="dP with key in place of value",
        module="attention",
        kind="gradient",
        before="    d_weights = d_output @ value.mT\n",
        after="    d_weights = d_output[..., ::-1, :] @ value.mT\n",
        wrong="dP is computed from the rows of dO in reverse order.",
    ),
    Fault(
        name="query and key exchanged in the backward pass",
        module="attention",
        kind="gradient",
        before="d_key = scale * (d_scores.mT @ query)",
        after="d_key = scale * (d_scores[..., ::-1, :].mT @ query)",
        wrong="dK is computed from the rows of dS in reverse order.",
    ),
)
