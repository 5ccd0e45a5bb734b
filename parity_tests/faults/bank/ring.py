"""Faults of ring attention."""

from __future__ import annotations

from ..fault import Fault

FAULTS = (
    Fault(
        name="ring: a rank sees what comes after it",
        module="ring",
        before="sight._replace(right=None) if source < rank else None",
        after="sight._replace(right=None)",
        wrong="A causal rank also sees the shards after its own.",
    ),
    Fault(
        name="ring: the stretches stand in the wrong order",
        module="ring",
        before="sight._replace(right=None) if source < rank else None",
        after="sight._replace(right=None) if source > rank else None",
        wrong="A causal rank sees the later shards, not the earlier ones.",
    ),
    Fault(
        name="ring: it turns the other way",
        module="ring",
        before="    return held[-1:] + held[:-1]\n",
        after="    return held[1:] + held[:1]\n",
        wrong=(
            "A rank takes the keys of the next rank for those of the one "
            "before."
        ),
    ),
    Fault(
        name="ring: its own stretch without a triangle",
        module="ring",
        before="""\
    if sight.right is None or source == rank:
        return sight
""",
        after="""\
    if sight.right is None or source == rank:
        return sight._replace(right=None)
""",
        wrong="Inside its own shard, each query sees the positions after it.",
    ),
    Fault(
        name="ring: the last stretch alone counts",
        module="ring",
        before="                results[rank] = merge(results[rank], part)\n",
        after="                results[rank] = part\n",
        wrong="Each shard's result replaces those of the shards before.",
    ),
    Fault(
        name="ring: a key learns from one rank",
        module="ring",
        kind="gradient",
        before="d_key + parts[1], d_value + parts[2])",
        after="parts[1], d_value + parts[2])",
        wrong=(
            "Each rank overwrites the gradient that the one before has "
            "added to."
        ),
    ),
    Fault(
        name="ring: a query learns from one stretch",
        module="ring",
        kind="gradient",
        before="d_query[rank] = d_query[rank] + parts[0]",
        after="d_query[rank] = parts[0]",
        wrong=(
            "Each shard overwrites the gradient that the one before has "
            "added to."
        ),
    ),
    Fault(
        name="ring: the weights of a stretch alone",
        module="ring",
        kind="gradient",
        before="    row_max = part.log_sum_exp[..., None]\n",
        after="    row_max = part.log_sum_exp[..., None] - 0.1\n",
        wrong=(
            "The weights are too large by e^0.1, as if lse were not that "
            "of all keys."
        ),
    ),
    Fault(
        name="ring: the own keys are passed on again",
        module="ring",
        side="torch",
        before="""\
        arriving = None if last else ring.pass_on((key, value))
        source = (ring.rank - step) % ring.size
        seen = visibility_between(sight, ring.rank, source)
        if seen is not None:
            made""",
        after="""\
        arriving = None if last else ring.pass_on(shard[1:])
        source = (ring.rank - step) % ring.size
        seen = visibility_between(sight, ring.rank, source)
        if seen is not None:
            made""",
        wrong=(
            "With three or more ranks, some keys come twice and others never."
        ),
    ),
    Fault(
        name="ring: gradients do not come home",
        module="ring",
        side="torch",
        kind="gradient",
        before="""\
        d_key, d_value = ring.pass_on((d_key, d_value)).wait()
""",
        after="""\
        if not last:
            d_key, d_value = ring.pass_on((d_key, d_value)).wait()
""",
        wrong=(
            "The last turn is left out, so each rank ends with another's "
            "gradients."
        ),
    ),
    Fault(
        name="ring: counted from the next rank",
        module="ring",
        side="torch",
        before="""\
        arriving = None if last else ring.pass_on((key, value))
        source = (ring.rank - step) % ring.size
        seen = visibility_between(sight, ring.rank, source)
        if seen is not None:
            made""",
        after="""\
        arriving = None if last else ring.pass_on((key, value))
        source = (ring.rank + step) % ring.size
        seen = visibility_between(sight, ring.rank, source)
        if seen is not None:
            made""",
        wrong="The keys of the rank before are taken for those of the next.",
    ),
)
