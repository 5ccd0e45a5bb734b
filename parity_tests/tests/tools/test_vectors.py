"""Vectors: the same bytes each time, right answers, and hostile files."""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from attention_twice.console import quiet
from parity_tests.cases.recipe import build
from parity_tests.cases.table import BY_NAME
from parity_tests.suite.versions import NUMPY
from parity_tests.vectors import export as vectors
from parity_tests.vectors.score import score

pytestmark = pytest.mark.ports
LIVE = Path(__file__).parents[3] / "docs" / "live"
NAMES = (
    "rank 2",
    "rank 4",
    "3 groups of heads",
    "causal",
    "bool mask, dead row",
    "float mask, dead head",
    "mask + bias + causal + window + lengths + cap",
    "window (2, -1)",
    "poison behind a bool mask",
    "mask with nan",
    "scale nan",
    "dropout 0.5",
    "S 0",
    "L 0, S 0",
    "float64 everything",
    "float16 plain",
    "bfloat16 plain",
)
FEW = tuple(case for name in NAMES for case in [BY_NAME.get(name)] if case)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("vectors") / "cases"
    with quiet():
        assert vectors.export(folder, FEW) == 0
    return folder


@pytest.fixture
def folder(exported: Path, tmp_path: Path) -> Path:
    copy = tmp_path / "vectors"
    shutil.copytree(exported, copy)
    return copy


@pytest.fixture
def answers(tmp_path: Path) -> Path:
    """Return what NumPy's version answers."""
    folder = tmp_path / "answers"
    folder.mkdir()
    for number, case in enumerate(FEW):
        if not NUMPY.has(case.dtype):
            continue
        with quiet():
            steps = NUMPY.steps(build(case), case.dtype)
        arrays = {name: vectors.coded(a, "") for name, a in steps.items()}
        content = vectors.packed(arrays)
        (folder / f"{number:04}.safetensors").write_bytes(content)
    return folder


def changed(
    answers: Path, number: int, change: Callable[[Any], Any], name: str
) -> None:
    """Change one tensor of an answer."""
    case = FEW[number]
    steps = NUMPY.steps(build(case), case.dtype)
    tensors = {n: vectors.coded(a, "") for n, a in steps.items()}
    tensors[name] = vectors.coded(np.asarray(change(steps[name])), "")
    path = answers / f"{number:04}.safetensors"
    path.write_bytes(vectors.packed(tensors))


def test_the_cases_are_all_there() -> None:
    assert len(FEW) == len(NAMES), set(NAMES) - {c.name for c in FEW}


