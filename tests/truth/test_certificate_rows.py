"""Rows one can read: a textbook's words, no units, small where the answer is certified, by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.model_cases import GROUPS, MODELS, ModelCase, bind, samples, separable, weights

import convexml as cml
from convexml import Certificate, Verdict
from convexml.formulas import Condition, worst
from convexml.losses import Absolute, Hinge, Logistic, Poisson, Squared
from convexml.numerics import Array
from convexml.penalties import L1, L2, L2Ball, Zero

SLOPES, BOX, INCLUSION = "u_i/c_i in dl(y_i, z_i)", "u/c in dom l*", "-X'u in dOmega(w)"
DOMAIN, OTHER = "-X'u in dom Omega*", "u_i/c_i = -y_i P(other class)"
FIT = f"{SLOPES}; {BOX}"
LASSO = f"{INCLUSION}; |x_j'u| <= lam; lam |w_j| + w_j x_j'u = 0"
MARGIN = "y_i z_i >= 1; alpha_i >= 0; alpha_i (1 - y_i z_i) = 0"
SOFT = "alpha_i >= 0; beta_i = c_i - alpha_i >= 0; alpha_i (1 - xi_i - y_i z_i) = 0"
TUBE = "alpha_i (y_i - z_i - epsilon - xi_i) = 0; alpha*_i (z_i - y_i - epsilon - xi*_i) = 0"
BALL = f"{INCLUSION}; {DOMAIN}; |w|_1 <= t; lambda (t - |w|_1) = 0; lambda |w_j| + w_j x_j'u = 0"
NET = "w_j (x_j'u + lam(1-rho)w_j + lam rho sign w_j) = 0"
SORTED = "|X'u|_(1) + ... + |X'u|_(k) <= lams_1 + ... + lams_k; sum_j lams_j |w|_(j) + w'X'u = 0"
TILTED = "r_plus_i (u_i + tau c_i) = 0; r_minus_i ((1 - tau) c_i - u_i) = 0"
TEXTS = {
    "LeastSquares": f"X'(Xw + b - y)/n = 0; X'u = 0; {FIT}",
    "MinimumNorm": f"X'nu + w = 0; {DOMAIN}; Xw = y; {FIT}",
    "Ridge": f"X'(Xw + b - y)/n + lam w = 0; {DOMAIN}; {FIT}",
    "ConstrainedRidge": f"X'u + mu w/|w| = 0; {DOMAIN}; |w| <= t; mu (t - |w|) = 0; {FIT}",
    "Lasso": f"{LASSO}; {FIT}",
    "ConstrainedLasso": f"{BALL}; {FIT}",
    "ElasticNet": f"|x_j'u + lam(1-rho)w_j| <= lam rho; {DOMAIN}; {NET}; {FIT}",
    "GroupLasso": f"{INCLUSION}; |X_g'u| <= lam sqrt|g|; lam sqrt|g| |w_g| + w_g'X_g'u = 0; {FIT}",
    "Slope": f"{INCLUSION}; {SORTED}; {FIT}",
    "LogisticRegression": f"X'u + lam w = 0; {DOMAIN}; {OTHER}; {BOX}",
    "LogisticRegression-l1": f"{LASSO}; {OTHER}; {BOX}",
    "LogisticRegression-none": f"X'u = 0; {OTHER}; {BOX}",
    "HuberRegression": f"X'l'(y, z)/n + lam w = 0; {DOMAIN}; {FIT}",
    "PoissonRegression": f"X'l'(y, z)/n + lam w = 0; {DOMAIN}; {FIT}",
    "QuantileRegression": f"{LASSO}; -tau c_i <= u_i <= (1 - tau) c_i; {TILTED}",
    "HardMarginSVM": f"w = sum alpha_i y_i x_i; {DOMAIN}; {MARGIN}",
    "HalfspaceLP": f"sum alpha_i y_i x_i = 0; {MARGIN}",
    "SoftMarginSVM": f"w = sum alpha_i y_i x_i; {DOMAIN}; {SOFT}; beta_i xi_i = 0",
    "SVR": f"w = sum (alpha_i - alpha*_i) x_i; {DOMAIN}; alpha_i + alpha*_i <= c_i; {TUBE}; "
    "beta_i xi_i = 0; beta*_i xi*_i = 0",
}
ROWS = {name: text.split("; ") for name, text in TEXTS.items()}
BALANCE = {
    "HardMarginSVM": "sum alpha_i y_i = 0",
    "HalfspaceLP": "sum alpha_i y_i = 0",
    "SoftMarginSVM": "sum alpha_i y_i = 0",
    "SVR": "sum (alpha_i - alpha*_i) = 0",
}


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.name)
@pytest.mark.parametrize("intercept", [True, False], ids=["b", "no b"])
def test_the_rows_of_a_model_by_name(case: ModelCase, intercept: bool) -> None:
    if intercept not in case.intercepts:
        pytest.skip("no intercept")
    expected = list(ROWS[case.name])
    if intercept:
        expected.append(BALANCE.get(case.name, "1'u = 0"))
    else:
        expected = [name.replace("Xw + b", "Xw") for name in expected]
    certificate = case.pose(fit_intercept=intercept).solve().certificate
    assert [row.name for row in certificate.conditions] == expected
    assert max(row.relative for row in certificate.conditions) <= 9e-3
    if len(case.data()[1]) > 5:
        heavy = case.pose(fit_intercept=intercept, sample_weight=weights(len(case.data()[1])))
        assert "/n" not in str([row.name for row in heavy.certify(np.ones(5), 0.0).conditions])


@pytest.mark.parametrize(("model", "hyper", "labels", "rows"), [
    (cml.KernelRidge, 0.3, "real", [SLOPES, BOX]),
    (cml.KernelRidge, 0.0, "real", [SLOPES, BOX]),
    (cml.KernelLogistic, 0.3, "binary", [OTHER, BOX]),
    (cml.KernelSVM, 0.7, "binary", ROWS["SoftMarginSVM"][2:]),
])  # fmt: skip
def test_a_kernel_model_has_its_own_stationarity(
    model: Any, hyper: float, labels: str, rows: list[str]
) -> None:
    problem = model(*samples(labels), hyper, cml.kernels.Gaussian(1.0), fit_intercept=False)
    found = problem.certify(np.ones(24), 0.0).conditions
    stationarity = "K (q + u) = 0" if model is cml.KernelSVM else "K (lam q + u) = 0"
    domain = "-Ku in dom Omega*" if hyper else "Ku = 0"
    assert [row.name for row in found] == [stationarity, domain, *rows]


class Halved(Hinge):
    """Half the hinge loss: another function, which inherits the words of the hinge."""

    def value(self, y: Array, z: Array) -> Array:
        return 0.5 * super().value(y, z)

    def derivative(self, y: Array, z: Array) -> Array:
        return 0.5 * super().derivative(y, z)

    def conjugate(self, y: Array, v: Array) -> Array:
        return 0.5 * super().conjugate(y, 2.0 * v)

    def domain(self, y: Array) -> tuple[Array, Array]:
        lo, hi = super().domain(y)
        return 0.5 * lo, 0.5 * hi


def test_a_subclass_of_another_value_has_the_rows_of_any_loss() -> None:
    X, y = samples("binary")
    rows = cml.LearningProblem(X, y, Halved(), L2(1.0)).certify(np.ones(5), 0.0, 0.01 * y)
    names = [row.name for row in rows.conditions]
    assert names == ["X'u + lam w = 0", DOMAIN, SLOPES, BOX, "1'u = 0"]


@pytest.mark.parametrize("loss", [Squared(), Logistic(), Poisson(), Hinge()], ids=repr)
def test_where_nothing_is_penalised_the_domain_says_it(loss: Any) -> None:
    """X'u = 0 is a feasibility; stationarity is another row only where it is one of w alone."""
    X, y = samples(loss.labels)
    for penalty in (Zero(), L2(0.0)):
        found = cml.LearningProblem(X, y, loss, penalty).certify(np.ones(5), 0.0, 0.01 * y)
        first = found.conditions[0]
        in_w_alone = isinstance(loss, Squared | Poisson) and penalty.is_smooth
        assert (first.kind == "stationarity") == in_w_alone
        domain = found.conditions[1 if in_w_alone else 0]
        assert (domain.kind, domain.residual > 1e-3) == ("dual_feasibility", True)


