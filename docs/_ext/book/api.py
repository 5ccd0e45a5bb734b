"""The API as a page, from the docstrings of the two packages.

    ```{api}          every module, in the reading order of the README
    ```{commands} suite     a command line, from its own parser

A docstring is read as Markdown, except its `Args` and `Raises`. What both
sides share is listed once, under both names.
"""

from __future__ import annotations

import argparse
import ast
import html
import os
import re
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

from attention_twice.sources import (
    ROOT,
    definitions,
    is_public,
    methods,
    parsed,
    path_of,
)
from attention_twice.words import translated

from .directives.ran import terminal
from .languages import language_of

SIDES = {"NumPy": "numpy_impl", "PyTorch": "torch_impl"}
READMES = {"en": "README.md", "zh-Hant": "README.zh-Hant.md"}
# A table of a README with its title, and the module that a line is about.
TABLE = re.compile(r"^\*\*.*\*\*\n\n(?:\|.*\n)+", re.MULTILINE)
MODULE = re.compile(r"(?<=^\| )`(\w+)\.py`", re.MULTILINE)
# An argument, or what is raised, in a docstring.
NAMED = re.compile(r"^    (\w+): ", re.MULTILINE)


class Entry(NamedTuple):
    """A function, class, method or property as one side has it."""

    name: str
    kind: str
    signature: str
    text: str


def tables(tag: str) -> str:
    """Return the tables of the modules from the README, in their order."""
    text = (ROOT / READMES[tag]).read_text(encoding="utf-8")
    return "\n".join(TABLE.findall(text))


def files() -> list[Path]:
    """Return the files of all modules, on both sides."""
    folders = [ROOT / package for package in SIDES.values()]
    return [file for folder in folders for file in folder.glob("[!_]*.py")]


def modules() -> list[str]:
    """Return the modules in reading order; what need not be read is last."""
    read = MODULE.findall(tables("en"))
    return [*read, *sorted({file.stem for file in files()} - {*read})]


def entries(package: str, module: str) -> dict[str, Entry]:
    """Return all that is public in a module, by the name on both sides."""
    tree = parsed(path_of(package, module))
    public = {
        name: entry(name, node)
        for name, node in definitions(tree)
        if is_public(name)
    }
    for name, made in public.items():
        if not made.text:
            raise ExtensionError(f"{package}.{module}.{name} has no docstring")
    return public


def entry(name: str, node: ast.FunctionDef | ast.ClassDef) -> Entry:
    """Return what a name stands for."""
    owner = name.rpartition(".")[0]
    if isinstance(node, ast.ClassDef):
        return class_of(node)
    return method(owner, node) if owner else function(node)


def function(node: ast.FunctionDef) -> Entry:
    """Return a function."""
    signature = f"({ast.unparse(node.args)})".replace("=", " = ")
    if node.returns:
        signature += f" -> {ast.unparse(node.returns)}"
    text = ast.get_docstring(node) or ""
    return Entry(node.name, "function", signature, text)


def method(owner: str, node: ast.FunctionDef) -> Entry:
    """Return a method, or a property, without its `self`."""
    del node.args.args[:1]
    made = function(node)._replace(name=f"{owner}.{node.name}", kind="method")
    if any(ast.unparse(d) == "property" for d in node.decorator_list):
        return made._replace(kind="property", signature="")
    return made


def class_of(node: ast.ClassDef) -> Entry:
    """Return a class: what it is made from, or its fields."""
    fields = [item for item in node.body if isinstance(item, ast.AnnAssign)]
    signature = f"({', '.join(map(ast.unparse, fields))})"
    if maker := dict(methods(node)).get(f"{node.name}.__init__"):
        made = method(node.name, maker)
        signature = made.signature.removesuffix(" -> None")
    return Entry(node.name, "class", signature, ast.get_docstring(node) or "")


