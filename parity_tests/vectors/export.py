"""`export DIR`: the cases as files that need no Python to read.

    index.json     every case: its options, its file, what is in it
    schema.json    what index.json looks like, as JSON Schema
    cases/*.safetensors
                   inputs, and for each result the least and greatest value
                   that is right: `output.least`, `output.greatest`

Masks are U8, 0 or 1, as not every library reads BOOL. Where NaN is expected,
both values are NaN, and likewise for an infinity. Every run writes the same
bytes: bounds are rounded outwards to a few digits, by more than the results
of two machines differ.
"""

from __future__ import annotations

import hashlib
import json
import math
import sys
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import TensorSpec, serialize

from attention_twice.console import quiet, tracked
from attention_twice.files import folder_whole

from ..cases.recipe import Case, Inputs, build
from ..cases.table import VECTORS
from ..judges import definition
from ..judges.attention_bounds import gradient_bounds, step_bounds

Array = NDArray[Any]
FORMAT = 1
ARRAYS = ("attn_mask", "dropout_mask")
# Weights and scores of more than this are left out: megabytes each.
LARGEST_TABLE = 10_000
UPSTREAM = ("d_output", "d_log_sum_exp")
GRADIENTS = ("query", "key", "value", "attn_mask")
CODES = {
    "float64": "F64",
    "float32": "F32",
    "float16": "F16",
    "uint8": "U8",
}


def export(folder: Path, cases: Iterable[Case] = VECTORS) -> int:
    """Write the cases into a folder that is not there yet; return 0."""
    if folder.exists():
        print(f"export: {folder} is there already", file=sys.stderr)
        return 2
    try:
        with folder_whole(folder) as unfinished:
            write(unfinished, list(cases))
    except OSError as error:
        print(f"export: {folder} cannot be written: {error}", file=sys.stderr)
        return 2
    files = list(folder.rglob("*.safetensors"))
    size = sum(path.stat().st_size for path in files) / 1e6
    print(f"{folder}: {len(files)} cases, {size:.1f} MB")
    return 0


def write(folder: Path, cases: list[Case]) -> None:
    """Write the index, its schema and all files."""
    (folder / "cases").mkdir()
    entries = []
    for number, case in enumerate(tracked(cases, "export")):
        content = packed(tensors(case))
        identity = f"{number:04}"
        file = f"cases/{identity}.safetensors"
        (folder / file).write_bytes(content)
        entries.append(
            {
                "id": identity,
                "name": case.name,
                "file": file,
                "sha256": hashlib.sha256(content).hexdigest(),
                "dtype": case.dtype,
                "options": options(build(case)),
                "results": sorted(results(case)),
            }
        )
    index = {
        "format": FORMAT,
        "made_by": f"attention-twice {own_version()}",
        "schema": "schema.json",
        "cases": entries,
    }
    (folder / "index.json").write_bytes(as_json(index))
    (folder / "schema.json").write_bytes(as_json(SCHEMA))


def as_json(content: Any) -> bytes:
    """Return JSON as this project writes it: no NaN, no BOM, one newline."""
    text = json.dumps(content, indent=1, ensure_ascii=False, allow_nan=False)
    return (text + "\n").encode()


def own_version() -> str:
    """Return the version of this project."""
    try:
        return version("attention-twice")
    except PackageNotFoundError:
        return "unknown"


def options(inputs: Inputs) -> dict[str, Any]:
    """Return the options of a case; what is no array."""
    named = inputs.options._asdict()
    options_given = {
        name: x for name, x in named.items() if name not in ARRAYS
    }
    # JSON has no NaN.
    if options_given["scale"] is not None and math.isnan(
        options_given["scale"]
    ):
        options_given["scale"] = "NaN"
    return options_given


def tensors(case: Case) -> dict[str, tuple[str, Array]]:
    """Return every array of a case with its dtype, by name."""
    inputs = build(case)
    names = ("query", "key", "value") + (UPSTREAM if case.gradient else ())
    given = {name: getattr(inputs, name) for name in names}
    given |= {name: getattr(inputs.options, name) for name in ARRAYS}
    intervals = {}
    for name, array in given.items():
        if array is not None:
            intervals[name] = coded(array, case.dtype)
    for name, (least, greatest) in results(case).items():
        intervals[f"{name}.least"] = ("F64", least)
        intervals[f"{name}.greatest"] = ("F64", greatest)
    return intervals


