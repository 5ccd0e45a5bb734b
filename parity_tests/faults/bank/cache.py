"""Faults of the KV cache."""

from __future__ import annotations

from ..fault import Fault

FAULTS = (
    Fault(
        name="a cache in the upper-left corner",
        module="cache",
        before=(
            'mask = causal_mask(query.shape[-2], cache.length, "lower_right")'
        ),
        after="mask = causal_mask(query.shape[-2], cache.length)",
        wrong="The new queries see only the first keys of the cache.",
        report="onnx/onnx#7297",
    ),
    Fault(
        name="the mask of a cache is made elsewhere",
        module="cache",
        side="torch",
        before="    mask = to_device_of(mask, query)\n",
        after="",
        wrong=(
            "With keys on a GPU the mask is on the CPU, and torch raises "
            "an error."
        ),
    ),
    Fault(
        name="a cache that forgets its past",
        module="cache",
        before="""\
        self.key, self.value = key, value
        return""",
        after="""\
        self.key, self.value = key[..., -1:, :], value[..., -1:, :]
        return""",
        wrong="Only the last position stays in the cache.",
    ),
    Fault(
        name="a cache put together in the wrong order",
        module="cache",
        before="key = np.concat([self.key, key], axis=-2)",
        after="key = np.concat([key, self.key], axis=-2)",
        wrong="New keys come before old ones, but new values after old ones.",
    ),
    Fault(
        name="a cache without its triangle",
        module="cache",
        before="query, all_keys, all_values, mask, enable_gqa=True",
        after="query, all_keys, all_values, None, enable_gqa=True",
        wrong="Inside a chunk, each query sees the positions after it.",
        report="microsoft/onnxruntime#28904",
    ),
    Fault(
        name="the past is not merged",
        module="cache",
        before="merge(Partial(past.output, past.log_sum_exp), result)",
        after="Partial(past.output + result.output, result.log_sum_exp)",
        wrong=(
            "The outputs of past and present are added, though the "
            "weights of each sum to 1."
        ),
    ),
    Fault(
        name="new queries see all new keys",
        module="cache",
        before=("Options(is_causal=True, enable_gqa=True)"),
        after="Options(enable_gqa=True)",
        wrong="Inside a chunk, each query sees the positions after it.",
    ),
)
