"""Faults of the tuned version, and of the ring."""

from __future__ import annotations

from ..tried import forward, gradient, in_torch

FAST = [
    forward(
        "fast: a late maximum leaves the denominator",
        "fast",
        "            total *= factor\n",
        "",
        "What was summed before the maximum rose is not rescaled.",
    ),
    forward(
        "fast: a late maximum leaves the values",
        "fast",
        "                gathered *= factor\n",
        "                pass\n",
        "Values gathered before the maximum rose are not rescaled.",
    ),
    forward(
        "fast: no proof, no maximum",
        "fast",
        "steepest <= STEEPEST",
        "steepest <= 1e9",
        "Powers overflow where the norms do not bound the scores.",
    ),
    forward(
        "fast: values are not looked at",
        "fast",
        "all(map(is_moderate, others))",
        "others",
        "Large powers times large values overflow, small ones vanish.",
    ),
    forward(
        "fast: log2 e forgotten",
        "fast",
        "Steepness(scale * math.log2(math.e), 1.0, True)",
        "Steepness(scale, 1.0, True)",
        "Powers of 2 stand where powers of e belong.",
    ),
    forward(
        "fast: lse without its maximum",
        "fast",
        "np.where(empty, -np.inf, result.row_max + logs)",
        "np.where(empty, -np.inf, logs)",
        "The log-sum-exp is that of the shifted scores.",
        "Dao-AILab/flash-attention#978",
    ),
    forward(
        "fast: lse of an empty row is 0",
        "fast",
        "np.where(empty, -np.inf, result.row_max + logs)",
        "np.where(empty, 0.0, result.row_max + logs)",
        "Merging takes the row for one of a single key.",
        "pytorch/pytorch#134650",
    ),
    forward(
        "fast: an empty row is divided by 0",
        "fast",
        "        divisor = np.where(total == 0, 1.0, total).mT\n",
        "        divisor = total.mT\n",
        "A row with nothing to see is NaN.",
        "pytorch/pytorch#103963",
    ),
    forward(
        "fast: the triangle is one key too wide",
        "fast",
        "hidden = ahead(first + cut - sight.right, m - cut, n)",
        "hidden = ahead(first + cut - sight.right - 1, m - cut, n)",
        "Each query sees the key after its own.",
    ),
    forward(
        "fast: the window is one key too wide",
        "fast",
        "hidden = behind(first + sight.left, cut, n)",
        "hidden = behind(first + sight.left + 1, cut, n)",
        "A radius of n shows n + 1 keys to the left.",
        "huggingface/transformers#39408",
    ),
    forward(
        "the last tile ends too early",
        "flash",
        "stop = min(S, rows.stop + sight.shift + sight.right)",
        "stop = min(S, rows.start + 1 + sight.shift + sight.right)",
        "Only the first query of a tile sees all of its keys.",
    ),
    forward(
        "the window starts at the last query",
        "flash",
        "start = max(0, rows.start + sight.shift - sight.left)",
        "start = max(0, rows.stop - 1 + sight.shift - sight.left)",
        "The first queries of a tile lose their first keys.",
    ),
    forward(
        "fast: a NaN under the mask",
        "fast",
        "            seen = bias != -np.inf\n",
        "            seen = bias == bias\n",
        "NaN + (-inf) is NaN, where -inf should be set.",
        "pytorch/pytorch#101967",
    ),
    forward(
        "fast: two names for one memory",
        "fast",
        "vars(_kept), name + dtype.char",
        "vars(_kept), dtype.char",
        "A tile of scores is written over before it is read.",
    ),
    forward(
        "fast: a batch reads the first one's keys",
        "fast",
        "np.ascontiguousarray(upcast(array[index[:-1]]))",
        "np.ascontiguousarray(\n"
        "            upcast(array[(*(0 * i for i in index[:-2]),"
        " index[-2])]))",
        "Every sequence attends to the first one's keys.",
    ),
    gradient(
        "fast: a row's sum is not divided",
        "fast",
        "inner = (np.vecdot(d_output, output) - d_lse) / total",
        "inner = np.vecdot(d_output, output) - d_lse",
        "The exponentials are not divided, and so all else must be.",
    ),
    gradient(
        "fast: lse pulls the wrong way",
        "fast",
        "inner = (np.vecdot(d_output, output) - d_lse) / total",
        "inner = (np.vecdot(d_output, output) + d_lse) / total",
        "The gradient of the log-sum-exp has the wrong sign.",
    ),
    gradient(
        "fast: keys learn without the scale",
        "fast",
        "        result.key[group] *= scale\n",
        "",
        "dK = scale · dSᵀ Q.",
    ),
    gradient(
        "fast: a group learns from one head",
        "fast",
        "summed: Array = np.sum(gradient, axis=-3, keepdims=True)",
        "summed: Array = gradient[..., :1, :, :]",
        "A key gets the gradient of one of the heads that read it.",
    ),
    gradient(
        "fast: the cap has no slope",
        "fast",
        "                d_scores *= slope\n",
        "                pass\n",
        "dS = dC (1 - (C / cap)²).",
    ),
    gradient(
        "fast: what is hidden gives back",
        "fast",
        "            hide(share, rows, columns, exponentials)\n",
        "",
        "The way back does not mask what the way there has masked.",
        "Dao-AILab/flash-attention#1947",
    ),
]

