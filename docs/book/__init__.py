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

All of it is made when the book is built; what has gone, or stands on one
side only, ends the build.
"""

from __future__ import annotations

import ast
import html
import os
import shlex
import subprocess
import sys
import textwrap
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.highlighting import PygmentsBridge
from sphinx.locale import _
from sphinx.util.docutils import SphinxDirective

from .api import SIDES, add_api
from .exercises import parts_of, solved
from .kept import ROOT, files, kept
from .live import bring_figures_to_life
from .notebooks import lesson_pages, write_notebooks
from .search import search_traditional_chinese

# What the same method is called on the other side.
IDIOM = {"__call__": "forward"}


class BookError(Exception):
    """What a page asks for and is not there."""


def source(package: str, path: str) -> list[str]:
    """Return a function, or a class, in its steps: head, then statements.

    `path` is room.function, room.Class or room.Class.method.
    """
    room, *names = path.split(".")
    file = ROOT / package / f"{room}.py"
    text = file.read_text(encoding="utf-8")
    found: Any = ast.parse(text)
    for name in names:
        wanted = {name}
        if package == "torch_impl":
            wanted.add(IDIOM.get(name, name))
        own = [n for n in found.body if getattr(n, "name", None) in wanted]
        if not own:
            raise BookError(f"{path} is not in {package}/{room}.py")
        found = own[0]
    lines = text.splitlines()[found.lineno - 1 : found.end_lineno]
    shift = found.lineno
    # A class is one step a method; a function is one step a statement.
    documented = int(ast.get_docstring(found) is not None)
    starts = [node.lineno - shift for node in found.body[documented:]]
    ends = [*starts[1:], len(lines)]
    parts = [lines[: starts[0]]]
    parts += [lines[a:b] for a, b in zip(starts, ends, strict=True)]
    return ["\n".join(part).rstrip() for part in parts]


def sides(path: str) -> str:
    """Return both sides of a function as HTML, aligned step by step."""
    return aligned(
        path,
        {label: source(package, path) for label, package in SIDES.items()},
    )


def by_hand(path: str) -> str:
    """Return as HTML what NumPy's side has and autograd does on the other."""
    try:
        source(SIDES["PyTorch"], path)
    except BookError:
        return aligned(path, {"NumPy": source(SIDES["NumPy"], path)})
    raise BookError(f"{path} is on both sides: show both")


def aligned(path: str, columns: dict[str, list[str]]) -> str:
    """Return columns of code as HTML, each step in a row of its own."""
    rows = max(map(len, columns.values()))
    bridge = PygmentsBridge("html")
    alone = " alone" if len(columns) == 1 else ""
    parts = [f'<div class="sides{alone}" style="--rows: {rows + 1}">']
    for label, steps in columns.items():
        room = path.split(".")[0]
        parts.append('<div class="side">')
        file = f"{SIDES[label]}/{room}.py"
        parts.append(f'<p class="side-name">{label} <code>{file}</code></p>')
        for number in range(rows):
            text = steps[number] if number < len(steps) else ""
            code = bridge.highlight_block(text, "python") if text else ""
            parts.append(f'<div class="step">{code}</div>')
        parts.append("</div>")
    return "".join([*parts, "</div>"])


class Sides(SphinxDirective):
    """A function as both sides have it."""

    required_arguments = 1
    shown = staticmethod(sides)

    def run(self) -> list[nodes.Node]:
        """Return the columns."""
        path = self.arguments[0]
        room = path.split(".")[0]
        for package in SIDES.values():
            self.env.note_dependency(str(ROOT / package / f"{room}.py"))
        try:
            text = self.shown(path)
        except (BookError, OSError) as error:
            raise self.error(str(error)) from error
        return [nodes.raw("", text, format="html")]


class ByHand(Sides):
    """A function that NumPy's side alone has."""

    shown = staticmethod(by_hand)


class Ran(SphinxDirective):
    """What running a file of the project prints."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        """Run it, in the page's language, and return what it printed."""
        words = shlex.split(self.arguments[0])
        zh = str(self.config.language).startswith("zh")
        words += ["--plain", "--lang", "zh-Hant" if zh else "en"]
        text = f"$ .venv/bin/python {self.arguments[0]}\n"
        return [terminal(text + printed(self, words))]


def terminal(text: str) -> nodes.Node:
    """Return what a program prints, in columns as a terminal has them.

    No two fonts agree how wide 光 or × is beside a letter, so each such
    character gets the one or two cells that a terminal gives it.
    """
    cells = "".join(
        html.escape(character)
        if character.isascii()
        else f'<span class="cell{1 + wide(character)}">{character}</span>'
        for character in text
    )
    block = f'<div class="highlight terminal"><pre>{cells}</pre></div>'
    return nodes.raw("", block, format="html")


def wide(character: str) -> bool:
    """Return whether a terminal gives a character two cells."""
    return unicodedata.east_asian_width(character) in "WF"


def ran_once(
    directive: SphinxDirective, key: list[str], make: Callable[[], Any]
) -> Any:
    """Return what `make` returns; the page depends on the project's code."""
    for path in files():
        directive.env.note_dependency(path)
    return kept(key, make)


def printed(directive: SphinxDirective, words: list[str]) -> str:
    """Return what Python prints, in the project's folder."""
    text: str = ran_once(directive, words, lambda: run(directive, words))
    return text


def run(directive: SphinxDirective, words: list[str]) -> str:
    """Run Python in the project's folder, and return what it prints."""
    done = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=os.environ | {"PYTHONIOENCODING": "utf-8"},
        check=False,
    )
    if done.returncode != 0:
        raise directive.error(f"{words} ends with {done.stderr[-500:]}")
    return done.stdout.strip()


