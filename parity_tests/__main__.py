"""The suite's own commands: `python -m parity_tests --help` lists them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from .pages import PageError
from .suite.register import CONCEPTS, JUDGES

LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384)
EARLIER = "in place of a run, what --json of an earlier one wrote"


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    root = argparse.ArgumentParser(
        prog="python -m parity_tests",
        description="Proves that the versions of attention are right.",
    )
    commands = root.add_subparsers(dest="command", required=True)

    report = commands.add_parser(
        "report", help="run the suite; one table, concept by judge by version"
    )
    report.add_argument(
        "--only", metavar="CONCEPT", choices=CONCEPTS, help="one concept"
    )
    report.add_argument(
        "--judge", choices=JUDGES, help="one of the five judges"
    )
    report.add_argument("--case", metavar="NAME", help="one case, by its name")
    report.add_argument(
        "--json", metavar="FILE", type=Path, help="write every result to FILE"
    )

    check = commands.add_parser(
        "check", help="run the suite on a third version, a port"
    )
    check.add_argument(
        "package", metavar="PACKAGE", help="its name, or its folder"
    )
    check.add_argument(
        "--namespace",
        metavar="LIBRARY",
        help="what takes the place of NumPy in it: jax.numpy",
    )
    check.add_argument("--only", metavar="CONCEPT", choices=CONCEPTS)
    check.add_argument("--judge", choices=JUDGES)
    check.add_argument("--case", metavar="NAME", help="one case, by its name")
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
    check.add_argument("--json", metavar="FILE", type=Path)

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

    libraries = commands.add_parser(
        "libraries",
        help="what the attention functions of other libraries do",
    )
    libraries.add_argument(
        "--only", metavar="NAME", nargs="+", default=(), help="some of them"
    )
    libraries.add_argument("--json", metavar="FILE", type=Path)
    libraries.add_argument(
        "--pages", metavar="DOCS", type=Path, help="rewrite the book's pages"
    )

    export = commands.add_parser(
        "export", help="write the cases as files for any language"
    )
    export.add_argument("folder", metavar="DIR", type=Path)

    score = commands.add_parser(
        "score", help="grade what a program made of exported cases"
    )
    score.add_argument("folder", metavar="DIR", type=Path)
    score.add_argument("outputs", metavar="OUTPUTS", type=Path)
    score.add_argument("--json", metavar="FILE", type=Path)

    faults = commands.add_parser(
        "faults", help="run the suite on wrong versions: it must catch them"
    )
    faults.add_argument(
        "--only", metavar="NAME", help="one fault, by its name"
    )
    faults.add_argument(
        "--quick",
        action="store_true",
        help="stop a fault as soon as it is caught at two places",
    )

    accuracy = commands.add_parser(
        "accuracy", help="the error of each version, and of torch's function"
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
    accuracy.add_argument("--json", metavar="FILE", type=Path)
    accuracy.add_argument(
        "--pages", metavar="DOCS", type=Path, help="rewrite the book's pages"
    )

    bench = commands.add_parser(
        "bench", help="what it costs: ratios of times within one run"
    )
    bench.add_argument(
        "what",
        choices=("training", "attention"),
        help="a step of training, or attention against T",
    )
    bench.add_argument("--json", metavar="FILE", type=Path)
    source = bench.add_mutually_exclusive_group()
    source.add_argument(
        "--lengths",
        metavar="T",
        type=int,
        nargs="+",
        default=LENGTHS,
        help="attention: other lengths (256 to 16384)",
    )
    source.add_argument(
        "--from",
        dest="source",
        metavar="FILE",
        type=Path,
        help=f"attention: {EARLIER}",
    )
    bench.add_argument(
        "--plot", metavar="FILE", type=Path, help="attention: an SVG"
    )
    bench.add_argument(
        "--pages",
        metavar="DOCS",
        type=Path,
        help="attention: rewrite the book's pages",
    )

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
    return root


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit status."""
    arguments = parser().parse_args(argv)
    try:
        return run(arguments)
    except PageError as error:
        print(f"{arguments.command}: {error}", file=sys.stderr)
        return 2


def run(arguments: argparse.Namespace) -> int:
    """Run what the arguments say and return the exit status."""
    if arguments.command == "report":
        from .report import report

        return report(
            arguments.only, arguments.judge, arguments.case, arguments.json
        )
    if arguments.command == "check":
        from .ports.check import check
        from .ports.port import Port

        return check(
            Port(arguments.package, arguments.namespace),
            arguments.only,
            arguments.case,
            arguments.judge,
            arguments.json,
            arguments.limit,
            arguments.first,
        )
    if arguments.command == "new":
        from .ports.new import new_port

        return new_port(arguments.folder, arguments.library)
    if arguments.command == "libraries":
        from .libraries.ask import libraries

        return libraries(arguments.only, arguments.json, arguments.pages)
    if arguments.command == "export":
        from .vectors.export import write_vectors

        return write_vectors(arguments.folder)
    if arguments.command == "score":
        from .vectors.score import score

        return score(arguments.folder, arguments.outputs, arguments.json)
    if arguments.command == "faults":
        from .faults.report import fault_report

        return fault_report(arguments.only, arguments.quick)
    if arguments.command == "bench" and arguments.what == "attention":
        from .measure.attention.run import attention

        return attention(
            arguments.lengths,
            arguments.source,
            arguments.json,
            arguments.plot,
            arguments.pages,
        )
    if arguments.command == "bench":
        from .measure.training import training

        return training(arguments.json)
    if arguments.command == "ring":
        from .measure.ring import ring_report

        return ring_report(
            arguments.length, arguments.causal, arguments.backend
        )
    from .measure.accuracy.run import accuracy

    return accuracy(
        arguments.longest, arguments.source, arguments.json, arguments.pages
    )


if __name__ == "__main__":
    sys.exit(main())
