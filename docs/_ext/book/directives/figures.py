"""Pictures of the project's numbers, still and moving; and drawings."""

from __future__ import annotations

from html import escape
from pathlib import Path
from typing import ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective
from sphinx.util.typing import OptionSpec

from attention_twice.words import translated

from ..kept import depend_on_code
from ..languages import language_of

PLOTS = Path(__file__).parents[3] / "plots"


class Picture(SphinxDirective):
    """A picture of the project's numbers; the text in it is its caption."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the picture, drawn now, and its caption."""
        from .. import still_figures

        depend_on_code(self.env)
        made = getattr(still_figures, self.arguments[0], None)
        if made is None:
            raise self.error(f"there is no picture {self.arguments[0]!r}")
        caption = nodes.container(classes=["caption"])
        self.state.nested_parse(self.content, self.content_offset, caption)
        drawn = still_figures.svg(made, language_of(self.config).tag)
        start = f'<figure class="picture">{drawn}<figcaption>'
        return [
            nodes.raw("", start, format="html"),
            caption,
            nodes.raw("", "</figcaption></figure>", format="html"),
        ]


class Figure(SphinxDirective):
    """A live figure: a still picture, which a script brings to life."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the place of the figure with its picture in it."""
        from .. import live_figures

        name = self.arguments[0]
        if name not in live_figures.CAPTIONS:
            raise self.error(f"there is no picture {name!r}")
        depend_on_code(self.env)
        for template in live_figures.FOLDER.iterdir():
            self.env.note_dependency(str(template))
        tag = language_of(self.config).tag
        text = getattr(live_figures, name)(tag)
        caption = translated(tag, live_figures.CAPTIONS[name])
        body = (
            f'<figure class="live" data-figure="{name}">{text}'
            f"<figcaption>{caption}</figcaption></figure>"
        )
        return [nodes.raw("", body, format="html")]


class Drawing(SphinxDirective):
    """A drawing of `docs/plots`; `alt` says in words what it shows."""

    required_arguments = 1
    option_spec: ClassVar[OptionSpec] = {"alt": directives.unchanged_required}

    def run(self) -> list[nodes.Node]:
        """Return the drawing, in the colours of the page."""
        path = PLOTS / f"{self.arguments[0]}.svg"
        self.env.note_dependency(str(path))
        alt = escape(self.options["alt"])
        shown = f'<svg role="img" aria-label="{alt}" '
        drawn = path.read_text(encoding="utf-8").replace("<svg ", shown, 1)
        body = f'<figure class="picture drawing">{drawn}</figure>'
        return [nodes.raw("", body, format="html")]
