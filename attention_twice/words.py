"""The project's words: English in the code, other languages in locale/*.po.

A message is written where it is said, as its English text with names in
braces for what is put in. A translation is looked up under that text.
"""

from __future__ import annotations

import gettext
import io
import locale
import os
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

LOCALE = Path(__file__).parent / "locale"


class Language(NamedTuple):
    """A language, by each of the names that others have for it."""

    tag: str  # --lang, and the end of a README's name
    folder: str  # docs/, and locale/
    sphinx: str
    html: str


LANGUAGES = (
    Language("en", "en", "en", "en"),
    Language("zh-Hant", "zh_Hant", "zh_TW", "zh-Hant-TW"),
)
TAGS = tuple(language.tag for language in LANGUAGES)


def language(tag: str) -> Language:
    """Return the language with a tag."""
    return LANGUAGES[TAGS.index(tag)]


@cache
def translations(tag: str) -> gettext.NullTranslations:
    """Return the translations into a language; into English there are none."""
    path = LOCALE / f"{language(tag).folder}.po"
    if not path.exists():
        return gettext.NullTranslations()
    # Here, since whoever reads English need not wait for it.
    from babel.messages.mofile import write_mo
    from babel.messages.pofile import read_po

    compiled = io.BytesIO()
    with path.open("rb") as file:
        write_mo(compiled, read_po(file))
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


def N_(message: str) -> str:
    """Return a message that is translated later: the catalogue's test asks."""
    return message


def translated(tag: str, message: str, /, **values: Any) -> str:
    """Return a message in a language, with the values put in."""
    # A file may have any name, and the terminal is to survive it.
    shown = {
        name: visible(str(value)) if isinstance(value, Path) else value
        for name, value in values.items()
    }
    return translations(tag).gettext(message).format(**shown)


def visible(text: str) -> str:
    """Return text with a sign in place of what moves a terminal's cursor.

    Control characters, what changes the direction of writing, line and
    paragraph separators: none may reach a terminal or an SVG.
    """
    hidden = ("Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp")
    signs = {"\n": "⏎", "\t": "⇥"}
    return "".join(
        signs.get(c, "�") if unicodedata.category(c) in hidden else c
        for c in text
    )


def locale_language() -> str:
    """Return the tag of the language that the environment asks for."""
    names = ("LC_ALL", "LC_MESSAGES", "LANG")
    asked = next((os.environ[n] for n in names if os.environ.get(n)), None)
    asked = asked or locale.getlocale()[0] or ""
    chinese = asked.lower().startswith(("zh", "chinese"))
    return "zh-Hant" if chinese else "en"


class RefusalError(Exception):
    """Why the program cannot do what it is asked, in one line."""

    def __init__(self, message: str, /, **values: Any) -> None:
        super().__init__(translated("en", message, **values))
        self.message, self.values = message, values

    def said(self, tag: str) -> str:
        """Return the line in a language."""
        return translated(tag, self.message, **self.values)
