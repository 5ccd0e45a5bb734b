"""Every place of the suite, for both versions, as a test."""

from __future__ import annotations

import pytest

from parity_tests.checks import standing
from parity_tests.suite.run import CheckCase, run
from parity_tests.suite.versions import Version

STANDING = list(standing())


@pytest.mark.filterwarnings("ignore:(invalid|overflow):RuntimeWarning")
@pytest.mark.parametrize(
    ("place", "version"), STANDING, ids=lambda value: str(value)
)
def test_place(place: CheckCase, version: Version) -> None:
    failure = run(place, version).failure
    assert failure is None, failure
