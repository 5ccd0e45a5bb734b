"""pytest's option --impl: the suite as tests of a third version.

pytest --pyargs parity_tests --impl PACKAGE [--namespace LIBRARY]
"""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parent / "tests"
PORT_TESTS = TESTS / "port"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the two options."""
    group = parser.getgroup("attention, written twice")
    group.addoption(
        "--impl",
        metavar="PACKAGE",
        help="test this version of attention, by its name or folder",
    )
    group.addoption(
        "--namespace",
        metavar="LIBRARY",
        help="what takes the place of NumPy in it",
    )


def pytest_ignore_collect(
    collection_path: Path, config: pytest.Config
) -> bool | None:
    """With --impl, leave out the tests of this project's own versions."""
    if collection_path.parent != TESTS or not collection_path.is_dir():
        return None
    of_port = config.getoption("--impl") is not None
    return None if of_port == (collection_path == PORT_TESTS) else True
