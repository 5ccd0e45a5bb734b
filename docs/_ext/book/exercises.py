"""Exercises: what is asked, a start, a check, and a solution.

They stand in a page in this order, with a line of --- between:

    ```{exercise}
    Which keys does query i see?
    ---
    def causal(T):
        raise NotImplementedError("your line")
    ---
    assert causal(2).tolist() == [[True, False], [True, True]]
    print("right")
    ---
    def causal(T):
        return np.tri(T, dtype=bool)
    ```

A solution that fails its check ends the build, and so does a check that
the start passes.
"""

from __future__ import annotations

from typing import NamedTuple

from .kept import python


class Exercise(NamedTuple):
    """The four parts: text, and three pieces of code."""

    asked: str
    start: str
    check: str
    solution: str

    @property
    def to_do(self) -> str:
        """What the reader gets: the start, and the check below it."""
        return f"{self.start}\n\n\n{self.check}"

    @property
    def done(self) -> str:
        """What it becomes: the solution, and the check below it."""
        return f"{self.start}\n\n\n{self.solution}\n\n\n{self.check}"


def parts_of(lines: list[str]) -> Exercise:
    """Return the parts of an exercise; ValueError where one is missing."""
    parts = "\n".join(lines).split("\n---\n")
    if len(parts) != len(Exercise._fields):
        expected = ", ".join(Exercise._fields)
        raise ValueError(f"{len(parts)} parts, expected {expected}")
    return Exercise(*(part.strip() for part in parts))


def solved(exercise: Exercise) -> str:
    """Return what the check says of the solution.

    Raises ValueError if the solution fails, or if the start passes.
    """
    if python("-c", exercise.to_do).returncode == 0:
        raise ValueError(f"the start passes the check:\n{exercise.to_do}")
    ended = python("-c", exercise.done)
    if ended.returncode != 0:
        raise ValueError(f"the solution fails:\n{ended.stderr[-800:]}")
    return ended.stdout.strip()
