"""What conditions and tables name is a symbol of the formulas, or defined below them."""

from __future__ import annotations

import re
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.latex.formula_cases import BINARY, REAL, WEIGHTS, X
from support.latex.rows import rows_of
from support.latex.symbols import undefined

import convexml as cml
from convexml.losses import EpsilonInsensitive, Hinge
from convexml.penalties import L2

MODELS = (
    lambda: cml.NuSVC(X, BINARY, 0.4),
    lambda: cml.OneClassSVM(X, 0.4),
    lambda: cml.SoftMarginSVM(X, BINARY, 2.0),
    lambda: cml.LearningProblem(X, BINARY, Hinge(), L2(0.1)),
    lambda: cml.LearningProblem(X, REAL, EpsilonInsensitive(0.1), L2(0.1)),
    lambda: cml.KernelSVM(X, BINARY, 2.0, cml.kernels.Gaussian(1.0)),
    lambda: cml.QuantileRegression(X, REAL, 0.3, 0.1),
    lambda: cml.ConstrainedLasso(X, REAL, 0.5),
    lambda: cml.SoftmaxRegression(X, np.arange(12) % 3, 0.1),
    lambda: cml.DantzigSelector(X, REAL, 0.1, fit_intercept=True),
    lambda: cml.PrincipalComponents(np.eye(3, 3000), 2),  # C of P = C'C, as P is large
)


@pytest.mark.parametrize("make", MODELS)
def test_every_symbol_of_the_conditions(make: Any) -> None:
    solution = make().solve()
    names = [row.name for row in solution.certificate.conditions]
    assert undefined([*names, *solution.dual], solution.problem.latex()) == set()


def test_what_is_not_defined_is_found() -> None:
    latex = cml.LearningProblem(X, BINARY, Hinge(), L2(0.1)).latex()
    bare = latex.partition(r"\text{where}")[0]
    names = ["alpha_i >= 0", "beta_i = c_i - alpha_i >= 0", "w in dom Omega*", "alpha*_i = 0"]
    assert undefined(names, bare) == {"α", "β", "c", "Ω", "α*"}
    assert undefined(names, latex) == {"α*"}
    assert undefined(["|w| <= radius", "plan >= 0"], latex) == {"radius", "plan"}


@pytest.mark.parametrize("s", [None, WEIGHTS], ids=["", "weights"])
def test_the_multipliers_of_the_slack_form_are_those_defined(s: Any) -> None:
    """alpha and beta by the slack form with 1/n, written and solved without the library."""
    c = np.full(12, 1.0 / 12.0) if s is None else s / s.sum()
    w, b, xi, over = cp.Variable(4), cp.Variable(), cp.Variable(12), cp.Variable(12)
    z = X @ w + b
    rows = [cp.multiply(BINARY, z) >= 1.0 - xi, xi >= 0.0]
    cp.Problem(cp.Minimize(c @ xi + 0.05 * cp.sum_squares(w)), rows).solve(solver=cp.CLARABEL)
    problem = cml.LearningProblem(X, BINARY, Hinge(), L2(0.1), sample_weight=s)
    u = problem.solve(tol=1e-9).dual["u"]
    assert r"\alpha_i = -y_i u_i,\ \beta_i = c_i - \alpha_i" in rows_of(problem)["where"][0]
    np.testing.assert_allclose(rows[0].dual_value, -BINARY * u, atol=1e-6)
    np.testing.assert_allclose(rows[1].dual_value, c + BINARY * u, atol=1e-6)

    rows = [REAL - z <= 0.1 + xi, z - REAL <= 0.1 + over, xi >= 0.0, over >= 0.0]
    cost = c @ (xi + over) + 0.05 * cp.sum_squares(w)
    cp.Problem(cp.Minimize(cost), rows).solve(solver=cp.CLARABEL)
    problem = cml.LearningProblem(X, REAL, EpsilonInsensitive(0.1), L2(0.1), sample_weight=s)
    u = problem.solve(tol=1e-9).dual["u"]
    told = rows_of(problem)["where"][0]
    assert re.search(r"\\alpha_i = \(-u_i\)_\+,\\ \\alpha\^\*_i = \(u_i\)_\+", told)
    expected = np.maximum(-u, 0.0), np.maximum(u, 0.0)
    for row, alpha in zip(rows, [*expected, c - expected[0], c - expected[1]], strict=True):
        np.testing.assert_allclose(row.dual_value, alpha, atol=1e-6)


def test_the_multiplier_of_rho_is_in_lagrangian_and_conditions() -> None:
    """max over rho >= 0 of rho (sum alpha - nu S) is finite where sum alpha = nu S + gamma."""
    problem = cml.NuSVC(X, BINARY, 0.4)
    rows = rows_of(problem)
    assert rows["Lagrangian"][0].endswith(r"- \gamma \rho")
    assert {r"\rho \ge 0", r"\gamma \rho = 0"} <= {*rows["KKT"]}
    assert problem.solve().dual["alpha"].sum() == pytest.approx(0.4 * 12)  # gamma = 0


def test_the_worst_entry_of_a_matrix_has_two_indices() -> None:
    X, Y = np.eye(4), np.arange(12.0).reshape(4, 3)
    problem = cml.MultiTaskLasso(X, Y, 0.01, fit_intercept=False)
    u = -Y / 4.0
    u[2, 1] += 1.0
    rows = {row.name: row for row in problem.certify(np.zeros((4, 3)), 0.0, u).conditions}
    assert rows["u_i/c_i in dl(y_i, z_i)"].where() == "(2, 1)"
