"""Every fault of the bank is caught, twice or more."""

from __future__ import annotations

import builtins
import dis
import importlib
import re
from collections import Counter
from dataclasses import replace
from types import CodeType

import pytest

from parity_tests.faults.bank import FAULTS
from parity_tests.faults.bank import __name__ as package
from parity_tests.faults.fault import Fault, mutated
from parity_tests.faults.tried import (
    ENOUGH,
    is_caught,
    is_named,
    judges_of,
    tried,
)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_is_caught(fault: Fault) -> None:
    caught = tried(fault, ENOUGH)
    assert is_caught(judges_of(caught)), f"{fault.wrong} Caught by: {caught}"
    if fault.cases:
        assert all(is_named(o.check_case, fault) for o in caught), caught


def test_who_catches_a_fault() -> None:
    assert is_caught(Counter({"law": 2}))
    assert is_caught(Counter({"each other": 2, "definition": 1}))
    assert not is_caught(Counter({"law": 1}))
    assert not is_caught(Counter({"each other": 3}))


def test_the_bank_is_as_large_as_it_says() -> None:
    kinds = [fault.kind for fault in FAULTS]
    assert kinds.count("forward") >= 60
    assert kinds.count("gradient") >= 20
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_a_fault_says_what_is_wrong_in_one_sentence() -> None:
    for fault in FAULTS:
        assert fault.wrong.endswith("."), fault.name
        assert ". " not in fault.wrong, fault.name
        assert fault.before != fault.after, fault.name


def test_a_fault_stands_in_the_bank_of_its_concept() -> None:
    for fault in FAULTS:
        bank = importlib.import_module(f"{package}.{fault.concept}")
        assert fault in bank.FAULTS, fault.name


STALE = Fault(
    name="stale",
    module="softmax",
    before="    powers = np.exp(x - safe_max(x))\n",
    after="",
    wrong="Nothing is wrong.",
)


def test_a_fault_that_no_longer_fits_the_code_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"its `before` stands 0 times in"):
        mutated(STALE)


def test_the_error_shows_the_nearest_text_there_is() -> None:
    near = "The nearest text there is:\n    exponentials = np.exp("
    with pytest.raises(ValueError, match=re.escape(near)):
        mutated(STALE)


def test_a_text_that_stands_there_twice_is_an_error() -> None:
    with pytest.raises(ValueError, match="Add the lines around it"):
        mutated(replace(STALE, before="exponentials"))


def names(code: CodeType, *operations: str) -> set[str]:
    """Return the names that some operations of a module's code have."""
    found = {
        str(one.argval)
        for one in dis.get_instructions(code)
        if one.opname in operations
    }
    inner = [part for part in code.co_consts if isinstance(part, CodeType)]
    return found.union(*(names(part, *operations) for part in inner))


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_fault_names_only_what_is_there(fault: Fault) -> None:
    # A NameError would be caught everywhere, and show nothing of the suite.
    code = compile(mutated(fault), str(fault.path), "exec")
    there = names(code, "STORE_NAME", "STORE_GLOBAL") | set(dir(builtins))
    missing = names(code, "LOAD_NAME", "LOAD_GLOBAL") - there
    assert missing <= {"__name__", "__annotations__"}, missing