TOL = 1e-6


@pytest.mark.parametrize("case", MODELS, ids=lambda case: case.name)
def test_certified_answers_have_small_rows(case: ModelCase) -> None:
    """Stationarity and products within the root of tol, feasibility within tol."""
    problem = case.pose(fit_intercept=case.intercepts[0])
    best, rng = problem.solve(tol=TOL), np.random.default_rng(0)
    w, b = best.primal["w"], best.primal["b"]
    step = rng.normal(size=w.shape) * max(float(np.max(np.abs(w))), 1e-3)
    near = (problem.certify(w + size * step, b) for size in 10.0 ** np.arange(-2.0, -9.0, -0.5))
    rough = next((each for each in near if each.verdict is Verdict.CERTIFIED), best.certificate)
    assert best.certificate.verdict is Verdict.CERTIFIED
    for certificate in (best.certificate, rough):
        for row in certificate.conditions:
            limit = TOL if "feasibility" in row.kind else 3.0 * TOL**0.5
            limit *= 3.0 if row.name.startswith("u_i/c_i") else 1.0  # one sample of 24
            assert row.relative <= limit, f"{row}\n{certificate}"


@pytest.mark.parametrize("penalty", [L2(0.3), L1(0.3), L2Ball(1.0)], ids=repr)
@pytest.mark.parametrize("loss", [Squared(), Absolute(), Hinge()], ids=repr)
def test_stationarity_is_within_the_root_of_the_relative_gap(loss: Any, penalty: Any) -> None:
    """Row^2 <= relative gap at random feasible points, near and far, by D(u) as it is given."""
    X, y = samples(loss.labels)
    rng = np.random.default_rng(3)
    problem = cml.LearningProblem(X, y, loss, penalty, fit_intercept=False)
    solution = problem.solve(tol=1e-10)
    for _ in range(15):
        size = 10.0 ** rng.uniform(-6, 1)
        w = penalty.project(solution.primal["w"] + size * rng.normal(size=5))
        u = solution.dual["u"] * (1.0 - min(size, 1.0) * rng.random())
        if isinstance(loss, Squared) and isinstance(penalty, L2):  # a row of w alone, and its u
            u = (X @ w - y) / len(y)
        found = problem.certify(w, 0.0, u)
        row = next(row for row in found.conditions if row.kind == "stationarity")
        gap = found.primal_objective - found.dual_objective
        assert row.relative**2 <= gap / found.scale * (1.0 + 1e-6) + 1e-15


