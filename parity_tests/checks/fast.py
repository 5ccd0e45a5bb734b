"""fast: the results of flash, with every shortcut and number of threads."""

from __future__ import annotations

import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch.nn.functional import scaled_dot_product_attention

from ..cases.recipe import Case, Mask, build
from ..judges import attention_bounds, bounds, small_tiles
from ..judges import flash_attention as judged
from ..judges.one_over_seen import STRUCTURAL, within_one_over_seen
from ..suite.register import Trial, check

MODULE = "fast"
PATH = f"{MODULE}.flash_attention"
# The proof that no maximum is needed is always tried, and never.
WAYS: tuple[dict[str, Any], ...] = (
    {"WORTH": 0, "THREADS": 1},
    {"WORTH": np.inf, "THREADS": 1},
)


@check("fast", "definition", small_tiles.TILED)
def output_and_log_sum_exp_are_the_definitions(trial: Trial) -> None:
    """Compare with the scalar loops, both ways."""
    for way in WAYS:
        judged.within_definition(trial, MODULE, **way)


@check("fast", "definition", small_tiles.GRADIENT)
def gradients_are_the_definitions(trial: Trial) -> None:
    """Compare with the derivatives of the scalar loops, one way or other."""
    way = WAYS[zlib.crc32(str(trial.case).encode()) % 2]
    judged.gradients_within_definition(trial, MODULE, **way)


@check("fast", "closed form", STRUCTURAL)
def the_output_is_one_over_the_keys_seen(trial: Trial) -> None:
    """Scores 0, value the identity: 1/n on the keys seen, to the bit."""
    way = WAYS[zlib.crc32(str(trial.case).encode()) % 2]
    result = small_tiles.forward(trial.version, trial.case, MODULE, **way)
    within_one_over_seen(trial, result)


@check("fast", "closed form", judged.LOWER)
def the_triangle_lies_in_the_corner_that_is_asked_for(trial: Trial) -> None:
    """In the lower right the last query sees the last key."""
    for way in WAYS:
        judged.both_corners(trial, MODULE, **way)


@check("fast", "closed form", ("float32", "float64"))
def the_first_tiles_may_be_empty(trial: Trial) -> None:
    """Keys 0 to 5 forbidden to all, 6 and 7 seen: the mean of those two."""
    for way in WAYS:
        judged.last_keys_alone(trial, MODULE, **way)


@check("fast", "closed form", (1e4, -1e4))
def the_maximum_may_come_late_or_early(trial: Trial) -> None:
    """Scores rise or fall by 10⁴ a key: the largest gets all the weight."""
    for way in WAYS:
        judged.greatest_alone(trial, MODULE, **way)


@check("fast", "law", ("align", "query", "window", "attn_mask"))
def bad_arguments_are_refused_by_name(trial: Trial) -> None:
    """As flash does."""
    judged.refused_by_name(trial, MODULE)


@check("fast", "SDPA", (False, True))
def a_long_sequence_is_what_sdpa_gives(trial: Trial) -> None:
    """T = 700 with the default tiles: output and gradients."""
    judged.long_as_sdpa(trial, MODULE)


# Heads in groups, batches, a mask: more places than one task has.
SHARED = Case(
    "shared out",
    (2, 6, 9, 4),
    (2, 3, 11, 4),
    (2, 3, 11, 5),
    mask=Mask("bool", (2, 1, 9, 11)),
    is_causal=True,
    enable_gqa=True,
)
THREADS = (1, 2, 3, 16)


@check("fast", "law", THREADS)
def threads_change_no_bit(trial: Trial) -> None:
    """With any number of threads output and gradients are the same."""
    results = []
    for threads in (1, trial.case):
        constants = {"WORTH": 0, "THREADS": threads, "SHARED": 0}
        result = small_tiles.forward(
            trial.version, SHARED, MODULE, **constants
        )
        back = small_tiles.gradients(
            trial.version, SHARED, MODULE, **constants
        )
        results.append({**result, **{f"d {n}": a for n, a in back.items()}})
    for name, got in results[1].items():
        trial.within(name, got, results[0][name])
        assert np.any(got != 0), f"{name} is 0"


# What a score may be without a maximum, and what must have one; the first
# number is that of every score in powers of 2.
STEEP = [29.0, 31.0, 120.0, 2000.0, -29.0, -31.0, -200.0]


@check("fast", "closed form", STEEP)
def no_power_overflows_or_vanishes(trial: Trial) -> None:
    """If all scores are equal, however large: the mean of the values.

    Whether the row maximum is left out only where the proof allows it shows
    in the log-sum-exp: it must be the score plus log S in both cases.
    """
    S, score = 8, trial.case * np.log(2.0)
    query = np.full((3, 1), score, dtype=np.float32)
    key = np.ones((S, 1), dtype=np.float32)
    value = np.float32(2.0) ** np.arange(S, dtype=np.float32)[:, None]
    for size in (1.0, 1e30, 1e-36):
        with small_tiles.tiles(trial.version, module=MODULE, WORTH=0):
            result = trial.call(PATH, query, key, np.float32(size) * value)
        expected = np.full((3, 1), size * value.mean())
        error = bounds.gamma(64, "float32") * np.abs(expected)
        trial.within("output", result["output"], expected, error)
        lse = np.full(3, score + np.log(S))
        error = bounds.gamma(16, "float32") * (np.abs(lse) + 1)
        trial.within("log_sum_exp", result["log_sum_exp"], lse, error)


