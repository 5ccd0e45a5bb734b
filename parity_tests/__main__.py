"""The suite's own commands: `python -m parity_tests --help` lists them."""

from __future__ import annotations

import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from .pages import PageError
from .suite.register import CONCEPTS, JUDGES

LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384)
EARLIER = "in place of a run, what --json of an earlier one wrote"
# What add_subparsers returns: argparse has no public name for its type.
Commands = Any


def parser() -> ArgumentParser:
    """Return the parser of the command line."""
    root = ArgumentParser(
        prog="python -m parity_tests",
        description="Proves that the versions of attention are right.",
    )
    commands = root.add_subparsers(dest="command", required=True)
    add_suite(commands)
    add_ports(commands)
    add_libraries(commands)
    add_vectors(commands)
    add_faults(commands)
    add_accuracy(commands)
    add_bench(commands)
    add_ring(commands)
    return root


def selecting() -> ArgumentParser:
    """Return the options that choose checks."""
    options = ArgumentParser(add_help=False)
    options.add_argument(
        "--only", metavar="CONCEPT", choices=CONCEPTS, help="one concept"
    )
    options.add_argument(
        "--judge", choices=JUDGES, help="one of the five judges"
    )
    options.add_argument(
        "--case", metavar="NAME", help="one case, by its name"
    )
    return options


def writing() -> ArgumentParser:
    """Return the option that writes the results as JSON."""
    options = ArgumentParser(add_help=False)
    options.add_argument(
        "--json", metavar="FILE", type=Path, help="write every result to FILE"
    )
    return options


def add_pages(command: ArgumentParser) -> None:
    """Add the option that rewrites the book's pages."""
    command.add_argument(
        "--pages", metavar="DOCS", type=Path, help="rewrite the book's pages"
    )


def add_list(command: ArgumentParser, what: str) -> None:
    """Add the option that lists what can be run, and runs nothing."""
    command.add_argument("--list", action="store_true", help=what)


def add_suite(commands: Commands) -> None:
    """Add `report`."""
    report = commands.add_parser(
        "report",
        parents=[selecting(), writing()],
        help="run the suite; one table, concept by judge by version",
    )
    add_list(report, "print the checks with their cases and run none")
    report.set_defaults(run=run_report)


def run_report(given: Namespace) -> int:
    """Run the suite."""
    from .report import list_checks, report

    if given.list:
        return list_checks(given.only, given.judge, given.case)
    return report(given.only, given.judge, given.case, given.json)


def add_ports(commands: Commands) -> None:
    """Add `check` and `new`."""
    check = commands.add_parser(
        "check",
        parents=[selecting(), writing()],
        help="run the suite on a third version, a port",
    )
    check.add_argument(
        "package", metavar="PACKAGE", help="its name, or its folder"
    )
    check.add_argument(
        "--namespace",
        metavar="LIBRARY",
        help="what takes the place of NumPy in it: jax.numpy",
    )
    check.add_argument(
        "--limit",
        metavar="SECONDS",
        type=float,
        default=60.0,
        help="what one check may take (60)",
    )
    check.add_argument(
        "--first",
        metavar="N",
        type=int,
        help="stop after the first N failures",
    )
    check.set_defaults(run=run_check)
    new = commands.add_parser(
        "new", help="write a package to start a port from"
    )
    new.add_argument(
        "folder", metavar="FOLDER", type=Path, help="which is not there yet"
    )
    new.add_argument(
        "--library",
        default="numpy",
        help="what it is written in: jax, mlx, cupy, tinygrad, ... (numpy)",
    )
    new.set_defaults(run=run_new)


def run_check(given: Namespace) -> int:
    """Run the suite on a port."""
    from .ports.check import report_on
    from .ports.port import Port

    return report_on(
        Port(given.package, given.namespace),
        given.only,
        given.case,
        given.judge,
        given.json,
        given.limit,
        given.first,
    )


def run_new(given: Namespace) -> int:
    """Write a package to start a port from."""
    from .ports.new import new_port

    return new_port(given.folder, given.library)


def add_libraries(commands: Commands) -> None:
    """Add `libraries`."""
    libraries = commands.add_parser(
        "libraries",
        parents=[writing()],
        help="what the attention functions of other libraries do",
    )
    libraries.add_argument(
        "--only", metavar="NAME", nargs="+", default=(), help="some of them"
    )
    add_pages(libraries)
    libraries.set_defaults(run=run_libraries)


def run_libraries(given: Namespace) -> int:
    """Ask other libraries."""
    from .libraries.ask import libraries

    return libraries(given.only, given.json, given.pages)


