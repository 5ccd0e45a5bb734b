"""cache: decoding step by step gives what one pass gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..judges import bounds
from ..suite.register import Trial, check


@dataclass(frozen=True)
class Decoding:
    """The chunks in which a sequence arrives."""

    name: str
    chunks: tuple[int, ...]
    G: int = 6
    rotary: str = ""
    dtype: str = "float64"

    def __str__(self) -> str:
        """Return the name."""
        return self.name


DECODINGS = [
    Decoding("one by one", (1,) * 7),
    Decoding("in one", (7,)),
    Decoding("in chunks", (3, 1, 2, 1)),
    Decoding("a prompt and then one by one", (4, 1, 1, 1)),
    Decoding("an empty chunk", (2, 0, 5)),
    Decoding("grouped heads", (3, 1, 3), G=3),
    Decoding("one key head", (1, 6), G=1),
    Decoding("in float32", (3, 1, 3), dtype="float32"),
    Decoding("in float16", (3, 1, 3), dtype="float16"),
    Decoding("rotary halves", (2, 1, 4), rotary="positions.rotary_half"),
    Decoding(
        "rotary neighbours, grouped",
        (3, 1, 1, 2),
        G=2,
        rotary="positions.rotary_interleaved",
    ),
]
H, D, E = 6, 4, 3


@check("cache", "law", DECODINGS)
def chunks_give_what_one_pass_gives(trial: Trial) -> None:
    """The same rows, within the rounding of both."""
    decode(trial, "cache.cached_attention")


@check("cache", "closed form", (1, 2, 4))
def a_cache_stands_where_its_keys_do(trial: Trial) -> None:
    """Ones give ones, exactly, and the mask is created on query's device.

    torch has a device without numbers, "meta", which is not the default.
    """
    function = trial.version.function("cache.cached_attention")
    new = trial.version.package.cache.Cache
    native = [
        trial.version.array(np.ones((H, trial.case, width)))
        for width in (D, D, E)
    ]
    result = trial.version.numpy(function(*native, new()))
    trial.within("output", result, np.ones((H, trial.case, E)))
    if not trial.version.by_hand:
        native = [array.to("meta") for array in native]
        result = function(*native, new())
        assert result.device == native[0].device, result.device


@check("cache", "law", DECODINGS)
def merged_chunks_give_what_one_pass_gives(trial: Trial) -> None:
    """The same by two parts, the past and the new, that are merged."""
    decode(trial, "cache.merged_attention")


def decode(trial: Trial, path: str) -> None:
    """Compare a sequence that comes in chunks with one pass."""
    case: Decoding = trial.case
    T = sum(case.chunks)
    rng = np.random.default_rng(T + case.G)
    query, key, value = (
        rng.standard_normal(shape).astype(case.dtype)
        for shape in ((2, H, T, D), (2, case.G, T, D), (2, case.G, T, E))
    )
    version = trial.version
    cache = version.function("cache.Cache")()
    attend = version.function(path)
    outputs, start = [], 0
    for size in case.chunks:
        rows = slice(start, start + size)
        arrays = [a[..., rows, :] for a in (query, key, value)]
        native = [version.array(a) for a in arrays]
        if case.rotary:
            turn = version.function(case.rotary)
            native[:2] = [turn(a, cache.length) for a in native[:2]]
        outputs.append(version.numpy(attend(*native, cache)))
        start += size
        assert cache.length == start, f"{cache.length} are kept, not {start}"
    if case.rotary:
        query, key = (version.call(case.rotary, a) for a in (query, key))
    path = "sdpa.scaled_dot_product_attention"
    whole = version.call(
        path, query, key, value, is_causal=True, enable_gqa=True
    )
    output = np.concat(outputs, axis=-2)
    assert output.dtype == case.dtype, f"the output is {output.dtype}"
    for kept in (cache.key, cache.value):
        assert version.numpy(kept).dtype == case.dtype, kept.dtype
    half = case.dtype == "float16"
    error = bounds.gamma(64, "float32" if half else case.dtype)
    # Each of the two is rounded once to half precision, if to that.
    error = error + (2.0**-10 if half else 0.0)
    error = error * np.abs(value).max()
    trial.within("output", output, whole, error)
    assert whole.any(), "the output is 0"


PATHS = ("cache.cached_attention", "cache.merged_attention")


@check("cache", "closed form", PATHS)
def new_queries_see_all_that_is_kept(trial: Trial) -> None:
    """Past 2, new 2, scores 0: row 0 sees 3 keys and row 1 sees 4."""
    version = trial.version
    cache = version.function("cache.Cache")()
    assert cache.length == 0
    zeros, past, new = (
        np.asarray(column)[:, None]
        for column in ([0.0, 0.0], [2.0, 4.0], [6.0, 8.0])
    )
    attend = version.function(trial.case)
    outputs: list[Any] = []
    for value in (past, new):
        native = map(version.array, (zeros, zeros, value))
        outputs.append(version.numpy(attend(*native, cache)))
    assert outputs[0].dtype == np.float64, outputs[0].dtype
    trial.within("past", outputs[0], [[2], [3]])
    trial.within("new", outputs[1], [[4], [5]], 4 * np.spacing(4.0))
    trial.within("values", version.numpy(cache.value)[:, 0], [2, 4, 6, 8])


@check("cache", "each other", PATHS)
def what_is_kept_is_learned_from(trial: Trial) -> None:
    """A later step gives gradients to keys and values in the cache.

    Where gradients are written by hand they are those of `sdpa`: there the
    cache is compared with one pass only.
    """
    version = trial.version
    rng = np.random.default_rng(43)
    arrays = [rng.standard_normal((H, 5, n)) for n in (D, D, E)]
    d = rng.standard_normal((H, 2, E))
    mask = np.tri(2, 5, 3, dtype=bool)
    query = arrays[0][:, 3:]
    if version.by_hand:
        cache = version.function("cache.Cache")()
        append = cache.append
        append(*(version.array(a[:, :3]) for a in arrays[1:]))
        kept = append(*(version.array(a[:, 3:]) for a in arrays[1:]))
        path = "sdpa.scaled_dot_product_attention_backward"
        given = (query, *map(version.numpy, kept), mask)
        gradients = version.call(path, d, *given)
        got = [gradients["key"], gradients["value"]]
    else:
        leaves = [version.array(a).requires_grad_() for a in arrays]
        cache = version.function("cache.Cache")()
        attend = version.function(trial.case)
        attend(*(leaf[:, :3] for leaf in leaves), cache)
        output = attend(*(leaf[:, 3:] for leaf in leaves), cache)
        output.backward(version.array(d))
        got = [version.numpy(leaf.grad) for leaf in leaves[1:]]
    weights = np.where(mask, query @ arrays[1].mT / np.sqrt(D), -np.inf)
    weights = np.exp(weights)
    weights /= weights.sum(axis=-1, keepdims=True)
    d_weights = d @ arrays[2].mT
    inner = (weights * d_weights).sum(axis=-1, keepdims=True)
    d_scores = weights * (d_weights - inner) / np.sqrt(D)
    expected = [d_scores.mT @ query, weights.mT @ d]
    for name, gradient, must in zip(
        ("key", "value"), got, expected, strict=True
    ):
        error = bounds.gamma(256, np.float64) * np.abs(must).max()
        trial.within(f"gradient of {name}", gradient, must, error)


@check("cache", "each other", DECODINGS[:3])
def both_versions_keep_the_same(trial: Trial) -> None:
    """The cache holds the keys and values in order; the outputs agree."""
    case: Decoding = trial.case
    results = []
    for version in (trial.version, trial.other):
        rng = np.random.default_rng(5)
        cache = version.function("cache.Cache")()
        attend = version.function("cache.cached_attention")
        for size in case.chunks:
            arrays = (rng.standard_normal((H, size, D)) for _ in range(3))
            output = attend(*map(version.array, arrays), cache)
        kept = (cache.key, cache.value, output)
        results.append([version.numpy(array) for array in kept])
    names = ("keys", "values", "last output")
    for name, got, other in zip(names, *results, strict=True):
        error = bounds.gamma(64, np.float64) * np.abs(other).max()
        exact = name != "last output"
        trial.within(name, got, other, 0.0 if exact else error)
