"""The page of the API against the packages themselves, as imported."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup, Tag
from sphinx.errors import ExtensionError

from attention_twice import sources
from attention_twice.sources import ROOT
from book import api
from built import LANGUAGES, SITE

PACKAGES = ("numpy_impl", "torch_impl")


@pytest.fixture(scope="module", params=LANGUAGES)
def page(request: pytest.FixtureRequest) -> Tag:
    """Return what the page of the API says, in both languages."""
    text = (SITE / request.param / "api.html").read_text(encoding="utf-8")
    article = BeautifulSoup(text, "html.parser").article
    assert article is not None
    return article


def documented() -> Iterator[tuple[str, Any]]:
    """Yield all that the packages have of their own and is public."""
    for package in PACKAGES:
        for path in sorted((ROOT / package).glob("[!_]*.py")):
            module = importlib.import_module(f"{package}.{path.stem}")
            for name, found in vars(module).items():
                own = getattr(found, "__module__", "") == module.__name__
                if name.startswith("_") or not own or not callable(found):
                    continue
                yield f"{module.__name__}.{name}", found
                if isinstance(found, type):
                    yield from methods(f"{module.__name__}.{name}", found)


def methods(owner: str, found: type) -> Iterator[tuple[str, Any]]:
    """Yield a class's own methods and properties; a call is public."""
    for name, item in vars(found).items():
        called = owner.startswith("numpy") and name == "__call__"
        method = inspect.isfunction(item) or isinstance(item, property)
        if method and (called or not name.startswith("_")):
            yield f"{owner}.{name}", item


def signatures(page: Tag) -> dict[str, Tag]:
    """Return each signature by every name that it answers to."""
    return {
        str(place["id"]): line
        for line in page.select("dt.sig")
        for place in [line, *line.select("span[id]")]
    }


def plain(text: str) -> str:
    """Return a text without spaces and without what Markdown marks."""
    return re.sub(r"[\s`*-]", "", text)


def test_all_that_is_public_is_there(page: Tag) -> None:
    lines = signatures(page)
    names = dict(documented())
    handed_on = ("scaled_dot_product_attention", "from_numpy", "to_numpy")
    also = {f"{package}.{n}" for package in PACKAGES for n in handed_on}
    assert lines.keys() == names.keys() | also


def test_signatures_name_every_parameter(page: Tag) -> None:
    lines = signatures(page)
    for name, found in documented():
        text = lines[name].get_text()
        assert "(self" not in text
        shown = re.findall(r"[(,] ?\**(\w+):", text)
        if isinstance(found, property):
            assert not shown, name
            continue
        parameters = [*inspect.signature(found).parameters]
        assert shown == [p for p in parameters if p != "self"], name


def test_docstrings_are_there_word_for_word(page: Tag) -> None:
    said = plain(page.get_text())
    modules = {f"{p}.{name}" for p in PACKAGES for name in api.modules()}
    # NumPy alone has the modules of the tuned version.
    both = [m for m in modules if not m.startswith("torch_impl.fast")]
    loaded = map(importlib.import_module, both)
    for item in [*loaded, *dict(documented()).values()]:
        text = inspect.getdoc(item)
        assert text, item
        for block in text.split("\n\n"):
            assert plain(block) in said, block


def test_a_label_says_what_one_side_alone_has(page: Tag) -> None:
    labels = {"numpy_impl": "NumPy", "torch_impl": "PyTorch"}
    for name, line in signatures(page).items():
        ids = [line["id"], *(place["id"] for place in line.select("[id]"))]
        sides = {str(i).split(".")[0] for i in ids}
        badge = line.select_one(".badge")
        if len(sides) == 2:
            assert badge is None, name
        elif badge is None:
            # Its class, or its module, has the label for all.
            assert name.startswith(("numpy_impl.fast", "torch_impl.ring."))
        else:
            assert labels[sides.pop()] in badge.get_text(), name


def test_every_command_of_the_suite_is_there(page: Tag) -> None:
    said = page.get_text()
    usage = re.search(r"usage: python -m parity_tests \[-h\]\s+{(.*?)}", said)
    assert usage is not None
    for command in usage[1].split(","):
        assert f"usage: python -m parity_tests {command} " in said


def test_without_a_docstring_there_is_no_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "numpy_impl").mkdir()
    (tmp_path / "numpy_impl" / "new.py").write_text("def made(): pass")
    monkeypatch.setattr(sources, "ROOT", tmp_path)
    with pytest.raises(ExtensionError, match=r"new\.made has no docstring"):
        api.entries("numpy_impl", "new")


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_anchor_is_there(language: str) -> None:
    """On all pages: what a link names after # is a place on its page."""
    texts = {
        path.name: path.read_text(encoding="utf-8")
        for path in (SITE / language).glob("*.html")
    }
    ids = {n: {*re.findall(r' id="([^"]+)"', t)} for n, t in texts.items()}
    for name, text in texts.items():
        for link in re.findall(r'<a[^>]* href="([^":]*#[^"]+)"', text):
            file, place = link.split("#")
            assert place in ids[file or name], f"{name}: {link}"
