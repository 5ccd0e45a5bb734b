"""fast: its threads, its memory, and what is there without threadpoolctl."""

from __future__ import annotations

import importlib.util
import math
import multiprocessing
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest
import threadpoolctl

from numpy_impl import fast, fast_threads

SHAPE = (8, 300, 16)


@pytest.fixture(autouse=True)
def _two_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast, "THREADS", 2)
    monkeypatch.setattr(fast, "SHARED", 0)


def draw(*shape: int) -> Any:
    """Draw query, key and value."""
    rng = np.random.default_rng(0)
    return rng.standard_normal((3, *shape), dtype=np.float32)


def attend(*_: Any) -> Any:
    """Return the output for fixed inputs."""
    return fast.flash_attention(*draw(*SHAPE)).output


def test_without_threadpoolctl_it_is_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usual = attend()
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    fast_threads.blas_threads.cache_clear()
    try:
        assert fast_threads.blas_threads() is None
        alone = attend()
    finally:
        fast_threads.blas_threads.cache_clear()
    # BLAS shares a product out otherwise when it has all its threads.
    assert np.allclose(alone, usual, rtol=0, atol=1e-5)


def test_many_callers_get_the_same_and_blas_its_threads_back() -> None:
    wanted = attend()
    before = [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(attend, range(12)))
    assert all(np.array_equal(output, wanted) for output in results)
    after = [pool["num_threads"] for pool in threadpoolctl.threadpool_info()]
    assert after == before


@pytest.mark.skipif(
    "fork" not in multiprocessing.get_all_start_methods(),
    reason="a system without fork",
)
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_forked_child_has_threads_of_its_own() -> None:
    wanted = attend()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        result = pool.apply_async(attend).get(timeout=60)
    assert np.array_equal(result, wanted)


def test_what_a_thread_raises_is_raised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wanted = attend()

    def full(*_: Any) -> None:
        raise MemoryError("no room")

    with monkeypatch.context() as patched:
        patched.setattr(fast, "row_of_tiles", full)
        with pytest.raises(MemoryError, match="no room"):
            attend()
    assert np.array_equal(attend(), wanted)


def test_errors_are_handled_as_the_caller_has_them() -> None:
    query, key, value = draw(*SHAPE).copy()
    query[:, 5] = np.nan
    with np.errstate(all="raise"):
        result = fast.flash_attention(query, key, value)
    assert np.isnan(result.output[:, 5]).all()
    assert not np.isnan(result.output[:, :5]).any()


@pytest.mark.parametrize("causal", [False, True])
def test_memory_grows_no_faster_than_the_length(causal: bool) -> None:
    peaks = []
    for T in (1024, 8192):
        query, key, value = draw(2, T, 16)
        tracemalloc.start()
        try:
            result = fast.flash_attention(query, key, value, is_causal=causal)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        output = result.output.nbytes + result.log_sum_exp.nbytes
        peaks.append(max(peak - output, 1))
    exponent = math.log(peaks[1] / peaks[0]) / math.log(8)
    assert exponent <= 1.1, f"T to the power of {exponent:.2f}"
    # The table alone would be 512 MiB.
    assert peaks[1] < 4 * 2**20, peaks
