"""The project's words: each message translated, and no other."""

from __future__ import annotations

import ast
import re
import string
from pathlib import Path
from typing import Any

import pytest
from babel.messages.catalog import Catalog
from babel.messages.pofile import read_po
from jinja2 import Environment
from jinja2.ext import extract_from_ast

import numpy_impl
from attention_twice import words
from attention_twice.sources import ROOT, parsed

FOLDERS = ("attention_twice", "parity_tests", "docs/_ext")
TEMPLATES = ROOT / "docs" / "_ext" / "book" / "templates" / "live"
# Said with a number or a name put in before it is looked up.
MADE = {"float results are float32"}
# Said, and the same in every language.
ALIKE = {"0", "NaN"}
# What says a message, and which of its arguments it is.
SAYING = {
    **dict.fromkeys(("_", "N_", "say", "title", "word", "RefusalError"), 0),
    "translated": 1,
    # The card of libraries.
    "Probe": 0,
    "Reading": 0,
}
TRANSLATED = [language for language in words.LANGUAGES if language.tag != "en"]
each_translation = pytest.mark.parametrize(
    "language", TRANSLATED, ids=lambda language: str(language.tag)
)


def said(path: Path) -> set[str]:
    """Return the messages that a module says."""
    calls = (n for n in ast.walk(parsed(path)) if isinstance(n, ast.Call))
    messages = map(message_of, calls)
    return {str(m.value) for m in messages if isinstance(m, ast.Constant)}


def message_of(call: ast.Call) -> ast.expr | None:
    """Return the message that a call says, if it says one."""
    name = ast.unparse(call.func).rpartition(".")[2]
    arguments = call.args[SAYING[name] :] if name in SAYING else []
    return arguments[0] if arguments else None


def said_in_template(path: Path) -> set[str]:
    """Return the messages that a live figure's template says."""
    tree = Environment().parse(path.read_text(encoding="utf-8"))
    return {str(message) for *_, message in extract_from_ast(tree, ("_",))}


def all_said() -> set[str]:
    """Return every message of program and book, and of the pages written."""
    paths = [p for name in FOLDERS for p in (ROOT / name).rglob("*.py")]
    shown = (
        path for path in paths if "tests" not in path.parts[len(ROOT.parts) :]
    )
    drawn = map(said_in_template, TEMPLATES.glob("*.html"))
    return set().union(MADE, *map(said, shown), *drawn) - ALIKE


def catalogue(language: words.Language) -> Catalog:
    """Return the translations into a language."""
    path = words.LOCALE / f"{language.folder}.po"
    with path.open("rb") as file:
        return read_po(file, abort_invalid=True)


def ours(language: words.Language) -> dict[str, str]:
    """Return the translations of the program's own messages."""
    return {
        str(message.id): str(message.string)
        for message in catalogue(language)
        if message.id and not of_argparse(message)
    }


def of_argparse(message: Any) -> bool:
    """Return whether argparse says a message."""
    return ("argparse", None) in message.locations


def values(text: str) -> set[str | None]:
    """Return the names of what is put into a message."""
    return {name for _, name, *_ in string.Formatter().parse(text)} - {None}


@each_translation
def test_every_message_is_translated_and_no_other(
    language: words.Language,
) -> None:
    assert set(ours(language)) == all_said()
    assert len(all_said()) > 100


@each_translation
def test_no_translation_is_empty_or_waits_to_be_read(
    language: words.Language,
) -> None:
    for message in catalogue(language):
        text = message.string
        assert all(text if isinstance(text, tuple) else (text,)), message.id
        # The header's entry is marked so until somebody says otherwise.
        assert not message.fuzzy or not message.id, message.id


@each_translation
def test_the_same_values_are_put_in(language: words.Language) -> None:
    for message, translation in ours(language).items():
        assert values(message) == values(translation), message


@each_translation
def test_lines_end_where_they_do_in_english(language: words.Language) -> None:
    for message, translation in ours(language).items():
        for text in (message, translation):
            assert not re.search(r" \n|\n$", text), text


@each_translation
def test_a_message_is_found(language: words.Language) -> None:
    for message, translation in ours(language).items():
        assert words.translations(language.tag).gettext(message) == translation
        assert words.translations("en").gettext(message) == message


def test_the_poem_is_read_to_who_cannot() -> None:
    (line,) = (m for m in all_said() if "Li Bai" in m)
    for token in numpy_impl.lesson.TOKENS:
        assert re.search(f"{token} [a-z]+[,.]", line)
    for language in TRANSLATED:
        shown = ours(language)[line].replace(" ", "")
        assert "".join(numpy_impl.lesson.TOKENS) in shown


def test_what_the_words_say() -> None:
    both = [
        " ".join(texts)
        for texts in zip(*ours(words.language("zh-Hant")).items(), strict=True)
    ]
    assert "Scores × 5 keep their order\nbut lie further apart" in both[0]
    assert "分數都乘以 5，順序不變、差距變大，權重就更集中。" in both[1]
    assert "have mean 0 and variance 1, has standard deviation √d" in both[0]
    assert "各分量平均 0、變異數 1）的內積，標準差是 √d。" in both[1]
    assert "means over five rows of one random draw" in both[0]
    assert "只取自一次隨機抽樣，是五列的平均" in both[1]
    assert "Training\nlearns these three matrices." in both[0]
    assert "訓練時學的，就是這三個矩陣。" in both[1]
    assert not re.search(r"(?<!/)\bpython attention.py", " ".join(both))
    assert not re.search("處所|亂數|寬度|五節課", both[1])
