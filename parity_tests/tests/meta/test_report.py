"""The suite's commands: what they print, write and return."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import gmpy2
import numpy as np
import pytest

from parity_tests.__main__ import main
from parity_tests.checks import check_cases, chosen
from parity_tests.faults import report as fault_report
from parity_tests.faults.bank import FAULTS
from parity_tests.faults.fault import copy_of, mutated
from parity_tests.measure import training as bench
from parity_tests.measure.accuracy import run as accuracy
from parity_tests.suite.register import CONCEPTS, JUDGES, Check, Trial
from parity_tests.suite.run import CheckCase, run
from parity_tests.suite.versions import NUMPY, Version


def test_the_report_of_one_concept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "report.json"
    assert main(["report", "--only", "masks", "--json", str(path)]) == 0
    out = capsys.readouterr().out
    rows = json.loads(path.read_text(encoding="utf-8"))
    assert f"{len(rows)} passed, 0 failed" in out
    assert {row["version"] for row in rows} == {"numpy", "torch"}
    assert {row["concept"] for row in rows} == {"masks"}
    assert all(row["failure"] is None for row in rows)
    assert [*tmp_path.iterdir()] == [path]


def test_the_report_of_one_case(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--only", "sdpa", "--case", "rank 4"]) == 0
    assert "4 passed, 0 failed" in capsys.readouterr().out
    assert main(["report", "--case", "rank 17"]) == 2
    assert "no check has this" in capsys.readouterr().err


def test_a_failure_says_all_that_is_needed() -> None:
    fault = next(fault for fault in FAULTS if fault.name == "no scale")
    with copy_of(fault.side, **{fault.module: mutated(fault)}) as package:
        version = Version("numpy", package)
        failures = [
            run(check_case, version).failure
            for check_case in chosen("sdpa", "rank 4", "definition")
        ]
    (failure,) = failures
    assert failure is not None
    first, second, third = failure.split("\n")
    assert first.startswith("numpy: sdpa: every step is the definitions")
    assert first.endswith("rank 4 (definition)")
    # The first step that differs, where, what it is and what it should be.
    assert second.startswith("  scores[")
    assert " is " in second
    assert ", expected " in second
    assert " within " in second
    assert " differ" in second
    assert third == (
        "  alone: python -m parity_tests report --only sdpa --case 'rank 4'"
    )


def test_an_error_of_a_version_is_a_failure_and_no_crash() -> None:
    def broken(trial: Trial) -> None:
        raise RuntimeError("the port fell over")

    check = Check("broken", "sdpa", "law", broken, (None,))
    outcome = run(CheckCase(check, None), NUMPY)
    assert outcome.failure is not None
    assert "RuntimeError: the port fell over" in outcome.failure


def test_every_concept_is_seen_by_its_judges() -> None:
    judges: dict[str, set[str]] = {}
    for check_case in check_cases():
        judges.setdefault(check_case.check.concept, set()).add(
            check_case.check.judge
        )
    assert set(judges) == set(CONCEPTS)
    for concept in ("sdpa", "gradients", "softmax"):
        assert judges[concept] == set(JUDGES), concept


def test_the_table_of_faults(capsys: pytest.CaptureFixture[str]) -> None:
    name = "no scale"
    assert main(["faults", "--only", name]) == 0
    out = capsys.readouterr().out
    assert name in out
    assert "1 passed, 0 failed" in out


def test_a_name_that_is_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", "--only", "no scales"]) == 2
    assert "'no scale'" in capsys.readouterr().err
    assert main(["faults", "--only", "xyzzy", "--list"]) == 2
    assert "--list shows all" in capsys.readouterr().err


def test_the_list_of_faults(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["faults", "--list"]) == 0
    out = capsys.readouterr().out
    for fault in FAULTS:
        assert f"{fault.name}: {fault.path.parent.name}/" in out
        assert fault.wrong in out
        assert fault.report in out


def test_the_list_of_checks(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", "--list", "--only", "masks"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        f"{check_case} ({check_case.check.judge})"
        for check_case in chosen("masks")
    ]
    assert main(["report", "--list", "--case", "rank 17"]) == 2
    assert "no check has this" in capsys.readouterr().err


def test_a_fault_that_is_not_caught_fails(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fault = FAULTS[0]
    monkeypatch.setattr(fault_report, "FAULTS", (fault,))
    monkeypatch.setattr(fault_report, "tried", lambda *arguments: [])
    assert fault_report.fault_report(None, full=False) == 1
    out = capsys.readouterr().out
    assert "0 passed, 1 failed" in out
    assert "not caught twice" in out


def dot(one: Iterable[Any], other: Iterable[Any]) -> Any:
    """Return the sum of products, in the precision of the context."""
    pairs = zip(one, other, strict=True)
    return gmpy2.fsum([gmpy2.mpfr(a) * gmpy2.mpfr(b) for a, b in pairs])


@pytest.mark.skipif(not accuracy.WIDE, reason="no long double here")
def test_the_reference_is_the_definition() -> None:
    rng = np.random.default_rng(4)
    q, k, v = (rng.standard_normal((1, 1, n, 4)) for n in (2, 5, 5))
    with gmpy2.context(precision=160):
        for i, e in np.ndindex(2, 4):
            scores = [dot(q[0, 0, i], row) / 2 for row in k[0, 0]]
            exponentials = [gmpy2.exp(score) for score in scores]
            exact = dot(exponentials, v[0, 0, :, e])
            exact = exact / gmpy2.fsum(exponentials)
            got = accuracy.reference(q, k, v)[0, 0, i, e]
            high = float(got)
            low = float(got - np.longdouble(high))
            error = abs(gmpy2.mpfr(high) + gmpy2.mpfr(low) - exact)
            assert error < 2.0**-60 * math.fsum(map(abs, v[0, 0, :, e]))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_no_version_is_less_accurate_than_torchs_function(dtype: str) -> None:
    cell = accuracy.measure(dtype, 1024, 1.0)
    assert cell.within(), cell


def test_what_training_costs(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(bench, "TURNS", 2)
    path = tmp_path / "bench.json"
    assert main(["bench", "training", "--json", str(path)]) == 0
    out = capsys.readouterr().out
    rows = json.loads(path.read_text(encoding="utf-8"))
    assert len(rows) == len(bench.TASKS)
    for row in rows:
        assert row["step"] in out
        assert row["ratio"] == pytest.approx(row["numpy"] / row["torch"])


def test_the_accuracy_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["accuracy", "--longest", "1"]) == 2
    assert "expected 256 or more" in capsys.readouterr().err