RING = [
    forward(
        "ring: a rank sees what comes after it",
        "ring",
        "sight._replace(right=None) if source < rank else None",
        "sight._replace(right=None)",
        "Causal within a stretch, and blind to none beyond it.",
    ),
    forward(
        "ring: the stretches stand in the wrong order",
        "ring",
        "sight._replace(right=None) if source < rank else None",
        "sight._replace(right=None) if source > rank else None",
        "A causal rank sees the later stretches, not the earlier ones.",
    ),
    forward(
        "ring: it turns the other way",
        "ring",
        "    return held[-1:] + held[:-1]\n",
        "    return held[1:] + held[:1]\n",
        "A rank takes the next one's keys for those of the one before.",
    ),
    forward(
        "ring: its own stretch without a triangle",
        "ring",
        "    if sight.right is None or source == rank:\n"
        "        return sight\n",
        "    if sight.right is None or source == rank:\n"
        "        return sight._replace(right=None)\n",
        "Within a stretch each query sees what follows.",
    ),
    forward(
        "ring: the last stretch alone counts",
        "ring",
        "                results[rank] = merge(results[rank], part)\n",
        "                results[rank] = part\n",
        "What was gathered before is forgotten.",
    ),
    gradient(
        "ring: a key learns from one rank",
        "ring",
        "d_key + parts[1], d_value + parts[2])",
        "parts[1], d_value + parts[2])",
        "Each rank writes over what the one before has added.",
    ),
    gradient(
        "ring: a query learns from one stretch",
        "ring",
        "d_query[rank] = d_query[rank] + parts[0]",
        "d_query[rank] = parts[0]",
        "Each stretch writes over what the one before has added.",
    ),
    gradient(
        "ring: the weights of a stretch alone",
        "ring",
        "    row_max = part.log_sum_exp[..., None]\n",
        "    row_max = part.log_sum_exp[..., None] - 0.1\n",
        "P = exp(S - lse), with the lse of all keys.",
    ),
    in_torch(
        "ring: the own keys are passed on again",
        "ring",
        "        arriving = None if last else ring.pass_on((key, value))\n"
        "        source = (ring.rank - step) % ring.size\n"
        "        seen = visibility_between(sight, ring.rank, source)\n"
        "        if seen is not None:\n"
        "            made",
        "        arriving = None if last else ring.pass_on(shard[1:])\n"
        "        source = (ring.rank - step) % ring.size\n"
        "        seen = visibility_between(sight, ring.rank, source)\n"
        "        if seen is not None:\n"
        "            made",
        "With three ranks and more some keys come twice and some never.",
    ),
    in_torch(
        "ring: gradients do not come home",
        "ring",
        "        d_key, d_value = ring.pass_on((d_key, d_value)).wait()\n",
        "        if not last:\n"
        "            d_key, d_value = ring.pass_on((d_key, d_value)).wait()\n",
        "The last turn is left out, and each rank keeps the next one's.",
        kind="gradient",
    ),
    in_torch(
        "ring: counted from the next rank",
        "ring",
        "        arriving = None if last else ring.pass_on((key, value))\n"
        "        source = (ring.rank - step) % ring.size\n"
        "        seen = visibility_between(sight, ring.rank, source)\n"
        "        if seen is not None:\n"
        "            made",
        "        arriving = None if last else ring.pass_on((key, value))\n"
        "        source = (ring.rank + step) % ring.size\n"
        "        seen = visibility_between(sight, ring.rank, source)\n"
        "        if seen is not None:\n"
        "            made",
        "The keys of the rank before are taken for the next one's.",
    ),
]
