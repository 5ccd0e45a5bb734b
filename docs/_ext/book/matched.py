"""Whether the two languages say the same, and in the words they should.

Each page in Chinese names, in its front matter, the first digits of the
SHA-256 of the English page that it was matched with. When the English page
changes, the check fails until somebody has read both and says so:

    python docs/_ext/book/matched.py --matched averaging
"""

from __future__ import annotations

import argparse
import hashlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

DOCS = Path(__file__).parents[2]
SOURCE, OTHER = "en", "zh_Hant"
FRONT = re.compile(r"\A---\nsource_hash: (?P<hash>[0-9a-f]{12})\n---\n")
# Words of other places, and what is said in Taiwan.
AVOIDED = {
    "默認": "預設",
    "缺省": "預設",
    "數組": "陣列",
    "矢量": "向量",
    "代碼": "程式碼",
    "函數庫": "函式庫",
    "軟件": "軟體",
    "內存": "記憶體",
    "線程": "執行緒",
    "進程": "行程",
    "循環": "迴圈",
    "字符": "字元",
    "字節": "位元組",
    "信息": "資訊",
    "數據": "資料",
    "調用": "呼叫",
    "返回": "傳回",
    "參數量": "參數",
    "運行": "執行",
    "支持": "支援",
    "優化": "最佳化",
    "掩碼": "遮罩",
    "令牌": "詞元",
    "合約": "介面約定",
    "注意力機制": "注意力",
}


def pages(language: str, docs: Path = DOCS) -> set[str]:
    """Return the names of a language's pages."""
    return {path.stem for path in (docs / language).glob("*.md")}


def digest(path: Path) -> str:
    """Return the first digits of a page's SHA-256."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:12]


def problems(docs: Path = DOCS) -> Iterator[str]:
    """Yield what is wrong, a line each."""
    source, other = pages(SOURCE, docs), pages(OTHER, docs)
    for name in sorted(source ^ other):
        lacking = OTHER if name in source else SOURCE
        yield f"docs/{lacking}/{name}.md is missing"
    for name in sorted(source & other):
        path = docs / OTHER / f"{name}.md"
        text = path.read_text(encoding="utf-8")
        front = FRONT.match(text)
        if front is None:
            yield f"docs/{OTHER}/{name}.md has no source_hash"
        elif front["hash"] != digest(docs / SOURCE / f"{name}.md"):
            yield (
                f"docs/{SOURCE}/{name}.md has changed since it was matched"
                f" with docs/{OTHER}/{name}.md"
            )
        for number, line in enumerate(text.splitlines(), 1):
            for word, better in AVOIDED.items():
                if word in line:
                    yield (
                        f"docs/{OTHER}/{name}.md:{number}: {word}, "
                        f"expected {better}"
                    )


def match(names: list[str], docs: Path = DOCS) -> None:
    """Write into pages that they say what the English ones now say."""
    for name in names:
        path = docs / OTHER / f"{name}.md"
        text = FRONT.sub("", path.read_text(encoding="utf-8"))
        own = digest(docs / SOURCE / f"{name}.md")
        front = f"---\nsource_hash: {own}\n---\n"
        path.write_text(front + text, encoding="utf-8")


def main() -> int:
    """Check, or note what was matched."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matched", metavar="PAGE", nargs="+", default=[])
    match(parser.parse_args().matched)
    found = list(problems())
    for line in found:
        print(line)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
