"""The key/value cache: what was computed for the past is kept.

A causal layer that continues a text sees the same keys and values again and
again, and one row more each step. Kept, each step costs one row: the new
queries see all that is kept and, among the new ones, what is before them.
That is the triangle in its lower-right corner, the last query at the last
key.
"""

from __future__ import annotations

import torch

from .arguments import Options
from .arrays import Array, cast, to_device_of
from .masks import causal_mask
from .merge import Partial, merge
from .sdpa import attention_steps, scaled_dot_product_attention, upcast


class Cache:
    """The keys, (..., G, S, D), and values, (..., G, S, E), seen so far."""

    def __init__(self) -> None:
        self.key: Array | None = None
        self.value: Array | None = None

    @property
    def length(self) -> int:
        """Return how many positions are kept: the next one's number."""
        return 0 if self.key is None else self.key.shape[-2]

    def append(self, key: Array, value: Array) -> tuple[Array, Array]:
        """Keep the keys and values of new positions; return all of them."""
        if self.key is not None and self.value is not None:
            key = torch.cat([self.key, key], dim=-2)
            value = torch.cat([self.value, value], dim=-2)
        self.key, self.value = key, value
        return key, value


def cached_attention(
    query: Array, key: Array, value: Array, cache: Cache
) -> Array:
    """Return the causal attention of new queries: (..., H, L, E).

    query (..., H, L, D), key (..., G, L, D) and value (..., G, L, E) belong
    to the L positions after those in the cache, which keeps them.
    """
    all_keys, all_values = cache.append(key, value)
    mask = causal_mask(query.shape[-2], cache.length, "lower_right")
    mask = to_device_of(mask, query)
    return scaled_dot_product_attention(
        query, all_keys, all_values, mask, enable_gqa=True
    )


def merged_attention(
    query: Array, key: Array, value: Array, cache: Cache
) -> Array:
    """Return the same as cached_attention, as two parts that are merged.

    Of the past every new query sees everything, and among the new ones
    query i sees the keys 0..i: neither part needs the other corner.
    """
    new_query, new_key, new_value = map(upcast, (query, key, value))
    present = attention_steps(
        new_query,
        new_key,
        new_value,
        Options(is_causal=True, enable_gqa=True),
    )
    result = Partial(present.output, present.log_sum_exp)
    if cache.key is not None and cache.value is not None:
        past_key, past_value = upcast(cache.key), upcast(cache.value)
        past = attention_steps(
            new_query, past_key, past_value, Options(enable_gqa=True)
        )
        result = merge(Partial(past.output, past.log_sum_exp), result)
    cache.append(key, value)
    return cast(result.output, query)
