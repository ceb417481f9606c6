"""A better point refutes only where an exactly feasible point is known near it."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml


@pytest.mark.parametrize("power", [52, 46, 40, 30])
def test_the_only_feasible_point_is_not_refuted(power: int) -> None:
    d = 2.0**-power  # x1 + x2 = 1 and d x2 = 2 d: exactly x = (-1, 2)
    x = cp.Variable(2)
    rows = np.array([[1.0, 1.0], [1.0, 1.0 + d]]) @ x == np.array([1.0, 1.0 + 2.0 * d])
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [rows])
    x.value = np.array([-1.0, 2.0])
    assert cml.certify(problem).verdict is not cml.Verdict.REFUTED


@pytest.mark.parametrize("side", [1e-9, 1e-12])
def test_a_flat_set_has_no_room_for_a_witness(side: float) -> None:
    x, y = cp.Variable(), cp.Variable()  # y^2 <= x <= 0: y = 0 is all there is
    problem = cp.Problem(cp.Minimize(-side * y), [cp.square(y) <= x, x <= 0.0])
    x.value = y.value = 0.0
    assert cml.certify(problem).verdict is not cml.Verdict.REFUTED


@pytest.mark.parametrize("kind", ["equations", "inequalities", "ball", "matrix", "exponential"])
def test_a_point_far_from_optimal_is_refuted(kind: str) -> None:
    x = cp.Variable(2)
    constraints = {
        "equations": [x[0] + x[1] / 3.0 == 0.1, x >= -5.0],
        "inequalities": [0.1 * x[0] + 0.3 * x[1] >= 0.7, x >= 0.1],
        "ball": [cp.norm(x - 1.0) <= 0.3],
        "matrix": [cp.bmat([[x[0], 0.7], [0.7, x[1]]]) >> 0],
        "exponential": [cp.exp(x[0]) + cp.exp(-x[1]) <= 1.7, cp.norm(x) <= 9.0],
    }[kind]
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 0.3) + cp.sum(x)), constraints)
    problem.solve(solver="CLARABEL")
    assert cml.certify(problem).verdict is cml.Verdict.CERTIFIED
    start = {
        "equations": [-1.0, 3.3],
        "inequalities": [2.0, 2.0],
        "ball": [1.1, 1.1],
        "matrix": [2.0, 2.0],
        "exponential": [-1.0, 1.0],
    }[kind]
    x.value = np.array(start)
    assert cml.certify(problem).verdict is cml.Verdict.REFUTED
