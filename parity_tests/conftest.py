"""What the tests share: how many inputs hypothesis draws, and fixtures."""

from __future__ import annotations

from types import ModuleType

import pytest
from hypothesis import HealthCheck, settings

import numpy_impl
import torch_impl

# --impl, where this project is not installed but lies here.
pytest_plugins = ["parity_tests.plugin"]

# `make test` draws the same few inputs every time; `make fuzz` many new ones.
SLOW = [HealthCheck.too_slow, HealthCheck.data_too_large]
settings.register_profile(
    "short",
    max_examples=200,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=SLOW,
)
settings.register_profile(
    "long", max_examples=10_000, deadline=None, suppress_health_check=SLOW
)
settings.load_profile("short")


@pytest.fixture(params=[numpy_impl, torch_impl], ids=["numpy", "torch"])
def side(request: pytest.FixtureRequest) -> ModuleType:
    """Return one package after the other."""
    package: ModuleType = request.param
    return package
