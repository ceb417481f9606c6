"""What the audit and the dual of a CVXPY problem would say if a constant or a sign were lost."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from sklearn.svm import SVC

import convexml as cml
from convexml import Verdict


def program(sign: float, constant: float) -> cp.Problem:
    """Minimise |x - 3|^2 + constant over x <= 1 (its value is 4 + constant), or its negative."""
    x = cp.Variable(name="x")
    goal = cp.Minimize if sign > 0.0 else cp.Maximize
    return cp.Problem(goal(sign * (cp.square(x - 3.0) + constant)), [x <= 1.0])


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("constant", [0.0, 7.0, -200.0])
def test_a_dual_keeps_the_constant_of_its_problem(sign: float, constant: float) -> None:
    dual = cml.dualize(program(sign, constant)).problem
    assert dual.objective.NAME == ("maximize" if sign > 0.0 else "minimize")
    assert dual.solve(solver="CLARABEL") == pytest.approx(sign * (4.0 + constant), abs=1e-6)


@pytest.mark.parametrize("sign", [1.0, -1.0])
@pytest.mark.parametrize("constant", [0.0, 7.0, -200.0])
def test_a_constant_moves_no_gap_of_a_cvxpy_problem(sign: float, constant: float) -> None:
    problem = program(sign, constant)
    problem.solve(solver="CLARABEL")
    found = cml.certify(problem)
    assert found.verdict is Verdict.CERTIFIED
    assert found.primal_objective == pytest.approx(sign * (4.0 + constant), abs=1e-5)
    assert found.gap < 1e-5
    problem.variables()[0].save_value(np.array(0.5))  # |0.5 - 3|^2 = 6.25
    assert cml.certify(problem).gap == pytest.approx(2.25, rel=1e-4)


@pytest.mark.parametrize("moved", [-1e-2, 1e-2])
def test_bounds_have_two_sides(moved: float) -> None:
    x = cp.Variable(2, bounds=[0.0, 1.0])
    for constraints in ([cp.sum(x) == 1.0], [x == np.array([0.0, 1.0])]):
        problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), constraints)
        problem.solve(solver="CLARABEL")
        assert cml.certify(problem, tol=1e-5).verdict is Verdict.CERTIFIED
        x.save_value(x.value + np.array([moved, 0.0]))
        assert cml.certify(problem, tol=1e-5).verdict is Verdict.REFUTED
    for at in (-1e-2, 1.01):
        x.save_value(np.array([at, 1.0 - at]))
        found = cml.certify(cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) == 1.0]))
        assert "bounds" in found.reason
        assert found.verdict is Verdict.REFUTED


def test_a_constant_violation_is_one_at_the_level_of_tol() -> None:
    one = cp.Parameter(value=1.0)
    for excess in (1e-11, 1e-3):
        problem = cp.Problem(cp.Minimize(one), [one <= 1.0 - excess])
        assert cml.certify(problem).claim == "infeasible"


def test_multipliers_of_inequalities_have_a_sign() -> None:
    x = cp.Variable(name="x")
    dual = cml.dualize(cp.Problem(cp.Minimize(x), [x >= -1.0, x <= 5.0])).problem
    assert dual.solve(solver="CLARABEL") == pytest.approx(-1.0, abs=1e-6)


def test_one_variable_that_is_not_finite_proves_nothing() -> None:
    x, y = cp.Variable(name="x"), cp.Variable(name="y")
    problem = cp.Problem(cp.Minimize(cp.square(x) + cp.square(y)))
    x.save_value(np.array(0.0))
    y.save_value(np.array(np.inf))
    found = cml.certify(problem)
    assert found.verdict is Verdict.UNDECIDED
    assert "not finite" in found.reason


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_coefficients_of_libsvm_are_its_dual_point(kernel: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + rng.normal(size=60) > 0.0
    found = cml.certify(SVC(kernel=kernel, tol=1e-9).fit(X, y), X, y)
    assert found.verdict is Verdict.CERTIFIED
    assert found.dual_source == "solver"
