"""The button that copies code: sphinx-copybutton's, on code to take along.

Not on what a program printed, nor on the steps of a function: those stand in
the project's files. The extension has no Chinese as in Taiwan, so the
button's picture carries the word; `book.css` has those of its tooltip.
"""

from __future__ import annotations

from sphinx.application import Sphinx
from sphinx.config import Config

from attention_twice.words import translated

from .languages import language_of

PICTURE = (
    '<svg viewBox="0 0 24 24" stroke="currentColor" stroke-width="1.5" '
    'fill="none"><title>{}</title><rect x="8" y="8" width="12" height="12" '
    'rx="2"/><path d="M16 8v-2a2 2 0 0 0-2-2h-8a2 2 0 0 0-2 2v8a2 2 0 0 0 '
    '2 2h2"/></svg>'
)


def name_button(app: Sphinx, config: Config) -> None:
    """Give the button its word, and the blocks that it stands on."""
    config.copybutton_selector = "div[class^=highlight-] pre"
    config.copybutton_image_svg = PICTURE.format(
        translated(language_of(config).tag, "Copy")
    )


def copy_code(app: Sphinx) -> None:
    """Add the button."""
    app.setup_extension("sphinx_copybutton")
    # Before the extension reads what it is told, at 500.
    app.connect("config-inited", name_button, priority=400)