def coded(array: Array, dtype: str) -> tuple[str, Array]:
    """Return an array as a file holds it, and the name of its dtype."""
    if array.dtype == bool:
        return "U8", array.astype(np.uint8)
    if dtype == "bfloat16" and array.dtype == np.float32:
        # NumPy has no such type: the upper half of the bits of float32.
        bits = np.ascontiguousarray(array).view(np.uint32) >> 16
        return "BF16", bits.astype(np.uint16)
    return CODES[array.dtype.name], array


def results(case: Case) -> dict[str, tuple[Array, Array]]:
    """Return the least and greatest right value of each result."""
    exact = definition.forward(case)
    errors = step_bounds(case)
    large = exact["weights"].nearest.size > LARGEST_TABLE
    names = ("output", "log_sum_exp") if large else definition.Row._fields
    intervals = {name: interval(*exact[name], errors[name]) for name in names}
    if case.gradient:
        backward = definition.backward(case)
        bounds = gradient_bounds(case)
        for name in GRADIENTS:
            if name in backward:
                interval_ = interval(*backward[name], bounds[name])
                intervals[f"gradient.{name}"] = interval_
    return intervals


def interval(nearest: Array, missing: Array, error: Any) -> Any:
    """Return the values minus and plus `error`, rounded outwards."""
    error = np.broadcast_to(upwards(error), nearest.shape)
    known = np.isfinite(nearest)
    shift = np.where(known, missing, 0.0)
    ends = []
    for sign in (-1, 1):
        with np.errstate(invalid="ignore", over="ignore"):
            end = nearest + (shift + sign * np.where(known, error, 0.0))
            end = np.where(error > 0, np.nextafter(end, sign * np.inf), end)
        ends.append(np.where(known, end, nearest).astype(np.float64))
    return tuple(ends)


def upwards(error: Any) -> Array:
    """Return bounds rounded up to 10 bits."""
    mantissa, exponent = np.frexp(np.asarray(error, dtype=np.float64))
    return np.asarray(np.ldexp(np.ceil(mantissa * 1024) / 1024, exponent))


def packed(arrays: dict[str, tuple[str, Array]]) -> bytes:
    """Return a safetensors file, its tensors in the order of their names."""
    names = {code: dtype for dtype, code in CODES.items()}
    names |= {"BF16": "bfloat16"}
    # In C's order: what is strided would be written wrongly.
    kept = {
        name: (names[code], np.ascontiguousarray(array))
        for name, (code, array) in sorted(arrays.items())
    }
    return serialize(
        {
            name: TensorSpec(
                dtype=dtype,
                shape=array.shape,
                data_ptr=array.ctypes.data,
                data_len=array.nbytes,
            )
            for name, (dtype, array) in kept.items()
        }
    )


def write_vectors(folder: Path) -> int:
    """Export every case without the warnings of those about inf and NaN."""
    with quiet():
        return export(folder)


NUMBER = {"type": "number"}
SCHEMA: dict[str, Any] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Vectors of scaled dot-product attention",
    "type": "object",
    "required": ["format", "made_by", "schema", "cases"],
    "properties": {
        "format": {"const": FORMAT},
        "made_by": {"type": "string"},
        "schema": {"const": "schema.json"},
        "cases": {
            "type": "array",
            "items": {
                "type": "object",
                "additionalProperties": False,
                "required": [
                    "id",
                    "name",
                    "file",
                    "sha256",
                    "dtype",
                    "options",
                    "results",
                ],
                "properties": {
                    "id": {"type": "string", "pattern": "^[0-9]{4}$"},
                    "name": {"type": "string"},
                    "file": {
                        "type": "string",
                        "pattern": "^cases/[0-9]{4}\\.safetensors$",
                    },
                    "sha256": {
                        "type": "string",
                        "pattern": "^[0-9a-f]{64}$",
                    },
                    "dtype": {
                        "enum": ["float64", "float32", "float16", "bfloat16"]
                    },
                    "options": {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {
                            "is_causal": {"type": "boolean"},
                            "scale": {
                                "anyOf": [
                                    NUMBER,
                                    {"type": "null"},
                                    {"const": "NaN"},
                                ]
                            },
                            "enable_gqa": {"type": "boolean"},
                            "window": {
                                "type": ["array", "null"],
                                "items": {"type": "integer", "minimum": -1},
                                "minItems": 2,
                                "maxItems": 2,
                            },
                            "soft_cap": {"type": ["number", "null"]},
                            "dropout_p": {
                                "type": "number",
                                "minimum": 0,
                                "maximum": 1,
                            },
                        },
                    },
                    "results": {
                        "type": "array",
                        "items": {"type": "string"},
                    },
                },
            },
        },
    },
}
