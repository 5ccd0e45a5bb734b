"""Pictures of the project's numbers: still ones, and ones that move."""

from __future__ import annotations

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from ..kept import depend_on_code


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
        drawn = still_figures.svg(made, str(self.config.language))
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
        zh = str(self.config.language).startswith("zh")
        language = "zh_Hant" if zh else "en"
        text = getattr(live_figures, name)(language)
        caption = live_figures.CAPTIONS[name][language]
        body = (
            f'<figure class="live" data-figure="{name}">{text}'
            f"<figcaption>{caption}</figcaption></figure>"
        )
        return [nodes.raw("", body, format="html")]
