"""The threads of `fast`, and the memory that they keep.

BLAS has threads of its own, which compete with these. threadpoolctl, where it
is installed, limits BLAS to one thread during a call. Without it a single
thread here calls a multi-threaded BLAS, and everything that is no matrix
product runs on one core.
"""

from __future__ import annotations

import contextvars
import importlib
import importlib.util
import math
import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import Any

import numpy as np

from .arrays import Array

# Memory that a thread keeps: new memory costs more than what is written.
_kept = threading.local()


def buffer_for(name: str, shape: tuple[int, ...], dtype: Any) -> Array:
    """Return memory to write to, the same for a name in every call."""
    size, kept, key = math.prod(shape), vars(_kept), name + dtype.char
    if key not in kept or kept[key].size < size:
        kept[key] = np.empty(size, dtype)
    result: Array = kept[key][:size].reshape(shape)
    return result


# One call at a time has the threads: two would only wait for each other.
_turn = threading.Lock()


def run(tasks: Sequence[Callable[[], None]], threads: int) -> None:
    """Run all tasks on several threads; raise an exception of any of them."""
    queue = deque(tasks)
    blas = blas_threads()
    helpers = min(threads, len(tasks)) - 1
    if helpers < 1 or blas is None:
        return drain(queue)
    with _turn, blas.limit(limits=1, user_api="blas"):
        others = [
            pool(threads).submit(contextvars.copy_context().run, drain, queue)
            for _ in range(helpers)
        ]
        try:
            drain(queue)
        finally:
            queue.clear()
            wait(others)
    for other in others:
        other.result()
    return None


def drain(queue: deque[Callable[[], None]]) -> None:
    """Run one task after the other until none is left."""
    while queue:
        try:
            task = queue.popleft()
        except IndexError:  # another thread was faster
            return
        task()


@cache
def pool(size: int) -> ThreadPoolExecutor:
    """Return the threads, which stay from call to call."""
    return ThreadPoolExecutor(size, "attention")


@cache
def blas_threads() -> Any:
    """Return the limiter of BLAS's threads, None if there is none."""
    if importlib.util.find_spec("threadpoolctl") is None:
        return None
    return importlib.import_module("threadpoolctl").ThreadpoolController()


def _forget_threads() -> None:
    """Start anew in a child process, where no thread of the parent lives."""
    global _turn
    _turn = threading.Lock()
    pool.cache_clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_threads)
