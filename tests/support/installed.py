"""Solvers that an environment may lack."""

from __future__ import annotations

import cvxpy as cp
import pytest


def need(solver: str) -> None:
    """Skip the test, visibly, where CVXPY has no such solver."""
    if solver.upper() not in cp.installed_solvers():
        pytest.skip(f"{solver} is not installed")
