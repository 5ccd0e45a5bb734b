"""Every check with every case, for both versions, as a test."""

from __future__ import annotations

import pytest

from parity_tests.checks import standing
from parity_tests.suite.run import CheckCase, run
from parity_tests.suite.versions import Version

STANDING = list(standing())


@pytest.mark.filterwarnings("ignore:(invalid|overflow):RuntimeWarning")
@pytest.mark.parametrize(
    ("check_case", "version"), STANDING, ids=lambda value: str(value)
)
def test_check_case(check_case: CheckCase, version: Version) -> None:
    failure = run(check_case, version).failure
    assert failure is None, failure
