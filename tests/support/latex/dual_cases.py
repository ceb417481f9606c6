"""Problems whose printed duals are read, with the value of every symbol from the data and CVXPY.

Multipliers of constraints are CVXPY's, those of arguments slopes by hand; nothing is the dual's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
from scipy.special import expit

from support.dualize_cases import solve
from support.latex.duals import DualPage

RNG = np.random.default_rng(3)
A, COST = RNG.uniform(0.5, 1.5, size=(2, 5)), RNG.uniform(1.0, 2.0, 5)
F, g, c = RNG.normal(size=(6, 3)), RNG.normal(size=6), RNG.normal(size=3)
Q = np.array([[2.0, 0.5, 0.0], [0.5, 1.0, 0.2], [0.0, 0.2, 1.5]])
y = np.array([1.0, 1.0, 1.0, -1.0, -1.0, -1.0])
X = RNG.normal(size=(6, 3)) + np.outer(y, [0.3, 0.3, 0.0])
C = np.array([[1.0, 2.0, 0.5], [2.0, -1.0, 0.3], [0.5, 0.3, 2.0]])
Case = tuple[Any, Callable[[], dict[str, Any]]]


def linear() -> Case:
    x = cp.Variable(5, name="x")
    flow, sign = (A @ x == [2.0, 3.0]).set_label("flow"), x >= 0
    return cp.Problem(cp.Minimize(COST @ x), [flow, sign]), lambda: {
        **{"x": x.value, "c": COST, r"A_{\text{flow}}": A, r"b_{\text{flow}}": [2.0, 3.0]},
        **{r"\nu_{\text{flow}}": flow.dual_value, r"\lambda_{2}": sign.dual_value},
    }


def linear_maximum() -> Case:
    x = cp.Variable(3, name="x")
    B, room, gain = np.array([[-1.0, 1.0, 2.0], [0.5, 0.0, -3.0]]), [-0.5, 4.0], [1.0, -1.0, 0.5]
    limits = [B @ x <= room, x <= 0.7, x >= -0.4]
    return cp.Problem(cp.Maximize(np.array(gain) @ x), limits), lambda: {
        **{"x": x.value, "c": gain, "A_{1}": B, "b_{1}": room},
        **{rf"\lambda_{{{k}}}": each.dual_value for k, each in enumerate(limits, 1)},
    }


def quadratic() -> Case:
    x = cp.Variable(3, name="x")
    total, short, cost = cp.sum(x) == 1.0, x >= -0.1, np.array([1.0, -2.0, 2.0])
    objective = 0.5 * cp.quad_form(x, Q) + cost @ x
    return cp.Problem(cp.Minimize(objective), [total, short]), lambda: {
        **{"x": x.value, "P": Q, "P^{-1}": np.linalg.inv(Q), "c": cost},
        **{r"\nu_{1}": total.dual_value, r"\lambda_{2}": short.dual_value},
    }


def ridge() -> Case:
    x = cp.Variable(3, name="x")
    objective = 0.5 * cp.sum_squares(F @ x - g) + 0.4 * cp.sum_squares(x)
    return cp.Problem(cp.Minimize(objective)), lambda: {
        **{"x": x.value, "G_{1}": F, "h_{1}": g, "y_{1}": F @ x.value - g},
        **{"z_{1}": F @ x.value - g},
    }


def lasso() -> Case:
    x = cp.Variable(3, name="x")
    objective = 0.5 * cp.sum_squares(F @ x - g) + 0.3 * cp.norm1(x)
    return cp.Problem(cp.Minimize(objective)), lambda: {
        **{"x": x.value, "G_{1}": F, "h_{1}": g, "y_{1}": F @ x.value - g},
        **{"z_{1}": F @ x.value - g, "v_{1}": -F.T @ (F @ x.value - g)},
    }


def machine() -> Case:
    w, b, slack = (cp.Variable(n, name=name) for n, name in ((3, "w"), ((), "b"), (6, "xi")))
    margin, sign = cp.multiply(y, X @ w + b) >= 1.0 - slack, slack >= 0.0
    objective = 0.5 * cp.sum_squares(w) + 0.7 * cp.sum(slack)
    return cp.Problem(cp.Minimize(objective), [margin, sign]), lambda: {
        **{"w": w.value, "b": b.value, r"\xi": slack.value},
        **{"A_{1, w}": -y[:, None] * X, "A_{1, b}": -y},
        **{r"\lambda_{1}": margin.dual_value, r"\lambda_{2}": sign.dual_value},
    }


def hinge() -> Case:
    w, b = cp.Variable(3, name="w"), cp.Variable(name="b")
    loss = cp.sum(cp.pos(1.0 - cp.multiply(y, X @ w + b)))

    def symbols() -> dict[str, Any]:
        posed, known = machine()
        solve(posed)
        z = np.maximum(1.0 - y * (X @ w.value + b.value), 0.0)
        slack = known()[r"\lambda_{2}"]
        K = {"K_{1, w}": -y[:, None] * X, "K_{1, b}": -y}
        return {"w": w.value, "b": b.value, "z_{1}": z, r"\eta_{2}": slack, **K}

    return cp.Problem(cp.Minimize(0.5 * cp.sum_squares(w) + 0.7 * loss)), symbols


def quadratic_constraints() -> Case:
    x = cp.Variable(3, name="x")
    near = (cp.sum_squares(F @ x - g) <= 6.0).set_label("near")
    below = cp.quad_form(x, Q) <= x[0] + 0.4
    root = np.linalg.cholesky(Q).T  # any will do

    def symbols() -> dict[str, Any]:
        one, two = (float(np.sum(each.dual_value)) for each in (near, below))
        return {
            **{"x": x.value, "c": c, "F_{1}": -F, "g_{1}": g, "F_{2}": root, "a_{2}": np.eye(3)[0]},
            **{r"\lambda_{\text{near}}": one, r"\lambda_{2}": two},
            **{"v_{1}": 2.0 * one * (g - F @ x.value), "v_{2}": 2.0 * two * root @ x.value},
        }

    return cp.Problem(cp.Minimize(c @ x), [near, below]), symbols


def squares_by_entry() -> Case:
    x = cp.Variable(3, name="x")
    limit = cp.square(x - 1.0) <= np.array([1.0, 2.0, 3.0])
    return cp.Problem(cp.Maximize(c @ x), [limit]), lambda: {
        **{"x": x.value, "c": c, "b_{1}": [1.0, 2.0, 3.0], r"\lambda_{1}": limit.dual_value},
        **{"v_{1}": 2.0 * limit.dual_value * (x.value - 1.0)},
    }


def logistic() -> Case:
    x = cp.Variable(3, name="x")
    objective = cp.sum(cp.logistic(-cp.multiply(y, F @ x))) + 0.4 * cp.sum_squares(x)
    signed = -y[:, None] * F
    return cp.Problem(cp.Minimize(objective)), lambda: {
        **{"x": x.value, "F_{1}": signed, "v_{1}": expit(signed @ x.value)}
    }


def logistic_mean() -> Case:
    x = cp.Variable(3, name="x")
    objective = 0.25 * cp.sum(cp.logistic(F @ x + 1.0)) + 0.2 * cp.sum_squares(x)

    def symbols() -> dict[str, Any]:
        return {"x": x.value, "F_{1}": F, "v_{1}": 0.25 * expit(F @ x.value + 1.0)}

    return cp.Problem(cp.Minimize(objective)), symbols


def logistic_limit() -> Case:
    x = cp.Variable(3, name="x")
    limit = cp.sum(cp.logistic(F @ x)) <= 3.5

    def symbols() -> dict[str, Any]:
        lam = limit.dual_value
        return {"x": x.value, "F_{1}": F, r"\lambda_{1}": lam, "v_{1}": lam * expit(F @ x.value)}

    return cp.Problem(cp.Maximize(-0.5 * cp.sum_squares(x)), [limit]), symbols


def semidefinite() -> Case:
    t = cp.Variable(name="t")
    above = (t * np.eye(3) >> C).set_label("above")
    return cp.Problem(cp.Minimize(t), [above]), lambda: {
        **{"t": t.value, r"A_{\text{above}}": np.eye(3).ravel(), r"B_{\text{above}}": C.ravel()},
        r"S_{\text{above}}": above.dual_value.ravel(),
    }


def semidefinite_variable() -> Case:
    Z = cp.Variable((3, 3), name="Z", symmetric=True)
    trace, cone = cp.trace(Z) == 1.0, Z >> 0

    def symbols() -> dict[str, Any]:
        nu = trace.dual_value
        return {
            **{"Z": Z.value.ravel(), "c": (C + TILT).ravel("F"), "a_{1}": np.eye(3).ravel()},
            **{r"\nu_{1}": nu, "S_{2}": (C + nu * np.eye(3)).ravel()},
            **{r"A_{Z = Z^\top}": TRANSPOSED, r"\nu_{Z = Z^\top}": [-1.0, 0.5, 0.2]},
        }

    return cp.Problem(cp.Minimize(cp.sum(cp.multiply(C + TILT, Z))), [trace, cone]), symbols


TILT = np.array([[0.0, 1.0, -0.5], [-1.0, 0.0, -0.2], [0.5, 0.2, 0.0]])
"""Of no weight for what is symmetric."""
TRANSPOSED = np.zeros((3, 9))
"""Z_ij - Z_ji for i < j, of Z column by column."""
for row, (i, j) in enumerate(((0, 1), (0, 2), (1, 2))):
    TRANSPOSED[row, [i + 3 * j, j + 3 * i]] = 1.0, -1.0


def second_order() -> Case:
    x = cp.Variable(3, name="x")
    reach = (cp.norm(F @ x - g) <= 0.2 * x[0] + 3.0).set_label("reach")
    ball = (cp.norm(x - 0.5) <= 1.0).set_label("ball")

    def symbols() -> dict[str, Any]:
        r, s = F @ x.value - g, x.value - 0.5
        one, two = (float(np.sum(each.dual_value)) for each in (reach, ball))
        return {
            **{"x": x.value, "c": c, "F_{1}": F, "g_{1}": -g},
            **{r"a_{\text{reach}}": [0.2, 0.0, 0.0], r"\lambda_{\text{reach}}": one},
            **{r"\lambda_{\text{ball}}": two, "v_{1}": one * r / np.linalg.norm(r)},
            **{"v_{2}": two * s / np.linalg.norm(s)},
        }

    return cp.Problem(cp.Minimize(c @ x), [reach, ball]), symbols


def exponential() -> Case:
    x, z = cp.Variable(3, name="x"), cp.Variable(3, name="z")
    cone, limit = cp.ExpCone(x, np.ones(3), z), x <= 1.0

    def symbols() -> dict[str, Any]:
        power = np.exp(x.value)
        slopes = {"r_{1}": -power, "s_{1}": power * (x.value - 1.0), "t_{1}": np.ones(3)}
        return {"x": x.value, "z": z.value, "c": PULL, r"\lambda_{2}": limit.dual_value, **slopes}

    return cp.Problem(cp.Minimize(cp.sum(z) + PULL @ x), [cone, limit]), symbols


PULL = np.array([-1.5, -0.5, -4.0])


def exponentials() -> Case:
    x = cp.Variable(3, name="x")
    objective = cp.sum(cp.exp(x)) + 0.5 * cp.sum_squares(x - 2.0)

    def symbols() -> dict[str, Any]:
        power = np.exp(x.value)
        return {
            **{"x": x.value, "z_{1}": power, "z_{2}": x.value - 2.0, r"\rho_{1}": -power},
            **{r"\sigma_{1}": power * (x.value - 1.0), "y_{1}": x.value - 2.0},
        }

    return cp.Problem(cp.Minimize(objective)), symbols


CASES: dict[str, Callable[[], Case]] = {
    each.__name__: each
    for each in (
        *(linear, linear_maximum, quadratic, ridge, lasso, machine, hinge),
        *(quadratic_constraints, squares_by_entry, logistic, logistic_mean, logistic_limit),
        *(semidefinite, semidefinite_variable, second_order, exponential, exponentials),
    )
}


def page_of(name: str) -> DualPage:
    """The printed dual of a case, with the values of its symbols."""
    from convexml import dualize

    problem, symbols = CASES[name]()
    text = dualize(problem).latex()
    value = solve(problem)
    return DualPage(text, symbols(), value)
