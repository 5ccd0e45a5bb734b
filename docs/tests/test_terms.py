"""The field's terms: in the glossary, in bold on a page, found there."""

from __future__ import annotations

import re
from typing import Any

import pytest

from attention_twice.sources import ROOT
from book.terms import terms
from built import LANGUAGES, in_a_browser

# The column of the glossary that has a language's terms.
COLUMNS = {"en": 1, "zh_Hant": 2}


def page_of(language: str, name: str) -> str:
    """Return a page's source."""
    path = ROOT / "docs" / language / f"{name}.md"
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_term_is_in_the_glossary(language: str) -> None:
    rows = re.findall(r"^\|.*", page_of(language, "glossary"), re.M)
    explained = [row.split("|")[COLUMNS[language]] for row in rows]
    assert not [
        term.word(language)
        for term in terms()
        if not any(term.stands_in(text, language) for text in explained)
    ]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_term_is_bold_on_the_page_that_teaches_it(
    language: str,
) -> None:
    lacking = []
    for term in terms():
        bold = re.findall(r"\*\*([^*]+)\*\*", page_of(language, term.page))
        if not any(term.stands_in(text, language) for text in bold):
            lacking.append(f"{term.page}: {term.word(language)}")
    assert not lacking


@in_a_browser
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_term_is_found_first_where_it_is_taught(
    tab: Any, address: str, language: str
) -> None:
    """By the search of the book itself; what the API has comes last."""
    tab.goto(f"{address}/{language}/search.html?q=softmax")
    first = tab.locator("#search-results li a").first
    assert first.get_attribute("href") == "query-and-key.html#term-softmax"
    for term in terms():
        pages = tab.evaluate(
            "word => Search._performSearch(...Search._parseQuery(word))"
            ".reverse().map(([page]) => page)",
            term.word(language),
        )
        assert pages[0] == term.page, (term, pages)
        entries = [page == "api" for page in pages]
        assert entries == sorted(entries), (term, pages)
