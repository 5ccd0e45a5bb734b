"""Foreign code, which may hang or crash, in a process of its own.

A process answers one question after another until it dies or takes too
long. Then this question has no answer, and a new process takes the next.
"""

from __future__ import annotations

import multiprocessing
import os
import queue
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any, NamedTuple

# Seconds that importing a library may take: some are large.
IMPORT_LIMIT = 120.0

Answer = Callable[[Any], Any]
# Makes, in the new process, what it says first and what answers.
Start = Callable[[Any], tuple[Any, Answer]]


class WorkerError(Exception):
    """A process that cannot start, and why, in one line."""


class Found(NamedTuple):
    """An answer, or why there is none."""

    answer: Any
    why: str = ""


def serve(connection: Connection, start: Start, given: Any) -> None:
    """Send the result of `start`, then answer questions until the last."""
    try:
        said, answer = start(given)
    except WorkerError as error:
        connection.send(Found(None, str(error)))
        return
    # Whoever asks may go at any time.
    with suppress(EOFError, OSError):
        connection.send(Found(said))
        while (question := connection.recv()) is not None:
            connection.send(Found(answer(question)))


class Worker:
    """A process that answers. WorkerError says that it cannot start.

    What it said first is `said`; `limit` are the seconds of one answer.
    """

    def __init__(
        self, name: str, start: Start, given: Any, limit: float
    ) -> None:
        self.name, self.limit = name, limit
        self._start, self._given = start, given
        self._over = False
        self._begin()

    def _begin(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._own, theirs = context.Pipe()
        self._process = context.Process(
            target=serve, args=(theirs, self._start, self._given), daemon=True
        )
        self._process.start()
        theirs.close()
        self.said, why = self._answer(IMPORT_LIMIT)
        if why:
            ended = self._own.closed
            self.end()
            cannot = f"{self.name} cannot be imported: "
            raise WorkerError(cannot + why if ended else why)

    def _answer(self, limit: float) -> Found:
        """Return what the process sends, or why it sent nothing."""
        try:
            if self._own.poll(limit):
                answer: Found = self._own.recv()
                return answer
            self.end()
            return Found(None, f"no answer within {limit:g} seconds")
        except (EOFError, OSError):
            self._process.join(5)
            code = self._process.exitcode
            self.end()
            return Found(None, f"the process ended with status {code}")

    def ask(self, question: Any) -> Found:
        """Ask; a new process is there for it, if the last one has ended."""
        if self._over:
            return Found(None, "nobody is asked any more")
        if self._own.closed or not self._process.is_alive():
            self._begin()
        try:
            self._own.send(question)
        except OSError:
            if self._over:
                return Found(None, "nobody is asked any more")
            self._begin()
            self._own.send(question)
        return self._answer(self.limit)

    def close(self) -> None:
        """End the process, and start no other."""
        self._over = True
        self.end()

    def end(self) -> None:
        """End the process, whatever it is doing."""
        self._own.close()
        self._process.kill()
        self._process.join()


def answers(
    first: Worker, questions: Sequence[Any], another: Callable[[], Worker]
) -> Iterator[tuple[Any, Found]]:
    """Yield each question with its answer, from a process for each core."""
    waiting: queue.SimpleQueue[Any] = queue.SimpleQueue()
    for question in questions:
        waiting.put(question)
    done: queue.SimpleQueue[Any] = queue.SimpleQueue()
    workers = [first]

    def work(worker: Worker | None) -> None:
        try:
            if worker is None:
                worker = another()
                workers.append(worker)
            while True:
                question = waiting.get_nowait()
                done.put((question, worker.ask(question)))
        except queue.Empty:
            return
        except Exception as error:
            done.put(error)

    # A few questions are answered before a second process is there.
    count = min(os.cpu_count() or 1, 1 + len(questions) // 100)
    for number in range(count):
        given = first if number == 0 else None
        threading.Thread(target=work, args=(given,), daemon=True).start()
    try:
        for _ in questions:
            answered = done.get()
            if isinstance(answered, Exception):
                raise answered
            yield answered
    finally:
        while not waiting.empty():
            waiting.get_nowait()
        for worker in workers:
            worker.close()
