"""Search that finds Chinese: pairs of characters are words.

Chinese has no spaces. Text and query are cut into all pairs of neighbouring
characters: a search for 遮罩 finds 因果遮罩.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx
from sphinx.search import SearchLanguage, languages

CHINESE = re.compile(r"[\u3400-\u9fff]+|[^\W\u3400-\u9fff]+")
SPLIT = """
function splitQuery(query) {
  return (query.match(/[\\u3400-\\u9fff]+|[\\p{L}\\p{N}_]+/gu) ?? []).flatMap(
    (word) => {
      if (!/[\\u3400-\\u9fff]/.test(word) || word.length < 3) return [word];
      return Array.from({ length: word.length - 1 }, (_, i) =>
        word.slice(i, i + 2),
      );
    },
  );
}
"""


class TraditionalChinese(SearchLanguage):
    """The words of a text, and in its Chinese all pairs of characters."""

    lang = "zh_TW"
    language_name = "Traditional Chinese"
    js_splitter_code = SPLIT

    def split(self, input: str) -> list[str]:
        """Return words and pairs."""
        found = []
        for word in CHINESE.findall(input):
            if re.match(r"[\u3400-\u9fff]", word):
                pairs = [word[i : i + 2] for i in range(len(word) - 1)]
                found += [*pairs, *word]
            else:
                found.append(word)
        return found

    def stem(self, term: str) -> str:
        """Return a word as it is, in small letters."""
        return term.lower()

    def word_filter(self, term: str) -> bool:
        """Return whether a word is kept: all are."""
        return bool(term)


def search_traditional_chinese(app: Sphinx) -> None:
    """Make it what a site in zh_TW is searched with."""
    languages["zh_TW"] = TraditionalChinese
