"""The command line: a sub-command for each thing the program does."""

from __future__ import annotations

import argparse
import importlib.util
import io
import itertools
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

from .exercises import run_exercise_1, run_exercise_2, run_exercise_3
from .page import Page, cannot_plot
from .quiz import run_quiz
from .recall import run_recall
from .scale import run_scale
from .sections import run_lesson
from .sides import NAMES, Side, load_error
from .train import run_train
from .words import TAGS, RefusalError, locale_language, translations, visible

COMMANDS = (
    "lesson",
    "exercise",
    "quiz",
    "train",
    "recall",
    "scale",
)
HELP = ("-h", "--help")

Translate = Callable[[str], str]


class Command(NamedTuple):
    """What runs a sub-command, and which packages compute unless told."""

    name: str
    run: Callable[..., None]
    impl: str = "both"


class Parser(argparse.ArgumentParser):
    """A parser that refuses in one line, and takes -1e5 for a number.

    What is not given has no default here: the function that runs has it.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(
            **settings,
            add_help=False,
            allow_abbrev=False,
            argument_default=argparse.SUPPRESS,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        # Without it -1e5 is an option to Pythons before 3.14.
        self._negative_number_matcher = re.compile(r"-(\.?\d|inf|nan)")

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong, already in the reader's language."""
        as_it_is = "{message}"
        raise RefusalError(as_it_is, message=message)

    def print_help(self, file: Any = None) -> None:
        """Print the help; argparse itself would not say of a full disk."""
        print(self.format_help(), end="", file=file, flush=True)


@contextmanager
def argparse_in(tag: str) -> Iterator[Translate]:
    """Let argparse speak a language; yield what translates into it."""
    translation = translations(tag)
    its = vars(argparse)
    before = {name: its[name] for name in ("_", "ngettext")}
    its.update(_=translation.gettext, ngettext=translation.ngettext)
    try:
        yield translation.gettext
    finally:
        its.update(before)


def parse(
    argv: Sequence[str], tag: str, prog: str = "attention.py"
) -> dict[str, Any]:
    """Return what the command line says, by name."""
    with argparse_in(tag) as _:
        given, rest = shared_options(_).parse_known_args(argv)
        parser = make_parser(prog, _)
        return vars(parser.parse_args(command_first(rest), given))


def command_first(words: list[str]) -> list[str]:
    """Return the words with the command before its options.

    Without a command it is the lesson; a folder with the name of one has to
    be given as --plot=NAME.
    """
    at = next((i for i, word in enumerate(words) if word in COMMANDS), None)
    if at is not None:
        end = at + (2 if words[at] == "exercise" else 1)
        return words[at:end] + words[:at] + words[end:]
    if not words or (words[0].startswith("-") and words[0] not in HELP):
        return ["lesson", *words]
    return words


def shared_options(_: Translate) -> Parser:
    """Return the options that every command takes."""
    parser = Parser()
    group = parser.add_argument_group(_("options of every command"))
    group.add_argument(
        "--impl",
        choices=[*NAMES, "both"],
        help=_("which side computes (both; train, recall, scale: numpy)"),
    )
    group.add_argument(
        "--lang", choices=TAGS, help=_("the language (that of your locale)")
    )
    group.add_argument(
        "--plain",
        action="store_true",
        help=_("no colours; the default in a file or a pipe"),
    )
    return parser


def make_parser(prog: str, _: Translate) -> Parser:
    """Return the parser of all commands."""
    shared = shared_options(_)
    parser = Parser(
        prog=prog,
        usage="%(prog)s [COMMAND] [OPTIONS]",
        description=_(
            "Attention, written twice: in NumPy and in PyTorch.\n"
            "COMMAND --help shows the options of a command."
        ),
        parents=[shared],
    )
    help_option(parser, _)
    commands = parser.add_subparsers(
        prog=prog, title=_("commands"), metavar="COMMAND", required=True
    )
    add = partial(add_command, commands, shared, _)
    text = _("the five sections; the default")
    lesson_options(add(Command("lesson", run_lesson), text), _)
    text = _("three exercises: 1, 2 or 3")
    exercise = commands.add_parser(
        "exercise",
        usage="%(prog)s NUMBER [OPTIONS]",
        help=text,
        description=text,
        parents=[shared],
    )
    help_option(exercise, _)
    add_exercises(exercise, shared, _)
    quiz = add(Command("quiz", run_quiz), _("three questions"))
    quiz.add_argument(
        "--answers",
        action="store_true",
        help=_("show the answers without waiting"),
    )
    text = _("a small model learns the poem, or a text of yours")
    train_options(add(Command("train", run_train, "numpy"), text), _)
    text = _("a small model learns to look back by content")
    recall = add(Command("recall", run_recall, "numpy"), text)
    training_options(recall, _("the largest number of steps (1000)"), _)
    text = _("what the division by √d is for, measured")
    scale = add(Command("scale", run_scale, "numpy"), text)
    training_options(scale, _("the number of steps (400)"), _)
    return parser


