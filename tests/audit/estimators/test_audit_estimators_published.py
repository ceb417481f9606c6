"""Values published elsewhere, and joint problems against CVXPY.

The coefficients by glmnet are those printed in scikit-learn's own tests:
sklearn/linear_model/tests/test_logistic.py (test_logistic_glmnet),
sklearn/linear_model/_glm/tests/test_glm.py (test_poisson_glmnet) and
sklearn/linear_model/tests/test_coordinate_descent.py (test_lasso_toy, test_enet_toy).
"""

from __future__ import annotations

import warnings
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from sklearn.linear_model import (
    ElasticNet,
    HuberRegressor,
    Lasso,
    LogisticRegression,
    PoissonRegressor,
)
from support.estimator_fits import samples

import convexml as cml
from convexml.audit.sklearn.estimators import parts_of
from convexml.certificates.learning.points.dual_repair import repair_dual
from convexml.numerics import Array

GLMNET_X = np.array([[-4, -3, -2, -1, 0, 1, 2, 3, 4], [0, 0, 1, 0, 1, 1, 1, 0, 0]], dtype=float).T


def holding(estimator: Any, X: Array, y: Array, coef: Any, intercept: Any) -> Any:
    """The estimator, fitted for its attributes, holding published coefficients instead."""
    estimator.fit(X, y)
    estimator.coef_ = np.asarray(coef, dtype=float).reshape(estimator.coef_.shape)
    estimator.intercept_ = np.asarray(intercept, dtype=float)
    return estimator


def test_glmnet_binary_logistic() -> None:
    y = np.array([0, 0, 0, 1, 1, 1, 1, 1, 1])
    published = holding(
        LogisticRegression(C=1.0 / 9.0), GLMNET_X, y, [0.44464569182, 0.01457563448],
        [0.89230405539],
    )  # fmt: skip
    cml.assert_optimal(published, GLMNET_X, y, gap=1e-10)
    published.coef_[0, 0] += 1e-3
    assert cml.certify(published, GLMNET_X, y, tol=1e-10).verdict is cml.Verdict.REFUTED


def test_glmnet_softmax() -> None:
    y = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    coef = [
        [-0.38023389305, -0.01226499932],
        [-8.164030176e-05, 4.734548012e-02],
        [0.3803155334, -0.0350804808],
    ]
    intercept = [-0.12004759652, 2.251747383e-01, -0.1051271418]
    published = holding(LogisticRegression(C=1.0 / 9.0), GLMNET_X, y, coef, intercept)
    cml.assert_optimal(published, GLMNET_X, y, gap=1e-10)
    published.coef_[0, 0] += 1e-3
    assert cml.certify(published, GLMNET_X, y, tol=1e-8).verdict is cml.Verdict.REFUTED


def test_glmnet_poisson() -> None:
    X = np.array([[-2, -1, 1, 2], [0, 0, 1, 1]], dtype=float).T
    y = np.array([0, 1, 1, 2])
    published = holding(
        PoissonRegressor(alpha=1.0), X, y, [0.29019207995, 0.03741173122], -0.12889386979
    )
    cml.assert_optimal(published, X, y, gap=1e-10)
    published.coef_[1] += 1e-3
    assert cml.certify(published, X, y, tol=1e-8).verdict is cml.Verdict.REFUTED


@pytest.mark.parametrize(
    ("estimator", "coef", "gap"),
    [
        (Lasso(0.1), 0.85, 1e-10),
        (Lasso(0.5), 0.25, 1e-10),
        (Lasso(1.0), 0.0, 1e-10),
        (ElasticNet(0.5, l1_ratio=0.3), 0.50819, 1e-8),
        (ElasticNet(0.5, l1_ratio=0.5), 0.45454, 1e-8),
    ],
    ids=repr,
)
def test_toy_lasso_and_elastic_net(estimator: Any, coef: float, gap: float) -> None:
    X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([-1.0, 0.0, 1.0])
    cml.assert_optimal(holding(estimator, X, y, [coef], 0.0), X, y, gap=gap)
    moved = holding(estimator, X, y, [coef + 0.01], 0.0)
    assert cml.certify(moved, X, y, tol=gap).verdict is not cml.Verdict.CERTIFIED


