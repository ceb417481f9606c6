"""The k largest of all entries, of less than k, and of k that is no whole number."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import linprog

import convexml as cml

R = np.random.default_rng(1).normal(size=(8, 3))


def losses(k: float) -> cp.Problem:
    """The k largest losses of a portfolio, which has a value already."""
    x = cp.Variable(3, value=[0.5, 0.25, 0.25])
    return cp.Problem(cp.Minimize(cp.sum_largest(-R @ x, k)), [x >= 0.0, cp.sum(x) == 1.0])


def least(k: float) -> float:
    """The same as a linear program: the least k t + sum (losses - t)_+."""
    n, d = R.shape
    rows = np.hstack([-R, -np.ones((n, 1)), -np.eye(n)])
    c = np.concatenate([np.zeros(d), [k], np.ones(n)])
    total = np.concatenate([np.ones(d), np.zeros(n + 1)])[None]
    bounds = [(0, None)] * d + [(None, None)] + [(0, None)] * n
    return float(linprog(c, rows, np.zeros(n), total, [1.0], bounds).fun)


@pytest.mark.parametrize("k", [2, 2.5, 8])
def test_a_problem_with_values_is_posed(k: float) -> None:
    problem = losses(k)
    assert cml.certify(problem).verdict is cml.Verdict.REFUTED
    assert problem.variables()[0].value is not None
    certificate = cml.solve(problem)
    assert certificate.verdict is cml.Verdict.CERTIFIED
    assert certificate.primal_objective == pytest.approx(least(k), abs=1e-7)
    assert cml.dualize(problem) is not None


def test_of_all_entries_of_a_table() -> None:
    X = cp.Variable((2, 3), value=np.ones((2, 3)))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X)), [cp.sum_largest(X, 6) <= -1.0])
    assert cml.solve(problem).primal_objective == pytest.approx(1.0 / 6.0, rel=1e-6)


def test_more_than_there_are_is_refused() -> None:
    """The sum of the 9 largest of 8 is that of all 8; CVXPY's form of it is unbounded below."""
    for call in (cml.solve, cml.certify, cml.dualize):
        with pytest.raises(cml.errors.InputError, match=r"asks for the 9 largest of 8.*k = 8"):
            call(losses(9))
    X = cp.Variable((2, 3))
    each = cp.Problem(cp.Minimize(cp.sum(cp.sum_largest(X, 3, axis=0))), [X >= 1.0])
    with pytest.raises(cml.errors.InputError, match="the 3 largest of 2"):
        cml.solve(each)
    S = cp.Variable((3, 3), symmetric=True)
    matrix = cp.Problem(cp.Minimize(cp.lambda_sum_largest(S, 4)), [S >> np.eye(3)])
    with pytest.raises(cml.errors.InputError, match="the 4 largest of 3"):
        cml.solve(matrix)