def exported(package: str) -> dict[str, str]:
    """Return the modules of what the package itself hands on, by name."""
    return {
        alias.name: str(node.module)
        for node in parsed(path_of(package, "__init__")).body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def told(texts: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Yield what both sides say alike, without a label, and what one says."""
    if len(texts) == 1:
        yield from (("", text) for text in texts.values())
        return
    one, other = (text.split("\n\n") for text in texts.values())
    matcher = SequenceMatcher(None, one, other, autojunk=False)
    for tag, a, b, c, d in matcher.get_opcodes():
        labels = [""] if tag == "equal" else list(texts)
        for label, part in zip(labels, (one[a:b], other[c:d]), strict=False):
            if part:
                yield label, "\n\n".join(part)


class Api(SphinxDirective):
    """Every module of both packages."""

    @property
    def tag(self) -> str:
        """The page's language."""
        return language_of(self.config).tag

    def run(self) -> list[nodes.Node]:
        """Return the tables of the modules, and a section for each."""
        for file in [*map(ROOT.joinpath, READMES.values()), *files()]:
            self.env.note_dependency(str(file))
        links = MODULE.sub(
            r"{py:mod}`\1.py <numpy_impl.\1>`", tables(self.tag)
        )
        return [
            *self.parse_text_to_nodes(links),
            *map(self.section, modules()),
        ]

    def section(self, module: str) -> nodes.section:
        """Return what a module is about, and all that is public in it."""
        section = nodes.section(ids=[module], names=[module])
        section += nodes.title(text=module)
        found = {}
        texts = {}
        for label, package in SIDES.items():
            if text := ast.get_docstring(parsed(path_of(package, module))):
                target = f"```{{py:module}} {package}.{module}\n```"
                section += self.parse_text_to_nodes(target)
                found[label] = entries(package, module)
                texts[label] = text
        if one := self.one_sided(texts, SIDES):
            section += nodes.paragraph("", "", one)
        section += self.said(texts)
        # Where a name's own names go, and the sides that have it.
        places: dict[str, tuple[Any, Any]] = {"": (section, found)}
        names = (name for own in found.values() for name in own)
        for name in dict.fromkeys(names):
            sides = {k: own[name] for k, own in found.items() if name in own}
            place, owners = places[name.rpartition(".")[0]]
            described = self.entry(module, sides, owners)
            place += described
            places[name] = described[-1][-1], sides
        return section

    def entry(
        self, module: str, sides: dict[str, Entry], owners: Iterable[str]
    ) -> list[nodes.Element]:
        """Return an entry: its signatures, and what is said of it."""
        indices = []
        lines: dict[str, Any] = {}
        for label, entry in sides.items():
            for name in importable_from(SIDES[label], module, entry.name):
                index, described = self.described(name, entry)
                indices.append(index)
                line, content = described.children
                line["side"] = label
                known = lines.setdefault(line.astext(), line)
                if known is not line:
                    # One line that answers to this name too.
                    known["ids"] += line["ids"]
        one = self.one_sided(sides, owners)
        for line in lines.values():
            if one:
                line += one.deepcopy()
            elif len(lines) > 1:
                line += badge(line["side"])
        content += self.said({k: entry.text for k, entry in sides.items()})
        described.children = []
        described += [*lines.values(), content]
        return [*indices, described]

    def described(self, module: str, entry: Entry) -> list[Any]:
        """Return Sphinx's nodes of an entry: for the index, and to show."""
        found: list[Any] = self.parse_text_to_nodes(
            f"```{{py:{entry.kind}}} {entry.name}\n:module: {module}\n```"
        )
        line = found[-1][0]
        for empty in list(line.findall(addnodes.desc_parameterlist)):
            line.remove(empty)
        # As text: in Sphinx's marks it would take eighteen times the room.
        text = html.escape(f"{entry.signature} ", quote=False)
        line += nodes.raw("", text, format="html")
        return found

    def one_sided(
        self, sides: Iterable[str], owners: Iterable[str]
    ) -> nodes.inline | None:
        """Return what says that one side only of the owner's has this."""
        (label, *more) = sides
        if more or list(owners) == [label]:
            return None
        return badge(translated(self.tag, "{side} only", side=label))

    def said(self, texts: dict[str, str]) -> list[nodes.Node]:
        """Return docstrings; what one side alone says stands in a box."""
        found: list[nodes.Node] = []
        for label, text in told(texts):
            box = nodes.container(classes=["said"])
            # A prime is no quotation mark.
            box["support_smartquotes"] = False
            if label:
                box += nodes.paragraph("", "", badge(label))
            box += self.parse_text_to_nodes(NAMED.sub(r"- `\1`: ", text))
            for formula in box.findall(nodes.literal_block):
                formula["language"] = "none"
            found.append(box)
        return found


def importable_from(package: str, module: str, name: str) -> list[str]:
    """Return the modules that a name is imported from."""
    handed_on = exported(package).get(name) == module
    return [f"{package}.{module}", *([package] if handed_on else [])]


def badge(label: str) -> nodes.inline:
    """Return a label that names a side."""
    return nodes.inline(text=label, classes=["badge"])


class Commands(SphinxDirective):
    """What the suite's commands, or the lesson's, print for `--help`."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        """Return the help of the whole, and of each command."""
        helps = {"suite": suite_helps, "lesson": self.lesson_helps}
        # As wide, and as plain, wherever the book is built.
        with patch.dict(os.environ, COLUMNS="79", NO_COLOR="1"):
            return [terminal(text) for text in helps[self.arguments[0]]()]

    def lesson_helps(self) -> list[str]:
        """Return what the lesson's program prints, in the page's language."""
        from attention_twice import cli

        with cli.argparse_in(language_of(self.config).tag) as translate:
            root = cli.make_parser("attention.py", translate)
            return [made.format_help() for made in parsers(root)]


def suite_helps() -> list[str]:
    """Return what the suite's program prints."""
    from parity_tests.__main__ import parser

    return [made.format_help() for made in parsers(parser())]


def parsers(root: argparse.ArgumentParser) -> list[argparse.ArgumentParser]:
    """Return a parser, those of its commands, and those of theirs."""
    found = [root]
    for action in root._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                found += parsers(command)
    return found


def add_api(app: Sphinx) -> None:
    """Add both directives, and how Sphinx writes signatures."""
    app.add_directive("api", Api)
    app.add_directive("commands", Commands)
