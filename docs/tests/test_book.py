"""The book as a reader meets it: built, served on loopback, in a browser.

`make test-docs` builds it first. Without a browser (Chromium, named by
CHROMIUM or found on the path) what needs one is skipped, and says so.
"""

from __future__ import annotations

import functools
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bs4 import BeautifulSoup

from book import live_figures, matched
from book.directives.sides import BookError, by_hand, sides, source
from book.exercises import parts_of, solved
from numpy_impl import attention, lesson, masks, merge, softmax

ROOT = Path(__file__).parents[2]
SITE = ROOT / ".venv" / "site"

LANGUAGES = {"en": "en", "zh_Hant": "zh-Hant-TW"}
PAGES = sorted(path.stem for path in (ROOT / "docs" / "en").glob("*.md"))
WIDTHS = (360, 800, 1400)
LARGEST = 500_000
CHROMIUM = os.environ.get("CHROMIUM") or next(
    filter(None, map(shutil.which, ("chromium", "google-chrome"))), None
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]
in_a_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here: set CHROMIUM to its path"
)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Serve the site on loopback."""
    assert SITE.is_dir(), "make docs builds the site first"

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *arguments: Any) -> None:
            """Say nothing."""

    handler = functools.partial(Quiet, directory=str(SITE))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Return a browser without a window."""
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as running:
        found = running.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield found
        found.close()


@pytest.fixture
def tab(browser: Any) -> Iterator[Any]:
    """Return a tab, which is closed when the test ends."""
    opened = browser.new_page()
    yield opened
    opened.close()


def figure_of(tab: Any, url: str, name: str) -> Any:
    """Return a live figure of a page, once it lives."""
    tab.goto(url)
    figure = tab.locator(f"figure[data-figure={name}][data-weights]")
    figure.wait_for()
    return figure


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
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_query_is_moved_by_keys_and_by_hand(
    tab: Any, address: str, language: str
) -> None:
    """The weights shown are numpy_impl's for where the query has come."""
    tab.set_viewport_size({"width": 1400, "height": 2000})
    figure = figure_of(
        tab, f"{address}/{language}/query-and-key.html", "query"
    )
    handle = figure.locator(".handle")
    handle.focus()
    for key in ("ArrowLeft", "ArrowLeft", "ArrowUp", "Shift+ArrowUp"):
        tab.keyboard.press(key)
    compare(figure, [0.8, 0.6])
    figure.evaluate("figure => figure.scrollIntoView({block: 'center'})")
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x - 60, y + 30, steps=3)
    tab.mouse.up()
    moved = handle.get_attribute("aria-valuetext")
    asked = [float(number) for number in moved.split(",")]
    assert asked[0] < 0.8
    assert asked[1] < 0.6
    compare(figure, asked, within=0.01)


def compare(figure: Any, asked: list[float], within: float = 1e-9) -> None:
    """Compare a figure's weights with those of numpy_impl."""
    got = json.loads(figure.get_attribute("data-weights"))
    right = softmax.softmax(np.asarray(lesson.KEYS) @ np.asarray(asked))
    assert np.all(np.abs(got - right) <= within), (got, right)
    shown = figure.locator("[data-weight]").all_text_contents()
    assert shown == [f"{weight:.2f}" for weight in got]


@in_a_browser
def test_the_scale_is_moved(tab: Any, address: str) -> None:
    figure = figure_of(tab, f"{address}/en/scale.html", "scale")
    figure.locator("input").fill("5")
    compare(figure, [5 * number for number in lesson.QUERY])


@in_a_browser
def test_the_mask_is_switched(tab: Any, address: str) -> None:
    """Corner, window and padding give the weights of numpy_impl's masks."""
    figure = figure_of(tab, f"{address}/zh_Hant/causal-mask.html", "mask")
    for corner, left, hidden in ((0, -1, 0), (1, -1, 0), (1, 1, 0), (0, 0, 4)):
        figure.locator("[name=right]").set_checked(bool(corner))
        figure.locator("[name=left]").fill(str(left))
        figure.locator("[name=hidden]").fill(str(hidden))
        align = ("upper_left", "lower_right")[corner]
        seen = masks.combine_masks(
            masks.causal_mask(4, 6, align),
            masks.window_mask(4, 6, left, -1, align),
            np.arange(6) < 6 - hidden,
        )
        right = softmax.softmax(masks.mask_scores(np.zeros((4, 6)), seen))
        got = np.asarray(json.loads(figure.get_attribute("data-weights")))
        assert np.allclose(got, right, rtol=0, atol=1e-12), (corner, left)
        texts = figure.locator("[data-weight]").all_text_contents()
        assert texts == [f"{w:.2f}" if w else "·" for w in got.ravel()]


