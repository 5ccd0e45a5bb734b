"""The definition of attention, in scalar loops, in high precision.

It shares no line with either version: it has no array operations, subtracts
no maximum and adds no -inf. A masked key does not occur in a sum. It takes
any kind of number that can be added, multiplied and divided: with gmpy2's
numbers it gives the values, and with `Node`s, which record how they were
computed, also the derivatives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from math import isfinite
from typing import Any, NamedTuple

import gmpy2
import numpy as np
from numpy.typing import NDArray

from ..cases.recipe import Case, Inputs, build

Numbers = NDArray[np.object_]
# Makes a number of the kind in use out of one of gmpy2's.
Make = Callable[[Any], Any]

# Bits of precision: float64 has 53.
PRECISION = 160
ZERO = gmpy2.mpfr(0)


class Exact(NamedTuple):
    """A tensor as two float64: the nearest, and the rest."""

    nearest: NDArray[np.float64]
    missing: NDArray[np.float64]


@dataclass(slots=True)
class Node:
    """A number that knows its parents and its derivative by each."""

    value: Any
    parents: tuple[tuple[Node, Any], ...] = ()
    gradient: Any = ZERO

    def __add__(self, other: Node) -> Node:
        """Return the sum: each part has derivative 1."""
        value = self.value + other.value
        return Node(value, ((self, 1), (other, 1)))

    def __mul__(self, other: Any) -> Node:
        """Return the product: each factor's derivative is the other."""
        if not isinstance(other, Node):
            return Node(self.value * other, ((self, other),))
        value = self.value * other.value
        return Node(value, ((self, other.value), (other, self.value)))

    def __truediv__(self, other: Node) -> Node:
        """Return the quotient."""
        value = self.value / other.value
        by_self = 1 / other.value
        return Node(value, ((self, by_self), (other, -value / other.value)))


def exp(x: Any) -> Any:
    """Return e to the exponential of x: its own derivative."""
    if not isinstance(x, Node):
        return gmpy2.exp(x)
    value = gmpy2.exp(x.value)
    return Node(value, ((x, value),))


def log(x: Any) -> Any:
    """Return the natural logarithm."""
    if not isinstance(x, Node):
        return gmpy2.log(x)
    return Node(gmpy2.log(x.value), ((x, 1 / x.value),))


def root(x: Any) -> Any:
    """Return the square root."""
    if not isinstance(x, Node):
        return gmpy2.sqrt(x)
    value = gmpy2.sqrt(x.value)
    return Node(value, ((x, 1 / (2 * value)),))


def tanh(x: Any) -> Any:
    """Return the hyperbolic tangent."""
    if not isinstance(x, Node):
        return gmpy2.tanh(x)
    value = gmpy2.tanh(x.value)
    return Node(value, ((x, 1 - value * value),))


def total(numbers: Iterable[Any]) -> Any:
    """Return the sum of one number or more."""
    iterator = iter(numbers)
    result = next(iterator)
    for number in iterator:
        result = result + number
    return result


def at(array: NDArray[Any], index: Sequence[int]) -> Any:
    """Return the element that broadcasting would put at an index."""
    inner = index[len(index) - array.ndim :]
    place = zip(inner, array.shape, strict=True)
    return array[tuple(0 if size == 1 else i for i, size in place)]


def read_by(h: int, H: int, array: NDArray[Any]) -> int:
    """Return the head of key or value that query head h of H reads."""
    G = array.shape[-3] if array.ndim > 2 else 1
    return h // (H // G)


def sees(inputs: Inputs, index: Sequence[int]) -> bool:
    """Return whether the query may see the key: (..., h, i, j)."""
    i, j = index[-2:]
    if inputs.options.is_causal and j > i:
        return False
    if inputs.options.window is not None:
        left, right = inputs.options.window
        if (left != -1 and j < i - left) or (right != -1 and j > i + right):
            return False
    mask = inputs.options.attn_mask
    if mask is None:
        return True
    entry = at(mask, index)
    return bool(entry) if mask.dtype == bool else not np.isneginf(entry)


class Row(NamedTuple):
    """Every step of one query: numbers by key, None for a masked key."""

    scores: list[Any]
    capped_scores: list[Any]
    masked_scores: list[Any]
    log_sum_exp: Any
    weights: list[Any]
    dropped_weights: list[Any]
    output: list[Any]


def attend(
    inputs: Inputs, arrays: dict[str, Numbers], make: Make, *index: int
) -> Row:
    """Return every step of the query at (..., h, i)."""
    query, key, value = (arrays[n] for n in ("query", "key", "value"))
    S, E, D = key.shape[-2], value.shape[-1], query.shape[-1]
    *batch, h, i = index
    own_key = read_by(h, inputs.heads, key)
    own_value = read_by(h, inputs.heads, value)
    asking = [at(query, (*batch, h, i, d)) for d in range(D)]
    scores = []
    for j in range(S):
        products = [
            x * at(key, (*batch, own_key, j, d)) for d, x in enumerate(asking)
        ]
        dot = total(products or [make(ZERO)])
        scores.append(dot * inputs.exact_scale())
    capped = scores
    if inputs.options.soft_cap is not None:
        cap = gmpy2.mpfr(float(inputs.options.soft_cap))
        capped = [tanh(score * (1 / cap)) * cap for score in scores]
    masked: list[Any] = [None] * S
    for j in range(S):
        if sees(inputs, (*batch, h, i, j)):
            masked[j] = capped[j]
            if "attn_mask" in arrays:
                masked[j] = masked[j] + at(
                    arrays["attn_mask"], (*batch, h, i, j)
                )
    exponentials = [None if x is None else exp(x) for x in masked]
    seen = [x for x in exponentials if x is not None]
    everything = total(seen) if seen else None
    weights = [
        make(ZERO) if x is None else x / everything for x in exponentials
    ]
    dropped = [
        weight * inputs.exact_growth()
        if inputs.keeps((*batch, h, i, j))
        else None
        for j, weight in enumerate(weights)
    ]
    output = []
    for e in range(E):
        parts = [
            w * at(value, (*batch, own_value, j, e))
            for j, w in enumerate(dropped)
            if w is not None
        ]
        output.append(total(parts) if parts else None)
    lse = log(everything) if seen else None
    return Row(scores, capped, masked, lse, weights, dropped, output)


