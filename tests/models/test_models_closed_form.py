"""Closed forms computed here with NumPy, and scikit-learn's estimators, against the models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.model_cases import consistent, samples, weights

import convexml as cml
from convexml.numerics import Array

X, Y = samples("real")
XB, YB = samples("binary")
XC, YC = samples("count")
S = weights(len(Y))
N = len(Y)

intercepts = pytest.mark.parametrize("intercept", [True, False], ids=["b", "no b"])
weighted = pytest.mark.parametrize("s", [None, S], ids=["equal", "weighted"])


def normal_equations(
    X: Array, y: Array, lam: float, s: Array | None, intercept: bool
) -> tuple[Array, float]:
    """Solve [X 1]' S [X 1] (w, b) + lam (w, 0) = [X 1]' S y, S = diag(s) / sum(s)."""
    c = np.ones(len(y)) / len(y) if s is None else s / s.sum()
    design = np.column_stack([X, np.ones(len(y))]) if intercept else X
    ridge = lam * np.eye(design.shape[1])
    if intercept:
        ridge[-1, -1] = 0.0
    solution = np.linalg.solve(design.T @ (c[:, None] * design) + ridge, design.T @ (c * y))
    return (solution[:-1], float(solution[-1])) if intercept else (solution, 0.0)


def dual_ridge(X: Array, y: Array, lam: float, intercept: bool) -> tuple[Array, float]:
    """The w = X'(XX' + n lam I)^-1 y of the centred data: the n x n system."""
    centre, level = (X.mean(axis=0), y.mean()) if intercept else (np.zeros(X.shape[1]), 0.0)
    A = X - centre
    w = A.T @ np.linalg.solve(A @ A.T + len(y) * lam * np.eye(len(y)), y - level)
    return w, float(level - centre @ w)


def check(problem: Any, w: Array, b: float) -> None:
    """The solution is this point."""
    scale = max(1.0, float(np.abs(w).max()), abs(b))
    solution = problem.solve(tol=1e-12)
    assert solution.status == "optimal"
    np.testing.assert_allclose(solution.primal["w"], w, rtol=0.0, atol=1e-9 * scale)
    np.testing.assert_allclose(solution.primal["b"], b, rtol=0.0, atol=1e-9 * scale)
    assert problem.certify(w, b).holds(1e-10)


@intercepts
@weighted
def test_least_squares(intercept: bool, s: Array | None) -> None:
    problem = cml.LeastSquares(X, Y, fit_intercept=intercept, sample_weight=s)
    check(problem, *normal_equations(X, Y, 0.0, s, intercept))


@intercepts
@weighted
@pytest.mark.parametrize("lam", [1e-3, 0.3, 40.0])
def test_ridge_by_the_normal_equations(lam: float, intercept: bool, s: Array | None) -> None:
    problem = cml.Ridge(X, Y, lam, fit_intercept=intercept, sample_weight=s)
    check(problem, *normal_equations(X, Y, lam, s, intercept))


@intercepts
@pytest.mark.parametrize("rows", [3, N], ids=["n < d", "n > d"])
def test_ridge_by_the_dual_system(rows: int, intercept: bool) -> None:
    problem = cml.Ridge(X[:rows], Y[:rows], 0.2, fit_intercept=intercept)
    check(problem, *dual_ridge(X[:rows], Y[:rows], 0.2, intercept))


@intercepts
def test_rank_deficient_least_squares_has_the_minimum_norm_value(
    intercept: bool,
) -> None:
    coarse = np.round(X * 2.0**20) / 2.0**20  # sums are exact: the columns really are dependent
    A = np.column_stack([coarse, coarse[:, 0] + coarse[:, 1]])
    problem = cml.LeastSquares(A, Y, fit_intercept=intercept)
    centre = A.mean(axis=0) if intercept else np.zeros(A.shape[1])
    level = Y.mean() if intercept else 0.0
    w = np.linalg.pinv(A - centre) @ (Y - level)
    solution = problem.solve()
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(
        problem.objective(w, float(level - centre @ w)), rel=1e-9
    )


def test_minimum_norm() -> None:
    A, y = consistent()
    w = A.T @ np.linalg.solve(A @ A.T, y)
    problem = cml.MinimumNorm(A, y)
    solution = problem.solve()
    assert solution.status == "optimal"
    np.testing.assert_allclose(solution.primal["w"], w, atol=1e-9)
    np.testing.assert_allclose(solution.dual["nu"], -np.linalg.solve(A @ A.T, y), atol=1e-8)
    assert solution.objective == pytest.approx(0.5 * w @ w, rel=1e-10)


def coefficients(estimator: Any) -> tuple[Array, float]:
    """The (w, b) of a fitted scikit-learn model."""
    return np.ravel(estimator.coef_), float(np.ravel(estimator.intercept_)[0])


def linear(name: str, s: Array | None = None, **settings: Any) -> Any:
    """A fitted linear model of scikit-learn, at a tight tolerance."""
    from sklearn import linear_model

    data = {"PoissonRegressor": (XC, YC), "LogisticRegression": (XB, YB)}.get(name, (X, Y))
    return getattr(linear_model, name)(**settings).fit(*data, sample_weight=s)


def machine(name: str, s: Array | None = None, **settings: Any) -> Any:
    """A fitted linear support vector machine of scikit-learn (libsvm)."""
    from sklearn import svm

    data = (XB, YB) if name == "SVC" else (X, Y)
    return getattr(svm, name)(kernel="linear", tol=1e-10, **settings).fit(*data, sample_weight=s)


EXACT: dict[str, Any] = {"tol": 1e-13, "max_iter": 100_000}
SCIKIT_LEARN: dict[str, tuple[Any, Any]] = {
    "Ridge": (
        lambda: cml.Ridge(X, Y, 0.3),
        lambda: linear("Ridge", alpha=0.3 * N),
    ),
    "weighted Ridge": (
        lambda: cml.Ridge(X, Y, 0.3, sample_weight=S),
        lambda: linear("Ridge", alpha=0.3 * S.sum(), s=S),
    ),
    "Lasso": (
        lambda: cml.Lasso(X, Y, 0.2),
        lambda: linear("Lasso", alpha=0.2, **EXACT),
    ),
    "weighted Lasso": (
        lambda: cml.Lasso(X, Y, 0.2, sample_weight=S),
        lambda: linear("Lasso", alpha=0.2, s=S, **EXACT),
    ),
    "ElasticNet": (
        lambda: cml.ElasticNet(X, Y, 0.4, 0.7),
        lambda: linear("ElasticNet", alpha=0.4, l1_ratio=0.7, **EXACT),
    ),
    "LogisticRegression l2": (
        lambda: cml.LogisticRegression(XB, YB, 0.05),
        lambda: linear(
            "LogisticRegression", C=1.0 / (N * 0.05), solver="newton-cholesky", tol=1e-12
        ),
    ),
    "LogisticRegression l1": (
        lambda: cml.LogisticRegression(XB, YB, 0.05, "l1"),
        lambda: linear(
            "LogisticRegression", C=1.0 / (N * 0.05), l1_ratio=1.0, solver="saga", **EXACT
        ),
    ),
    "QuantileRegressor": (
        lambda: cml.QuantileRegression(X, Y, 0.3, 0.1),
        lambda: linear("QuantileRegressor", quantile=0.3, alpha=0.1, solver="highs"),
    ),
    "PoissonRegressor": (
        lambda: cml.PoissonRegression(XC, YC, 0.1),
        lambda: linear("PoissonRegressor", alpha=0.1, solver="newton-cholesky", tol=1e-12),
    ),
    "SVC": (
        lambda: cml.SoftMarginSVM(XB, YB, 0.7),
        lambda: machine("SVC", C=0.7),
    ),
    "weighted SVC": (
        lambda: cml.SoftMarginSVM(XB, YB, 0.7, sample_weight=S),
        lambda: machine("SVC", C=0.7, s=S),
    ),
    "SVR": (
        lambda: cml.SVR(X, Y, 0.5, 0.4),
        lambda: machine("SVR", C=0.5, epsilon=0.4),
    ),
}
"""Our problem and their fitted estimator, by name."""


@pytest.mark.parametrize("name", SCIKIT_LEARN)
def test_against_scikit_learn(name: str) -> None:
    problem, estimator = (make() for make in SCIKIT_LEARN[name])
    w, b = coefficients(estimator)
    solution, theirs = problem.solve(), problem.objective(w, b)
    assert solution.status == "optimal"
    # libsvm takes b from an average over support vectors and stops at some 1e-8, at any tol.
    accuracy = 1e-7 if "SV" in name else 1e-9
    assert solution.objective == pytest.approx(theirs, rel=accuracy)
    assert solution.objective <= theirs * (1.0 + 1e-12)
    assert problem.certify(w, b).holds()


def test_the_predictions_are_those_of_scikit_learn() -> None:
    from sklearn.linear_model import LogisticRegression, PoissonRegressor
    from sklearn.svm import SVR

    names = np.where(YB > 0, "spam", "ham")
    theirs = LogisticRegression(C=1.0 / (N * 0.05), tol=1e-12, max_iter=10_000).fit(XB, names)
    ours = cml.LogisticRegression(XB, names, 0.05).solve(tol=1e-10)
    assert list(ours.predict(X)) == list(theirs.predict(X))
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-5)
    rates = PoissonRegressor(alpha=0.1, solver="newton-cholesky", tol=1e-12).fit(XC, YC)
    np.testing.assert_allclose(
        cml.PoissonRegression(XC, YC, 0.1).solve(tol=1e-10).predict(X), rates.predict(X), rtol=1e-6
    )
    tube = SVR(C=0.5, epsilon=0.4, kernel="linear", tol=1e-10).fit(X, Y)
    np.testing.assert_allclose(
        cml.SVR(X, Y, 0.5, 0.4).solve(tol=1e-10).predict(X), tube.predict(X), atol=1e-5
    )
