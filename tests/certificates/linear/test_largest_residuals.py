"""``kkt`` has the largest absolute residual of each kind, whatever the verdict counts by."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml import Verdict

A = np.array([[1e9, 0.0], [0.0, 1.0]])
B = np.array([1e9, 1.0])
X = np.array([1.0 + 2.98e-9, 1.0 + 1.06e-4])
OVER = A @ X - B
"""2.98, which is little for 1e9, and 1.06e-4, which is much for 1."""


def test_a_large_row_that_is_violated_by_little_for_its_size() -> None:
    certificate = cml.LinearProgram([-1.0, -1.0], A_ub=A, b_ub=B).certify(X)
    row = next(r for r in certificate.conditions if r.kind == "primal_feasibility")
    assert row.residual == pytest.approx(1.06e-4)
    assert certificate.kkt["primal_feasibility"] == pytest.approx(OVER[0], rel=1e-6)
    assert certificate.verdict is Verdict.REFUTED
    assert "1.06e-4" in certificate.reason.replace("0.000106", "1.06e-4")


def test_the_rows_of_a_cvxpy_constraint() -> None:
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(-cp.sum(x)), [A @ x <= B])
    x.value = X
    problem.constraints[0].save_dual_value(np.array([-3.0, -5e-9]))
    certificate = cml.certify(problem)
    assert certificate.kkt["primal_feasibility"] == pytest.approx(OVER[0], rel=1e-6)
    assert certificate.kkt["dual_feasibility"] == pytest.approx(3.0)
    stationary = -np.ones(2) + A.T @ [-3.0, -5e-9]
    assert certificate.kkt["stationarity"] == pytest.approx(np.max(np.abs(stationary)))


def test_two_domains_of_one_constraint() -> None:
    x = cp.Variable(2, name="x")
    rows = [cp.log(1e9 * x[0] - 1e9) + cp.log(x[1]) >= -1e3]
    problem = cp.Problem(cp.Minimize(cp.sum(x)), rows)
    x.value = np.array([1.0 - 2.98e-9, -1.06e-4])
    certificate = cml.certify(problem)
    assert certificate.kkt["primal_feasibility"] == pytest.approx(2.98, rel=1e-3)


def test_entries_of_one_size_are_told_once() -> None:
    program = cml.LinearProgram([-1.0, -1.0], A_ub=np.eye(2), b_ub=[1.0, 1.0])
    certificate = program.certify([1.5, 1.25])
    assert certificate.kkt["primal_feasibility"] == 0.5
