"""Consistent systems with dependent rows are never certified to be infeasible, in any units."""

from __future__ import annotations

import warnings
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml.numerics import length

DUPLICATED = [
    ([[4, 0], [5, 5], [5, 5]], [-40, 40, 40]),
    ([[7, 4], [-2, 2], [-2, 2]], [64, -56, -56]),
    ([[1, -3, -1], [-5, -2, 2], [-5, -2, 2]], [-28, -81, -81]),
]


def claimed(A, b):
    """The certificate of the claim that A x = b has no solution."""
    A = np.array(A, dtype=float)
    x = cp.Variable(A.shape[1])
    problem = cp.Problem(cp.Minimize(0), [A @ x == np.array(b, dtype=float)])
    problem._status = "infeasible"
    return cml.certify(problem)


def system(rng):
    """Integers A, x and A x, the last rows copies or combinations of the first."""
    n, k = int(rng.integers(2, 5)), int(rng.integers(2, 4))
    A = rng.integers(-9, 10, size=(k, n))
    again = A[rng.integers(0, k, size=int(rng.integers(1, 3)))]
    if rng.random() < 0.5:
        again = again + int(rng.integers(1, 4)) * A[0]
    A = np.vstack([A, again])
    return A, A @ rng.integers(-20, 21, size=n)


@pytest.mark.parametrize(("A", "b"), DUPLICATED)
def test_a_duplicated_row_proves_nothing(A, b):
    assert claimed(A, b).verdict is not cml.Verdict.CERTIFIED


@pytest.mark.parametrize("seed", range(20))
def test_consistent_systems_in_any_units(seed):
    rng = np.random.default_rng([20261121, seed])
    for k in range(10):
        A, b = system(rng)
        if k % 2:
            rows = np.exp2(rng.integers(-40, 41, size=b.size))
            columns = np.exp2(rng.integers(-40, 41, size=A.shape[1]))
            A, b = rows[:, None] * A * columns, rows * b
        certificate = claimed(A, b)
        assert certificate.verdict is not cml.Verdict.CERTIFIED, (A.tolist(), b.tolist())


def test_inconsistent_systems_stay_certified():
    rng = np.random.default_rng(20261122)
    for _ in range(20):
        A, b = system(rng)
        b[-1] += 1
        certificate = claimed(A, b)
        assert certificate.verdict is cml.Verdict.CERTIFIED, (A.tolist(), b.tolist())
        y = certificate.dual["y"]
        value = sum(Fraction(v) * int(w) for v, w in zip(y.tolist(), b.tolist(), strict=True))
        assert abs(float(value) + 1.0) <= 1e-9


def test_solve_finds_the_point_of_a_system_in_odd_units():
    rows, columns = np.exp2([-21, 14, 38]), np.exp2([-53, 29])
    A = rows[:, None] * np.array([[7.0, 4.0], [-2.0, 2.0], [-2.0, 2.0]]) * columns
    x = cp.Variable(2)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [A @ x == rows * [64.0, -56.0, -56.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        certificate = cml.solve(problem)
    assert certificate.claim != "infeasible" or certificate.verdict is not cml.Verdict.CERTIFIED


@pytest.mark.parametrize("level", [1e308, 1e307, 1.7e308])
def test_sums_that_overflow_prove_nothing(level):
    y = cp.Variable(2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # CVXPY's own sums overflow
        problem = cp.Problem(cp.Minimize(cp.sum(y)), [y >= level])
        problem._status = "infeasible"
        certificate = cml.certify(problem)
        assert certificate.verdict is not cml.Verdict.CERTIFIED
        solved = cml.solve(problem)
    assert solved.claim != "infeasible" or solved.verdict is not cml.Verdict.CERTIFIED


def test_lengths_of_tiny_and_huge_vectors():
    for unit in (2.0**-1060, 2.0**-600, 1.0, 2.0**1000):
        assert length(unit * np.array([3.0, -4.0])) == 5.0 * unit
    assert length(np.zeros(3)) == length(np.zeros(0)) == 0.0
    assert length(np.array([1.0, np.nan])) == length(np.array([np.inf])) == np.inf


@pytest.mark.parametrize("apart", [0.0, 1e-9])
def test_rows_that_define_entries_hide_no_contradiction(apart):
    """Least squares and absolute values bring rows that any w meets; sum(w) = 1 = 1 + apart not."""
    rng = np.random.default_rng(0)
    X, t = rng.normal(size=(6, 3)), rng.normal(size=6)
    w = cp.Variable(3)
    cost = cp.sum_squares(X @ w - t) + cp.norm1(w)
    problem = cp.Problem(cp.Minimize(cost), [cp.sum(w) == 1, cp.sum(w) == 1 + apart])
    alone = cp.Problem(cp.Minimize(cost), [cp.sum(w) == 1])
    alone.solve(solver="CLARABEL")
    problem.constraints[0].save_dual_value(alone.constraints[0].dual_value)
    problem.constraints[1].save_dual_value(np.array(0.0))
    certificate = cml.certify(problem)
    assert (certificate.verdict is cml.Verdict.CERTIFIED) == (apart == 0.0), str(certificate)
    assert ("no point is known" in certificate.reason) == (apart > 0.0)
