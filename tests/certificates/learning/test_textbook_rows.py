"""The conditions in the words of the textbooks: a loss and a penalty state them, no model does."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from support.model_cases import MODELS, ModelCase, samples, weights

import convexml as cml
from convexml.losses import Hinge, Logistic, Poisson, Squared
from convexml.numerics import Array
from convexml.penalties import L1, L2, Zero

SLOPES, BOX, INCLUSION = "u_i/c_i in dl(y_i, z_i)", "u/c in dom l*", "-X'u in dOmega(w)"
DOMAIN = "-X'u in dom Omega*"
LASSO = [INCLUSION, "|x_j'u| <= lam", "lam |w_j| + w_j x_j'u = 0"]
MARGIN = ["y_i z_i >= 1", "alpha_i >= 0", "alpha_i (1 - y_i z_i) = 0"]
ROWS = {
    "LeastSquares": ["X'(Xw + b - y)/n = 0", "X'u = 0", SLOPES, BOX],
    "MinimumNorm": ["X'nu + w = 0", DOMAIN, "Xw = y", SLOPES, BOX],
    "Ridge": ["X'(Xw + b - y)/n + lam w = 0", DOMAIN, SLOPES, BOX],
    "ConstrainedRidge": [
        "X'u + mu w/|w| = 0",
        DOMAIN,
        "|w| <= t",
        "mu (t - |w|) = 0",
        SLOPES,
        BOX,
    ],
    "Lasso": [*LASSO, SLOPES, BOX],
    "ConstrainedLasso": [
        INCLUSION,
        DOMAIN,
        "|w|_1 <= t",
        "lambda (t - |w|_1) = 0",
        "lambda |w_j| + w_j x_j'u = 0",
        SLOPES,
        BOX,
    ],
    "ElasticNet": [
        "|x_j'u + lam(1-rho)w_j| <= lam rho",
        DOMAIN,
        "w_j (x_j'u + lam(1-rho)w_j + lam rho sign w_j) = 0",
        SLOPES,
        BOX,
    ],
    "GroupLasso": [
        INCLUSION,
        "|X_g'u| <= lam sqrt|g|",
        "lam sqrt|g| |w_g| + w_g'X_g'u = 0",
        SLOPES,
        BOX,
    ],
    "Slope": [
        INCLUSION,
        "|X'u|_(1) + ... + |X'u|_(k) <= lams_1 + ... + lams_k",
        "sum_j lams_j |w|_(j) + w'X'u = 0",
        SLOPES,
        BOX,
    ],
    "LogisticRegression": ["X'u + lam w = 0", DOMAIN, "u_i/c_i = -y_i P(other class)", BOX],
    "LogisticRegression-l1": [*LASSO, "u_i/c_i = -y_i P(other class)", BOX],
    "LogisticRegression-none": ["X'u = 0", "u_i/c_i = -y_i P(other class)", BOX],
    "HuberRegression": ["X'l'(y, z)/n + lam w = 0", DOMAIN, SLOPES, BOX],
    "PoissonRegression": ["X'l'(y, z)/n + lam w = 0", DOMAIN, SLOPES, BOX],
    "QuantileRegression": [
        *LASSO,
        "-tau c_i <= u_i <= (1 - tau) c_i",
        "r_plus_i (u_i + tau c_i) = 0",
        "r_minus_i ((1 - tau) c_i - u_i) = 0",
    ],
    "HardMarginSVM": ["w = sum alpha_i y_i x_i", DOMAIN, *MARGIN],
    "HalfspaceLP": ["sum alpha_i y_i x_i = 0", *MARGIN],
    "SoftMarginSVM": [
        "w = sum alpha_i y_i x_i",
        DOMAIN,
        "alpha_i >= 0",
        "beta_i = c_i - alpha_i >= 0",
        "alpha_i (1 - xi_i - y_i z_i) = 0",
        "beta_i xi_i = 0",
    ],
    "SVR": [
        "w = sum (alpha_i - alpha*_i) x_i",
        DOMAIN,
        "alpha_i + alpha*_i <= c_i",
        "alpha_i (y_i - z_i - epsilon - xi_i) = 0",
        "alpha*_i (z_i - y_i - epsilon - xi*_i) = 0",
        "beta_i xi_i = 0",
        "beta*_i xi*_i = 0",
    ],
}
BALANCE = {
    "HardMarginSVM": "sum alpha_i y_i = 0",
    "HalfspaceLP": "sum alpha_i y_i = 0",
    "SoftMarginSVM": "sum alpha_i y_i = 0",
    "SVR": "sum (alpha_i - alpha*_i) = 0",
}
POSED = [(case, b, s) for case in MODELS for b in case.intercepts for s in (False, True)]


def posed(case: ModelCase, intercept: bool, weighted: bool) -> tuple[Any, dict[str, Any]]:
    """The model on its own data, and what it was given besides."""
    X, y = case.data()
    given: dict[str, Any] = {"fit_intercept": intercept}
    if weighted and len(y) > 5:
        given["sample_weight"] = weights(len(y))
    return case.make(X, y, **given), given


def point(problem: Any, y: Array, seed: int = 8) -> tuple[Array, float, Array]:
    """A point that breaks most conditions; u is 0 on the samples of weight 0."""
    rng = np.random.default_rng(seed)
    parts = problem.objective_parts
    u = np.zeros(len(y))
    u[problem._samples.kept] = 0.8 * rng.normal(size=parts.n) * parts.c
    return rng.normal(size=5) * [1, 0, 1, 1, 1], 0.3 * parts.fit_intercept, u


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
    solution = posed(case, intercept, False)[0].solve()
    assert [row.name for row in solution.certificate.conditions] == expected


@pytest.mark.parametrize(
    ("case", "intercept", "weighted"), POSED, ids=lambda value: getattr(value, "name", str(value))
)
def test_a_loss_and_a_penalty_say_what_the_model_says(
    case: ModelCase, intercept: bool, weighted: bool
) -> None:
    problem, given = posed(case, intercept, weighted)
    X, y = case.data()
    parts, scale = problem.objective_parts, problem._parts[2]
    twin = cml.LearningProblem(X, y, parts.loss, parts.penalty, loss_scale=scale, **given)
    at = point(problem, y)
    assert twin.certify(*at).conditions == problem.certify(*at).conditions


@pytest.mark.parametrize(
    ("model", "hyper", "labels", "rows"),
    [
        (cml.KernelRidge, 0.3, "real", [SLOPES, BOX]),
        (cml.KernelRidge, 0.0, "real", [SLOPES, BOX]),
        (cml.KernelLogistic, 0.3, "binary", ["u_i/c_i = -y_i P(other class)", BOX]),
        (cml.KernelSVM, 0.7, "binary", ROWS["SoftMarginSVM"][2:]),
    ],
)
def test_a_kernel_model_has_its_own_stationarity(
    model: Any, hyper: float, labels: str, rows: list[str]
) -> None:
    problem = model(*samples(labels), hyper, cml.kernels.Gaussian(1.0), fit_intercept=False)
    found = problem.certify(np.ones(24), 0.0).conditions
    stationarity = "K (q + u) = 0" if model is cml.KernelSVM else "K (lam q + u) = 0"
    domain = "-Ku in dom Omega*" if hyper else "Ku = 0"
    assert [row.name for row in found] == [stationarity, domain, *rows]


def test_a_lasso_without_its_name() -> None:
    X, y = samples("real")
    w, b, u = point(cml.Lasso(X, y, 0.4), y)
    plain = cml.LearningProblem(X, y, Squared(), L1(0.4)).certify(w, b, u)
    assert plain.conditions == cml.Lasso(X, y, 0.4).certify(w, b, u).conditions
    assert plain.conditions[2].name == "lam |w_j| + w_j x_j'u = 0"
    assert plain.conditions[2].residual == pytest.approx(
        np.max(np.abs(0.4 * np.abs(w) + w * (X.T @ u))), rel=1e-12
    )


@pytest.mark.parametrize(
    ("case", "intercept", "weighted"), POSED, ids=lambda value: getattr(value, "name", str(value))
)
def test_no_row_names_what_the_problem_has_not(
    case: ModelCase, intercept: bool, weighted: bool
) -> None:
    problem, given = posed(case, intercept, weighted)
    names = [row.name for row in problem.certify(*point(problem, case.data()[1])).conditions]
    text = " ; ".join(names)
    assert intercept or not re.search(r"\bb\b", text)
    assert "sample_weight" not in given or "/n" not in text
    assert intercept == (names[-1] == BALANCE.get(case.name, "1'u = 0"))


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
    for penalty in (Zero(), L1(0.0), L2(0.0)):
        found = cml.LearningProblem(X, y, loss, penalty).certify(np.ones(5), 0.0, 0.01 * y)
        first = found.conditions[0]
        in_w_alone = isinstance(loss, Squared | Poisson) and penalty.is_smooth
        assert (first.kind == "stationarity") == in_w_alone
        domain = found.conditions[1 if in_w_alone else 0]
        assert (domain.kind, domain.residual > 1e-3) == ("dual_feasibility", True)