@pytest.mark.parametrize("unit", [1e170, 1e-140])
def test_rows_near_the_ends_of_float64(unit: float) -> None:
    """Where squares of the entries overflow or vanish, a row is as it was or not known: inf."""
    X, y = samples("real")
    rng = np.random.default_rng(5)
    w, u = rng.normal(size=5), 0.1 * rng.normal(size=len(y))
    own = cml.LearningProblem(X, y, Squared(), L1(0.3)).certify(w, 0.3, u)
    far = cml.LearningProblem(unit * X, y, Squared(), L1(0.3 * unit)).certify(w / unit, 0.3, u)
    for row, same in zip(own.conditions, far.conditions, strict=True):
        expected = pytest.approx(row.relative, rel=0.3, abs=1e-12)
        assert (
            same.relative in (expected, np.inf)
            if unit in (1e170, 1e-170)
            else (same.relative == expected)
        ), row.name


def test_an_exact_fit_does_not_show_its_rounding_as_a_violation() -> None:
    X, _ = samples("real")
    y = X @ np.array([1.0, -2.0, 0.5, 3.0, 1.0]) + 7.0
    certificate = cml.LeastSquares(X, y).solve().certificate
    assert max(row.relative for row in certificate.conditions) < 1e-9


def test_an_equality_of_cvxpy_has_no_complementarity() -> None:
    x = cp.Variable(3, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [cp.sum(x) == 1.0, x[0] >= 0.5])
    names = [row.name for row in cml.solve(problem).conditions if "complementarity" in row.name]
    assert names == ["constraints[1]: complementarity"]


