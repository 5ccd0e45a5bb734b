"""The live figures: wherever they are moved, the numbers are numpy_impl's."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attention_twice.sources import ROOT
from book import live_figures
from built import LANGUAGES, SITE, in_a_browser
from numpy_impl import attention, lesson, masks, merge, softmax


def figure_of(tab: Any, url: str, name: str) -> Any:
    """Return a live figure of a page, once it lives."""
    tab.goto(url)
    figure = tab.locator(f"figure[data-figure={name}][data-weights]")
    figure.wait_for()
    return figure


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
    figure.evaluate(
        "figure => figure.scrollIntoView("
        "{block: 'center', behavior: 'instant'})"
    )
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
