"""A model of one node: ONNX's operator Attention, of opset 23 and later."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from . import Asked, without


def feed_of(asked: Asked) -> dict[str, NDArray[Any]]:
    """Return the inputs of the node by name."""
    without(asked, "window", "bfloat16")
    feed = dict(zip(("Q", "K", "V"), asked[:3], strict=True))
    mask = asked.attn_mask
    if mask is not None:
        boolean = mask.dtype == bool
        feed["M"] = mask if boolean else mask.astype(asked.query.dtype)
    return feed


def attributes(asked: Asked) -> dict[str, Any]:
    """Return the attributes of the node."""
    given: dict[str, Any] = {"is_causal": int(asked.is_causal)}
    if asked.scale is not None:
        given["scale"] = float(asked.scale)
    if asked.soft_cap is not None:
        given["softcap"] = float(asked.soft_cap)
    return given


def model(feed: Mapping[str, NDArray[Any]], options: dict[str, Any]) -> Any:
    """Return the model for inputs of these shapes and dtypes."""
    onnx: Any = importlib.import_module("onnx")
    helper = onnx.helper

    def info(name: str, array: NDArray[Any], shape: Any) -> Any:
        number = helper.np_dtype_to_tensor_dtype(array.dtype)
        return helper.make_tensor_value_info(name, number, shape)

    node = helper.make_node("Attention", list(feed), ["Y"], **options)
    given = [info(name, array, array.shape) for name, array in feed.items()]
    output = info("Y", feed["Q"], None)
    graph = helper.make_graph([node], "attention", given, [output])
    opset = helper.make_opsetid("", 23)
    return helper.make_model(graph, opset_imports=[opset], ir_version=11)
