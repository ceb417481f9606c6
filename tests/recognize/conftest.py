"""CVXPY's table of other ways to solve, as it was before a test."""

from __future__ import annotations

from collections.abc import Iterator

import cvxpy as cp
import pytest

import convexml as cml


@pytest.fixture
def registered() -> Iterator[None]:
    methods = dict(cp.Problem.REGISTERED_SOLVE_METHODS)
    cml.register()
    yield
    cp.Problem.REGISTERED_SOLVE_METHODS.clear()
    cp.Problem.REGISTERED_SOLVE_METHODS.update(methods)
