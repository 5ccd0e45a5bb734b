"""numpy_impl with another library in NumPy's place."""

from __future__ import annotations

import importlib.util
import os
from typing import Any

import numpy as np
import pytest

import numpy_impl
from parity_tests.cases.recipe import Case, Inputs, build
from parity_tests.cases.table import CASES
from parity_tests.judges import attention_bounds, bounds
from parity_tests.ports import namespaces
from parity_tests.ports.check import report_on
from parity_tests.ports.port import Port

pytestmark = pytest.mark.ports


def needs(*packages: str) -> pytest.MarkDecorator:
    missing = [p for p in packages if importlib.util.find_spec(p) is None]
    return pytest.mark.skipif(bool(missing), reason=f"without {missing}")


@needs("array_api_strict")
def test_every_room_keeps_to_the_standard(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Whatever is not in the array API standard is an error there."""
    assert report_on(Port("numpy_impl", "array_api_strict")) == 0
    out = capsys.readouterr().out
    assert "not portable: fast, generator" in out
    assert " 0 failed" in out


@needs("jax")
@pytest.mark.parametrize("concept", ["softmax", "attention", "merge"])
def test_some_rooms_run_on_jax(
    concept: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report_on(Port("numpy_impl", "jax.numpy"), concept=concept) == 0
    assert " 0 failed" in capsys.readouterr().out


@needs("array_api_compat")
@pytest.mark.parametrize("concept", ["averaging", "masks", "head"])
def test_some_rooms_run_on_torch(
    concept: str, capsys: pytest.CaptureFixture[str]
) -> None:
    port = Port("numpy_impl", "array_api_compat.torch")
    assert report_on(port, concept=concept) == 0
    assert " 0 failed" in capsys.readouterr().out


def test_the_one_line_stands_in_every_module() -> None:
    for module in numpy_impl.__all__:
        path = namespaces.source(numpy_impl, module)
        if not path.is_file() or module in namespaces.NOT_PORTABLE:
            continue
        text = path.read_text(encoding="utf-8")
        assert text.count("numpy as np") == text.count(namespaces.IMPORT)
        other = namespaces.replaced(module, text, "some.library")
        assert "import numpy as np" not in other, module


# What jax.vjp can go back through: everything but a NaN on the way.
DERIVED = [
    case
    for case in CASES
    if case.gradient and case.dtype in ("float32", "float64")
]


@needs("jax")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_backward_by_hand_is_what_jax_derives() -> None:
    """The hand-written backward under JAX, and jax.vjp of the forward."""
    os.environ.setdefault("JAX_ENABLE_X64", "1")
    package: Any = namespaces.in_namespace(numpy_impl, "jax.numpy")
    compared = 0
    for case in DERIVED[::5]:
        one, other = both(package, build(case))
        errors = attention_bounds.gradients(build(case), case.dtype)
        for name, got in one.items():
            error = np.broadcast_to(2 * errors[name].error, got.shape)
            error = error + 64 * bounds.format_of(case.dtype).tiny
            assert np.all(np.abs(got - other[name]) <= error), (case, name)
            compared += got.size
    assert compared > 10_000


def both(
    package: Any, inputs: Inputs
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the gradients by hand and by jax.vjp."""
    jax: Any = importlib.import_module("jax")
    options = {
        name: package.from_numpy(option)
        if isinstance(option, np.ndarray)
        else option
        for name, option in inputs.options._asdict().items()
    }
    names = ("query", "key", "value")
    arrays = [package.from_numpy(getattr(inputs, name)) for name in names]
    d_output = package.from_numpy(inputs.d_output)

    def forward(*arrays: Any) -> Any:
        return package.scaled_dot_product_attention(*arrays, **options)

    _, back = jax.vjp(forward, *arrays)
    derived = dict(zip(names, back(d_output), strict=True))
    backward = package.sdpa.scaled_dot_product_attention_backward
    chosen = package.arguments.Options(**options)
    by_hand = backward(d_output, *arrays, chosen)
    one = {name: np.asarray(getattr(by_hand, name)) for name in names}
    return one, {name: np.asarray(a) for name, a in derived.items()}


def test_derived_cases_are_many() -> None:
    assert len(DERIVED) > 200
    assert isinstance(DERIVED[0], Case)