class Shown(SphinxDirective):
    """A few lines of Python, and what they print."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Run them, and return both."""
        lines = "\n".join(self.content)
        text = printed(self, ["-c", lines])
        return [
            nodes.literal_block(lines, lines, language="python"),
            terminal(text),
        ]


WORDS = {
    "en": {
        "change": "In {file}, replace",
        "by": "by",
        "red": "What turns red, among others:",
        "report": "A public report:",
        "solution": "A solution, and what the check says",
    },
    "zh_TW": {
        "change": "在 {file} 裡，把",
        "by": "換成",
        "red": "會變紅的檢查，例如：",
        "report": "公開的錯誤回報：",
        "solution": "一種解法，以及檢查的結果",
    },
}


class Break(SphinxDirective):
    """A fault of the bank: the change, and what turns red.

    The text in it says what goes wrong, in the page's language.
    """

    required_arguments = 1
    final_argument_whitespace = True
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Apply the fault to a copy, run the suite on it, show it."""
        from parity_tests.bank import FAULTS

        name = self.arguments[0]
        found = [fault for fault in FAULTS if fault.name == name]
        if not found:
            raise self.error(f"{name!r} is no fault of the bank")
        fault = found[0]
        places = ran_once(self, ["break", name], lambda: caught_at(fault))
        if not places:
            raise self.error(f"{name!r} turns nothing red")
        words = WORDS[self.config.language]
        box = nodes.admonition(classes=["break"])
        box += nodes.title(text=name)
        self.state.nested_parse(self.content, self.content_offset, box)
        package = SIDES["NumPy" if fault.side == "numpy" else "PyTorch"]
        file = f"{package}/{fault.room}.py"
        before, after = whole_lines(ROOT / file, fault.before, fault.after)
        for label, text in (
            (words["change"].format(file=file), before),
            (words["by"], after),
        ):
            box += nodes.paragraph(text=label)
            box += nodes.literal_block(text, text, language="python")
        box += nodes.paragraph(text=words["red"])
        red = nodes.bullet_list()
        for place in places:
            item = nodes.paragraph()
            item += nodes.literal(text=place)
            red += nodes.list_item("", item)
        box += red
        if fault.report:
            repository, number = fault.report.split("#")
            line = nodes.paragraph(text=words["report"] + " ")
            address = f"https://github.com/{repository}/issues/{number}"
            line += nodes.reference(text=fault.report, refuri=address)
            box += line
        return [box]


def whole_lines(path: Path, before: str, after: str) -> tuple[str, str]:
    """Return what is replaced, and what by, as the lines that they are in."""
    text = path.read_text(encoding="utf-8")
    place = text.index(before)
    start = text.rfind("\n", 0, place) + 1
    end = text.find("\n", place + len(before.rstrip("\n")))
    rest = text[place + len(before) : end]
    lines = [text[start:place] + part + rest for part in (before, after)]
    return textwrap.dedent(lines[0]), textwrap.dedent(lines[1])


def caught_at(fault: Any) -> list[str]:
    """Return some of the places at which the suite sees a fault."""
    from parity_tests.faults import tried
    from parity_tests.report import quiet

    with quiet():
        return [str(found.place) for found in tried(fault, enough=3)]


class Exercise(SphinxDirective):
    """Something to solve: what is asked, a start, a check, a solution."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Check that the solution passes and the start does not."""
        try:
            exercise = parts_of(list(self.content))
            said = ran_once(
                self, list(exercise[1:]), lambda: solved(exercise, ROOT)
            )
        except ValueError as error:
            raise self.error(str(error)) from error
        asked = nodes.container()
        count = exercise.asked.count("\n") + 1
        self.state.nested_parse(
            self.content[:count], self.content_offset, asked
        )
        words = WORDS[self.config.language]["solution"]
        start = f'<details class="answer"><summary>{words}</summary>'
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


class Picture(SphinxDirective):
    """A picture of the project's numbers; the text in it is its caption."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the picture, drawn now, and its caption."""
        from . import plots

        made = getattr(plots, self.arguments[0], None)
        if made is None:
            raise self.error(f"there is no picture {self.arguments[0]!r}")
        caption = nodes.container(classes=["caption"])
        self.state.nested_parse(self.content, self.content_offset, caption)
        drawn = plots.svg(made, str(self.config.language))
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
        from . import pictures

        name = self.arguments[0]
        if name not in pictures.CAPTIONS:
            raise self.error(f"there is no picture {name!r}")
        self.env.note_dependency(pictures.__file__)
        zh = str(self.config.language).startswith("zh")
        language = "zh_Hant" if zh else "en"
        text = getattr(pictures, name)(language)
        caption = pictures.CAPTIONS[name][language]
        body = (
            f'<figure class="live" data-figure="{name}">{text}'
            f"<figcaption>{caption}</figcaption></figure>"
        )
        return [nodes.raw("", body, format="html")]


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
    folder, label = {
        "en": ("zh_Hant", "繁體中文"),
        "zh_TW": ("en", "English"),
    }[app.config.language]
    context["docstitle"] = _(app.config.html_title)
    lesson = lesson_pages(Path(app.srcdir))
    context["notebook"] = f"{pagename}.ipynb" if pagename in lesson else ""
    depth = pagename.count("/") + 1
    context["other_page"] = f"{'../' * depth}{folder}/{pagename}.html"
    context["other_language"] = label
    context["other_tag"] = "en" if folder == "en" else "zh-Hant-TW"
    context["language"] = "zh-Hant-TW" if folder == "en" else "en"


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
    add_api(app)
    app.add_html_math_renderer(
        "mathml", (inline_math, None), (block_math, None)
    )
    app.connect("html-page-context", other_language)
    app.connect("build-finished", write_notebooks)
    bring_figures_to_life(app)
    search_traditional_chinese(app)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
