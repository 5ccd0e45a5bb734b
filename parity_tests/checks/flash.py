"""flash: every case in tiles of a few keys gives the same as untiled."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..cases.recipe import Case, build
from ..cases.table import BY_NAME
from ..judges import definition
from ..judges import flash_attention as judged
from ..judges.control import controlled, trivial
from ..judges.one_over_seen import STRUCTURAL, within_one_over_seen
from ..judges.small_tiles import (
    GRADIENT,
    MODULE,
    TILED,
    arguments,
    errors,
    forward,
    gradients,
    spread,
    tiles,
)
from ..suite.register import Trial, check
from ..suite.versions import Missing

PATH = f"{MODULE}.flash_attention"


@check("flash", "definition", TILED)
def output_and_log_sum_exp_are_the_definitions(trial: Trial) -> None:
    """Compare with the scalar loops."""
    judged.within_definition(trial)


@check("flash", "definition", GRADIENT)
def gradients_are_the_definitions(trial: Trial) -> None:
    """Compare with the derivatives of the scalar loops."""
    judged.gradients_within_definition(trial)


def plain(case: Case) -> bool:
    """Return whether a case has query, key and value, and no option."""
    lead = {shape[:-2] for shape in (case.query, case.key, case.value)}
    shapes = (case.query, case.key, case.value)
    bare = Case(case.name, *shapes, case.dtype, case.fill)
    half = case.dtype in ("float16", "bfloat16")
    alike = len(lead) == 1 and case.query[-1] > 0
    return replace(case, gradient=True) == bare and alike and not half


@check("flash", "definition", [case for case in TILED if plain(case)])
def online_softmax_alone_is_the_definitions(trial: Trial) -> None:
    """The algorithm without masks, groups and half types."""
    version = trial.version
    for case in controlled(trial.case):
        inputs = build(case)
        arrays = [
            version.array(getattr(inputs, name))
            for name in ("query", "key", "value")
        ]
        with tiles(version):
            result = version.function("flash.online_attention")(*arrays)
        exact, bound = definition.forward(case), errors(case)
        for name, got in version.numpy(result).items():
            nearest, missing = exact[name]
            error = spread(bound[name], nearest)
            trial.within(name, got, nearest, error, missing)


FEW = [
    case for case in GRADIENT if case.dtype != "bfloat16" and not trivial(case)
][::7]


@check("flash", "each other", FEW)
def both_versions_agree(trial: Trial) -> None:
    """Compare result and gradients with the other version's."""
    case, error = trial.case, errors(trial.case)
    others = forward(trial.other, case)
    for name, got in forward(trial.version, case).items():
        trial.within(name, got, others[name], 2 * spread(error[name], got))
    others = gradients(trial.other, case)
    for name, got in gradients(trial.version, case).items():
        bound = 2 * spread(error[f"gradient of {name}"], got)
        trial.within(f"gradient of {name}", got, others[name], bound)


@check("flash", "closed form", STRUCTURAL)
def the_output_is_one_over_the_keys_seen(trial: Trial) -> None:
    """Scores 0, value the identity: 1/n on the keys seen, to the bit."""
    within_one_over_seen(trial, forward(trial.version, trial.case))


@check("flash", "closed form", judged.LOWER)
def the_triangle_lies_in_the_corner_that_is_asked_for(trial: Trial) -> None:
    """In the lower right the last query sees the last key."""
    judged.both_corners(trial)


@check("flash", "closed form", ("float32", "float64"))
def the_first_tiles_may_be_empty(trial: Trial) -> None:
    """Keys 0 to 5 forbidden to all, 6 and 7 seen: the mean of those two."""
    judged.last_keys_alone(trial)


@check("flash", "closed form", (1e4, -1e4))
def the_maximum_may_come_late_or_early(trial: Trial) -> None:
    """Scores rise or fall by 10⁴ a key: the largest gets all the weight."""
    judged.greatest_alone(trial)


PATH = f"{MODULE}.flash_attention"
SIZES = [(1, 1), (2, 3), (5, 7), (4, 128), (512, 128)]


@check("flash", "law", SIZES)
def the_size_of_the_tiles_does_not_matter(trial: Trial) -> None:
    """With all options at once, tiles of other sizes give the same."""
    case = BY_NAME["float64 everything"]
    case = replace(case, name="in tiles", dropout_p=0.0, dropout_mask=None)
    error = errors(case)
    wanted = forward(trial.version, case)
    with tiles(trial.version, *trial.case):
        result = trial.version.function(PATH)(**arguments(trial.version, case))
    for name, got in trial.version.numpy(result).items():
        # Tiles of one key are twice as many as the bound is made for.
        bound = 4 * spread(error[name], got)
        trial.within(name, got, wanted[name], bound)
        assert np.any(got != 0), f"{name} is 0"


@check("flash", "law", ("causal", "window", "mask", "lower right"))
def tiles_without_a_key_to_see_are_left_out(trial: Trial) -> None:
    """Of 8 × 8 tiles of one query and key, only visible ones are computed."""
    module: Any = trial.version.module("flash")
    options: dict[str, Any] = {"is_causal": True}
    expected = 36
    if trial.case == "window":
        options, expected = {"window": (1, 1)}, 22
    elif trial.case == "mask":
        mask = np.eye(8, dtype=bool)
        options, expected = {"attn_mask": trial.version.array(mask)}, 8
    elif trial.case == "lower right":
        options |= {"align": "lower_right"}
    counted: list[Any] = []
    if not hasattr(module, "apply_mask"):
        # Tiles are counted by the masks that they are put through.
        raise Missing("flash.apply_mask")
    before = module.apply_mask

    def counting(*given: Any) -> Any:
        counted.append(given)
        return before(*given)

    version = trial.version
    native = [version.array(np.eye(8)) for _ in range(3)]
    d = version.array(np.eye(8))
    # The backward pass makes each tile once more; by hand it begins with
    # the forward pass.
    more = 2 * expected if version.by_hand else expected
    module.apply_mask = counting
    try:
        with tiles(version, 1, 1):
            if not version.by_hand:
                native[0].requires_grad_()
            result = version.function(PATH)(*native, **options)
            there = len(counted)
            if version.by_hand:
                version.ask(f"{PATH}_backward", d, *native, **options)
            else:
                result.output.backward(d)
    finally:
        module.apply_mask = before
    assert there == expected, f"{there} tiles, not {expected}"
    back = len(counted) - there
    assert back == more, f"{back} tiles in the backward pass, not {more}"
    sums = trial.version.numpy(result.output).sum(axis=-1)
    trial.within("sums", sums, np.ones(8), 16 * np.spacing(1.0))


@check("flash", "SDPA", (False, True))
def a_long_sequence_is_what_sdpa_gives(trial: Trial) -> None:
    """T = 700 with the default tiles: output and gradients."""
    judged.long_as_sdpa(trial)


@check("flash", "law", ("align", "query", "window", "attn_mask"))
def bad_arguments_are_refused_by_name(trial: Trial) -> None:
    """As scaled_dot_product_attention does, and an unknown corner."""
    judged.refused_by_name(trial)
