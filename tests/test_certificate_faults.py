"""What a certificate would say if one of its guards were gone: each fault shows in one instance."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from exact_learning import Learning

import convexml as cml
from convexml import Verdict, losses, penalties
from convexml.certificates.spheres import sphere


def test_a_value_of_0_excludes_nothing() -> None:
    program = cml.LinearProgram([0.0], [[1.0]], [1.0], bounds=(1.0, None))  # x = 1
    found = program.certify_infeasible({"lambda_ub": [1.0]})
    assert found.verdict is Verdict.UNDECIDED


def test_what_multipliers_leave_is_no_rounding() -> None:
    A, b = [[1.0, 1.0], [1.0, 1.0 + 2.0**-46]], [0.0, 1.0]  # x = 2^46 (-1, 1)
    program = cml.LinearProgram([0.0, 0.0], A_eq=A, b_eq=b, bounds=(None, None))
    found = program.certify_infeasible({"nu": [1.0, -1.0]})
    assert found.verdict is Verdict.UNDECIDED


def test_an_almost_exact_fit_is_not_measured_by_the_null_model() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 3))
    y = X @ np.ones(3) + 3e-4 * rng.normal(size=20)
    known = Learning(X, y, ("squared",), ("none",))
    best, null = float(known.optimum.value), float(known.null)
    assert best < 1e-6 * null
    w = np.array([float(v) for v in known.optimum.x[:3]])
    w[0] += 0.2 * np.sqrt(best)  # a loss of some per cent
    found = cml.LeastSquares(X, y).certify(w)
    assert found.gap > 1e-3 * best
    assert found.gap < 1e-8 * null
    assert found.verdict is not Verdict.CERTIFIED


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_the_gain_of_a_repaired_dual_point_is_not_credited(sign: float) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3)), rng.normal(size=20) + 5.0
    problem = cml.Ridge(X, y, 0.1)
    solution = problem.solve()
    u = solution.dual["u"] + sign * 1e-10
    formula = -10.0 * u @ u - y @ u - np.sum((X.T @ u) ** 2) / 0.2
    found = problem.certify(solution.primal["w"], float(solution.primal["b"]), u)
    assert found.dual_objective <= formula + 1e-12


def test_the_gain_of_a_repaired_point_is_not_credited() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    y = X @ np.array([3.0, 2.0])
    problem = cml.LearningProblem(X, y, losses.Squared(), penalties.Nonnegative())
    w = np.array([3.0, -1e-8])
    r = X @ w - y
    r = r - r.mean()
    found = problem.certify(w)
    assert found.primal_objective >= 0.5 * np.mean(r**2) * (1.0 - 1e-12)


def test_a_bound_of_a_cvxpy_problem_is_not_its_value() -> None:
    x = cp.Variable(2)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 1.0) + cp.sum(x)), [x >= 1.0])
    x.save_value(np.array([1.0, 1.5]))  # P = 2.75, P* = 2
    problem.constraints[0].dual_variables[0].save_value(np.ones(2))
    found = cml.certify(problem)
    assert found.gap >= 0.75
    assert found.verdict is not Verdict.CERTIFIED


def test_spheres_hold_all_that_their_gap_allows() -> None:
    one, gap = np.array([1.0, -2.0]), 0.125
    alone = sphere(one, None, 1.0, gap)  # |x - one|^2 / 2 <= gap
    assert alone.radius == pytest.approx(0.5)
    other = one + np.array([0.3, 0.4])  # |x - one|^2 / 2 + |x - other|^2 / 2 <= gap
    both = sphere(one, other, 1.0, gap)
    assert both.center == pytest.approx(one + np.array([0.15, 0.2]))
    assert both.radius == pytest.approx(0.25)
