"""Duals of scalar power cones, and of variables with three axes."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest
from support.dualize_cases import close, solve

import convexml as cml


@pytest.mark.parametrize("alpha", [0.3, 0.5])
@pytest.mark.parametrize("shape", [(), (1,), (2,)])
def test_power_cones_of_scalars_and_vectors(shape: tuple[int, ...], alpha: float) -> None:
    """max sum z, |z| <= x^a y^(1 - a), x + y <= 1: a^a (1 - a)^(1 - a) for each entry."""
    x, y, z = (cp.Variable(shape, name=name) for name in "xyz")
    problem = cp.Problem(cp.Maximize(cp.sum(z)), [cp.PowCone3D(x, y, z, alpha), x + y <= 1.0])
    value = max(x.size, 1) * alpha**alpha * (1.0 - alpha) ** (1.0 - alpha)
    dual = cml.dualize(problem)
    assert solve(dual.problem) == pytest.approx(value, abs=1e-6)
    assert [part.shape for part in dual.multipliers[problem.constraints[0]]] == [shape] * 3
    assert "tau" not in dual.latex() or dual.latex()


@pytest.mark.parametrize("nonneg", [False, True])
def test_three_axes_without_a_warning(nonneg: bool) -> None:
    y = cp.Variable((2, 2, 2), name="y", nonneg=nonneg)
    target = np.arange(8.0).reshape(2, 2, 2) - 3.0
    problem = cp.Problem(cp.Minimize(cp.sum_squares(y - target)), [y <= 2.0, cp.sum(y) == 1.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dual = cml.dualize(problem)
        value = dual.problem.solve(solver="CLARABEL")
        assert cml.solve(problem).verdict is cml.Verdict.CERTIFIED
        assert cml.certify(dual.problem).verdict is cml.Verdict.CERTIFIED
    assert close(problem.value, value)
    multiplier = dual.multipliers[problem.constraints[0]].value
    assert multiplier == pytest.approx(problem.constraints[0].dual_value, abs=1e-4)