@pytest.mark.parametrize("l1_ratio", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_softmax_optimum_is_that_of_cvxpy(l1_ratio: float, fit_intercept: bool) -> None:
    X, y, s = samples("three")
    settings = {"l1_ratio": l1_ratio, "fit_intercept": fit_intercept, "C": 0.5}
    fitted = LogisticRegression(
        solver="saga", tol=1e-12, max_iter=100000, random_state=0, **settings
    ).fit(X, y, sample_weight=s)
    certificate = cml.certify(fitted, X, y, sample_weight=s, tol=1e-9)
    assert certificate.verdict is cml.Verdict.CERTIFIED
    W, b = cp.Variable((5, 3)), cp.Variable((1, 3))
    Z = X @ W + (np.ones((len(y), 1)) @ b if fit_intercept else 0.0)
    picked = cp.sum(cp.multiply(np.eye(3)[y // 10], Z), axis=1)
    omega = l1_ratio * cp.sum(cp.abs(W)) + 0.5 * (1.0 - l1_ratio) * cp.sum_squares(W)
    loss = 0.5 * (s @ (cp.log_sum_exp(Z, axis=1) - picked))
    best = cp.Problem(cp.Minimize(loss + omega)).solve(solver="CLARABEL")
    assert certificate.primal_objective == pytest.approx(best, rel=1e-7)
    assert certificate.dual_objective == pytest.approx(best, rel=1e-7)


def test_no_softmax_dual_exceeds_the_optimum() -> None:
    X, y, _ = samples("three")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = LogisticRegression(C=0.5, tol=1e-12, max_iter=1000).fit(X, y)
    (part,) = parts_of(fitted, X, y)
    rng = np.random.default_rng(0)
    finite = 0
    for size in np.geomspace(1e-3, 10.0, 60):
        w = part.w + size * rng.normal(size=part.w.shape)
        b = part.b + size * rng.normal(size=part.b.shape)
        slopes = part.objective.loss_derivative(part.objective.predict(w, b))
        dual = part.objective.dual(repair_dual(part.objective, slopes).u)
        assert dual <= part.value * (1.0 + 1e-12)
        assert part.objective.primal(w, b) >= part.value * (1.0 - 1e-12)
        finite += np.isfinite(dual)
    assert finite == 60


@pytest.mark.parametrize("epsilon", [1.1, 1.35, 3.0])
def test_the_huber_optimum_is_that_of_cvxpy(epsilon: float) -> None:
    """Jointly in (w, b, sigma): sigma H(r/sigma) = min_t (r - t)^2 / sigma + 2 epsilon |t|."""
    X, y, s = samples("real")
    y = y + np.where(np.arange(len(y)) % 9 == 0, 15.0, 0.0)
    fitted = HuberRegressor(epsilon=epsilon, alpha=0.3, tol=1e-12, max_iter=10000)
    fitted.fit(X, y, sample_weight=s)
    certificate = cml.certify(fitted, X, y, sample_weight=s, tol=1e-8)
    assert certificate.verdict is cml.Verdict.CERTIFIED
    w, b, sigma, t = cp.Variable(5), cp.Variable(), cp.Variable(), cp.Variable(len(y))
    root = np.sqrt(s)
    quadratic = cp.quad_over_lin(cp.multiply(root, y - X @ w - b - t), sigma)
    objective = s.sum() * sigma + quadratic + 2.0 * epsilon * (s @ cp.abs(t))
    problem = cp.Problem(cp.Minimize(objective + 0.3 * cp.sum_squares(w)))
    assert certificate.primal_objective == pytest.approx(problem.solve(solver="CLARABEL"), rel=1e-7)
    assert certificate.dual_objective <= certificate.primal_objective


def test_a_wrong_scale_alone_is_not_certified() -> None:
    """For its sigma, (w, b) is optimal; jointly it is not, and a better triple is shown."""
    X, y, _ = samples("real")
    fitted = HuberRegressor(alpha=0.3, epsilon=50.0, tol=1e-12, max_iter=10000).fit(X, y)
    fitted.scale_ *= 1.1
    certificate = cml.certify(fitted, X, y, tol=1e-5)
    assert certificate.verdict is cml.Verdict.REFUTED
    assert certificate.witness is not None
    assert certificate.witness["objective"] < certificate.primal_objective
    assert certificate.witness["sigma"] == pytest.approx(fitted.scale_ / 1.1, rel=0.02)
