"""The page of the book about libraries, in both languages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..pages import header, rewrite, row
from ..suite.versions import ALL_DTYPES
from .card import Card
from .judged import Cell
from .probes import CONTRACT, KINDS, LACKS, OTHER, PROBES, REFUSED, WRONG

PAGE = "libraries"
MARKERS = ("card", "cases", "wrong", "calls")
# The words of the tables; the prose around them stands in the pages.
WORDS: dict[str, dict[str, str]] = {
    "en": {
        "probe": "what is asked",
        "layout": "layout",
        "right": "right is",
        "error": "largest error of what is right, as a share of its bound",
        CONTRACT: "as the contract",
        OTHER: "another convention",
        LACKS: "not offered",
        REFUSED: "refused with an error",
        WRONG: "wrong",
        "none": "Nothing.",
        "more": "and {} more",
    },
    "zh_Hant": {
        "probe": "問的是什麼",
        "layout": "軸的順序",
        "right": "正確的是",
        "error": "正確結果中最大的誤差，占其界限的比例",
        CONTRACT: "與介面約定相同",
        OTHER: "另一種慣例",
        LACKS: "沒有提供",
        REFUSED: "以錯誤拒絕",
        WRONG: "算錯",
        "none": "沒有。",
        "more": "另有 {} 個",
    },
}
# What cells say, in Chinese; what is not here is a number or a name.
CHINESE = {
    "mask polarity": "布林遮罩的極性",
    "causal corner, L 1, S 4": "因果遮罩的角落，L 1、S 4",
    "causal corner, L 4, S 2": "因果遮罩的角落，L 4、S 2",
    "nothing to see, boolean": "什麼都看不到的列，布林遮罩",
    "nothing to see, -inf": "什麼都看不到的列，−inf",
    "mask with causal": "遮罩加上 causal",
    "H 4 over G 2": "H 4 對 G 2",
    "NaN in a masked key": "被遮住的 key 是 NaN",
    "NaN in a masked value": "被遮住的 value 是 NaN",
    "no keys": "沒有 key",
    "5 keys, 6 values": "5 個 key，6 個 value",
    "negative scale": "負的 scale",
    "soft cap, -inf in the mask": "soft cap，遮罩裡有 −inf",
    "window (1, 0), not causal": "視窗 (1, 0)，不加 causal",
    "float16, q·k = 102 400": "float16，q·k = 102,400",
    "one key, at -60000": "唯一的 key，分數 −60000",
    "True attends": "True 表示看得到",
    "True ignores": "True 表示看不到",
    "added as 0 and 1": "當成 0 與 1 加上去",
    "upper left": "左上",
    "lower right": "右下",
    "lower right, 0 above": "右下，上方為 0",
    "lower right, NaN above": "右下，上方為 NaN",
    "lower right, mean above": "右下，上方為平均",
    "mean of all values": "全部 value 的平均",
    "both hold": "兩者都成立",
    "causal is dropped": "causal 被丟掉",
    "mask is dropped": "遮罩被丟掉",
    "head h reads h // 2": "head h 讀 h // 2",
    "head h reads h % 2": "head h 讀 h % 2",
    "kept out": "擋在外面",
    "leaks": "漏出來",
    "leaks, as 0 · NaN": "漏出來，因為 0 · NaN",
    "accepted": "照收",
    "taken": "照用",
    "sign is lost": "符號不見了",
    "cap before mask": "先 cap 再遮罩",
    "mask before cap": "先遮罩再 cap",
    "a radius": "半徑",
    "counts keys": "算 key 的個數",
    "sees the future": "看得到未來",
    "the mean": "平均",
    "overflows": "溢位",
    "found": "找得到",
    "lost": "不見了",
    "refused": "拒絕",
    "right": "正確",
    "float64 with the error of float32": "float64，誤差卻是 float32 的",
    "float results are float32": "結果是 float32",
    "half types are rounded on the way": "在中途捨入",
    "a row with nothing to see": "什麼都看不到的列",
}


def write_pages(docs: Path, cards: Sequence[Card]) -> None:
    """Write the tables into libraries.md of both languages."""
    rewrite(docs, PAGE, {lang: made(cards, lang) for lang in WORDS})


def made(cards: Sequence[Card], language: str) -> dict[str, list[str]]:
    """Return the lines for every marker of a page."""
    words = WORDS[language]
    return {
        "card": card_lines(cards, words, language),
        "cases": case_lines(cards, words),
        "wrong": wrongs(cards, words),
        "calls": calls(words, language),
    }


def card_lines(
    cards: Sequence[Card], words: dict[str, str], language: str
) -> list[str]:
    """Return the table of probes."""
    names = [f"{card.name} {card.version}" for card in cards]
    lines = header([words["probe"], *names])
    lines.append(row([words["layout"], *(card.layout for card in cards)]))
    for number, probe in enumerate(PROBES, 1):
        name = str(probe)
        link = f"[{told(name, language)}](#call-{number})"
        own = [shown(card.cells[name], language) for card in cards]
        lines.append(row([link, *own]))
    for dtype in ALL_DTYPES:
        own = [shown(card.of_dtype(dtype), language) for card in cards]
        lines.append(row([dtype, *own]))
    return lines


def case_lines(cards: Sequence[Card], words: dict[str, str]) -> list[str]:
    """Return the table of cases."""
    lines = header(["", *(card.name for card in cards)])
    for kind in KINDS:
        counts = (str(card.count(kind)) for card in cards)
        lines.append(row([words[kind], *counts]))
    shares = (f"{card.worst():.0%}" for card in cards)
    return [*lines, row([words["error"], *shares])]


def told(text: str, language: str) -> str:
    """Return a text of the card in a language."""
    return CHINESE.get(text, text) if language == "zh_Hant" else text


def shown(cell: Cell, language: str) -> str:
    """Return a cell, marked by what it is."""
    if cell.kind == LACKS:
        return "-"
    text = told(cell.says, language).replace("|", "/")
    marks = {WRONG: "**", OTHER: "*"}
    mark = marks.get(cell.kind, "")
    return f"{mark}{text}{mark}"


def calls(words: dict[str, str], language: str) -> list[str]:
    """Return the call behind each line, and what is right."""
    lines = []
    for number, probe in enumerate(PROBES, 1):
        asked = probe.asked
        parts = [
            f"query {listed(asked.query)}",
            f"key {listed(asked.key)}",
            f"value {listed(asked.value)}",
        ]
        if asked.attn_mask is not None:
            parts.append(f"attn_mask {asked.attn_mask[0, 0].tolist()}")
        for name in ("is_causal", "scale", "window", "soft_cap"):
            option = getattr(asked, name)
            if option not in (None, False):
                parts.append(f"{name} {option}")
        right = next(
            (r.output for r in probe.readings if r.kind == CONTRACT), None
        )
        result = told("refused", language) if right is None else f"{right}"
        name = told(str(probe), language)
        # A heading that every reader of Markdown makes the same name of.
        lines += [f"### Call {number}", "", f"{name}:", ""]
        lines += [f"- `{part}`" for part in parts]
        lines += [f"- → {words['right']} `{result}`", ""]
    return lines


def listed(array: NDArray[Any]) -> str:
    """Return an array's numbers, or its shape where they are many."""
    own, shape = array.tolist(), array.shape
    if 0 in shape or max(shape) > 8:
        return f"{shape}"
    single = shape[0] == shape[1] == shape[3] == 1
    return f"{[r[0] for r in own[0][0]]}" if single else f"{own[0]}"


def wrongs(cards: Sequence[Card], words: dict[str, str]) -> list[str]:
    """Return what is wrong by library, the first few of each."""
    lines = []
    for card in cards:
        bad = {n: r for n, r in card.results.items() if r.kind == WRONG}
        for name, result in list(bad.items())[:5]:
            says = result.says.replace("|", "/")
            lines.append(f"- {card.name}: `{name}`: {says}")
        if len(bad) > 5:
            rest = words["more"].format(len(bad) - 5)
            lines.append(f"- {card.name}: {rest}")
    return lines or [words["none"]]