# Two sides, and for each of 8 keys an exp, a factor, a product and a sum.
ROUNDINGS = 2 * 8 * 4 * np.finfo(np.float64).eps


@in_a_browser
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("size", live_figures.SIZES)
def test_a_row_is_gathered_tile_by_tile(
    tab: Any, address: str, language: str, size: int
) -> None:
    """Each step has the sums of `merge`, and the last has the softmax's."""
    figure = figure_of(tab, f"{address}/{language}/tiles.html", "tiles")
    figure.locator("[name=size]").select_option(str(size))
    scores = np.asarray(live_figures.SCORES)
    values = np.asarray(live_figures.VALUES)[:, None]
    running = merge.RunningSoftmax(
        np.asarray([-np.inf]), np.zeros(1), np.zeros(1)
    )
    figure.locator("[name=next]").focus()
    for number in range(8 // size):
        if number:
            tab.keyboard.press("Enter")
        columns = slice(number * size, (number + 1) * size)
        part = merge.partial_sums(scores[columns], values[columns])
        factor = np.exp(running.row_max)
        running = merge.combine(running, part)
        factor = factor / np.exp(running.row_max)
        exponentials = np.exp(scores[columns] - running.row_max)
        output = merge.normalize(running).output
        found = json.loads(figure.get_attribute("data-weights"))
        assert len(found) == number + 1
        sums = [*factor, *running.row_sum, *running.numerator, *output]
        got = found[-1]
        names = ("factor", "rowSum", "numerator", "output")
        flat = np.hstack([got[name] for name in names])
        assert got["rowMax"] == running.row_max[0]
        assert np.allclose(flat, sums, rtol=ROUNDINGS, atol=0), (flat, sums)
        assert np.allclose(
            got["exponentials"], exponentials, rtol=ROUNDINGS, atol=0
        )
        shown = figure.locator(".steps .now td").all_text_contents()
        assert shown == [f"{got['rowMax']}", *(f"{n:.3f}" for n in flat)]
        lit = figure.locator(".keys tr:nth-child(2) .now").all_text_contents()
        assert lit == [
            f"{power:.2f}" if power else "·" for power in exponentials
        ]
    whole = softmax.softmax(scores) @ values
    assert np.allclose(output, whole, rtol=ROUNDINGS, atol=0)
    assert figure.locator("tfoot td").text_content() == f"{whole[0]:.3f}"
    tab.keyboard.press("Enter")
    assert len(json.loads(figure.get_attribute("data-weights"))) == number + 1
    figure.locator("[name=back]").focus()
    tab.keyboard.press("Enter")
    left = json.loads(figure.get_attribute("data-weights"))
    assert left == found[: max(1, number)]


@in_a_browser
@pytest.mark.parametrize("language", LANGUAGES)
def test_the_maps_are_those_of_the_model(
    tab: Any, address: str, language: str
) -> None:
    """Of its queries and keys as they are rounded for the page."""
    model, ids = live_figures.learned()
    figure = figure_of(tab, f"{address}/{language}/training.html", "maps")
    pairs = zip(
        np.concat(model.weights(ids)),
        live_figures.queries_and_keys(),
        strict=True,
    )
    for head, (exact, vectors) in enumerate(pairs):
        query, key = (np.asarray(live_figures.rounded(v)) for v in vectors)
        scores = attention.attention_scores(query, key)
        seen = masks.causal_mask(*exact.shape)
        right = softmax.softmax(masks.mask_scores(scores, seen))
        # A third decimal is off by half of one at most, in every product.
        off = 5e-4 * (np.abs(query).sum(-1)[:, None] + np.abs(key).sum(-1))
        off = (off + query.shape[-1] * 5e-4**2) / np.sqrt(query.shape[-1])
        assert np.all(np.abs(right - exact) <= exact * np.expm1(2 * off.max()))
        figure.locator(f"label:has([name=head][value='{head}'])").click()
        for place in (18, head):
            choice = figure.locator(f"[name=character][value='{place}']")
            choice.locator("..").click()
            if place == head:
                tab.keyboard.press("ArrowRight")
                place += 1
            got = json.loads(figure.get_attribute("data-weights"))
            assert np.allclose(got, right[place], rtol=0, atol=1e-12), place
            texts = figure.locator("[data-weight]").all_text_contents()
            assert texts == [f"{w:.2f}" if w else "·" for w in got]
            rows = figure.locator("[data-row]").all()
            assert {row.get_attribute("y") for row in rows} == {str(place)}


def test_the_maps_are_those_that_the_command_prints(tmp_path: Path) -> None:
    """The page says that its model is that of `attention.py train`."""
    done = subprocess.run(
        [sys.executable, ROOT / "attention.py", "train", "--lang", "en"],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=tmp_path,
        check=True,
    )
    lines = re.findall(r"^block \d, head \d +(.*)$", done.stdout, re.M)
    model, ids = live_figures.learned()
    rows = np.concat(model.weights(ids))[:, 4, :5]
    assert lines == ["   ".join(f"{w:.2f}" for w in row) for row in rows]


# Each figure: its page, what of it takes the focus, and a key that moves it.
FIGURES = {
    "query": ("query-and-key", ".handle", "ArrowLeft"),
    "scale": ("scale", "input", "ArrowRight"),
    "mask": ("causal-mask", "[name=causal]", "Space"),
    "tiles": ("tiles", "[name=next]", "Enter"),
    "maps": ("training", "[name=character]:checked", "ArrowRight"),
}


@in_a_browser
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_moves_on_a_page_opened_as_a_file(
    tab: Any, language: str, name: str
) -> None:
    """By the keyboard alone."""
    page, control, key = FIGURES[name]
    figure = figure_of(tab, (SITE / language / f"{page}.html").as_uri(), name)
    before = figure.get_attribute("data-weights")
    figure.locator(control).focus()
    tab.keyboard.press(key)
    assert figure.get_attribute("data-weights") != before


@in_a_browser
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_fits_a_telephone_and_a_finger(
    tab: Any, address: str, name: str
) -> None:
    """44 px are what WCAG 2.2 asks for in criterion 2.5.5."""
    tab.set_viewport_size({"width": 360, "height": 900})
    for language in LANGUAGES:
        url = f"{address}/{language}/{FIGURES[name][0]}.html"
        figure = figure_of(tab, url, name)
        assert figure.evaluate("f => f.scrollWidth <= f.clientWidth")
        for target in figure.locator("label, button, .handle").all():
            box = target.bounding_box()
            assert min(box["width"], box["height"]) >= 44, box


def texts(figure: Any) -> Any:
    """Return the numbers that a figure shows."""
    return figure.locator("[data-weight], td").all_text_contents()


@in_a_browser
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("name", FIGURES)
def test_a_figure_stands_still_without_a_script(
    browser: Any, address: str, language: str, name: str
) -> None:
    """It shows what the live one begins with, the tiles where they end."""
    url = f"{address}/{language}/{FIGURES[name][0]}.html"
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(url)
    still = tab.locator(f"figure[data-figure={name}]")
    assert still.bounding_box()["height"] > 100
    assert still.locator("figcaption").is_visible()
    for controls in still.locator(".controls").all():
        assert not controls.is_visible()
    live = browser.new_page()
    figure = figure_of(live, url, name)
    for _ in range(3 * (name == "tiles")):
        figure.locator("[name=next]").click()
    assert texts(still) == texts(figure)
    assert len(texts(still)) >= 5
    live.close()
    context.close()


@in_a_browser
def test_an_answer_is_folded_without_a_script(
    browser: Any, address: str
) -> None:
    context = browser.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(f"{address}/en/query-and-key.html")
    assert tab.locator("details.answer").count() > 0
    context.close()


@in_a_browser
@pytest.mark.parametrize(
    ("language", "word", "page"),
    [("zh_Hant", "遮罩", "causal-mask"), ("en", "softmax", "query-and-key")],
)
def test_search_finds(
    tab: Any, address: str, language: str, word: str, page: str
) -> None:
    tab.goto(f"{address}/{language}/search.html?q={word}")
    tab.locator(f"#search-results a[href*='{page}']").first.wait_for()


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


def code_of(path: Path) -> str:
    """Return all code of a notebook, its exercises solved."""
    made = json.loads(path.read_text(encoding="utf-8"))
    return "\n\n".join(
        cell["metadata"].get("solution", cell["source"])
        for cell in made["cells"]
        if cell["cell_type"] == "code"
    )


NOTEBOOKS = sorted(path.stem for path in (SITE / "en").glob("*.ipynb"))


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_notebook_runs(name: str, tmp_path: Path) -> None:
    """All its code in one process; the other language has the same code."""
    code = code_of(SITE / "en" / f"{name}.ipynb")
    other = code_of(SITE / "zh_Hant" / f"{name}.ipynb")
    assert other.replace("'zh-Hant'", "'en'") == code
    script = tmp_path / "cells.py"
    script.write_text(code, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, script],
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        check=False,
    )
    assert done.returncode == 0, done.stderr[-800:]
    assert "# torch_impl" in done.stdout


