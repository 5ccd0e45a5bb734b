"""The command line."""

from __future__ import annotations

import importlib
import importlib.util
import io
import itertools
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, NoReturn

from .arguments import Arguments
from .exercises import (
    check_room,
    run_exercise_1,
    run_exercise_2,
    run_exercise_3,
)
from .page import Page
from .quiz import run_quiz
from .recall import run_recall
from .scale import run_scale
from .sections import run_lesson
from .sides import VERSIONS, Version
from .train import run_train
from .words import (
    LANGUAGES,
    BadArgumentError,
    either,
    fail,
    locale_language,
    word,
)

EXERCISES = ("exercise 1", "exercise 2", "exercise 3")


TRAINING = ("train", "recall", "scale")


COMMANDS = ("", *EXERCISES, "quiz", *TRAINING)


class Option(NamedTuple):
    """How many words follow an option, and the commands it is for."""

    least: int
    most: int | None
    choices: Sequence[str] = ()
    commands: Sequence[str] = COMMANDS


OPTIONS = {
    "--impl": Option(1, 1, (*VERSIONS, "both")),
    "--lang": Option(1, 1, LANGUAGES),
    "--section": Option(1, None, tuple("12345"), ("",)),
    "--plain": Option(0, 0),
    "--plot": Option(1, 1, commands=("", *EXERCISES[:2], *TRAINING)),
    "--query": Option(2, 2, commands=("exercise 1",)),
    "--lengths": Option(1, None, commands=("exercise 3",)),
    "--answers": Option(0, 0, commands=("quiz",)),
    "--text": Option(1, 1, commands=("train",)),
    "--checkpoint": Option(1, 1, commands=("train",)),
    "--steps": Option(1, 1, commands=TRAINING),
    "--seed": Option(1, 1, commands=TRAINING),
    "--help": Option(0, 0),
}


def parse(argv: Sequence[str], lang: str) -> Arguments:
    """Return the arguments, or raise BadArgumentError."""
    words, given = split(argv, lang)
    command = " ".join(words)
    if words not in [known.split() for known in COMMANDS]:
        fail(lang, "bad command", value=command)
    for name, values in given.items():
        check_option(lang, command, name, values)
    sections = {int(n) for n in given.get("--section", "12345")}
    if sections == {4} and "--plot" in given:
        fail(lang, "bad plot")
    impl = given.get("--impl", ["numpy" if command in TRAINING else "both"])[0]
    if command in TRAINING and impl == "both":
        fail(lang, "one version", command=command)
    lengths = given.get("--lengths", ("1000", "2000", "4000"))
    return Arguments(
        command=command,
        impl=impl,
        lang=given.get("--lang", [lang])[0],
        sections=sorted(sections),
        plain="--plain" in given,
        plot=Path(given["--plot"][0]) if "--plot" in given else None,
        query=[number(lang, value) for value in given.get("--query", "01")],
        lengths=[length(lang, value) for value in lengths],
        answers="--answers" in given,
        text=Path(given["--text"][0]) if "--text" in given else None,
        checkpoint=(
            Path(given["--checkpoint"][0]) if "--checkpoint" in given else None
        ),
        steps=(
            length(lang, given["--steps"][0], "--steps")
            if "--steps" in given
            else None
        ),
        seed=seed(lang, given.get("--seed", ["0"])[0]),
        help="--help" in given,
    )


def split(
    argv: Sequence[str], lang: str
) -> tuple[list[str], dict[str, list[str]]]:
    """Return the command, and each option with the words that follow it.

    Not by argparse: its messages are in one language, -1e5 is an option to
    it, and --section swallows a command that stands after it.
    """
    command: list[str] = []
    given: dict[str, list[str]] = {}
    words = list(argv)
    while words:
        first = words.pop(0)
        if not is_option(first):
            command.append(first)
            continue
        name, equals, value = first.partition("=")
        name = "--help" if name == "-h" else name
        if name not in OPTIONS:
            possible = either(lang, list(OPTIONS))
            fail(lang, "bad option", name=name, possible=possible)
        option = OPTIONS[name]
        if equals and option.most == 0:
            fail(lang, "no value", name=name, value=value)
        if equals:
            words.insert(0, value)
        values = leading_values(words, option.most)
        if len(values) < option.least or "" in values:
            fail(lang, f"no {name}")
        del words[: len(values)]
        given[name] = values
    return command, given


def leading_values(words: Sequence[str], most: int | None) -> list[str]:
    """Return the words that an option takes: as many as it can."""
    stop = ("exercise", "quiz") if most is None else ()
    values = itertools.takewhile(
        lambda w: not is_option(w) and w not in stop, words[:most]
    )
    return list(values)


