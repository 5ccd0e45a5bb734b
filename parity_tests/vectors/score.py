"""`score DIR OUTPUTS`: grade what a program in any language wrote.

OUTPUTS holds a file ID.safetensors for each case that the program can do,
with the tensor `output`, and any other result under its name in the index.
Nothing is executed or unpickled, no path is taken from a file, and a broken
file costs only its own case.
"""

from __future__ import annotations

import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.table import Table
from safetensors import SafetensorError, deserialize

from attention_twice.console import terminal
from attention_twice.files import write_json

Array = NDArray[Any]
DTYPES = {"F64": "float64", "F32": "float32", "F16": "float16"}
# More than any case has; a file that is larger is not read.
LARGEST = 2**26
FORMAT = 1
FILE = re.compile(r"cases/[0-9]{4}\.safetensors")


class VectorError(Exception):
    """What is wrong with a file, in one line."""


class Grade(NamedTuple):
    """The grade of a case: "passed", "failed" or "not there yet"."""

    case: str
    dtype: str
    result: str
    text: str = ""


def score(folder: Path, outputs: Path, path: Path | None = None) -> int:
    """Grade all cases, print the table, return 0 if none failed."""
    try:
        cases = read_index(folder)
        if not outputs.is_dir():
            raise VectorError(
                f"{outputs} is no folder: expected one with a file "
                "ID.safetensors for each case"
            )
    except VectorError as error:
        print(f"score: {error}", file=sys.stderr)
        return 2
    grades = [graded(folder, outputs, case) for case in cases]
    known = {f"{case['id']}.safetensors" for case in cases}
    strange = sorted(p.name for p in outputs.iterdir() if p.name not in known)
    if path is not None:
        write_json(path, [grade._asdict() for grade in grades])
    printed(grades, strange)
    counts = Counter(grade.result for grade in grades)
    return 0 if counts["passed"] and not counts["failed"] else 1


def read_index(folder: Path) -> list[dict[str, Any]]:
    """Return the cases of an index that is what it should be."""
    path = folder / "index.json"
    try:
        index = json.loads(content_of(path))
    except (ValueError, RecursionError) as error:
        raise VectorError(f"{path} is no JSON: {error}") from error
    if not isinstance(index, dict) or index.get("format") != FORMAT:
        known = index.get("format") if isinstance(index, dict) else None
        raise VectorError(
            f"{path} has format {known!r}, expected {FORMAT}: it was made by "
            "another version, or is no index of vectors"
        )
    cases = index.get("cases")
    if not isinstance(cases, list) or not all(map(is_case, cases)):
        raise VectorError(
            f"{path} has cases that are not as schema.json says: expected id, "
            "name, file, sha256, dtype and results of each"
        )
    return cases


def is_case(case: Any) -> bool:
    """Return whether an entry has what is needed, and names its own file."""
    texts = ("id", "name", "file", "sha256", "dtype")
    return (
        isinstance(case, dict)
        and all(isinstance(case.get(name), str) for name in texts)
        and FILE.fullmatch(case["file"]) is not None
        and case["file"] == f"cases/{case['id']}.safetensors"
        and isinstance(case.get("results"), list)
        and all(isinstance(name, str) for name in case["results"])
    )


def content_of(path: Path) -> bytes:
    """Return a file that is there and not too large."""
    try:
        size = path.stat().st_size
        if size > LARGEST:
            raise VectorError(
                f"{path} has {size} bytes, expected at most {LARGEST}"
            )
        return path.read_bytes()
    except OSError as error:
        raise VectorError(f"{path} cannot be read: {error}") from error


def tensors_of(content: bytes, path: Path) -> dict[str, dict[str, Any]]:
    """Return the tensors of a safetensors file: dtype, shape, data."""
    try:
        # safetensors gives it no types.
        return dict(deserialize(content))  # type: ignore[no-untyped-call]
    except (SafetensorError, ValueError, OverflowError) as error:
        raise VectorError(f"{path} is no safetensors file: {error}") from error