def test_there_are_notebooks() -> None:
    assert len(NOTEBOOKS) >= 20


# What each page of the lesson must have, as it stands in its source.
PARTS = {
    "both sides": r"^`{3,}\{sides\}",
    "what it prints": r"^`{3,}\{(?:ran|shown)\}",
    "a picture": r"^`{3,}\{(?:picture|live)\}",
    "where the two differ": r"^## Where the two differ, and why$",
    "two faults": r"(?s)^`{3,}\{break\}.*^`{3,}\{break\}",
    "an exercise": r"^`{3,}\{exercise\}",
    "a question": r"^`{3,}\{answer\}",
}


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_a_lesson_has_all_its_parts(name: str) -> None:
    text = (ROOT / "docs" / "en" / f"{name}.md").read_text(encoding="utf-8")
    lacking = [
        p for p, sign in PARTS.items() if not re.search(sign, text, re.M)
    ]
    assert not lacking


@pytest.mark.parametrize("name", PAGES)
def test_both_languages_show_the_same(name: str) -> None:
    """The same directives in the same order, faults and functions named."""
    found = [
        re.findall(
            r"^`{3,}\{(?!answer|toctree)([\w-]+)\} *(.*)$",
            (ROOT / "docs" / folder / f"{name}.md").read_text("utf-8"),
            re.M,
        )
        for folder in LANGUAGES
    ]
    assert found[0] == found[1]


