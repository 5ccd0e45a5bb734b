"""The documents name files and commands that exist."""

from __future__ import annotations

import re
import shlex
import tomllib
from functools import cache
from pathlib import Path
from textwrap import dedent

import pytest

from parity_tests.__main__ import parser
from parity_tests.cases import table
from parity_tests.checks import chosen
from parity_tests.faults.bank import FAULTS

ROOT = Path(__file__).parents[3]
GUIDES = ("CONTRIBUTING.md", "docs/en/architecture.md")
CODE = re.compile(r"^( *)```(\w+)\n(.*?)^ *```", re.M | re.S)


@cache
def text(name: str) -> str:
    """Return a file of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def shown(name: str, language: str) -> list[str]:
    """Return the blocks of code of a language on a page."""
    found = CODE.findall(text(name))
    return [dedent(code) for _, of, code in found if of == language]


def inline(name: str) -> set[str]:
    """Return what stands in backticks in the lines of a page."""
    return set(re.findall(r"`([^`\n]+)`", CODE.sub("", text(name))))


def paths(name: str) -> set[str]:
    """Return what a page names that looks like a file or folder."""
    linked = re.findall(r"\]\(((?!http)[^)#]+)\)", text(name))
    beside = Path(name).parent
    return {str(beside / path) for path in linked} | {
        path
        for path in inline(name)
        if re.fullmatch(r"[\w./-]+(/|\.(py|md|toml|cff))", path)
    }


def commands() -> list[str]:
    """Return every command that the documents tell a reader to run."""
    pages = ("CONTRIBUTING.md", "README.md", "docs/en/suite.md")
    blocks = [b for name in pages for b in shown(name, "sh")]
    lines = [line for block in blocks for line in block.splitlines()]
    lines += [code for name in pages for code in inline(name)]
    each = [
        c.split("#")[0].strip() for line in lines for c in line.split("&&")
    ]
    return sorted({c for c in each if c.startswith(("make ", ".venv/bin/"))})


@pytest.mark.parametrize("name", GUIDES)
def test_what_a_page_names_is_there(name: str) -> None:
    named = paths(name)
    assert len(named) > 5
    pages = ROOT / "docs" / "en"
    absent = [
        path
        for path in named
        if not ((ROOT / path).exists() or (pages / path).exists())
    ]
    # A port is anybody's.
    assert absent in ([], ["my_impl/"])


@pytest.mark.parametrize("command", commands())
def test_a_command_can_be_run(command: str) -> None:
    program, *words = shlex.split(command)
    if program == "make":
        assert re.search(rf"^{words[0]}:", text("Makefile"), re.M)
    elif words[:2] == ["-m", "parity_tests"]:
        given = vars(parser().parse_args(words[2:]))
        if given.get("case"):
            assert any(chosen(case=given["case"]))
        # NAME stands for any.
        if given["command"] == "faults" and given["only"] not in (
            None,
            "NAME",
        ):
            assert given["only"] in map(str, FAULTS)
    else:
        named = [word.split("::")[0] for word in words if "/" in word]
        assert all((ROOT / path).exists() for path in named)


def test_what_the_page_shows_is_in_the_suite() -> None:
    examples = shown("CONTRIBUTING.md", "python")
    suite = "\n".join(
        re.sub(r"^ +", "", path.read_text(encoding="utf-8"), flags=re.M)
        for path in (ROOT / "parity_tests").rglob("*.py")
    )
    assert len(examples) == 4
    for code in examples:
        assert re.sub(r"^ +", "", code.strip(), flags=re.M) in suite, code


def test_the_generators_of_cases_are_there() -> None:
    (line,) = re.findall(r"Choose a generator: (.*)", text("CONTRIBUTING.md"))
    names = re.findall(r"`(\w+)`", line)
    assert names
    for name in names:
        assert callable(getattr(table, name, None)), name


def test_what_was_renamed_has_its_new_name() -> None:
    row = re.compile(r"^\| `(\w+)` \| .* \| (.*) \|$", re.M)
    renamed = row.findall(text("CHANGELOG.md"))
    assert len(renamed) > 15
    for module, now in renamed:
        for name in re.findall(r"`([\w.]+)`", now):
            *owner, last = name.split(".")
            moved = owner[0] if owner and owner[0].islower() else module
            source = text(f"numpy_impl/{moved}.py")
            assert re.search(rf"\b{last}\b", source), name


def test_github_tries_the_lowest_versions() -> None:
    project = tomllib.loads(text("pyproject.toml"))["project"]
    workflow = text(".github/workflows/test.yml")
    lowest = dict(needed.split(">=") for needed in project["dependencies"]) | {
        "python": project["requires-python"].removeprefix(">=")
    }
    for name in ("numpy", "torch"):
        assert f"'{name}=={lowest[name]}.*'" in workflow
    assert f'python: "{lowest["python"]}"' in workflow
