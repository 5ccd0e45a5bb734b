"""The book's two languages, by the name that Sphinx has for each."""

from __future__ import annotations

from sphinx.config import Config

from attention_twice.words import LANGUAGES, Language


def language_of(config: Config) -> Language:
    """Return the language in which a book is built."""
    (found,) = (one for one in LANGUAGES if one.sphinx == config.language)
    return found
