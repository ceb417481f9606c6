"""Every estimator beside its namesake at tight tolerance on five data sets of scikit-learn."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn import datasets, kernel_ridge, linear_model, svm
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler

import convexml as cml
from convexml import estimators as ours
from convexml.audit.sklearn.estimators import parts_of

SETS = ("diabetes", "breast_cancer", "iris", "wine", "digits")
ROWS = 300
"""Of each data set, so that liblinear and libsvm come to an end."""
TIGHT = {"tol": 1e-11, "max_iter": 200_000}
LIBLINEAR = {"tol": 1e-8, "max_iter": 1_000_000, "random_state": 0}
THEIRS = (
    linear_model.LinearRegression(),
    linear_model.Ridge(2.0, tol=1e-12),
    linear_model.RidgeClassifier(2.0, tol=1e-12),
    linear_model.Lasso(0.1, **TIGHT),
    linear_model.ElasticNet(0.1, **TIGHT),
    linear_model.LassoCV(alphas=8, cv=3, **TIGHT),
    linear_model.ElasticNetCV(l1_ratio=[0.3, 0.8], alphas=8, cv=3, **TIGHT),
    linear_model.RidgeCV(),
    linear_model.MultiTaskLasso(0.1, **TIGHT),
    linear_model.LogisticRegression(C=0.3, **TIGHT),
    svm.LinearSVC(C=0.1, **LIBLINEAR),
    svm.LinearSVR(C=0.1, epsilon=0.2, **LIBLINEAR),
    svm.SVC(C=0.5, gamma=0.05, tol=1e-9),
    svm.SVR(C=0.5, gamma=0.05, tol=1e-9),
    linear_model.HuberRegressor(alpha=0.1, **TIGHT),
    linear_model.QuantileRegressor(quantile=0.3, alpha=0.05),
    linear_model.PoissonRegressor(alpha=0.1, **TIGHT),
    kernel_ridge.KernelRidge(0.5, kernel="rbf", gamma=0.05),
)
STEERING = {"solver", "tol", "max_iter", "dual"}


def samples(name: str, estimator: Any) -> tuple[Any, np.ndarray]:
    """Standardised columns, and what the estimator predicts: labels, counts or two targets."""
    X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
    rows = np.random.default_rng(0).permutation(len(y))[:ROWS]
    X, y = StandardScaler().fit_transform(X[rows]), y[rows].astype(float)
    X = X[:, np.any(X != 0.0, axis=0)]
    if is_classifier(estimator):
        return X, (y if name != "diabetes" else np.digitize(y, [100.0, 200.0]))
    y = y - y.min() if isinstance(estimator, linear_model.PoissonRegressor) else y / y.std()
    several = isinstance(estimator, linear_model.MultiTaskLasso)
    return X, np.column_stack([y, X[:, 0] - X[:, 1] ** 2]) if several else y


def test_every_estimator_is_compared() -> None:
    assert {type(theirs).__name__ for theirs in THEIRS} == set(ours.__all__)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["dense", "sparse", "weighted"])
@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("theirs", THEIRS, ids=lambda each: type(each).__name__)
def test_the_objectives_agree(theirs: Any, name: str, form: str) -> None:
    X, y = samples(name, theirs)
    given = {}
    if form == "weighted":
        given = {"sample_weight": np.random.default_rng(1).integers(1, 4, len(X)).astype(float)}
    X = sparse.csr_array(X) if form == "sparse" else X
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # liblinear's, and rounding's
        theirs.fit(X, y, **given)
    parameters = {k: v for k, v in theirs.get_params().items() if k not in STEERING}
    found = getattr(ours, type(theirs).__name__)(**parameters).fit(X, y, **given)
    best, reached = (
        sum(part.value for part in parts_of(each, X, y, *given.values()))
        for each in (theirs, found)
    )
    assert found.certificate_.verdict is cml.Verdict.CERTIFIED
    assert reached == pytest.approx(best, rel=1e-6)