def test_right_answers_pass(
    folder: Path, answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert score(folder, answers) == 0
    out = capsys.readouterr().out
    assert f"{len(FEW) - 1} passed, 0 failed, 1 not there yet" in out


def test_two_exports_are_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    with quiet():
        assert vectors.export(again, FEW) == 0
    files = sorted(p.relative_to(folder) for p in folder.rglob("*.*"))
    assert files
    for file in files:
        one, other = (root / file for root in (folder, again))
        assert one.read_bytes() == other.read_bytes(), file
    assert vectors.export(again, FEW) == 2


def test_masks_and_bounds_need_no_python(folder: Path) -> None:
    """The format as plain bytes, and the schema's own words."""
    path = folder / "cases" / "0004.safetensors"
    content = path.read_bytes()
    length = struct.unpack("<Q", content[:8])[0]
    header = json.loads(content[8 : 8 + length])
    assert header["attn_mask"]["dtype"] == "U8"
    assert header["output.least"]["dtype"] == "F64"
    index = json.loads((folder / "index.json").read_text(encoding="utf-8"))
    schema = json.loads((folder / "schema.json").read_text(encoding="utf-8"))
    case = schema["properties"]["cases"]["items"]
    for entry in index["cases"]:
        assert set(case["required"]) == set(entry)
        assert set(entry["options"]) == set(
            case["properties"]["options"]["properties"]
        )


CHANGES: dict[str, tuple[int, str, Callable[[Any], Any], str]] = {
    "a number": (1, "output", lambda a: a + np.float32(1e-3), "are outside"),
    "one number": (
        1,
        "weights",
        lambda a: np.where(np.arange(a.size).reshape(a.shape) == 7, 0, a),
        "1 of 420 are outside",
    ),
    "a dtype": (
        1,
        "output",
        lambda a: a.astype(np.float64),
        "output is float64, expected float32",
    ),
    "a shape": (1, "output", lambda a: a[:1], "expected (2, 6, 5, 3)"),
    "an axis": (0, "output", lambda a: a[None], "expected (5, 3)"),
    "a dead row": (4, "output", lambda a: a * np.nan, "is nan"),
    "what must be nan": (9, "output", np.nan_to_num, "expected nan to nan"),
    "a log-sum-exp": (4, "log_sum_exp", np.nan_to_num, "expected -inf"),
    "a half": (
        15,
        "output",
        lambda a: np.nextafter(a, np.float16(9), dtype=np.float16) * 2,
        "are outside",
    ),
}


@pytest.mark.parametrize("name", CHANGES)
def test_wrong_answers_fail(
    folder: Path,
    answers: Path,
    name: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    number, tensor, change, says = CHANGES[name]
    with quiet():
        changed(answers, number, change, tensor)
    assert score(folder, answers) == 1
    out = capsys.readouterr().out.replace("\n", " ")
    assert "1 failed" in out
    assert says in out, out


def with_header(header: Any, length: int | None = None) -> bytes:
    text = json.dumps(header).encode()
    size = len(text) if length is None else length
    return struct.pack("<Q", size) + text + b"\0" * 8


HOSTILE: dict[str, bytes] = {
    "nothing": b"",
    "half a header": b"\x10\0\0\0\0\0\0\0{",
    "a header of exabytes": with_header({}, 2**62),
    "no JSON": struct.pack("<Q", 4) + b"\xff\xfe[[",
    "a pickle": b"\x80\x04cposix\nsystem\n(S'touch /tmp/x'\ntR.",
    "tensors that overlap": with_header(
        {
            n: {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}
            for n in ("output", "weights")
        }
    ),
    "more than there is": with_header(
        {"output": {"dtype": "F32", "shape": [9], "data_offsets": [0, 36]}}
    ),
    "a shape of terabytes": with_header(
        {
            "output": {
                "dtype": "F32",
                "shape": [2**40, 2**40],
                "data_offsets": [0, 8],
            }
        }
    ),
    "no output": with_header(
        {"weights": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}}
    ),
    "another result": with_header(
        {
            "output": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
            "../../x": {"dtype": "F32", "shape": [1], "data_offsets": [4, 8]},
        }
    ),
    "integers": with_header(
        {"output": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]}}
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_broken_answer_costs_its_own_case(
    folder: Path,
    answers: Path,
    name: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (answers / "0001.safetensors").write_bytes(HOSTILE[name])
    assert score(folder, answers) == 1
    out = capsys.readouterr().out
    assert "rank 4: " in out
    assert f"{len(FEW) - 2} passed, 1 failed" in out


def altered(entry: str, value: Any) -> Callable[[dict[str, Any]], None]:
    def change(index: dict[str, Any]) -> None:
        index["cases"][1][entry] = value

    return change


INDICES: dict[str, tuple[Callable[[dict[str, Any]], None], str]] = {
    "a path upwards": (
        altered("file", "cases/../../secret.safetensors"),
        "not as schema.json says",
    ),
    "another case's file": (
        altered("file", "cases/0000.safetensors"),
        "not as schema.json says",
    ),
    "no name": (altered("name", 3), "not as schema.json says"),
    "another format": (
        lambda index: index.update(format=99),
        "has format 99, expected 1",
    ),
    "no cases": (lambda index: index.pop("cases"), "not as schema.json says"),
}


@pytest.mark.parametrize("name", INDICES)
def test_a_hostile_index_is_one_line(
    folder: Path,
    answers: Path,
    name: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    change, says = INDICES[name]
    path = folder / "index.json"
    index = json.loads(path.read_text(encoding="utf-8"))
    change(index)
    path.write_text(json.dumps(index), encoding="utf-8")
    assert score(folder, answers) == 2
    err = capsys.readouterr().err
    assert says in err
    assert err.count("\n") == 1


def test_broken_folders_are_one_line(
    folder: Path, answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert score(folder / "nowhere", answers) == 2
    assert "cannot be read" in capsys.readouterr().err
    assert score(folder, answers / "nowhere") == 2
    assert "is no folder" in capsys.readouterr().err
    (folder / "index.json").write_text("[" * 100_000, encoding="utf-8")
    assert score(folder, answers) == 2
    assert "is no JSON" in capsys.readouterr().err


def test_a_case_that_was_changed_is_found(
    folder: Path, answers: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "cases" / "0001.safetensors"
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(bytes(content))
    assert score(folder, answers) == 1
    out = capsys.readouterr().out.replace("\n", " ")
    assert "its checksum is another one" in out


@pytest.mark.skipif(shutil.which("node") is None, reason="no Node.js here")
def test_attention_in_javascript_is_right(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What the figures of the book compute with."""
    answers = tmp_path / "of_node"
    script = LIVE / "answer_vectors.mjs"
    subprocess.run(["node", script, folder, answers], check=True)
    assert score(folder, answers) == 0
    out = capsys.readouterr().out
    assert f"{len(FEW) - 2} passed, 0 failed, 2 not there yet" in out
