"""What the tests share: the two packages, and inputs drawn by name."""

from __future__ import annotations

import zlib
from types import ModuleType

import numpy as np
import pytest

import numpy_impl
import torch_impl


@pytest.fixture(params=[numpy_impl, torch_impl], ids=["numpy", "torch"])
def side(request: pytest.FixtureRequest) -> ModuleType:
    """Return one package after the other."""
    package: ModuleType = request.param
    return package


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """Return a source of numbers that depends on the test's name alone."""
    return np.random.default_rng(zlib.crc32(request.node.name.encode()))
