"""ONNX's operator Attention, as onnxruntime computes it on the CPU."""

from __future__ import annotations

import importlib
from typing import Any

from numpy.typing import NDArray

from . import Asked
from .onnx_model import attributes, feed_of, model

NAME, NEEDS = "onnxruntime", ("onnxruntime", "onnx")
LAYOUT = "B, H, T, D"


def session(feed: dict[str, NDArray[Any]], options: dict[str, Any]) -> Any:
    """Return the session that runs a model of these inputs."""
    runtime: Any = importlib.import_module("onnxruntime")
    runtime.set_default_logger_severity(4)
    made = model(feed, options).SerializeToString()
    return runtime.InferenceSession(made, None, ["CPUExecutionProvider"])


def attention(asked: Asked) -> NDArray[Any]:
    """Return the output."""
    feed = feed_of(asked)
    output: NDArray[Any] = session(feed, attributes(asked)).run(None, feed)[0]
    return output
