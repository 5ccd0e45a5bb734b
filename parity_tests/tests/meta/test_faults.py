"""Every fault of the bank is caught, twice or more."""

from __future__ import annotations

import pytest

from parity_tests.faults.bank import FAULTS
from parity_tests.faults.report import ENOUGH
from parity_tests.faults.tried import Fault, mutated, tried


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_is_caught(fault: Fault) -> None:
    caught = tried(fault, ENOUGH)
    assert len(caught) >= ENOUGH, f"{fault.wrong} Caught by: {caught}"


def test_the_bank_is_as_large_as_it_says() -> None:
    kinds = [fault.kind for fault in FAULTS]
    assert kinds.count("forward") >= 60
    assert kinds.count("gradient") >= 20
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    for fault in FAULTS:
        assert fault.wrong.endswith("."), fault.name
        assert fault.before != fault.after


def test_a_fault_that_no_longer_fits_the_code_is_an_error() -> None:
    stale = Fault("stale", "softmax", "not there", "", "Nothing.")
    with pytest.raises(ValueError, match="'not there' stands 0 times in"):
        mutated(stale)
