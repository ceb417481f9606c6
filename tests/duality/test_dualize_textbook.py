"""The duals of LP, QP and SOCP are the textbook's: their variables and constraints."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.dualize_cases import close, solve

import convexml as cml

RNG = np.random.default_rng(5)
A, b, c = RNG.normal(size=(3, 6)), RNG.normal(size=3), RNG.uniform(1.0, 2.0, 6)
P = np.cov(RNG.normal(size=(6, 20)))
F, g = RNG.normal(size=(4, 6)), RNG.normal(size=4)


def names(problem: Any) -> list[str]:
    return [variable.name() for variable in problem.variables()]


def sizes(problem: Any) -> tuple[int, int]:
    """The entries of the variables, and the number of constraints."""
    return sum(variable.size for variable in problem.variables()), len(problem.constraints)


def at(dual: Any, **values: Any) -> tuple[float, float]:
    """The dual's objective at these multipliers, and the largest violation of its constraints."""
    for name, value in values.items():
        dual.multipliers[name].value = value
    violation = max(np.max(constraint.violation()) for constraint in dual.problem.constraints)
    return float(dual.problem.objective.value), float(violation)


def test_linear_program() -> None:
    """Boyd and Vandenberghe (5.19): max -b'nu s.t. A'nu - lam + c = 0, lam >= 0."""
    x = cp.Variable(6, name="x")
    constraints = [(A @ x == b).set_label("flow"), (x >= 0).set_label("sign")]
    dual = cml.dualize(cp.Problem(cp.Minimize(c @ x), constraints))
    assert names(dual.problem) == ["flow", "sign"]
    assert sizes(dual.problem) == (3 + 6, 2)
    nu = RNG.normal(size=3)
    value, violation = at(dual, flow=nu, sign=A.T @ nu + c)
    assert value == pytest.approx(-b @ nu, rel=1e-12)
    assert violation == pytest.approx(max(0.0, -(A.T @ nu + c).min()), abs=1e-12)


def test_linear_program_in_inequalities() -> None:
    """Boyd and Vandenberghe (5.22): max -b'lam s.t. A'lam + c = 0, lam >= 0; as a minimum."""
    x = cp.Variable(6, name="x")
    constraints = [(np.vstack([F, A, -A]) @ x <= 1.0).set_label("walls"), cp.abs(x) <= 5.0]
    dual = cml.dualize(cp.Problem(cp.Maximize(c @ x), constraints))
    assert isinstance(dual.problem.objective, cp.Minimize)
    assert names(dual.problem) == ["walls", "lambda_2"]
    assert sizes(dual.problem) == (10 + 6, 3)  # |A'lam - c| <= lam_2 and two signs


def test_quadratic_program() -> None:
    """Boyd and Vandenberghe (5.28), with c: -|P^-1/2 (A'lam + c)|^2 / 2 - b'lam, lam >= 0."""
    x = cp.Variable(6, name="x")
    objective = cp.Minimize(0.5 * cp.quad_form(x, P) + c @ x)
    dual = cml.dualize(cp.Problem(objective, [(A @ x <= b).set_label("walls")]))
    assert names(dual.problem) == ["walls"]
    assert sizes(dual.problem) == (3, 1)
    lam = RNG.uniform(size=3)
    r = A.T @ lam + c
    expected = -0.5 * r @ np.linalg.solve(P, r) - b @ lam
    assert at(dual, walls=lam) == (pytest.approx(expected, rel=1e-10), 0.0)


def test_quadratic_program_with_a_singular_matrix() -> None:
    """Half of |F x|^2 leaves the null space of F: there the linear term has to vanish."""
    x = cp.Variable(6, name="x")
    problem = cp.Problem(
        cp.Minimize(0.5 * cp.quad_form(x, F.T @ F, assume_PSD=True) + c @ x), [x >= -1.0]
    )
    dual = cml.dualize(problem).problem
    assert sizes(dual) == (6, 2)
    assert dual.constraints[0].size == 6 - 4
    assert close(solve(problem), solve(dual))


def test_least_squares() -> None:
    """Boyd and Vandenberghe (5.5), as a minimum of |Fx - g|^2 / 2: -|y|^2 / 2 - g'y, F'y = 0."""
    x = cp.Variable(6, name="x")
    dual = cml.dualize(cp.Problem(cp.Minimize(0.5 * cp.sum_squares(F[:, :3] @ x[:3] - g))))
    assert sizes(dual.problem) == (4, 1)
    y = RNG.normal(size=4)
    dual.problem.variables()[0].value = y
    assert dual.problem.objective.value == pytest.approx(-0.5 * y @ y - g @ y, rel=1e-12)


def test_lasso() -> None:
    """|F'y|_inf <= lam: no multiplier but that of z = F x."""
    x = cp.Variable(6, name="x")
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(F @ x - g) + 0.3 * cp.norm1(x)))
    dual = cml.dualize(problem).problem
    assert sizes(dual) == (4, 1)
    y = RNG.normal(size=4)
    dual.variables()[0].value = y
    excess = np.abs(F.T @ y).max() - 0.3
    assert dual.constraints[0].violation() == pytest.approx(max(0.0, excess), rel=1e-12)


def test_second_order_cone_program() -> None:
    """Boyd and Vandenberghe, exercise 5.43: (u_i, lam_i) with |u_i| <= lam_i."""
    x = cp.Variable(6, name="x")
    constraints = [
        (cp.norm(F @ x + g) <= c @ x + 4.0).set_label("cone"),
        (cp.norm(x) <= 2.0).set_label("ball"),
        (A @ x == 0.1 * b).set_label("flow"),
    ]
    problem = cp.Problem(cp.Minimize(c @ x), constraints)
    dual = cml.dualize(problem)
    # u of the ball is -(c + F'u - c lam + A'nu): x has the identity there
    assert sorted(names(dual.problem)) == ["ball", "cone", "flow", "v_1"]
    assert sizes(dual.problem) == (1 + 1 + 3 + 4, 4)
    solve(problem)
    solve(dual.problem)
    u = next(v for v in dual.problem.variables() if v.name() == "v_1").value
    lam = constraints[0].dual_value
    np.testing.assert_allclose(
        u, lam * (F @ x.value + g) / np.linalg.norm(F @ x.value + g), atol=1e-6
    )


def test_support_vector_machine() -> None:
    """0 <= alpha <= C and no slack is left."""
    X, y = RNG.normal(size=(12, 3)), np.where(RNG.normal(size=12) > 0, 1.0, -1.0)
    w, intercept = cp.Variable(3, name="w"), cp.Variable(name="b")
    slack = cp.pos(1 - cp.multiply(y, X @ w + intercept))
    dual = cml.dualize(cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + 0.7 * cp.sum(slack))))
    assert sizes(dual.problem) == (12, 3)  # two bounds and y'alpha = 0


@pytest.mark.parametrize(
    "atom",
    [
        lambda r: cp.norm1(r),
        lambda r: cp.norm(r),
        lambda r: cp.norm_inf(r),
        lambda r: cp.max(r),
        lambda r: cp.sum(cp.abs(r)),
        lambda r: cp.sum(cp.huber(r)),
    ],
    ids=["norm1", "norm2", "norm_inf", "max", "abs", "huber"],
)
def test_atoms_leave_one_vector(atom: Any) -> None:
    x = cp.Variable(2)
    dual = cml.dualize(cp.Problem(cp.Minimize(atom(F[:, :2] @ x + g)))).problem
    assert [variable.shape for variable in dual.variables()] == [(4,)]