def test_nan_and_rows_without_a_size_are_never_small() -> None:
    row = worst("x", "stationarity", [0.0, np.nan], [1.0, 1.0])
    assert (row.relative, row.index) == (np.inf, 1)
    assert worst("x", "stationarity", [0.0, 1e-30], [0.0, 0.0]).relative == np.inf
    assert worst("x", "stationarity", [0.0, 0.0], [0.0, 0.0]).relative == 0.0
    rows = (Condition("a", "stationarity", 1.0), Condition("b", "stationarity", float("nan")))
    certificate = Certificate("optimal", 1.0, 1.0, 0.0, 0.0, rows, Verdict.UNDECIDED, TOL)
    assert certificate.kkt["stationarity"] == np.inf
    assert not row.meets(1e6)
    endless = Condition("c", "primal_feasibility", 1.0, scale=np.inf)
    assert endless.relative == np.inf
    assert not endless.meets(1.0)


def test_products_and_bounds_by_hand() -> None:
    """Residuals of rows of several models, restated from the raw data."""
    rng = np.random.default_rng(9)
    X, y = samples("real")
    labels = samples("binary")[1]
    w, b = rng.normal(size=5), 0.3
    z, s = X @ w + b, weights(24)
    s[s == 0.0] = 0.5
    mean, r = s / s.sum(), y - z
    u = 0.9 * rng.normal(size=24)
    tau, C, eps = 0.3, 0.7, 0.4
    alpha, xi = -labels * u, np.maximum(1.0 - labels * z, 0.0)
    left, right = np.maximum(-u, 0.0), np.maximum(u, 0.0)
    above, below = np.maximum(r - eps, 0.0), np.maximum(-r - eps, 0.0)
    grad, size = X.T @ u, np.linalg.norm(X.T @ u)
    cases: list[tuple[Any, Array, dict[str, Array]]] = [
        (bind(cml.QuantileRegression, tau, 0.1), y, {
            "r_plus_i (u_i + tau c_i) = 0": np.maximum(r, 0.0) * (u + tau * mean),
            "r_minus_i ((1 - tau) c_i - u_i) = 0": np.maximum(-r, 0.0) * ((1 - tau) * mean - u),
        }),
        (bind(cml.SoftMarginSVM, C), labels, {
            "alpha_i (1 - xi_i - y_i z_i) = 0": alpha * (1.0 - xi - labels * z),
            "beta_i xi_i = 0": (C * s - alpha) * xi,
        }),
        (bind(cml.HardMarginSVM), labels, {
            "alpha_i (1 - y_i z_i) = 0": alpha * (1.0 - labels * z),
            "y_i z_i >= 1": np.maximum(1.0 - labels * z, 0.0),
        }),
        (bind(cml.SVR, C, eps), y, {
            "alpha_i (y_i - z_i - epsilon - xi_i) = 0": left * (r - eps - above),
            "alpha*_i (z_i - y_i - epsilon - xi*_i) = 0": right * (-r - eps - below),
            "beta_i xi_i = 0": (C * s - left) * above,
            "beta*_i xi*_i = 0": (C * s - right) * below,
        }),
        (bind(cml.ConstrainedLasso, 2.0), y, {
            "lambda |w_j| + w_j x_j'u = 0": np.max(np.abs(grad)) * np.abs(w) + w * grad,
            "|w|_1 <= t": np.maximum(np.sum(np.abs(w), keepdims=True) - 2.0, 0.0),
            "lambda (t - |w|_1) = 0": np.max(np.abs(grad)) * (2.0 - np.abs(w).sum()),
        }),
        (bind(cml.ConstrainedRidge, 1.2), y, {
            "|w| <= t": np.maximum(np.linalg.norm(w) - 1.2, 0.0),
            "mu (t - |w|) = 0": size * (1.2 - np.linalg.norm(w)),
        }),
        (bind(cml.ElasticNet, 0.5, 0.6), y, {
            "w_j (x_j'u + lam(1-rho)w_j + lam rho sign w_j) = 0":
                w * (grad + 0.2 * w + 0.3 * np.sign(w)),
        }),
        (bind(cml.GroupLasso, 0.3, GROUPS), y, {
            "lam sqrt|g| |w_g| + w_g'X_g'u = 0": np.array([
                0.3 * len(g) ** 0.5 * np.linalg.norm(w[g]) + w[g] @ grad[g]
                for g in ([0, 2], [1, 4], [3])
            ]),
        }),
    ]  # fmt: skip
    for make, targets, expected in cases:
        certificate = make(X, targets, sample_weight=s).certify(w, b, u)
        rows = {row.name: row for row in certificate.conditions}
        for name, values in expected.items():
            assert rows[name].residual == pytest.approx(np.max(np.abs(values)), rel=1e-11), name
            assert rows[name].residual > 1e-2 or np.max(np.abs(values)) == 0.0


