"""How the book is built: `make docs`, once for each language."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
BOOK = HERE / "_ext" / "book"
# The book's own directives, and the project that they show.
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]

project = "attention, written twice"
author = "the authors of attention, written twice"
html_title = project
extensions = ["myst_parser", "sphinx_design", "book"]
myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
# Nothing is loaded from another host: MathML in place of a script.
html_math_renderer = "mathml"
html_theme = "furo"
html_theme_options = {
    "light_css_variables": {"color-weight": "#0369a1"},
    "dark_css_variables": {"color-weight": "#38bdf8"},
}
html_static_path = [str(BOOK / "static")]
html_css_files = ["book.css"]
html_js_files = [("book.js", {"defer": "defer"})]
templates_path = [str(BOOK / "templates")]
# The words around a page, in Chinese.
locale_dirs = [str(BOOK / "locale")]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_search_scorer = str(BOOK / "scorer.js")
html_favicon = str(BOOK / "static" / "favicon.svg")
pygments_style = "friendly"
# The page of the API: its sections are the rooms, which say where names are.
add_module_names = False
toc_object_entries = False
