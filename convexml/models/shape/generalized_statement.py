"""The generalized lasso as CVXPY problems and in LaTeX."""

from __future__ import annotations

from typing import Any

from ...objective import Statement, label_all
from ...terms import constant
from ...tex import Weights, listed
from ..latex import Latex, such_that, weights_of
from ..reading.inputs import Samples


def pose_generalized(samples: Samples, A: Any, strength: float, intercept: bool) -> Statement:
    """Minimise (1/2) sum_i c_i (z_i - y_i)^2 + lam |v|_1 s.t. X w + b = z (u), A w = v (s)."""
    import cvxpy as cp

    lam = cp.Parameter(name="lam", nonneg=True, value=strength)
    (n, d), m = samples.X.shape, A.shape[0]
    w, z, v = cp.Variable(d, name="w"), cp.Variable(n, name="z"), cp.Variable(m, name="v")
    variables = {"w": w, "z": z, "v": v}
    prediction = constant(samples.X, "X") @ w
    if intercept:
        variables["b"] = b = cp.Variable(name="b")
        prediction = prediction + b
    constraints = {"prediction": prediction == z, "combinations": constant(A, "A") @ w == v}
    c = constant(samples.weights / samples.weights.sum(), "c")
    loss = cp.sum_squares(cp.multiply(cp.sqrt(c), z - constant(samples.y, "y")))
    problem = cp.Problem(cp.Minimize(0.5 * loss + lam * cp.norm1(v)), label_all(constraints))
    return Statement(problem, variables, constraints, {"lam": lam})


def pose_generalized_dual(samples: Samples, A: Any, strength: float, intercept: bool) -> Statement:
    """Maximise -(1/2) sum_i u_i^2 / c_i - y'u s.t. X'u + A's = 0, |s_k| <= lam, 1'u = 0."""
    import cvxpy as cp

    lam = cp.Parameter(name="lam", nonneg=True, value=strength)
    u, s = cp.Variable(len(samples.y), name="u"), cp.Variable(A.shape[0], name="s")
    pull = constant(samples.X, "X").T @ u + constant(A, "A").T @ s
    constraints = {"stationarity": pull == 0.0, "box": cp.abs(s) <= lam}
    if intercept:
        constraints["intercept"] = cp.sum(u) == 0.0
    c = constant(samples.weights / samples.weights.sum(), "c")
    value = -0.5 * cp.sum_squares(cp.multiply(1.0 / cp.sqrt(c), u)) - constant(samples.y, "y") @ u
    problem = cp.Problem(cp.Maximize(value), label_all(constraints))
    return Statement(problem, {"u": u, "s": s}, constraints, {"lam": lam})


def generalized_latex(intercept: bool, weighted: bool) -> Latex:
    """Primal, Lagrangian, dual and KKT conditions."""
    c = weights_of("mean", False)
    words = rf"c_i = {c.each}"
    if weighted:  # s are multipliers
        c = Weights(r"\sum_i c_i", "c_i", "u_i / c_i")
        words = r"(i : c_i > 0),\ c_i = \text{weight of sample } i \text{ by the sum of all}"
    b, over = (r" + b\mathbf{1}", "w, b, z, v") if intercept else ("", "w, z, v")
    cost = rf"{c.total} \tfrac12 (z_i - y_i)^2 + \lambda\|v\|_1"
    rows = f"Xw{b} = z", "Aw = v"
    balance = r"\mathbf{1}^\top u = 0" if intercept else ""
    gain = rf"-{c.total} \left[\tfrac12 t_i^2 + y_i t_i\right]"
    rescaled = f"t_i = {c.inverse}"
    pull, box = r"X^\top u + A^\top s = 0", r"|s_k| \le \lambda"
    return Latex(
        rf"\min_{{{over}}}\ {cost}" + such_that(*rows),
        rf"{cost} + u^\top\left(Xw{b} - z\right) + s^\top\left(Aw - v\right)",
        rf"\max_{{u, s}}\ {gain}" + such_that(*filter(None, (rescaled, pull, box, balance))),
        tuple(
            filter(
                None,
                (
                    rf"u_i = {c.each} \left(z_i - y_i\right)",
                    pull,
                    balance,
                    box,
                    r"\lambda |(Aw)_k| = s_k (Aw)_k",
                    *rows,
                ),
            )
        ),
        listed(words, r"A = \text{combinations of coefficients, a row each}"),
        over=("z", "w", *("b" * intercept), "v"),
    )
