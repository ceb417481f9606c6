"""Multipliers of `nonneg=True`, `bounds=` and their kin, by name: stationarity by hand."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml import Verdict

rng = np.random.default_rng(0)
A, b = rng.normal(size=(20, 5)), rng.normal(size=20)
labels = np.sign(A[:, 0] + 0.3 * rng.normal(size=20))

SOLVERS = pytest.mark.parametrize("solver", ["auto", "clarabel"])


def solved(problem: cp.Problem, solver: str) -> dict[str, Any]:
    certificate = cml.solve(problem, solver, tol=1e-9)
    assert certificate.verdict is Verdict.CERTIFIED
    return dict(certificate.dual)


@SOLVERS
def test_nonnegative_least_squares(solver: str) -> None:
    x = cp.Variable(5, nonneg=True, name="x")
    dual = solved(cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b))), solver)
    slope = 2.0 * A.T @ (A @ x.value - b)
    assert dual["x nonneg"] == pytest.approx(slope, abs=1e-4)
    assert dual["x nonneg"].min() >= 0.0
    assert dual["x nonneg"].max() > 1.0


@SOLVERS
@pytest.mark.parametrize("upper", [0.05, np.array([0.05, np.inf, 0.1, np.inf, np.inf])])
def test_bounds_on_both_sides_and_beside_a_constraint(solver: str, upper: Any) -> None:
    x = cp.Variable(5, bounds=[-0.05, upper], name="x")
    row = x <= 0.04
    problem = cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b) + cp.sum_squares(x)), [row])
    dual = solved(problem, solver)
    slope = 2.0 * A.T @ (A @ x.value - b) + 2.0 * x.value
    lower, above = dual["x lower bounds"], dual["x upper bounds"]
    assert slope - lower + above + row.dual_value == pytest.approx(np.zeros(5), abs=1e-4)
    assert min(lower.min(), above.min()) >= 0.0
    assert above == pytest.approx(np.zeros(5), abs=1e-4)  # the row is tighter
    assert lower.max() > 1.0


@SOLVERS
def test_slacks_of_a_machine_and_their_margins_share_its_price(solver: str) -> None:
    w, bias, xi = cp.Variable(5), cp.Variable(), cp.Variable(20, nonneg=True, name="xi")
    margins = cp.multiply(labels, A @ w + bias) >= 1 - xi
    dual = solved(
        cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + 2 * cp.sum(xi)), [margins]), solver
    )
    assert margins.dual_value + dual["xi nonneg"] == pytest.approx(np.full(20, 2.0), abs=1e-5)


@SOLVERS
@pytest.mark.parametrize("declared", [{"nonneg": True}, {"bounds": [0, 2]}])
def test_the_box_of_a_posed_dual(solver: str, declared: dict[str, Any]) -> None:
    a, rows = cp.Variable(20, name="a", **declared), labels[:, None] * A
    balance = labels @ a == 0
    given = [balance] if "bounds" in declared else [balance, a <= 2]
    value = 0.5 * cp.sum_squares(rows.T @ a) - cp.sum(a)
    dual = solved(cp.Problem(cp.Minimize(value), given), solver)
    slope = rows @ (rows.T @ a.value) - 1.0 + labels * balance.dual_value
    above = given[1].dual_value if len(given) > 1 else dual["a upper bounds"]
    below = dual["a nonneg" if "nonneg" in declared else "a lower bounds"]
    assert slope + above - below == pytest.approx(np.zeros(20), abs=1e-4)
    assert min(above.min(), below.min()) >= 0.0


@SOLVERS
def test_a_variable_that_an_equation_gives(solver: str) -> None:
    x, z = cp.Variable(5), cp.Variable(5, nonpos=True, name="z")
    same = z == x
    dual = solved(cp.Problem(cp.Minimize(cp.sum_squares(A @ x - b)), [same]), solver)
    assert dual["z nonpos"] + same.dual_value == pytest.approx(np.zeros(5), abs=1e-4)
    assert dual["z nonpos"].max() > 1.0


def test_matrices_and_two_variables_of_one_name() -> None:
    X, y, z = (
        cp.Variable((3, 3), PSD=True, name="X"),
        cp.Variable(2, nonneg=True, name="t"),
        cp.Variable((2, 2), nonpos=True, name="t"),
    )
    value = cp.trace(X) + cp.sum_squares(y + 1) + cp.sum_squares(z - 1)
    dual = solved(cp.Problem(cp.Minimize(value), [X[0, 1] >= 1]), "auto")
    expected = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert dual["X PSD"] == pytest.approx(expected, abs=1e-4)
    assert dual["t nonneg"] == pytest.approx(np.full(2, 2.0), abs=1e-4)
    assert dual[f"t#{z.id} nonpos"] == pytest.approx(np.full((2, 2), 2.0), abs=1e-4)
