"""The suite's own commands: `python -m parity_tests --help` lists them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from . import suite

LENGTHS = (256, 512, 1024, 2048, 4096, 8192, 16384)


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
        "--only", metavar="CONCEPT", choices=suite.CONCEPTS, help="one concept"
    )
    report.add_argument(
        "--judge", choices=suite.JUDGES, help="one of the five judges"
    )
    report.add_argument("--case", metavar="NAME", help="one case, by its name")
    report.add_argument(
        "--json", metavar="FILE", type=Path, help="write every result to FILE"
    )

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
    accuracy.add_argument(
        "--longest",
        metavar="T",
        type=int,
        default=16384,
        help="leave out longer sequences (16384)",
    )
    accuracy.add_argument("--json", metavar="FILE", type=Path)

    bench = commands.add_parser(
        "bench", help="what it costs: ratios of times within one run"
    )
    bench.add_argument(
        "what",
        choices=("training", "attention"),
        help="a step of training, or attention against T",
    )
    bench.add_argument("--json", metavar="FILE", type=Path)
    bench.add_argument(
        "--lengths",
        metavar="T",
        type=int,
        nargs="+",
        default=LENGTHS,
        help="attention: other lengths (256 to 16384)",
    )
    bench.add_argument(
        "--plot", metavar="FILE", type=Path, help="attention: an SVG"
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
    if arguments.command == "report":
        from .report import report

        return report(
            arguments.only, arguments.judge, arguments.case, arguments.json
        )
    if arguments.command == "faults":
        from .fault_report import fault_report

        return fault_report(arguments.only, arguments.quick)
    if arguments.command == "bench" and arguments.what == "attention":
        from .bench_attention import attention

        return attention(arguments.lengths, arguments.json, arguments.plot)
    if arguments.command == "bench":
        from .bench import training

        return training(arguments.json)
    if arguments.command == "ring":
        from .ring_report import ring_report

        return ring_report(
            arguments.length, arguments.causal, arguments.backend
        )
    from .accuracy import accuracy

    return accuracy(arguments.longest, arguments.json)


if __name__ == "__main__":
    sys.exit(main())