def add_vectors(commands: Commands) -> None:
    """Add `export` and `score`."""
    export = commands.add_parser(
        "export", help="write the cases as files for any language"
    )
    export.add_argument("folder", metavar="DIR", type=Path)
    export.set_defaults(run=run_export)
    score = commands.add_parser(
        "score",
        parents=[writing()],
        help="grade what a program made of exported cases",
    )
    score.add_argument("folder", metavar="DIR", type=Path)
    score.add_argument("outputs", metavar="OUTPUTS", type=Path)
    score.set_defaults(run=run_score)


def run_export(given: Namespace) -> int:
    """Write the cases as files."""
    from .vectors.export import write_vectors

    return write_vectors(given.folder)


def run_score(given: Namespace) -> int:
    """Grade what a program made of them."""
    from .vectors.score import score

    return score(given.folder, given.outputs, given.json)


def add_faults(commands: Commands) -> None:
    """Add `faults`."""
    faults = commands.add_parser(
        "faults", help="run the suite on wrong versions: it must catch them"
    )
    faults.add_argument(
        "--only", metavar="NAME", help="one fault, by its name"
    )
    add_list(faults, "print the faults and try none")
    faults.add_argument(
        "--full",
        action="store_true",
        help="count all checks that catch a fault, not two only: minutes",
    )
    faults.set_defaults(run=run_faults)


def run_faults(given: Namespace) -> int:
    """Run the suite on wrong versions."""
    from .faults.report import fault_report, list_faults

    if given.list:
        return list_faults(given.only)
    return fault_report(given.only, given.full)


def add_accuracy(commands: Commands) -> None:
    """Add `accuracy`."""
    accuracy = commands.add_parser(
        "accuracy",
        parents=[writing()],
        help="the error of each version, and of torch's function",
    )
    source = accuracy.add_mutually_exclusive_group()
    source.add_argument(
        "--longest",
        metavar="T",
        type=int,
        default=16384,
        help="leave out longer sequences (16384)",
    )
    source.add_argument(
        "--from", dest="source", metavar="FILE", type=Path, help=EARLIER
    )
    add_pages(accuracy)
    accuracy.set_defaults(run=run_accuracy)


def run_accuracy(given: Namespace) -> int:
    """Measure the errors."""
    from .measure.accuracy.run import accuracy

    return accuracy(given.longest, given.source, given.json, given.pages)


def add_bench(commands: Commands) -> None:
    """Add `bench training` and `bench attention`."""
    bench = commands.add_parser(
        "bench", help="what it costs: ratios of times within one run"
    )
    kinds = bench.add_subparsers(dest="what", required=True)
    training = kinds.add_parser(
        "training", parents=[writing()], help="a step of training"
    )
    training.set_defaults(run=run_bench_training)
    attention = kinds.add_parser(
        "attention",
        parents=[writing()],
        help="attention against the number of positions",
    )
    source = attention.add_mutually_exclusive_group()
    source.add_argument(
        "--lengths",
        metavar="T",
        type=int,
        nargs="+",
        default=LENGTHS,
        help="other lengths (256 to 16384)",
    )
    source.add_argument(
        "--from", dest="source", metavar="FILE", type=Path, help=EARLIER
    )
    attention.add_argument(
        "--plot", metavar="FILE", type=Path, help="draw an SVG"
    )
    add_pages(attention)
    attention.set_defaults(run=run_bench_attention)


def run_bench_training(given: Namespace) -> int:
    """Measure a step of training."""
    from .measure.training import training

    return training(given.json)


def run_bench_attention(given: Namespace) -> int:
    """Measure attention against the number of positions."""
    from .measure.attention.run import attention

    return attention(
        given.lengths, given.source, given.json, given.plot, given.pages
    )


def add_ring(commands: Commands) -> None:
    """Add `ring`."""
    ring = commands.add_parser(
        "ring", help="ring attention in several processes, under torchrun"
    )
    ring.add_argument(
        "--length", metavar="T", type=int, default=4096, help="(4096)"
    )
    ring.add_argument("--causal", action="store_true")
    ring.add_argument(
        "--backend", default="gloo", help="what carries the tensors (gloo)"
    )
    ring.set_defaults(run=run_ring)


def run_ring(given: Namespace) -> int:
    """Run ring attention in several processes."""
    from .measure.ring import ring_report

    return ring_report(given.length, given.causal, given.backend)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    given = parser().parse_args(argv)
    try:
        status: int = given.run(given)
    except PageError as error:
        print(f"{given.command}: {error}", file=sys.stderr)
        return 2
    return status


if __name__ == "__main__":
    sys.exit(main())