def rows(
    inputs: Inputs, arrays: dict[str, Numbers], make: Make
) -> Iterator[tuple[tuple[int, ...], Row]]:
    """Yield (index, Row) for every query: (..., h, i)."""
    for index in np.ndindex(*inputs.batch, inputs.heads, inputs.L):
        yield index, attend(inputs, arrays, make, *index)


def numbers(array: NDArray[Any], make: Make) -> Numbers:
    """Return an array of high-precision numbers or of nodes."""
    exact = np.empty(array.shape, dtype=object)
    for index in np.ndindex(*array.shape):
        exact[index] = make(gmpy2.mpfr(float(array[index])))
    return exact


def tensors(inputs: Inputs, make: Make) -> dict[str, Numbers]:
    """Return query, key, value and a floating mask as numbers."""
    arrays = {
        "query": inputs.query,
        "key": inputs.key,
        "value": inputs.value,
    }
    mask = inputs.options.attn_mask
    if mask is not None and mask.dtype != bool:
        arrays["attn_mask"] = mask
    return {name: numbers(array, make) for name, array in arrays.items()}


def plain(number: Any) -> Any:
    """Make a number without derivatives."""
    return number


def split(array: Numbers) -> Exact:
    """Return high-precision numbers as pairs of float64."""
    nearest = array.astype(np.float64)
    missing = [
        float(number - near) if isfinite(near) else 0.0
        for number, near in zip(
            array.ravel().tolist(), nearest.flat, strict=True
        )
    ]
    return Exact(nearest, np.reshape(missing, array.shape))


@cache
def forward(case: Case) -> dict[str, Exact]:
    """Return every step of a case, by the definition."""
    inputs = build(case)
    with gmpy2.context(precision=PRECISION):
        arrays = tensors(inputs, plain)
        table = (*inputs.batch, inputs.heads, inputs.L)
        sizes = dict.fromkeys(Row._fields, (*table, inputs.S))
        sizes["log_sum_exp"] = table
        sizes["output"] = (*table, inputs.E)
        filled = {n: np.empty(sizes[n], dtype=object) for n in Row._fields}
        minus = {"masked_scores", "log_sum_exp"}
        for index, row in rows(inputs, arrays, plain):
            undefined = any(
                x is not None and (gmpy2.is_nan(x) or x == gmpy2.inf())
                for x in row.masked_scores
            )
            for name, values in row._asdict().items():
                absent = gmpy2.mpfr("-inf") if name in minus else ZERO
                late = name not in Row._fields[:3]
                if undefined and late:
                    filled[name][index] = gmpy2.nan()
                elif isinstance(values, list):
                    for j, x in enumerate(values):
                        filled[name][(*index, j)] = absent if x is None else x
                else:
                    filled[name][index] = absent if values is None else values
        return {
            name: split(inputs.without_heads(array))
            for name, array in filled.items()
        }


@cache
def backward(case: Case) -> dict[str, Exact]:
    """Return the gradients of a case: the definition, differentiated."""
    inputs = build(case)
    with gmpy2.context(precision=PRECISION):
        arrays = tensors(inputs, Node)
        table = (*inputs.batch, inputs.heads, inputs.L, inputs.S)
        filled = {n: np.full(table, None) for n in ("weights", "scores")}
        made: list[tuple[Node, Any]] = []
        for index, row in rows(inputs, arrays, Node):
            for e, x in enumerate(row.output):
                if x is not None:
                    made.append((x, at(inputs.d_output, (*index, e))))
            if row.log_sum_exp is not None:
                upstream = at(inputs.d_log_sum_exp, index)
                made.append((row.log_sum_exp, upstream))
            for j in range(inputs.S):
                filled["weights"][(*index, j)] = row.weights[j]
                filled["scores"][(*index, j)] = row.masked_scores[j]
        propagate(made)
        filled = {n: inputs.without_heads(a) for n, a in filled.items()}
        for name in ("query", "key", "value", "attn_mask"):
            if name in arrays:
                filled[name] = arrays[name]
        gradients = {}
        for name, nodes in filled.items():
            gradients[name] = np.empty(nodes.shape, dtype=object)
            for index in np.ndindex(*nodes.shape):
                node = nodes[index]
                # An entry of -inf is a key that occurs in no sum.
                absent = node is None
                gradients[name][index] = 0 if absent else node.gradient
        return {name: split(array) for name, array in gradients.items()}


def propagate(results: Sequence[tuple[Node, Any]]) -> None:
    """Compute the gradient of every node, from the results to the inputs."""
    for node, upstream in results:
        node.gradient = node.gradient + gmpy2.mpfr(float(upstream))
    for node in reversed(in_order(node for node, _ in results)):
        for parent, derivative in node.parents:
            parent.gradient = parent.gradient + node.gradient * derivative


def in_order(results: Iterable[Node]) -> list[Node]:
    """Return all nodes, each after its parents."""
    ordered: list[Node] = []
    known: set[int] = set()
    stack = [(node, False) for node in results]
    while stack:
        node, done = stack.pop()
        if done:
            ordered.append(node)
        elif id(node) not in known:
            known.add(id(node))
            stack.append((node, True))
            stack.extend((parent, False) for parent, _ in node.parents)
    return ordered