def add_command(
    commands: Any, shared: Parser, _: Translate, command: Command, text: str
) -> Parser:
    """Add a command, by the last word of its name; return its parser."""
    added: Parser = commands.add_parser(
        command.name.split()[-1],
        usage="%(prog)s [OPTIONS]",
        help=text,
        description=text,
        parents=[shared],
    )
    help_option(added, _)
    added.set_defaults(command=command)
    return added


def help_option(parser: Parser, _: Translate) -> None:
    """Add --help."""
    parser.add_argument(*HELP, action="help", help=_("show this help"))


def plot_option(parser: Parser, _: Translate) -> None:
    """Add --plot."""
    parser.add_argument(
        "--plot",
        metavar="DIR",
        type=path_of("--plot"),
        help=_("write each heat map as an SVG to DIR"),
    )


def lesson_options(parser: Parser, _: Translate) -> None:
    """Add the options of the lesson."""
    parser.add_argument(
        "--section",
        dest="sections",
        metavar="N",
        nargs="+",
        type=int,
        choices=range(1, 6),
        help=_("only these of the sections 1 to 5 (all)"),
    )
    plot_option(parser, _)


def add_exercises(parser: Parser, shared: Parser, _: Translate) -> None:
    """Add the three exercises, each with its options."""
    numbers = parser.add_subparsers(
        prog=parser.prog,
        title=_("exercises"),
        metavar="NUMBER",
        required=True,
    )
    add = partial(add_command, numbers, shared, _)
    text = _("another query for 光")
    first = add(Command("exercise 1", run_exercise_1), text)
    first.add_argument(
        "--query",
        metavar=("A", "B"),
        nargs=2,
        type=finite_number,
        help=_("the query, two numbers (0 1)"),
    )
    plot_option(first, _)
    text = _("the head without its causal mask")
    plot_option(add(Command("exercise 2", run_exercise_2), text), _)
    text = _("what length costs")
    third = add(Command("exercise 3", run_exercise_3), text)
    third.add_argument(
        "--lengths",
        metavar="T",
        nargs="+",
        type=whole_number("--lengths", 1),
        help=_("the sequence lengths (1000 2000 4000)"),
    )


def train_options(parser: Parser, _: Translate) -> None:
    """Add the options of `train`."""
    parser.add_argument(
        "--text",
        metavar="FILE",
        type=path_of("--text"),
        help=_("any text in UTF-8 (the poem)"),
    )
    parser.add_argument(
        "--checkpoint",
        metavar="FILE",
        type=path_of("--checkpoint"),
        help=_("the file to save the training in, and to resume it from"),
    )
    text = _("the number of steps (until it knows the text, at most 1000)")
    training_options(parser, text, _)


def training_options(parser: Parser, steps: str, _: Translate) -> None:
    """Add the options of everything that trains."""
    parser.add_argument(
        "--steps",
        metavar="N",
        type=whole_number("--steps", 1),
        help=steps,
    )
    parser.add_argument(
        "--seed",
        metavar="N",
        type=whole_number("--seed", 0),
        help=_("the seed of the random numbers (0)"),
    )
    plot_option(parser, _)


def path_of(name: str) -> Callable[[str], Path]:
    """Return what reads a path, for an option of this name."""

    def path(text: str) -> Path:
        if not text:
            raise RefusalError("{name} needs a path", name=name)
        return Path(text)

    return path


