"""The terms of the field, in the book's index where a page teaches them.

`docs/terms.toml` lists them. Index and search lead to the first bold text on
its page that contains the term; a search for a term finds it first.
"""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import NamedTuple

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms import SphinxTransform

TERMS = Path(__file__).parents[2] / "terms.toml"


class Term(NamedTuple):
    """A term in both languages, and the page that teaches it."""

    page: str
    english: str
    chinese: str

    def word(self, language: str) -> str:
        """Return the term in a language: en, zh_TW or zh_Hant."""
        return self.english if language == "en" else self.chinese

    def stands_in(self, text: str, language: str) -> bool:
        """Return whether a text has the term, in letters of any size."""
        return self.word(language).lower() in text.lower()


def terms() -> list[Term]:
    """Return all terms, page by page."""
    pages = tomllib.loads(TERMS.read_text(encoding="utf-8"))
    return [
        Term(page, english, chinese)
        for page, words in pages.items()
        for english, chinese in words.items()
    ]


class IndexTerms(SphinxTransform):
    """Put the terms that a page teaches into the index."""

    # Before the domains collect what is in the index, at 850.
    default_priority = 840

    def apply(self, **kwargs: object) -> None:
        """Mark the first bold place of each term."""
        self.env.note_dependency(str(TERMS))
        language = str(self.config.language)
        bold = list(self.document.findall(nodes.strong))
        for term in terms():
            if term.page != self.env.docname:
                continue
            places = (b for b in bold if term.stands_in(b.astext(), language))
            if place := next(places, None):
                self.mark(place, term, language)

    def mark(self, place: nodes.strong, term: Term, language: str) -> None:
        """Give a place a name, and the index an entry that leads there."""
        name = nodes.make_id(f"term-{term.english}")
        place["ids"].append(name)
        entry = ("single", term.word(language), name, "main", None)
        self.document.append(addnodes.index(entries=[entry]))


def index_terms(app: Sphinx) -> None:
    """Let every page's terms be found."""
    app.add_transform(IndexTerms)
