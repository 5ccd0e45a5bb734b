"""Faults of attention in tiles."""

from __future__ import annotations

from ..fault import Fault

FAULTS = (
    Fault(
        name="a tile's edge off by one",
        module="flash",
        before="slice(first, min(first + size, stop))",
        after="slice(first, min(first + size - 1, stop))",
        wrong="The last key of each tile is left out.",
    ),
    Fault(
        name="the last tile is left out",
        module="flash",
        before="firsts = range(start, stop, size)",
        after="firsts = range(start, max(stop - size + 1, start + 1), size)",
        wrong="Keys in a last tile that is not full are left out.",
    ),
    Fault(
        name="a diagonal tile taken for an empty one",
        module="flash",
        before="columns.start > last + sight.right",
        after="columns.start >= last + sight.right",
        wrong="A tile in which one query sees one key is skipped.",
    ),
    Fault(
        name="a tile before the window taken for an empty one",
        module="flash",
        before="columns.stop - 1 < first - sight.left",
        after="columns.stop - 1 <= first - sight.left",
        wrong="A tile in which one query sees one key is skipped.",
        cases=(
            "tiles without a key to see are left out",
            "the size of the tiles does not matter",
        ),
    ),
    Fault(
        name="a tile on the diagonal is taken for a whole one",
        module="flash",
        before="columns.stop - 1 > first + sight.right",
        after="columns.stop - 1 > last + sight.right",
        wrong="In the last tile of a row, queries see the future.",
    ),
    Fault(
        name="the triangle starts anew in each tile",
        module="flash",
        before="key = np.arange(columns.start, columns.stop)[None, :]",
        after="key = np.arange(columns.stop - columns.start)[None, :]",
        wrong="Each tile counts its keys from 0.",
    ),
    Fault(
        name="the corner is forgotten in the mask",
        module="flash",
        before="np.arange(rows.start, rows.stop)[:, None] + sight.shift",
        after="np.arange(rows.start, rows.stop)[:, None]",
        wrong=(
            "The mask is aligned to the upper left, where the lower "
            "right was asked for."
        ),
    ),
    Fault(
        name="the corner is forgotten in skipping",
        module="flash",
        before="""\
    first, last = rows.start + sight.shift, rows.stop - 1 + sight.shift
    if sight.right is not None and columns.start""",
        after="""\
    first, last = rows.start, rows.stop - 1
    if sight.right is not None and columns.start""",
        wrong="Tiles that the lower right alignment shows are skipped.",
    ),
    Fault(
        name="the mask of the first tile for all",
        module="flash",
        before="attn_mask = attn_mask[..., columns]",
        after="attn_mask = attn_mask[..., : columns.stop - columns.start]",
        wrong="Every column of tiles uses the mask of the first one.",
    ),
    Fault(
        name="the mask of the first row of tiles for all",
        module="flash",
        before="attn_mask = attn_mask[..., rows, :]",
        after="attn_mask = attn_mask[..., : rows.stop - rows.start, :]",
        wrong="Every row of tiles uses the mask of the first one.",
    ),
    Fault(
        name="a tile is empty if one of its keys is",
        module="flash",
        before="return not bool(np.any(seen))",
        after="return not bool(np.all(seen))",
        wrong="A tile is skipped if one of its keys is hidden.",
    ),
    Fault(
        name="empty tiles are computed",
        module="flash",
        before="""\
        return True
    if sight.left""",
        after="""\
        return False
    if sight.left""",
        wrong=(
            "The numbers are right, but causal attention takes as long "
            "as full attention."
        ),
        cases=("tiles without a key to see are left out",),
    ),
    Fault(
        name="is_causal opens the window",
        module="flash",
        before="right = 0 if options.is_causal else right",
        after="right = 0 if options.is_causal and right is None else right",
        wrong=(
            "With a window that reaches to the right, a causal layer "
            "sees the future."
        ),
    ),
    Fault(
        name="half types are summed in half types",
        module="flash",
        side="torch",
        before="value_tile = repeat_heads(upcast(value[..., columns, :]), H)",
        after="""\
value_tile = repeat_heads(upcast(value[..., columns, :]), H)
            if value.dtype.itemsize == 2:
                value_tile = value_tile * (1 + 2**-9)""",
        wrong="Values of a half type come out a little too large.",
    ),
    Fault(
        name="the row sum is forgotten",
        module="flash",
        kind="gradient",
        before="weights * (d_weights - upstream.delta)",
        after="weights * d_weights",
        wrong="The rows of dS do not sum to 0.",
    ),
    Fault(
        name="the log-sum-exp gives nothing back, in tiles",
        module="flash",
        kind="gradient",
        before="        delta = delta - d_log_sum_exp[..., None]\n",
        after="        pass\n",
        wrong="The gradient of the log-sum-exp is ignored.",
    ),
    Fault(
        name="the log-sum-exp gives back with the wrong sign",
        module="flash",
        kind="gradient",
        before="delta = delta - d_log_sum_exp[..., None]",
        after="delta = delta + d_log_sum_exp[..., None]",
        wrong="The gradient of the log-sum-exp has the wrong sign.",
    ),
    Fault(
        name="weights are not divided in the backward pass",
        module="flash",
        kind="gradient",
        before="weights = exponentials / row_sum",
        after="weights = exponentials",
        wrong="The exponentials are not divided by the row sum.",
    ),
    Fault(
        name="masked weights in the backward pass",
        module="flash",
        kind="gradient",
        before="np.exp(steps.masked_scores - finite(upstream.row_max))",
        after="np.exp(steps.capped_scores - finite(upstream.row_max))",
        wrong="The backward pass does not apply the mask.",
        report="Dao-AILab/flash-attention#1947",
    ),
    Fault(
        name="query learns from the last tile alone",
        module="flash",
        kind="gradient",
        before="d_query[number] = d_query[number] + parts[0]",
        after="d_query[number] = parts[0]",
        wrong="The gradients of the tiles of keys are not summed.",
    ),
    Fault(
        name="key learns from the last row of tiles alone",
        module="flash",
        kind="gradient",
        before="d_key[-1] = d_key[-1] + repeat_heads_backward(",
        after="d_key[-1] = repeat_heads_backward(",
        wrong="The gradients of the tiles of queries are not summed.",
    ),
    Fault(
        name="the cap is forgotten in the backward pass",
        module="flash",
        kind="gradient",
        before=(
            "    d_scores = cap_scores_backward(\n"
            "        d_masked, steps.capped_scores, options.soft_cap\n"
            "    )\n"
        ),
        after="    d_scores = d_masked\n",
        wrong="The gradient lacks the derivative of tanh.",
    ),
    Fault(
        name="the cap is forgotten in the backward pass, in torch",
        module="flash",
        side="torch",
        kind="gradient",
        before=(
            "    d_scores = cap_scores_backward(\n"
            "        d_masked, steps.capped_scores, options.soft_cap\n"
            "    )\n"
        ),
        after="    d_scores = d_masked\n",
        wrong="The gradient lacks the derivative of tanh.",
    ),
    Fault(
        name="groups are taken for a broadcast",
        module="flash",
        side="torch",
        kind="gradient",
        before="""\
repeat_heads_backward(
                parts[1], d_key[-1].shape
            )""",
        after="""\
(
                parts[1]
                if parts[1].shape == d_key[-1].shape
                else parts[1].unflatten(-3, (-1, d_key[-1].shape[-3])).sum(-4)
            )""",
        wrong="A key head gets the gradients of other query heads.",
    ),
    Fault(
        name="the last tile ends too early",
        module="flash",
        before="stop = min(S, rows.stop + sight.shift + sight.right)",
        after="stop = min(S, rows.start + 1 + sight.shift + sight.right)",
        wrong="Only the first query of a tile sees all of its keys.",
    ),
    Fault(
        name="the window starts at the last query",
        module="flash",
        before="start = max(0, rows.start + sight.shift - sight.left)",
        after="start = max(0, rows.stop - 1 + sight.shift - sight.left)",
        wrong="The first queries of a tile lose their first keys.",
    ),
)
