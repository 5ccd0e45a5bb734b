"""The KV cache: the keys and values of the past are kept.

Without a cache every decoding step computes the keys and values of the
whole past again; with one it computes those of the new tokens only. The new
queries see all keys in the cache and, of the new keys, those up to their
own position: the causal triangle in the lower-right corner.
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
    to the L positions after those in the cache, and are added to it.
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

    Every new query sees the whole past, and of the new keys query i sees
    0..i: neither part needs the lower-right corner.
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
