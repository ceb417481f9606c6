"""The Dantzig selector as CVXPY problems, and in LaTeX."""

from __future__ import annotations

from ....objective import Statement, label_all
from ....objective.residuals.samples import RegressionSamples
from ....terms import constant
from ...latex import Latex, such_that


def pose_dantzig(samples: RegressionSamples, strength: float) -> Statement:
    """Minimise |w|_1 s.t. y - X w - b = r, -lam <= X'C r <= lam, c'r = 0.

    v is the multiplier of ``upper`` less that of ``lower``.
    """
    import cvxpy as cp

    lam = cp.Parameter(name="lam", nonneg=True, value=strength)
    X, c = constant(samples.design.constant, "X"), constant(samples.c, "c")
    w, r = cp.Variable(samples.design.shape[1], name="w"), cp.Variable(len(samples.y), name="r")
    variables, prediction = {"w": w, "r": r}, X @ w
    if samples.fit_intercept:
        variables["b"] = b = cp.Variable(name="b")
        prediction = prediction + b
    rows = X.T @ cp.multiply(c, r)
    constraints = {
        "residual": constant(samples.y, "y") - prediction == r,
        "upper": rows <= lam,
        "lower": -rows <= lam,
    }
    if samples.fit_intercept:
        constraints["balance"] = c @ r == 0.0
    problem = cp.Problem(cp.Minimize(cp.norm1(w)), label_all(constraints))
    return Statement(problem, variables, constraints, {"lam": lam})


def pose_dantzig_dual(samples: RegressionSamples, strength: float) -> Statement:
    """Maximise y'Cq - lam |v|_1 s.t. X v + v_0 = q, -1 <= X'C q <= 1, c'q = 0.

    w is the multiplier of ``upper`` less that of ``lower``, b that of ``balance``.
    """
    import cvxpy as cp

    lam = cp.Parameter(name="lam", nonneg=True, value=strength)
    X, c = constant(samples.design.constant, "X"), constant(samples.c, "c")
    v, q = cp.Variable(samples.design.shape[1], name="v"), cp.Variable(len(samples.y), name="q")
    variables, scores = {"v": v, "q": q}, X @ v
    if samples.fit_intercept:
        variables["v_0"] = shift = cp.Variable(name="v_0")
        scores = scores + shift
    across = X.T @ cp.multiply(c, q)
    constraints = {"scores": scores == q, "upper": across <= 1.0, "lower": -across <= 1.0}
    if samples.fit_intercept:
        constraints["balance"] = c @ q == 0.0
    gain = cp.multiply(c, constant(samples.y, "y")) @ q
    problem = cp.Problem(cp.Maximize(gain - lam * cp.norm1(v)), label_all(constraints))
    return Statement(problem, variables, constraints, {"lam": lam}, ("q",))


def dantzig_latex(intercept: bool, weighted: bool) -> Latex:
    """Primal, Lagrangian, dual and KKT conditions."""
    C = r"\operatorname{diag}(s) / \textstyle\sum_l s_l" if weighted else r"\tfrac1n I"
    b, v_0 = (r" - b\mathbf{1}", r" + v_0\mathbf{1}") if intercept else ("", "")
    row, total = f"r = y - Xw{b}", r"\mathbf{1}^\top C r = 0" if intercept else ""
    box = r"\|X^\top C r\|_\infty \le \lambda"
    score, mean = f"q = Xv{v_0}", r"\mathbf{1}^\top C q = 0" if intercept else ""
    ball = r"\|X^\top C q\|_\infty \le 1"
    over, scores = ("w, b", "v, v_0") if intercept else ("w", "v")
    shift = r" + v_0 \mathbf{1}^\top C r" if intercept else ""
    return Latex(
        rf"\min_{{{over}}}\ \|w\|_1" + such_that(box, total, row, f"C = {C}"),
        rf"\|w\|_1 + v^\top X^\top C r{shift} - \lambda\|v\|_1",
        rf"\max_{{{scores}}}\ y^\top C q - \lambda\|v\|_1" + such_that(ball, mean, score),
        (
            r"X^\top C q \in \partial \left[\|w\|_1\right]",
            r"X^\top C r \in \partial \left[\lambda\|v\|_1\right]",
            *filter(None, (box, total, mean)),
        ),
        r"m_j = \mathbf{1}^\top C x_j" if intercept else "",
        eliminated=score,
        over=("w", *("b" * intercept)),
    )
