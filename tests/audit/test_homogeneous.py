"""Problems whose right-hand sides are 0: no unit, and 0 is optimal or nothing is."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.tests.solver_test_helpers import lp_7

import convexml as cml
from convexml import Verdict

A = np.array([[1.0, 2.0, -1.0], [0.3, -1.0, 0.7], [2.0, 0.1, 1.0], [-1.0, 1.0, 0.2]])


def problems() -> dict[str, Any]:
    x = cp.Variable(3, name="x")
    X = cp.Variable((3, 3), symmetric=True, name="X")
    return {
        "lp_7": lp_7().prob,
        "norm1": cp.Problem(cp.Minimize(cp.norm1(A @ x))),
        "linear": cp.Problem(cp.Minimize(0.1 * x[0] + 0.7 * x[1]), [x >= 0, x[2] == x[0] / 3]),
        "maximised": cp.Problem(cp.Maximize(-cp.sum(x)), [x >= 0.1 * cp.norm_inf(x)]),
        "norm": cp.Problem(cp.Minimize(cp.norm(A @ x) + 0.1 * cp.sum(x)), [x >= 0]),
        "squares": cp.Problem(cp.Minimize(cp.sum_squares(A @ x)), [x >= 0]),
        "semidefinite": cp.Problem(cp.Minimize(cp.lambda_max(X)), [X >> 0, X[0, 1] == X[1, 2]]),
    }


@pytest.mark.parametrize("solver", ["auto", "clarabel"])
@pytest.mark.parametrize("name", problems())
def test_the_answer_is_0_with_a_gap_of_exactly_0(name: str, solver: str) -> None:
    problem = problems()[name]
    found = cml.solve(problem, solver=solver)
    assert found.verdict is Verdict.CERTIFIED
    assert found.primal_objective == found.gap == found.relative_gap == 0.0
    assert all(not np.any(variable.value) for variable in problem.variables())


def test_an_objective_that_falls_along_a_ray_is_unbounded() -> None:
    x = cp.Variable(3, name="x")
    found = cml.solve(cp.Problem(cp.Minimize(cp.sum(x)), [A[:2] @ x >= 0]))
    assert found.claim == "unbounded"
    assert found.verdict is Verdict.CERTIFIED


def test_a_gap_that_is_not_0_has_no_unit() -> None:
    """The objective of a point has no scale but its own."""
    x = cp.Variable(2, name="x")
    rows = [x[0] >= 0.3 * x[1], x[1] >= 0]
    problem = cp.Problem(cp.Minimize(x[0] + x[1]), rows)
    x.value = np.array([1e-20, 1e-20])
    rows[0].save_dual_value(np.array(1.0))
    rows[1].save_dual_value(np.array(1.3))
    certificate = cml.certify(problem)
    assert certificate.verdict is not Verdict.CERTIFIED
    assert "inf exceeds" not in certificate.reason
    x.value = np.zeros(2)
    assert cml.certify(problem).gap == 0.0


def test_a_point_beside_the_optimum_says_so() -> None:
    """Every x has the objective 0, but this one violates its rows by rounding."""
    problem = lp_7().prob
    a = problem.constraints[1].args[1]
    for variable in problem.variables():
        variable.value = np.zeros(variable.size)
    first = problem.constraints[0]
    a.value = np.full(a.size, 1.0)
    a.value[3] += 1e-15
    first.save_dual_value(np.full(50, 1e-30))
    problem.constraints[1].save_dual_value(np.zeros(51))
    certificate = cml.certify(problem)
    assert certificate.verdict is Verdict.UNDECIDED
    assert "homogeneous, no unit" in certificate.reason


def test_a_linear_program_without_a_unit_says_so() -> None:
    certificate = cml.LinearProgram([1.0, 1.0], A_ub=-np.eye(2), b_ub=[0.0, 0.0]).certify(
        [1e-20, 0.0], {"lambda_ub": [1.0, 1.0]}
    )
    assert certificate.verdict is not Verdict.CERTIFIED
    assert "inf exceeds" not in certificate.reason
