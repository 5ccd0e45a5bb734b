"""Every check with every case, for the port of --impl, as a test."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from parity_tests.checks import check_cases
from parity_tests.ports.check import LIMIT, Ready, Verdict, outcome_of, start
from parity_tests.ports.port import Port, expected_failures
from parity_tests.ports.workers import Worker, WorkerError
from parity_tests.suite.run import Outcome

WORKER = pytest.StashKey[Worker]()
SEEN: list[Outcome] = []


def port_of(config: pytest.Config) -> Port | None:
    package = config.getoption("--impl")
    namespace = config.getoption("--namespace")
    return None if package is None else Port(package, namespace)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "number" not in metafunc.fixturenames:
        return
    port = port_of(metafunc.config)
    asked: tuple[int, ...] = ()
    if port is not None:
        try:
            worker = Worker(str(port), start, port, LIMIT)
        except WorkerError as error:
            raise pytest.UsageError(str(error)) from error
        metafunc.config.stash[WORKER] = worker
        ready: Ready = worker.said
        asked = ready.asked
    metafunc.parametrize(
        "number", asked, ids=lambda number: str(check_cases()[number])
    )


@pytest.fixture(scope="module")
def worker(request: pytest.FixtureRequest) -> Iterator[Worker]:
    stashed = request.config.stash[WORKER]
    yield stashed
    stashed.close()


def test_check_case_of_the_port(
    number: int, worker: Worker, request: pytest.FixtureRequest
) -> None:
    port = port_of(request.config)
    assert port is not None
    outcome = outcome_of(port, number, worker.ask(number))
    SEEN.append(outcome)
    if outcome.missing is not None:
        pytest.skip(f"not there yet: {outcome.missing}")
    expected = [
        e for e in expected_failures(port) if e.covers(str(outcome.check_case))
    ]
    if expected and outcome.failure is not None:
        pytest.xfail(expected[0].reason)
    assert outcome.failure is None, outcome.failure


def test_no_expected_failure_is_stale(request: pytest.FixtureRequest) -> None:
    port = port_of(request.config)
    if port is None:
        pytest.skip("there is no --impl")
    if hasattr(request.config, "workerinput"):
        pytest.skip("each of several processes has seen a part alone")
    verdict = Verdict(SEEN, expected_failures(port))
    stale = [entry.place for entry in verdict.stale() + verdict.unknown()]
    assert not stale, f"expected to fail, and did not: {stale}"
