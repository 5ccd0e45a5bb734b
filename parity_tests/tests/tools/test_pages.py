"""The pages that `accuracy` and `bench attention` write, and their plots."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any
from xml.etree import ElementTree

import pytest

from parity_tests.__main__ import main
from parity_tests.measure.accuracy import (
    page as accuracy_page,
)
from parity_tests.measure.accuracy import (
    record as errors,
)
from parity_tests.measure.accuracy import (
    run as accuracy,
)
from parity_tests.measure.attention import (
    page as bench_page,
)
from parity_tests.measure.attention import (
    record as costs,
)
from parity_tests.measure.attention import (
    run as bench_attention,
)
from parity_tests.measure.kernels import OWN
from parity_tests.measure.plots import LOOKS
from parity_tests.pages import (
    BESIDE,
    PageError,
    earlier,
    filled,
    in_each_language,
    rewrite,
)

DOCS = Path(__file__).parents[3] / "docs"
MODULES: dict[str, ModuleType] = {
    "accuracy": accuracy_page,
    "measured": bench_page,
}
READERS: dict[str, Any] = {
    "accuracy": errors.from_json,
    "measured": costs.from_json,
}
COMMANDS = {"accuracy": ["accuracy"], "measured": ["bench", "attention"]}
# Where a browser's page of both languages has room, and what it may weigh.
LARGEST = 60_000
each = pytest.mark.parametrize("page", COMMANDS)


def numbers(page: str) -> Path:
    """Return the file of an earlier run that the book keeps."""
    return DOCS / "plots" / f"{page}.json"


def content(folder: Path) -> dict[Path, bytes]:
    """Return every file of a folder."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files}


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    """Return pages that hold markers and what was written by hand."""
    for language in ("en", "zh_Hant"):
        (tmp_path / language).mkdir()
        for page, module in MODULES.items():
            marks = (
                f"<!-- {p} -->\nold\n<!-- end -->" for p in module.MARKERS
            )
            text = "\n".join(["先", *marks, "後\n"])
            path = tmp_path / language / f"{page}.md"
            path.write_text(text, encoding="utf-8")
    return tmp_path


@each
def test_both_languages_are_written_and_the_prose_is_kept(
    docs: Path, page: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = [*COMMANDS[page], "--from", str(numbers(page))]
    assert main([*words, "--pages", str(docs)]) == 0
    assert f"--matched {page}" in capsys.readouterr().out
    for language, word in (("en", "cores"), ("zh_Hant", "個核心")):
        path = docs / language / f"{page}.md"
        text = path.read_text(encoding="utf-8")
        assert text.startswith("先\n<!-- machine -->\n\n- ")
        assert text.endswith("<!-- end -->\n後\n")
        assert "old" not in text
        assert word in text
        assert "| 16384 |" in text
    plot = docs / "plots" / f"{page}.svg"
    assert (
        numbers(page).read_bytes() == content(docs)[plot.with_suffix(".json")]
    )
    first = content(docs)
    assert main([*words, "--pages", str(docs)]) == 0
    assert content(docs) == first, "the same numbers, other bytes"
    drawn = first[plot].decode()
    ElementTree.fromstring(drawn)
    assert len(first[plot]) < LARGEST
    assert "SDPA</text>" in drawn
    assert "dc:date" not in drawn
    assert "#ffffff" not in drawn, "a white ground is no dark one"


@each
def test_the_book_holds_what_its_numbers_give(page: str) -> None:
    """No table is edited by hand, and no word is changed in one place."""
    record = earlier(numbers(page), READERS[page])
    made = in_each_language(partial(MODULES[page].made, record))
    for path, text in filled(DOCS, page, made).items():
        assert path.read_text(encoding="utf-8") == text, path


@each
def test_a_page_without_a_place_is_one_error_before_the_run(
    docs: Path,
    page: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for module in (accuracy, bench_attention):
        monkeypatch.setattr(module, "measure", None)
    path = docs / "zh_Hant" / f"{page}.md"
    text = path.read_text(encoding="utf-8").replace("<!-- machine -->", "")
    path.write_text(text, encoding="utf-8")
    before = content(docs)
    assert main([*COMMANDS[page], "--pages", str(docs)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"zh_Hant/{page}.md has 0 markers" in line
    assert content(docs) == before
    path.unlink()
    assert main([*COMMANDS[page], "--pages", str(docs)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert f"zh_Hant/{page}.md: No such file" in line


def test_one_language_is_not_written_without_the_other(docs: Path) -> None:
    before = content(docs)
    lines = {"en": {"machine": ["new"]}, "zh_Hant": {"nowhere": ["new"]}}
    with pytest.raises(PageError, match="0 markers from <!-- nowhere -->"):
        rewrite(docs, "accuracy", lines)
    assert content(docs) == before


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"machine": "x86_64"}'])
@each
def test_a_file_of_something_else_is_one_error(
    page: str, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "other.json"
    path.write_text(text, encoding="utf-8")
    assert main([*COMMANDS[page], "--from", str(path)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert "other.json is not what this command writes" in line
    path.unlink()
    assert main([*COMMANDS[page], "--from", str(path)]) == 2
    assert "other.json: No such file" in capsys.readouterr().err


def test_an_error_that_is_too_large_is_bold_and_fails(
    docs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    content = json.loads(numbers("accuracy").read_text(encoding="utf-8"))
    cell = content["cells"][0]
    cell["worst"]["torch flash"] = 2.5 * cell["worst"]["SDPA"]
    path = tmp_path / "found.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    words = ["accuracy", "--from", str(path), "--pages", str(docs)]
    assert main(words) == 1
    assert "63 passed, 1 failed" in capsys.readouterr().out
    text = (docs / "en" / "accuracy.md").read_text(encoding="utf-8")
    assert text.count("**") == 2
    assert f"{BESIDE}2.50**" in text


def test_every_version_has_a_look_of_its_own() -> None:
    names = {kernel.name for kernel in OWN} | set(accuracy.FUNCTIONS)
    assert names <= set(LOOKS)
    assert len(set(LOOKS.values())) == len(LOOKS)


def test_a_machine_that_tells_no_memory_has_a_page(
    docs: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As everywhere but on Linux, and where a run was of one length."""
    record = earlier(numbers("measured"), costs.from_json)
    times = {k: t for k, t in record.times.items() if k[1] == 1024}
    bench_page.write_pages(docs, record._replace(times=times, memory={}))
    text = (docs / "en" / "measured.md").read_text(encoding="utf-8")
    assert "| 1024 | 32 | - |" in text
    assert "| exponent |  | - |" in text
