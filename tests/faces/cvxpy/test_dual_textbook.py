"""The duals of LP, QP, SOCP and of losses are the textbook's: their variables and constraints."""

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


def test_quadratic_constraint() -> None:
    """min c'x with |Fx + g|^2 <= t: g'v - t lam - |v|^2 / (4 lam), F'v + c = 0, lam >= 0."""
    x = cp.Variable(3, name="x")
    room = np.linalg.norm(g) ** 2 + 1.0
    ball = (cp.sum_squares(F[:, :3] @ x + g) <= room).set_label("ball")
    problem = cp.Problem(cp.Minimize(c[:3] @ x), [ball])
    dual = cml.dualize(problem)
    assert names(dual.problem) == ["v_1", "ball"]
    assert sizes(dual.problem) == (4 + 1, 2)
    v = -np.linalg.pinv(F[:, :3].T) @ c[:3]
    dual.problem.variables()[0].value = v
    value, violation = at(dual, ball=0.7)
    assert value == pytest.approx(g @ v - 0.7 * room - v @ v / 2.8, rel=1e-12)
    assert violation == pytest.approx(0.0, abs=1e-12)
    assert close(solve(problem), solve(dual.problem))
    assert dual.multipliers["ball"].value == pytest.approx(ball.dual_value.item(), rel=1e-5)


BALLS: dict[str, tuple[Any, float]] = {
    "sum_squares": (lambda x: cp.sum_squares(x), 1.0),
    "sum of squares": (lambda x: cp.sum(cp.square(x)), 1.0),
    "square of a norm": (lambda x: cp.square(cp.norm(x)), 1.0),
    "over a number": (lambda x: cp.quad_over_lin(x, 2.0), 0.5),
    "quad_form": (lambda x: cp.quad_form(x, 3.0 * np.eye(6)), 3.0),
    "huber": (lambda x: cp.sum(cp.huber(x, 9.0)), 1.0),
    "under a maximum": (lambda x: cp.maximum(0.1, cp.sum_squares(x)), 1.0),
}


@pytest.mark.parametrize("name", BALLS)
def test_ball(name: str) -> None:
    """min c'x with k |x|^2 <= 2: -|c| sqrt(2 / k), lam = |c| / sqrt(8 k); nothing is a cone."""
    make, k = BALLS[name]
    x = cp.Variable(6, name="x")
    dual = cml.dualize(cp.Problem(cp.Minimize(c @ x), [(make(x) <= 2.0).set_label("ball")]))
    size = np.linalg.norm(c)
    assert solve(dual.problem) == pytest.approx(-size * np.sqrt(2.0 / k), rel=1e-7)
    assert dual.multipliers["ball"].value == pytest.approx(size / np.sqrt(8.0 * k), rel=1e-5)
    latex = dual.latex()
    assert r"{4 " in latex
    assert ("z_{" in latex) == (name in ("huber", "under a maximum"))  # pieces of other atoms


def test_logistic_regression() -> None:
    """max -sum u log u + (1 - u) log(1 - u) - |F'u|^2 / 2, with 0 <= u <= 1; no cone, no helper."""
    x = cp.Variable(6, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum(cp.logistic(F @ x)) + 0.5 * cp.sum_squares(x)))
    dual = cml.dualize(problem).problem
    assert sizes(dual) == (4, 2)
    u = RNG.uniform(size=4)
    dual.variables()[0].value = u
    entropy = u @ np.log(u) + (1.0 - u) @ np.log(1.0 - u)
    expected = -entropy - 0.5 * np.linalg.norm(F.T @ u) ** 2
    assert dual.objective.value == pytest.approx(expected, rel=1e-12)
    assert close(solve(problem), solve(dual))
    z = F @ x.value
    np.testing.assert_allclose(dual.variables()[0].value, 1.0 / (1.0 + np.exp(-z)), atol=1e-5)


@pytest.mark.parametrize("maximise", [False, True])
def test_a_limit_on_the_logistic_loss(maximise: bool) -> None:
    """Its multiplier scales the entropies: lam sum u/lam log(u/lam) + ..., 0 <= u <= lam."""
    x = cp.Variable(6, name="x")
    limit = (cp.sum(cp.logistic(F @ x)) / 4.0 <= 0.5).set_label("limit")
    goal = 0.5 * cp.sum_squares(x)
    problem = cp.Problem(cp.Maximize(-goal) if maximise else cp.Minimize(goal), [limit])
    dual = cml.dualize(problem)
    assert names(dual.problem) == ["limit", "v_1"] or names(dual.problem) == ["v_1", "limit"]
    u, lam = RNG.uniform(0.0, 0.2, size=4), 1.6
    next(v for v in dual.problem.variables() if v.name() == "v_1").value = u
    value, violation = at(dual, limit=lam)
    w = lam / 4.0
    entropy = u @ np.log(u / w) + (w - u) @ np.log((w - u) / w)
    expected = -entropy - 0.5 * lam - 0.5 * np.linalg.norm(F.T @ u) ** 2
    assert value == pytest.approx(-expected if maximise else expected, rel=1e-12)
    assert violation == 0.0
    assert close(solve(problem), solve(dual.problem))
    assert dual.multipliers["limit"].value == pytest.approx(limit.dual_value, rel=1e-5)


@pytest.mark.parametrize("atom", [
    lambda r: cp.norm1(r), lambda r: cp.norm(r), lambda r: cp.norm_inf(r), lambda r: cp.max(r),
    lambda r: cp.sum(cp.abs(r)), lambda r: cp.sum(cp.huber(r)), lambda r: cp.sum(cp.logistic(r)),
], ids=["norm1", "norm2", "norm_inf", "max", "abs", "huber", "logistic"])  # fmt: skip
def test_atoms_leave_one_vector(atom: Any) -> None:
    x = cp.Variable(2)
    dual = cml.dualize(cp.Problem(cp.Minimize(atom(F[:, :2] @ x + g)))).problem
    assert [variable.shape for variable in dual.variables()] == [(4,)]