def is_option(text: str) -> bool:
    """Return whether a word is an option; a negative number is none."""
    return text.startswith("-") and as_number(text) is None


def as_number(text: str) -> float | None:
    """Return the number that a text is, or None."""
    try:
        return float(text)
    except ValueError:
        return None


def number(lang: str, text: str) -> float:
    """Return a number for a query.

    Every score, and five times that, must fit float32.
    """
    found = as_number(text)
    if found is None or not abs(found) <= 1e37:
        fail(lang, "bad number", name="--query", value=text)
    return found


def length(lang: str, text: str, name: str = "--lengths") -> int:
    """Return a length of at most nine digits."""
    if not text.isdecimal() or len(text) > 9 or int(text) < 1:
        fail(lang, "bad length", name=name, value=text)
    return int(text)


def seed(lang: str, text: str) -> int:
    """Return a seed of at most nine digits."""
    if not text.isdecimal() or len(text) > 9:
        fail(lang, "bad seed", value=text)
    return int(text)


def check_option(
    lang: str, command: str, name: str, values: Sequence[str]
) -> None:
    """Refuse a value that is no choice, and a command without a use."""
    option = OPTIONS[name]
    for value in values:
        if option.choices and value not in option.choices:
            possible = either(lang, option.choices)
            said = {"value": value, "possible": possible}
            fail(lang, "bad choice", name=name, **said)
    if command not in option.commands:
        names = [place or word(lang, "lesson") for place in option.commands]
        fail(lang, "bad place", name=name, possible=either(lang, names))


def installed_versions(arguments: Arguments) -> list[str]:
    """Return the packages that compute; without torch, NumPy's alone."""
    impl = arguments.impl
    names = [impl] if impl in VERSIONS else list(VERSIONS)
    if importlib.util.find_spec("torch") is not None:
        return names
    if impl == "torch":
        fail(arguments.lang, "missing", name="--impl torch", package="torch")
    return ["numpy"]


def plot_folder(arguments: Arguments) -> Path | None:
    """Return the folder for heat maps, made if it was not there."""
    lang, folder = arguments.lang, arguments.plot
    if folder is None:
        return None
    if importlib.util.find_spec("matplotlib") is None:
        fail(lang, "missing", name="--plot", package="matplotlib")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        fail(lang, "bad folder", path=folder, reason=error.strerror)
    return folder


def run(argv: Sequence[str]) -> None:
    """Do what the arguments ask for."""
    arguments = parse(argv, asked_language(argv))
    plain = arguments.plain or not sys.stdout.isatty()
    page = Page(arguments.lang, plain)
    if arguments.help:
        page.say("help")
        return
    names = installed_versions(arguments)
    page.plot = plot_folder(arguments)
    if arguments.impl != "numpy" and names == ["numpy"]:
        page.say("no torch")
    if arguments.command == "exercise 3":
        check_room(page.lang, max(arguments.lengths))
    versions = [Version(name) for name in names]
    match arguments.command:
        case "exercise 1":
            run_exercise_1(page, versions, arguments.query)
        case "exercise 2":
            run_exercise_2(page, versions)
        case "exercise 3":
            run_exercise_3(page, versions, arguments.lengths)
        case "quiz":
            run_quiz(page, versions, arguments.answers)
        case "train":
            run_train(page, versions[0], arguments)
        case "recall":
            run_recall(page, versions[0], arguments)
        case "scale":
            run_scale(page, versions[0], arguments)
        case _:
            run_lesson(page, versions, arguments.sections)


def asked_language(argv: Sequence[str]) -> str:
    """Return the language to speak while the arguments are read."""
    words = " ".join(argv).replace("--lang=", "--lang ").split()
    asked = dict(itertools.pairwise(words)).get("--lang", "")
    return asked if asked in LANGUAGES else locale_language()


def prepare_streams() -> None:
    """Let every stream take Chinese; one that is closed becomes empty."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, io.StringIO())
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def main() -> int:
    """Run the program and return its exit status."""
    prepare_streams()
    try:
        run(sys.argv[1:])
    except BadArgumentError as error:
        print(f"attention.py: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"attention.py: {error}", file=sys.stderr)
        # Python tries once more, as it ends, to write what is left.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (KeyboardInterrupt, EOFError):
        print(file=sys.stderr)
        return 130
    return 0


def start() -> NoReturn:
    """Run the program and end Python with its exit status."""
    status = main()
    # All is done: a Ctrl-C while Python ends would change the status alone.
    with suppress(KeyboardInterrupt):
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(status)
