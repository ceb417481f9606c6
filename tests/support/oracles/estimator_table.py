"""Every estimator of convexml beside its namesake at tight tolerance, with what both minimise.

The objectives are NumPy's, of the fitted coefficients: ``estimator_objectives`` and what is here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn import covariance, discriminant_analysis, kernel_ridge, linear_model, svm
from sklearn.base import is_classifier

import support.estimator_objectives as documented
import support.oracles.machines_with_nu as documented_nu

Array = np.ndarray
Objective = Callable[[Any, Any, Array, Array], float]
TIGHT = {"tol": 1e-11, "max_iter": 200_000}
LIBLINEAR = {"tol": 1e-8, "max_iter": 1_000_000, "random_state": 0}


class Row(NamedTuple):
    """An estimator of scikit-learn's, and its objective of (fitted, X, y, weights)."""

    theirs: Any
    objective: Objective


class At:
    """A fitted estimator at the penalty that it chose."""

    def __init__(self, fitted: Any, **chosen: Any) -> None:
        self.fitted = fitted
        self.__dict__.update(chosen)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.fitted, name)


def lasso_cv(e: Any, X: Any, y: Array, s: Array) -> float:
    return documented.elastic_net(At(e, alpha=e.alpha_, l1_ratio=1.0), X, y, s)


def elastic_net_cv(e: Any, X: Any, y: Array, s: Array) -> float:
    return documented.elastic_net(At(e, alpha=e.alpha_, l1_ratio=e.l1_ratio_), X, y, s)


def ridge_cv(e: Any, X: Any, y: Array, s: Array) -> float:
    return documented.ridge(At(e, alpha=e.alpha_), X, y, s)


def logistic_cv(e: Any, X: Any, y: Array, s: Array) -> float:
    held = At(e, C=float(np.max(e.C_)), l1_ratio=0.0)
    return documented.logistic(held, X, y, s)


def covariance_of(X: Array, s: Array) -> Array:
    centred = X - s @ X / s.sum()
    return np.asarray((centred.T * s) @ centred / s.sum())


def graphical_lasso(e: Any, X: Any, y: Array, s: Array) -> float:
    theta = e.precision_
    off = np.abs(theta).sum() - np.abs(np.diag(theta)).sum()
    fit = np.sum(covariance_of(X, s) * theta) - np.linalg.slogdet(theta)[1]
    return float(fit + e.alpha * off)


def discriminant(e: Any, X: Any, y: Array, s: Array) -> float:
    """sum_k (c_k'S c_k / 2 - mu_k'c_k), of which S c = mu is the minimum."""
    masks = [y == label for label in e.classes_]
    means = np.array([X[rows].mean(axis=0) for rows in masks])
    S = sum(rows.mean() * covariance_of(X[rows], np.ones(rows.sum())) for rows in masks)
    means = means[1:] - means[:1] if len(masks) == 2 else means
    curves = 0.5 * np.sum((e.coef_ @ S) * e.coef_)
    return float(curves - np.sum(means * e.coef_))


FOLDS: dict[str, Any] = {"alphas": 8, "cv": 3, **TIGHT}
ROWS = (
    Row(linear_model.LinearRegression(), documented.linear_regression),
    Row(linear_model.Ridge(2.0, tol=1e-12), documented.ridge),
    Row(linear_model.RidgeClassifier(2.0, tol=1e-12), documented.ridge_classifier),
    Row(linear_model.Lasso(0.1, **TIGHT), documented.elastic_net),
    Row(linear_model.ElasticNet(0.1, **TIGHT), documented.elastic_net),
    Row(linear_model.LassoCV(**FOLDS), lasso_cv),
    Row(linear_model.ElasticNetCV(l1_ratio=[0.3, 0.8], **FOLDS), elastic_net_cv),
    Row(linear_model.RidgeCV(), ridge_cv),
    Row(linear_model.MultiTaskLasso(0.1, **TIGHT), documented.multi_task),
    Row(linear_model.LogisticRegression(C=0.3, **TIGHT), documented.logistic),
    Row(
        linear_model.LogisticRegressionCV(
            Cs=[0.1, 1.0], cv=3, l1_ratios=(0.0,), scoring="neg_log_loss",
            use_legacy_attributes=False, **TIGHT,
        ),
        logistic_cv,
    ),
    Row(svm.LinearSVC(C=0.1, **LIBLINEAR), documented.linear_svc),
    Row(svm.LinearSVR(C=0.1, epsilon=0.2, **LIBLINEAR), documented.linear_svr),
    Row(svm.SVC(C=0.5, gamma=0.05, tol=1e-9, decision_function_shape="ovo"), documented.svc),
    Row(svm.SVR(C=0.5, gamma=0.05, tol=1e-9), documented.svr),
    Row(svm.OneClassSVM(nu=0.3, gamma=0.05, tol=1e-9), documented_nu.one_class),
    Row(linear_model.HuberRegressor(alpha=0.1, **TIGHT), documented.huber),
    Row(linear_model.QuantileRegressor(quantile=0.3, alpha=0.05), documented.quantile),
    Row(linear_model.PoissonRegressor(alpha=0.1, **TIGHT), documented.poisson),
    Row(kernel_ridge.KernelRidge(0.5, kernel="rbf", gamma=0.05), documented.kernel_ridge),
    Row(covariance.GraphicalLasso(0.2, tol=1e-9, enet_tol=1e-10, max_iter=10_000),
        graphical_lasso),
    Row(discriminant_analysis.LinearDiscriminantAnalysis(solver="lsqr"), discriminant),
)  # fmt: skip
DENSE = ("GraphicalLasso", "LinearDiscriminantAnalysis")
UNWEIGHTED = ("GraphicalLasso", "LinearDiscriminantAnalysis")
SEVERAL = ("LinearRegression", "Ridge", "RidgeCV", "Lasso", "ElasticNet", "KernelRidge",
           "MultiTaskLasso", "RidgeClassifier")  # fmt: skip


def forms(theirs: Any) -> tuple[str, ...]:
    """In which forms the samples are given: dense, sparse, with weights, with several targets."""
    name = type(theirs).__name__
    found = ["dense"]
    found += ["sparse"] * (name not in DENSE) + ["weighted"] * (name not in UNWEIGHTED)
    return (*found, "several") if name in SEVERAL else tuple(found)


def target(theirs: Any, name: str, form: str, X: Array, y: Array) -> Array:
    """What the estimator predicts on the data set of this name: classes, counts, numbers."""
    one_class = isinstance(theirs, svm.OneClassSVM)
    if is_classifier(theirs) and not one_class:
        classes = y if name != "diabetes" else np.digitize(y, [100.0, 200.0])
        return np.column_stack([y > np.median(y), X[:, 0] > 0.0]).astype(int) if (
            form == "several") else classes  # fmt: skip
    if isinstance(theirs, linear_model.PoissonRegressor):
        return np.asarray(y - y.min())
    y = y / y.std()
    both = form == "several" or isinstance(theirs, linear_model.MultiTaskLasso)
    return np.column_stack([y, X[:, 0] - X[:, 1] ** 2]) if both else y
