"""The book's directives: what a page shows comes from the real files.

    ```{sides} softmax.softmax      a function as both sides have it
    ```{by-hand} softmax.softmax_backward      what NumPy's side alone has
    ```{ran} attention.py exercise 1      what running it prints
    ```{shown}                      a few lines, and what they print
    ```{break} no maximum subtracted      a fault, and what turns red
    ```{exercise}                   to solve, with what checks it
    ```{answer} Question            folded away
    ```{picture} clocks             a picture of the project's numbers
    ```{live} query                 one that moves
    ```{drawing} architecture       a drawing of docs/plots

Everything is made when the book is built. The build fails if a function is
missing, or is on one side only.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.locale import _

from attention_twice.words import LANGUAGES

from .api import add_api
from .copy_button import copy_code
from .directives.breaks import Break
from .directives.figures import Drawing, Figure, Picture
from .directives.questions import Answer, Exercise
from .directives.ran import Ran, Shown
from .directives.sides import ByHand, Sides
from .languages import language_of
from .live import bring_figures_to_life
from .notebooks import lesson_pages, write_notebooks
from .search import search_traditional_chinese
from .terms import index_terms

# What each language calls itself.
NAMES = {"en": "English", "zh-Hant": "繁體中文"}


def inline_math(self: Any, node: Any) -> None:
    """Write a formula in a line as MathML."""
    self.body.append(convert(node.astext()))
    raise nodes.SkipNode


def block_math(self: Any, node: Any) -> None:
    """Write a formula of its own as MathML."""
    self.body.append(convert(node.astext(), display="block"))
    raise nodes.SkipNode


def other_language(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: Any,
) -> None:
    """Give each page the address of itself in the other language."""
    language = language_of(app.config)
    (other,) = (one for one in LANGUAGES if one != language)
    context["docstitle"] = _(app.config.html_title)
    lesson = lesson_pages(Path(app.srcdir))
    context["notebook"] = f"{pagename}.ipynb" if pagename in lesson else ""
    depth = pagename.count("/") + 1
    context["other_page"] = f"{'../' * depth}{other.folder}/{pagename}.html"
    context["other_language"] = NAMES[other.tag]
    context["other_tag"] = other.html
    context["language"] = language.html


def setup(app: Sphinx) -> dict[str, Any]:
    """Add everything to Sphinx."""
    app.add_directive("sides", Sides)
    app.add_directive("by-hand", ByHand)
    app.add_directive("ran", Ran)
    app.add_directive("shown", Shown)
    app.add_directive("break", Break)
    app.add_directive("exercise", Exercise)
    app.add_directive("answer", Answer)
    app.add_directive("picture", Picture)
    app.add_directive("live", Figure)
    app.add_directive("drawing", Drawing)
    add_api(app)
    copy_code(app)
    app.add_html_math_renderer(
        "mathml", (inline_math, None), (block_math, None)
    )
    app.connect("html-page-context", other_language)
    app.connect("build-finished", write_notebooks)
    bring_figures_to_life(app)
    search_traditional_chinese(app)
    index_terms(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
