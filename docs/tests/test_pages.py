"""The pages as a reader meets them, in a browser, at each width.

`make test-docs` builds them first. Without a browser (Chromium, named by
CHROMIUM or found on the path) what needs one is skipped, and says so.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup

from built import LANGUAGES, PAGES, SITE, in_a_browser

WIDTHS = (360, 800, 1400)
LARGEST = 500_000


@in_a_browser
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_opens_without_an_error(
    browser: Any, address: str, language: str, page: str
) -> None:
    """At each width, from this host alone, and not too large."""
    for width in WIDTHS:
        tab = browser.new_page(viewport={"width": width, "height": 900})
        said: list[str] = []
        asked: list[str] = []
        sizes: list[int] = []
        tab.on("console", lambda m, s=said: s.append(f"{m.type}: {m.text}"))
        tab.on("pageerror", lambda error, s=said: s.append(str(error)))
        tab.on("request", lambda r, a=asked: a.append(r.url))
        tab.on("response", lambda r, z=sizes: z.append(len(r.body())))
        tab.goto(f"{address}/{language}/{page}.html", wait_until="load")
        tab.wait_for_load_state("networkidle")
        assert not said, said
        assert all(url.startswith(address) for url in asked), asked
        assert sum(sizes) <= LARGEST, sum(sizes)
        tag = tab.evaluate("document.documentElement.lang")
        assert tag == LANGUAGES[language]
        wide = tab.evaluate("document.querySelector('article').scrollWidth")
        assert wide <= width, f"{page} is {wide} wide at {width}"
        cut = tab.evaluate(
            "[...document.querySelectorAll('article math *')].filter("
            "part => part.getBoundingClientRect().right > 1 +"
            " part.closest('math').getBoundingClientRect().right)"
            ".map(part => part.textContent)"
        )
        assert not cut, f"{page} at {width}: {cut}"
        tab.close()


@in_a_browser
@pytest.mark.parametrize("language", LANGUAGES)
def test_columns_are_aligned_where_there_is_room(
    browser: Any, address: str, language: str
) -> None:
    """Step by step side by side on a wide page, stacked on a narrow one."""
    for width, beside in ((1400, True), (360, False)):
        tab = browser.new_page(viewport={"width": width, "height": 900})
        tab.goto(f"{address}/{language}/query-and-key.html")
        tops = tab.evaluate(
            "[...document.querySelectorAll('.sides')].map(block =>"
            " [...block.querySelectorAll('.side')].map(side =>"
            " [...side.querySelectorAll('.step')].map(step =>"
            " step.getBoundingClientRect().top)))"
        )
        assert len(tops) == 2
        for one, other in tops:
            assert len(one) == len(other) > 1
            pairs = zip(one, other, strict=True)
            level = [abs(a - b) < 1 for a, b in pairs]
            assert all(level) if beside else not any(level)
        tab.close()


@in_a_browser
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("page", PAGES)
def test_code_has_room_on_both_sides(
    tab: Any, address: str, language: str, page: str
) -> None:
    """Each side holds 72 characters of the widest usual font, 0.602 em."""
    if 'class="sides"' not in (SITE / language / f"{page}.html").read_text(
        encoding="utf-8"
    ):
        pytest.skip("no code of both sides here")
    tab.set_viewport_size({"width": 1400, "height": 900})
    tab.goto(f"{address}/{language}/{page}.html")
    room = tab.evaluate(
        "Math.min(...[...document.querySelectorAll('.step pre')].map(pre => {"
        " const style = getComputedStyle(pre);"
        " const room = pre.clientWidth - parseFloat(style.paddingLeft)"
        "  - parseFloat(style.paddingRight);"
        " return room / parseFloat(style.fontSize); }))"
    )
    assert room >= 72 * 0.602, room / 0.602
    contents = tab.locator(".toc-drawer .toc-title")
    tab.locator(".toc-content-icon").click()
    tab.wait_for_timeout(500)
    box = contents.bounding_box()
    assert box["x"] + box["width"] <= 1400
    tab.set_viewport_size({"width": 360, "height": 900})
    wide = tab.evaluate("document.scrollingElement.scrollWidth")
    assert wide <= 360


@in_a_browser
def test_hovering_a_name_shows_it_on_both_sides(
    tab: Any, address: str
) -> None:
    tab.set_viewport_size({"width": 1400, "height": 900})
    tab.goto(f"{address}/en/query-and-key.html")
    tab.locator(".sides span.n", has_text="query").first.hover()
    marked = tab.locator(".sides span.same")
    assert marked.count() >= 4
    assert set(marked.all_text_contents()) == {"query"}


@in_a_browser
def test_an_answer_is_folded_without_a_script(
    browser: Any, address: str
) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"{address}/en/query-and-key.html")
    assert tab.locator("details.answer").count() > 0
    context.close()


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_link_leads_somewhere(language: str) -> None:
    """Within the site; others are addresses of the web."""
    for page in (SITE / language).glob("*.html"):
        text = page.read_text(encoding="utf-8")
        for link in re.findall(r'(?:href|src)="([^"]+)"', text):
            if re.match(r"https?:|data:|mailto:|#", link):
                continue
            path = link.split("#")[0].split("?")[0]
            assert (page.parent / path).is_file(), f"{page.name}: {link}"


def test_the_other_language_is_one_click_away() -> None:
    for page in PAGES:
        for language, other in (("en", "zh_Hant"), ("zh_Hant", "en")):
            path = SITE / language / f"{page}.html"
            text = path.read_text(encoding="utf-8")
            assert f'href="../{other}/{page}.html"' in text, path


def words_around(path: Path) -> set[str]:
    """Return what a page says in words of the theme: labels and tooltips."""
    page = BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
    own = [] if path.stem == "search" else page.select("article")
    # Titles of pages and of their sections are the book's.
    titles = {link.get_text() for link in page.select("a.reference")}
    for part in [*own, *page.select("head, script")]:
        part.decompose()
    labels = [
        str(tag[name])
        for name in ("aria-label", "title", "placeholder", "alt")
        for tag in page.select(f"[{name}]")
    ]
    return {*labels, *page.stripped_strings} - titles


def test_what_stands_around_a_chinese_page_is_chinese() -> None:
    for path in sorted((SITE / "zh_Hant").glob("*.html")):
        found = words_around(path)
        assert {"跳到正文", "搜尋", "自動配色，現在是深色"} <= found
        latin = {text for text in found if not re.search("[一-鿿]", text)}
        assert latin <= {"Furo", "English", "·"}, f"{path.name}: {latin}"


@in_a_browser
def test_code_is_copied(browser: Any, address: str) -> None:
    """An exercise, as it stands; what a program printed has no button."""
    context = browser.new_context(
        permissions=["clipboard-read", "clipboard-write"]
    )
    for language, word in (("en", "Copy"), ("zh_Hant", "複製")):
        tab = context.new_page()
        tab.goto(f"{address}/{language}/averaging.html")
        block = tab.locator("div.highlight-python", has_text="not yet").first
        button = block.locator("button")
        assert button.locator("title").text_content() == word
        button.click()
        copied = tab.evaluate("navigator.clipboard.readText()")
        assert copied.strip() == block.locator("pre").text_content().strip()
        assert tab.locator(".terminal button, .sides button").count() == 0
    context.close()