def test_a_gradient_is_one_of_w_alone() -> None:
    """At the minimiser by normal equations it is 0, whatever u is; the row of a given u is not."""
    X, y = samples("real")
    w = np.linalg.solve(X.T @ X / 24 + 0.3 * np.eye(5), X.T @ y / 24)
    problem = cml.Ridge(X, y, 0.3, fit_intercept=False)
    for u in ((X @ w - y) / 24, np.full(24, 0.1)):
        row = problem.certify(w, 0.0, u).conditions[0]
        assert row.name == "X'(Xw - y)/n + lam w = 0"
        assert row.relative < 1e-12
    twin = cml.LearningProblem(X, y, cml.losses.Huber(99.0), cml.penalties.ElasticNet(0.3, 0.0))
    assert twin.certify(w, 0.0, np.full(24, 0.1)).conditions[0].relative > 1e-2


UNITS: dict[str, tuple[str, Callable[..., Any], tuple[int, int]]] = {
    # The data, the model in units (tx, ty) of X and y, the powers of tx and ty in its objective.
    "Ridge": ("real", lambda X, y, tx, ty: cml.Ridge(X, y, 0.3 * tx**2), (0, 2)),
    "Ball": ("real", lambda X, y, tx, ty: cml.ConstrainedRidge(X, y, 1.2 * ty / tx), (0, 2)),
    "Lasso": ("real", lambda X, y, tx, ty: cml.Lasso(X, y, 0.4 * tx * ty), (0, 2)),
    "Group": ("real", lambda X, y, tx, ty: cml.GroupLasso(X, y, 0.3 * tx * ty, GROUPS), (0, 2)),
    "Logistic": ("binary", lambda X, y, tx, ty: cml.LogisticRegression(X, y, 0.05 * tx**2), (0, 0)),
    "Huber": ("real", lambda X, y, tx, ty: cml.HuberRegression(X, y, 0.6 * ty, tx**2 / 9), (0, 2)),
    "Poisson": ("count", lambda X, y, tx, ty: cml.PoissonRegression(X, y, 0.1 * tx**2), (0, 0)),
    "Quantile": ("real", lambda X, y, tx, ty: cml.QuantileRegression(X, y, 0.3, 0.1 * tx), (0, 1)),
    "HardMarginSVM": ("separable", lambda X, y, tx, ty: cml.HardMarginSVM(X, y), (-2, 0)),
    "SoftMarginSVM": ("binary", lambda X, y, tx, ty: cml.SoftMarginSVM(X, y, 0.7 / tx**2), (-2, 0)),
    "SVR": ("real", lambda X, y, tx, ty: cml.SVR(X, y, 0.5 * ty / tx**2, 0.4 * ty), (-2, 2)),
}


@pytest.mark.parametrize("name", UNITS)
def test_units_do_not_move_a_row(name: str) -> None:
    """The same point in other units, X 2^p and y 2^q: every relative residual is the same."""
    labels, pose, (in_x, in_y) = UNITS[name]
    X, y = separable() if labels == "separable" else samples(labels)
    own = pose(X, y, 1.0, 1.0)
    solution = own.solve(tol=1e-10)
    rng = np.random.default_rng(1)
    w = solution.primal["w"] * (1.0 + 1e-3 * rng.normal(size=5)) + 1e-3 * rng.normal(size=5)
    b = float(solution.primal["b"]) + 1e-3
    u = solution.dual["u"] * (1.0 + 1e-3 * rng.normal(size=len(y)))
    expected = own.certify(w, b, u)
    rows = {row.name: row.relative for row in expected.conditions}
    assert max(rows.values()) > 1e-5  # a point that is wrong in a way that can be seen
    for p, q in ((20, 0), (0, 18), (-17, -17)):
        tx, ty = 2.0**p, 2.0**q if labels == "real" else 1.0
        twin = pose(tx * X, ty * y if labels == "real" else y, tx, ty)
        found = twin.certify(ty / tx * w, ty * b, tx**in_x * ty ** (in_y - 1) * u)
        assert found.relative_gap == pytest.approx(expected.relative_gap, rel=1e-6)
        for row in found.conditions:
            assert row.relative == pytest.approx(rows[row.name], rel=1e-6, abs=1e-11), row.name