@check("fast", "law", ("query", "key", "value", "-inf", "upstream"))
def what_no_norm_bounds_is_not_trusted(trial: Trial) -> None:
    """A visible NaN gives NaN, and huge scores give the right result."""
    rng = np.random.default_rng(41)
    arrays = {
        n: rng.standard_normal((6, 4)) for n in ("query", "key", "value")
    }
    if trial.case in arrays:
        arrays[trial.case][2, 1] = np.nan
    if trial.case == "-inf":
        arrays["key"][2, :] = [-np.inf, 0, 0, 0]
        arrays["query"][:, 0] = 1.0
    d = rng.standard_normal((6, 4))
    if trial.case == "upstream":
        d[3, 2] = 1e300
    native = {n: trial.version.array(a) for n, a in arrays.items()}
    upstream = trial.version.array(d)
    results = []
    for module, more in (("flash", {}), (MODULE, {"WORTH": 0})):
        with (
            np.errstate(all="ignore"),
            small_tiles.tiles(trial.version, module=module, **more),
        ):
            function = trial.version.function(f"{module}.flash_attention")
            back = trial.version.function(f"{module}.flash_attention_backward")
            result = trial.version.numpy(function(**native))
            result |= trial.version.numpy(back(upstream, **native))
        results.append(result)
    for name, got in results[1].items():
        must = results[0][name]
        size = np.abs(np.where(np.isnan(must), 0, must))
        error = bounds.gamma(256, "float64") * (1 + size.max())
        trial.within(name, got, must, error)


@check("fast", "each other", ("float32", "float64"))
def a_long_sequence_is_what_flash_gives(trial: Trial) -> None:
    """Heads in groups, a window, tiles of every kind: PyTorch's flash."""
    shapes = ((4, 600, 8), (2, 1100, 8), (2, 1100, 8))
    case = Case(
        "long",
        *shapes,
        window=(900, 100),
        enable_gqa=True,
        dtype=trial.case,
    )
    inputs = build(case)
    silent = np.zeros_like(inputs.d_log_sum_exp)
    quiet = attention_bounds.with_upstream(inputs, inputs.d_output, silent)
    parts = -(-1100 // 128) + 3
    with np.errstate(all="ignore"):
        error = attention_bounds.in_tiles(quiet, trial.case, parts)
    named = {n: getattr(inputs, n) for n in ("query", "key", "value")}
    options = {"window": (900, 100), "enable_gqa": True}
    got = trial.call(PATH, **named, **options)
    leaves = {n: torch.tensor(a, requires_grad=True) for n, a in named.items()}
    function = trial.other.function("flash.flash_attention")
    other = function(**leaves, **options)
    for name in ("output", "log_sum_exp"):
        must = trial.other.numpy(getattr(other, name))
        bound = 2 * small_tiles.spread(error[name].error, must)
        trial.within(name, got[name], must, bound)
    other.output.backward(torch.tensor(inputs.d_output))
    gradients = trial.call(
        f"{PATH}_backward", inputs.d_output, **named, **options
    )
    for name, leaf in leaves.items():
        must = trial.other.numpy(leaf.grad)
        bound = 2 * small_tiles.spread(
            error[f"gradient of {name}"].error, must
        )
        trial.within(f"gradient of {name}", gradients[name], must, bound)


@check("fast", "SDPA", ("float32", "float64"))
def small_heads_are_taken_together(trial: Trial) -> None:
    """Four heads in one tile: the output and gradients of SDPA."""
    few = (2, 2, 40, 8)
    case = Case("small", (2, 8, 40, 8), few, few, dtype=trial.case)
    case = replace(case, enable_gqa=True, is_causal=True)
    inputs = build(case)
    silent = np.zeros_like(inputs.d_log_sum_exp)
    quiet = attention_bounds.with_upstream(inputs, inputs.d_output, silent)
    with np.errstate(all="ignore"):
        error = attention_bounds.in_tiles(quiet, trial.case, 1)
    named = {n: getattr(inputs, n) for n in ("query", "key", "value")}
    leaves = {n: torch.tensor(a, requires_grad=True) for n, a in named.items()}
    query, key, value = leaves.values()
    witness = scaled_dot_product_attention(
        query, key, value, is_causal=True, enable_gqa=True
    )
    torch.autograd.backward(witness, torch.tensor(inputs.d_output))
    options = {"is_causal": True, "enable_gqa": True}
    got = trial.call(PATH, **named, **options)["output"]
    bound = 2 * small_tiles.spread(error["output"].error, got)
    trial.within("output", got, witness.detach().numpy(), bound)
    back = trial.call(f"{PATH}_backward", inputs.d_output, **named, **options)
    for name, leaf in leaves.items():
        assert leaf.grad is not None
        bound = 2 * small_tiles.spread(
            error[f"gradient of {name}"].error, back[name]
        )
        trial.within(name, back[name], leaf.grad.numpy(), bound)
