"""No check passes with the functions under test replaced by zeros."""

from __future__ import annotations

import pytest

from parity_tests.checks import chosen
from parity_tests.faults.zeroed import zeroed
from parity_tests.suite.register import CONCEPTS, ONE_SIDED
from parity_tests.suite.run import applies, run


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    ("concept", "side"),
    [
        (concept, side)
        for concept in CONCEPTS
        for side in ("numpy", "torch")
        if ONE_SIDED.get(concept, side) == side
    ],
)
def test_no_check_is_content_with_zeros(concept: str, side: str) -> None:
    with zeroed(side, concept) as version:
        asked = [c for c in chosen(concept) if applies(c, version)]
        content = [c for c in asked if run(c, version).failure is None]
    assert asked
    assert not content, f"{len(content)} pass: {[*map(str, content[:5])]}"