def finite_number(text: str) -> float:
    """Return a number for a query.

    Every score, and five times that, must fit float32.
    """
    with suppress(ValueError):
        if abs(number := float(text)) <= 1e37:
            return number
    raise RefusalError(
        "--query is {value!r}, expected a finite number from -1e37 to 1e37",
        value=text,
    )


def whole_number(name: str, least: int) -> Callable[[str], int]:
    """Return what reads a number of at most nine digits."""

    def number(text: str) -> int:
        if text.isdecimal() and len(text) <= 9 and int(text) >= least:
            return int(text)
        raise RefusalError(
            "{name} is {value!r}, expected a whole number from {least} to "
            "999999999",
            name=name,
            value=text,
            least=least,
        )

    return number


def run(argv: Sequence[str], prog: str = "attention.py") -> None:
    """Do what the arguments ask for."""
    tag = asked_language(argv)
    options = parse(argv, tag, prog)
    options.pop("lang", None)
    command: Command = options.pop("command")
    impl = options.pop("impl", command.impl)
    if impl == "both" != command.impl:
        raise RefusalError(
            "{command} trains one version: --impl numpy or torch, not both",
            command=command.name,
        )
    plain = options.pop("plain", False) or not sys.stdout.isatty()
    page = Page(tag, plain, prog)
    page.plot = plot_folder(options)
    libraries = usable(page, impl)
    command.run(page, [Side(name) for name in libraries], **options)


def usable(page: Page, impl: str) -> list[str]:
    """Return who computes: without a torch that loads, NumPy alone."""
    if impl == "numpy":
        return ["numpy"]
    error = load_error("torch")
    if error is None:
        return ["numpy", "torch"] if impl == "both" else ["torch"]
    absent = isinstance(error, ModuleNotFoundError) and error.name == "torch"
    if impl == "torch" and absent:
        raise not_installed("--impl torch", "torch")
    reason = visible((str(error).splitlines() or [type(error).__name__])[0])
    if impl == "torch":
        raise RefusalError(
            "--impl torch: torch is installed here but does not load: "
            "{reason}",
            reason=reason,
        )
    if absent:
        page.say("PyTorch is not installed here, so NumPy computes alone.")
    else:
        page.torch_fails = True
        page.say(
            "PyTorch is installed here but does not load, so NumPy computes "
            "alone: {reason}",
            reason=reason,
        )
    return ["numpy"]


def plot_folder(options: dict[str, Any]) -> Path | None:
    """Take the folder for heat maps out of the options, and make it."""
    folder: Path | None = options.pop("plot", None)
    if folder is None:
        return None
    if set(options.get("sections", ())) == {4}:
        raise RefusalError(
            "--plot has nothing to draw in section 4, only in the others"
        )
    if importlib.util.find_spec("matplotlib") is None:
        raise not_installed("--plot", "matplotlib")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_plot(folder, error) from error
    return folder


def not_installed(name: str, package: str) -> RefusalError:
    """Return that an option needs a package."""
    return RefusalError(
        "{name} needs {package}, which is not installed: "
        ".venv/bin/python -m pip install {package}",
        name=name,
        package=package,
    )


def asked_language(argv: Sequence[str]) -> str:
    """Return the language to speak while the arguments are read."""
    words = " ".join(argv).replace("--lang=", "--lang ").split()
    asked = dict(itertools.pairwise(words)).get("--lang", "")
    return asked if asked in TAGS else locale_language()


def prepare_streams() -> None:
    """Let every stream take Chinese; one that is closed becomes empty."""
    for name in ("stdin", "stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, io.StringIO())
        elif isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def main(prog: str = "attention.py") -> int:
    """Run the program and return its exit status."""
    prepare_streams()
    argv = sys.argv[1:]
    try:
        run(argv, prog)
        sys.stdout.flush()
    except RefusalError as error:
        print(f"{prog}: {error.said(asked_language(argv))}", file=sys.stderr)
        return 2
    except OSError as error:
        if not isinstance(error, BrokenPipeError):
            print(f"{prog}: {error}", file=sys.stderr)
        # Python tries once more, as it ends, to write what is left.
        with suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except (KeyboardInterrupt, EOFError):
        print(file=sys.stderr)
        return 130
    return 0
