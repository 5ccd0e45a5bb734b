"""No check passes with the functions under test replaced by zeros."""

from __future__ import annotations

import pytest

from parity_tests.suite import CONCEPTS, ONE_SIDED, applies, chosen, run
from parity_tests.zeroed import zeroed


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
        places = [p for p in chosen(concept) if applies(p, version)]
        content = [p for p in places if run(p, version).failure is None]
    assert places
    assert not content, f"{len(content)} pass: {[*map(str, content[:5])]}"
