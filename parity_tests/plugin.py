"""pytest's option --impl: the suite as tests of a third version.

pytest --pyargs parity_tests --impl PACKAGE [--namespace LIBRARY]
"""

from __future__ import annotations

from pathlib import Path

import pytest

HERE = Path(__file__).parent
PORT_TESTS = "test_port.py"


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
    name = collection_path.name
    if collection_path.parent != HERE or not name.startswith("test_"):
        return None
    of_port = config.getoption("--impl") is not None
    return None if of_port == (name == PORT_TESTS) else True
