"""A version of attention as the suite sees it: NumPy arrays in and out."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from types import ModuleType
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

import numpy_impl
import torch_impl

from ..cases.recipe import Inputs
from .computation import OURS

# How a gradient derived by hand is asked for: the function's name, and how
# its backward is called with the function's module, its arguments and what
# comes back to its result.
BY_HAND: dict[str, Callable[..., Any]] = {
    "averaging.running_mean": lambda module, d, x: (
        module.running_mean_backward(d),
    ),
    "softmax.softmax": lambda module, d, x: (
        module.softmax_backward(d, module.softmax(x)),
    ),
    "softmax.log_softmax": lambda module, d, x: (
        module.log_softmax_backward(d, module.softmax(x)),
    ),
    "softmax.log_sum_exp": lambda module, d, x: (
        module.log_sum_exp_backward(d, module.softmax(x)),
    ),
    "attention.attention_scores": lambda module, d, *arguments: (
        module.attention_scores_backward(d, *arguments)
    ),
    "attention.weighted_sum": lambda module, d, *arguments: (
        module.weighted_sum_backward(d, *arguments)
    ),
    "attention.attention": lambda module, d, *arguments: (
        module.attention_backward(d, *arguments)
    ),
    "dropout.dropout": lambda module, d, weights, dropout_p, dropout_mask: (
        module.dropout_backward(d, dropout_p, dropout_mask),
    ),
}


ATTENTION = "sdpa.scaled_dot_product_attention"
STEPS = "sdpa.attention_steps"
ALL_DTYPES = ("float64", "float32", "float16", "bfloat16")


class Missing(Exception):
    """A version does not have a function: it is not there yet."""


class Version:
    """A package, called with NumPy arrays and answering with them.

    `dtypes` are those it declares, `computation` is how it rounds, and
    `command` is the command that runs it alone.
    """

    def __init__(
        self,
        name: str,
        package: ModuleType,
        command: tuple[str, ...] = ("report",),
    ) -> None:
        self.name = name
        self.package: Any = package
        self.command = command
        self.dtypes: tuple[str, ...] = self.declared("DTYPES", ALL_DTYPES)
        self.computation = OURS

    def __str__(self) -> str:
        """Return the name."""
        return self.name

    @property
    def is_port(self) -> bool:
        """Return whether it is a port, which may be unfinished."""
        return self.command[0] == "check"

    @cached_property
    def on_torch(self) -> bool:
        """Return whether its arrays are torch's."""
        sample = self.package.from_numpy(np.zeros(1, np.float32))
        return isinstance(sample, torch.Tensor)

    @cached_property
    def by_hand(self) -> bool:
        """Return whether gradients are functions, not recorded by torch.

        They may be derived by hand, or call the library's differentiation.
        """
        if not self.on_torch:
            return True
        try:
            self.function(f"{ATTENTION}_backward")
        except Missing:
            return False
        return True

    def has(self, dtype: str) -> bool:
        """Return whether the library has a dtype."""
        return dtype in self.dtypes

    def declared(self, name: str, otherwise: Any) -> Any:
        """Return a constant of the module `arrays`, if there is one."""
        try:
            return getattr(self.module("arrays"), name, otherwise)
        except Missing:
            return otherwise

    def carries(self, dtype: str) -> bool:
        """Return whether a dtype survives from_numpy and to_numpy."""
        return self.comes_back_as(dtype) == dtype

    def comes_back_as(self, dtype: str) -> str | None:
        """Return the dtype that to_numpy returns for this one, or None."""
        if dtype == "bfloat16":
            return None
        try:
            native = self.package.from_numpy(np.zeros(1, dtype))
            return str(np.asarray(self.package.to_numpy(native)).dtype)
        except Exception:
            # Libraries refuse what they lack in many ways.
            return None

    def is_array(self, candidate: object) -> bool:
        """Return whether something is an array of the library."""
        is_array = getattr(self.module("arrays"), "is_array", None)
        if is_array is None:
            raise Missing("arrays.is_array")
        return bool(is_array(candidate))

    def array(self, array: Any, dtype: str | None = None) -> Any:
        """Return a NumPy array as one of this version's; others as is.

        Raises Missing where the version has no such dtype.
        """
        if not isinstance(array, np.ndarray):
            return array
        for asked in (array.dtype.name, dtype):
            if asked in ALL_DTYPES and not self.has(asked):
                raise Missing(asked)
        # A copy: whoever writes to it is found out by the original.
        array = array.copy()
        native = self.package.from_numpy(array)
        floating = np.issubdtype(array.dtype, np.floating)
        # Only a version that has the type is asked for it.
        if dtype == "bfloat16" and floating and array.dtype == np.float32:
            if hasattr(native, "bfloat16"):
                return native.bfloat16()
            return native.astype("bfloat16")
        return native

    def numpy(self, result: Any) -> Any:
        """Return a result as NumPy arrays; a record as a dict of them."""
        if hasattr(result, "_asdict"):
            return {n: self.numpy(x) for n, x in result._asdict().items()}
        if isinstance(result, tuple):
            return tuple(self.numpy(x) for x in result)
        if self.is_array(result):
            return self.package.to_numpy(result)
        return result

    def function(self, path: str) -> Callable[..., Any]:
        """Return a function by its module and name: "softmax.softmax"."""
        module, name = path.split(".")
        function: Callable[..., Any] | None = getattr(
            self.module(module), name, None
        )
        if function is None:
            raise Missing(path)
        return function

    def module(self, name: str) -> ModuleType:
        """Return a module; one that a package does not load is loaded."""
        prefix = f"{self.package.__name__}."
        try:
            return importlib.import_module(prefix + name)
        except ModuleNotFoundError as error:
            # It, or a module that it is built on.
            if not str(error.name).startswith(prefix):
                raise
            raise Missing(str(error.name).removeprefix(prefix)) from error

    def call(self, path: str, *arguments: Any, **options: Any) -> Any:
        """Call a function by its module and name."""
        native = [self.array(argument) for argument in arguments]
        named = {name: self.array(x) for name, x in options.items()}
        result = self.numpy(self.ask(path, *native, **named))
        self.unwritten(path, arguments, native)
        return result

    def ask(self, path: str, *arguments: Any, **named: Any) -> Any:
        """Call a function with this version's own arrays.

        The options of attention are given one by one, in their order or by
        name; where a function takes them as a record, here it is made.
        """
        function = self.function(path)
        names = list(inspect.signature(function).parameters)
        if "options" not in names:
            return function(*arguments, **named)
        first = names.index("options")
        record: Any = self.function("arguments.Options")
        chosen = {n: named.pop(n) for n in record._fields if n in named}
        options = record(*arguments[first:], **chosen)
        return function(*arguments[:first], options=options, **named)

    def unwritten(
        self, path: str, given: Sequence[Any], native: Sequence[Any]
    ) -> None:
        """Assert that a function has not written to its arguments."""
        for number, (before, after) in enumerate(
            zip(given, native, strict=True)
        ):
            if isinstance(before, np.ndarray):
                now = self.numpy(after)
                same = np.array_equal(before, now, equal_nan=now.dtype != bool)
                assert same, f"{path} writes to its argument {number}"

    def gradients_of(
        self, path: str, upstream: NDArray[Any], *arguments: Any
    ) -> tuple[Any, ...]:
        """Return the gradients of a function's floating arguments."""
        native = [self.array(argument) for argument in arguments]
        d = self.array(upstream)
        if self.by_hand:
            module = Functions(self, path.split(".")[0])
            gradients = tuple(
                map(self.numpy, BY_HAND[path](module, d, *native))
            )
            self.unwritten(path, (upstream, *arguments), (d, *native))
            return gradients
        leaves = recorded(native)
        self.function(path)(*native).backward(d)
        return tuple(self.numpy(leaf.grad) for leaf in leaves)

    def arguments(self, inputs: Inputs, dtype: str) -> dict[str, Any]:
        """Return the arguments of a case as this version's arrays."""
        named = {"query": inputs.query, "key": inputs.key}
        named |= {"value": inputs.value, **inputs.options._asdict()}
        return {name: self.array(x, dtype) for name, x in named.items()}

    def steps(self, inputs: Inputs, dtype: str) -> dict[str, NDArray[Any]]:
        """Return every step of attention."""
        arguments = self.arguments(inputs, dtype)
        steps: dict[str, Any] = self.numpy(self.ask(STEPS, **arguments))
        return steps

    def gradients(self, inputs: Inputs, dtype: str) -> dict[str, NDArray[Any]]:
        """Return the gradients of attention, dP and dS among them."""
        arguments = self.arguments(inputs, dtype)
        d_output = self.array(inputs.d_output, dtype)
        d_lse = self.array(inputs.d_log_sum_exp)
        if self.by_hand:
            path = f"{ATTENTION}_backward"
            by_hand = self.ask(
                path, d_output, **arguments, d_log_sum_exp=d_lse
            )
            upstream = (inputs.d_output, inputs.d_log_sum_exp)
            self.unwritten(path, upstream, (d_output, d_lse))
            return present(self.numpy(by_hand))
        leaves = {name: arguments[name] for name in LEAVES}
        recorded([leaf for leaf in leaves.values() if leaf is not None])
        steps = self.ask(STEPS, **arguments)
        tensors = {"weights": steps.weights, "scores": steps.masked_scores}
        tensors |= {n: t for n, t in leaves.items() if takes_part(t)}
        gradients = torch.autograd.grad(
            [steps.output, steps.log_sum_exp],
            list(tensors.values()),
            [d_output, d_lse],
            allow_unused=True,
            materialize_grads=True,
        )
        pairs = zip(tensors, gradients, strict=True)
        return {name: self.numpy(gradient) for name, gradient in pairs}


class Functions:
    """The functions of one module of a version, as attributes."""

    def __init__(self, version: Version, module: str) -> None:
        self._version, self._module = version, module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """Return a function; Missing where there is none."""
        return self._version.function(f"{self._module}.{name}")


LEAVES = ("query", "key", "value", "attn_mask")


def takes_part(tensor: Any) -> bool:
    """Return whether a tensor exists and takes part in the gradients."""
    return tensor is not None and bool(tensor.requires_grad)


def recorded(tensors: Sequence[Any]) -> list[Any]:
    """Ask autograd to record the floating tensors; return them."""
    leaves = [t for t in tensors if hasattr(t, "is_floating_point")]
    leaves = [leaf for leaf in leaves if leaf.is_floating_point()]
    for leaf in leaves:
        leaf.requires_grad_()
    return leaves


def present(named: Mapping[str, Any]) -> dict[str, Any]:
    """Return the entries that are not None."""
    return {name: x for name, x in named.items() if x is not None}


NUMPY = Version("numpy", numpy_impl)
TORCH = Version("torch", torch_impl)
VERSIONS = (NUMPY, TORCH)
