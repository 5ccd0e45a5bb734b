"""The card: conventions are told from mistakes, on made-up libraries."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import numpy_impl
from attention_twice.console import quiet
from attention_twice.words import translations
from parity_tests.cases.table import BY_NAME, CASES
from parity_tests.libraries import judged
from parity_tests.libraries.adapters import (
    MODULES,
    Asked,
    Lacks,
    installed,
    without,
)
from parity_tests.libraries.ask import libraries as command
from parity_tests.libraries.card import Card
from parity_tests.libraries.judged import Cell, probed
from parity_tests.libraries.page import write_pages
from parity_tests.libraries.probes import (
    CONTRACT,
    LACKS,
    OTHER,
    PROBES,
    REFUSED,
    WRONG,
)

pytestmark = pytest.mark.ports
DOCS = Path(__file__).parents[3] / "docs"
Attention = Callable[[Asked], Any]


def contract(asked: Asked) -> Any:
    """Return what the contract says, by numpy_impl."""
    if asked.bfloat16:
        raise Lacks("bfloat16")
    return numpy_impl.scaled_dot_product_attention(
        asked.query,
        asked.key,
        asked.value,
        asked.attn_mask,
        is_causal=asked.is_causal,
        scale=asked.scale,
        enable_gqa=asked.groups,
        window=asked.window,
        soft_cap=asked.soft_cap,
    )


def lower_right(asked: Asked) -> Any:
    if not asked.is_causal:
        return contract(asked)
    L, S = asked.query.shape[-2], asked.key.shape[-2]
    corner = numpy_impl.masks.causal_mask(L, S, "lower_right")
    mask = judged.forbidding(asked.attn_mask, corner)
    return contract(asked._replace(is_causal=False, attn_mask=mask))


def mean_of_the_dead(asked: Asked) -> Any:
    output = contract(asked)
    if asked.attn_mask is None:
        return output
    mask = asked.attn_mask
    seen = mask if mask.dtype == bool else mask > -np.inf
    dead = ~seen.any(axis=-1, keepdims=True)
    mean = asked.value.mean(axis=-2, keepdims=True)
    return np.where(dead, mean, output).astype(output.dtype)


def other_polarity(asked: Asked) -> Any:
    mask = asked.attn_mask
    if mask is not None and mask.dtype == bool:
        return contract(asked._replace(attn_mask=~mask))
    return contract(asked)


def causal_without_mask(asked: Asked) -> Any:
    mask = None if asked.is_causal else asked.attn_mask
    return contract(asked._replace(attn_mask=mask))


def tiled_heads(asked: Asked) -> Any:
    repeats = asked.query.shape[-3] // max(asked.key.shape[-3], 1)
    key, value = (
        np.tile(a, (1, repeats, 1, 1)) for a in (asked.key, asked.value)
    )
    return contract(asked._replace(key=key, value=value))


def in_float32(asked: Asked) -> Any:
    query, key, value = (a.astype(np.float32) for a in asked[:3])
    output = contract(asked._replace(query=query, key=key, value=value))
    return output.astype(asked.query.dtype)


def no_masks(asked: Asked) -> Any:
    without(asked, "attn_mask")
    return contract(asked)


def breaks(asked: Asked) -> Any:
    raise RuntimeError("not today")


# What a library does, a probe that shows it, what that says; a case, and
# what that is.
MADE_UP: list[tuple[Attention, str, str, str, str, str]] = [
    (contract, "mask polarity", CONTRACT, "", "causal", CONTRACT),
    (
        lower_right,
        "causal corner, L 1, S 4",
        OTHER,
        "lower right",
        "L 1, S 7, causal",
        OTHER,
    ),
    (
        mean_of_the_dead,
        "nothing to see, -inf",
        OTHER,
        "mean of all values",
        "bool mask, dead row",
        OTHER,
    ),
    (
        other_polarity,
        "mask polarity",
        OTHER,
        "True ignores",
        "bool mask (5, 7)",
        WRONG,
    ),
    (
        causal_without_mask,
        "mask with causal",
        WRONG,
        "mask is dropped",
        "mask + causal",
        WRONG,
    ),
    (
        tiled_heads,
        "H 4 over G 2",
        WRONG,
        "head h reads h % 2",
        "3 groups of heads",
        WRONG,
    ),
    (in_float32, "no keys", CONTRACT, "0", "float64 plain", WRONG),
    (
        no_masks,
        "mask polarity",
        LACKS,
        LACKS,
        "bool mask (5, 7)",
        LACKS,
    ),
    (breaks, "mask polarity", REFUSED, REFUSED, "rank 4", REFUSED),
]


def library(attention: Attention) -> Any:
    return SimpleNamespace(attention=attention)


@pytest.mark.parametrize(
    ("attention", "name", "kind", "says", "case", "result"),
    MADE_UP,
    ids=[row[0].__name__ for row in MADE_UP],
)
def test_conventions_are_told_from_mistakes(
    attention: Attention,
    name: str,
    kind: str,
    says: str,
    case: str,
    result: str,
) -> None:
    made_up = library(attention)
    cells = {str(probe): probed(made_up, probe) for probe in PROBES}
    assert cells[name].kind == kind, cells[name]
    assert says in cells[name].says
    with quiet():
        made = judged.tried(made_up, BY_NAME[case])
    assert made.kind == result, made


def test_the_contract_is_right_throughout() -> None:
    made_up = library(contract)
    for probe in PROBES:
        assert probed(made_up, probe).kind == CONTRACT, str(probe)
    with quiet():
        made = [(c, judged.tried(made_up, c)) for c in CASES[::3]]
    assert {m.kind for _, m in made} == {CONTRACT, LACKS}
    assert all(m.kind == CONTRACT or m.says for _, m in made)


def test_float64_in_float32_is_said() -> None:
    result = judged.tried(library(in_float32), BY_NAME["float64 plain"])
    assert result.says == "float64 with the error of float32"


def test_every_adapter_is_there_and_torchs_are_installed() -> None:
    names = {module.__name__.rpartition(".")[2] for module in installed()}
    assert {"torch_math", "torch_flash"} <= names <= set(MODULES)


def test_every_word_of_the_card_is_there_in_chinese() -> None:
    chinese = translations("zh-Hant").gettext
    for probe in PROBES:
        words = {str(probe), *(r.says for r in probe.readings)} - {"0", "NaN"}
        for word in words:
            assert chinese(word) != word, word


def test_pages_are_rewritten_between_their_marks(tmp_path: Path) -> None:
    cells = {str(probe): Cell("0", CONTRACT) for probe in PROBES}
    cells["mask polarity"] = Cell("True ignores", OTHER)
    results = {c.name: judged.Result(CONTRACT, share=0.5) for c in CASES}
    card = Card("made up", "1.0", "B, H, T, D", cells, results)
    docs = tmp_path / "docs"
    for language in ("en", "zh_Hant"):
        (docs / language).mkdir(parents=True)
        page = DOCS / language / "libraries.md"
        shutil.copy(page, docs / language)
    write_pages(docs, [card])
    for language, word in (("en", "True ignores"), ("zh_Hant", "看不到")):
        text = (docs / language / "libraries.md").read_text(encoding="utf-8")
        assert "| made up 1.0 |" in text
        assert f"*{word}" in text or f"{word}*" in text
        assert "torch" not in text.split("<!-- card -->")[1].split("<!--")[0]


def test_the_command_names_what_is_installed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert command(["nothing"]) == 2
    assert "torch_math" in capsys.readouterr().err
