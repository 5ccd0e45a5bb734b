"""ONNX's operator Attention, as onnx's own reference computes it."""

from __future__ import annotations

import importlib
from typing import Any

from numpy.typing import NDArray

from . import Asked
from .onnx_model import attributes, feed_of, model

NAME, NEEDS, LAYOUT = "ONNX reference", ("onnx",), "B, H, T, D"


def attention(asked: Asked) -> NDArray[Any]:
    """Return the output."""
    feed = feed_of(asked)
    reference: Any = importlib.import_module("onnx.reference")
    made = reference.ReferenceEvaluator(model(feed, attributes(asked)))
    output: NDArray[Any] = made.run(None, feed)[0]
    return output
