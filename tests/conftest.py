"""Shared set-up: one BLAS thread per process, Hypothesis profiles, the optional data folder."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Before NumPy is imported: the processes of pytest-xdist share the cores already.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

REPOSITORY = Path(__file__).resolve().parents[1]

# The same samples every time; `--hypothesis-profile=random` draws new ones. No test fails because
# the machine is slow: no deadline, and no complaint about the seconds of a draw.
settings.register_profile("timeless", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("seeded", settings.get_profile("timeless"), derandomize=True)
settings.register_profile("random", settings.get_profile("timeless"))
settings.load_profile("seeded")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Which page and site the tests marked ``page`` read, and whether a browser has to be there."""
    parser.addoption("--browser", action="store_true", help="fail where there is no Chromium")
    parser.addoption("--page", help="the report that `convexml compare problems --html` wrote")
    parser.addoption("--site", help="the folder that `sphinx-build docs site` wrote")


@pytest.fixture(scope="session")
def repository() -> Path:
    """The root of the checkout."""
    return REPOSITORY


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Larger data sets that are not part of the repository; what needs them is skipped without."""
    folder = REPOSITORY.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the optional data folder ../shared/data is not there")
    return folder