def numbers(tensor: dict[str, Any]) -> Array:
    """Return a tensor as NumPy has it, bfloat16 as float32."""
    dtype, shape = tensor["dtype"], tensor["shape"]
    if dtype == "BF16":
        bits = np.frombuffer(tensor["data"], dtype=np.uint16)
        wide = bits.astype(np.uint32) << 16
        return wide.view(np.float32).reshape(shape)
    if dtype not in DTYPES:
        raise VectorError(f"has dtype {dtype}, expected a floating one")
    return np.frombuffer(tensor["data"], dtype=DTYPES[dtype]).reshape(shape)


def graded(folder: Path, outputs: Path, case: dict[str, Any]) -> Grade:
    """Return the grade of a case."""
    asked = (case["name"], case["dtype"])
    answer = outputs / f"{case['id']}.safetensors"
    if not answer.exists():
        return Grade(*asked, "not there yet")
    try:
        text = compared(folder / case["file"], answer, case)
    except VectorError as error:
        text = str(error)
    return Grade(*asked, "failed" if text else "passed", text)


def compared(path: Path, answer: Path, case: dict[str, Any]) -> str:
    """Return what is wrong with an answer, "" if nothing is."""
    content = content_of(path)
    if hashlib.sha256(content).hexdigest() != case["sha256"]:
        raise VectorError(
            f"{path} has changed since it was written: its "
            "checksum is another one"
        )
    right = tensors_of(content, path)
    tensors = tensors_of(content_of(answer), answer)
    if "output" not in tensors:
        return "there is no tensor output"
    unknown = [name for name in tensors if name not in case["results"]]
    if unknown:
        return (
            f"{unknown[0]} is no result of this case, expected "
            f"{', '.join(case['results'])}"
        )
    for name, tensor in sorted(tensors.items()):
        try:
            got = numbers(tensor)
        except VectorError as error:
            return f"{name} {error}"
        inner = "" if name != "output" else case["dtype"]
        text = outside(
            name,
            got,
            inner,
            numbers(right[f"{name}.least"]),
            numbers(right[f"{name}.greatest"]),
            tensor["dtype"],
        )
        if text:
            return text
    return ""


def outside(
    name: str,
    got: Array,
    dtype: str,
    least: Array,
    greatest: Array,
    code: str,
) -> str:
    """Return what lies outside of its bounds, "" if nothing does."""
    stored = "bfloat16" if code == "BF16" else DTYPES[code]
    if dtype and stored != dtype:
        return f"{name} is {stored}, expected {dtype}"
    if got.shape != least.shape:
        return f"{name} has shape {got.shape}, expected {least.shape}"
    got = got.astype(np.float64)
    inside = (least <= got) & (got <= greatest)
    inside |= np.isnan(got) & np.isnan(least)
    if inside.all():
        return ""
    place = tuple(int(i) for i in np.argwhere(~inside)[0])
    return (
        f"{name}{list(place)} is {got[place]!s}, expected "
        f"{least[place]!s} to {greatest[place]!s}; "
        f"{int((~inside).sum())} of {got.size} are outside"
    )


def printed(grades: Sequence[Grade], strange: Sequence[str]) -> None:
    """Print the table by dtype, each failure, and what else is there."""
    table = Table("dtype")
    kinds = ("passed", "failed", "not there yet")
    for kind in kinds:
        table.add_column(kind, justify="right")
    for dtype in dict.fromkeys(grade.dtype for grade in grades):
        counts = Counter(g.result for g in grades if g.dtype == dtype)
        table.add_row(dtype, *(str(counts[kind] or "") for kind in kinds))
    console = terminal()
    console.print(table)
    for grade in grades:
        if grade.text:
            line = f"{grade.case}: {grade.text}"
            console.print(line, markup=False, highlight=False, soft_wrap=True)
    if strange:
        console.print(f"not looked at: {', '.join(strange[:5])}", markup=False)
    total = Counter(grade.result for grade in grades)
    console.print(
        ", ".join(f"{total[kind]} {kind}" for kind in kinds), highlight=False
    )