def test_both_languages_have_the_same_pages() -> None:
    assert not list(matched.problems())


def test_what_is_not_matched_is_found(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    for language in ("en", "zh_Hant"):
        shutil.copytree(ROOT / "docs" / language, docs / language)
    with (docs / "en" / "head.md").open("a", encoding="utf-8") as file:
        file.write("\nMore.\n")
    with (docs / "zh_Hant" / "cost.md").open("a", encoding="utf-8") as file:
        file.write("\n這是默認的。\n")
    (docs / "zh_Hant" / "scale.md").unlink()
    found = list(matched.problems(docs))
    assert len(found) == 3, found
    assert any("scale.md is missing" in line for line in found)
    assert any("head.md has changed" in line for line in found)
    assert any("默認, expected 預設" in line for line in found)
    matched.match(["head"], docs)
    assert len(list(matched.problems(docs))) == 2


def test_what_stands_on_one_side_only_ends_the_build() -> None:
    assert sides("softmax.softmax").count('class="step"') == 6
    with pytest.raises(BookError, match="is not in torch_impl"):
        sides("softmax.softmax_backward")
    assert by_hand("softmax.softmax_backward").count('class="side"') == 1
    with pytest.raises(BookError, match="is on both sides"):
        by_hand("softmax.softmax")
    assert "def forward" in source("torch_impl", "head.AttentionHead")[-1]


def test_an_exercise_that_checks_nothing_ends_the_build() -> None:
    good = ["What?", "---", "x = 1", "---", "assert x == 2", "---", "x = 2"]
    assert solved(parts_of(good)) == ""
    with pytest.raises(ValueError, match="the start passes"):
        solved(parts_of([*good[:4], "assert x", *good[5:]]))
    with pytest.raises(ValueError, match="the solution fails"):
        solved(parts_of([*good[:6], "x = 3"]))
    with pytest.raises(ValueError, match="3 parts, expected asked, start"):
        parts_of(good[:5])
