"""Exercises and questions, with what is folded away below them."""

from __future__ import annotations

import html

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from attention_twice.words import translated

from ..exercises import parts_of, solved
from ..languages import language_of
from .ran import ran_once, terminal


class Exercise(SphinxDirective):
    """Something to solve: what is asked, a start, a check, a solution."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Check that the solution passes and the start does not."""
        try:
            exercise = parts_of(list(self.content))
            said = ran_once(self, list(exercise[1:]), lambda: solved(exercise))
        except ValueError as error:
            raise self.error(str(error)) from error
        asked = nodes.container()
        count = exercise.asked.count("\n") + 1
        self.state.nested_parse(
            self.content[:count], self.content_offset, asked
        )
        title = translated(
            language_of(self.config).tag,
            "A solution, and what the check says",
        )
        start = f'<details class="answer"><summary>{title}</summary>'
        lines = exercise.solution
        return [
            *asked.children,
            nodes.literal_block("", exercise.to_do, language="python"),
            nodes.raw("", start, format="html"),
            nodes.literal_block(lines, lines, language="python"),
            terminal(said),
            nodes.raw("", "</details>", format="html"),
        ]


class Answer(SphinxDirective):
    """An answer that is folded away below its question."""

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the question, and the answer in a fold."""
        question = html.escape(self.arguments[0])
        start = f'<details class="answer"><summary>{question}</summary>'
        inner = nodes.container()
        self.state.nested_parse(self.content, self.content_offset, inner)
        return [
            nodes.raw("", start, format="html"),
            inner,
            nodes.raw("", "</details>", format="html"),
        ]
