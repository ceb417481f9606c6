"""Searches, CV models and wrappers are judged as what they fitted, by their documented objectives.

The value of every wrapped problem is computed here from ``predict`` or ``decision_function`` of the
whole, which knows nothing of how it is taken apart.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import TransformedTargetRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import (
    ElasticNetCV,
    LassoCV,
    LassoLarsCV,
    LassoLarsIC,
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    MultiTaskElasticNetCV,
    MultiTaskLassoCV,
    Ridge,
    RidgeClassifierCV,
    RidgeCV,
)
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC
from support.estimator_fits import samples

import convexml as cml
from convexml.errors import InputError

X, Y, S = samples("real")
LABELS, THREE, TWO = (samples(kind)[1] for kind in ("binary", "three", "two"))
GRID = {"ridge__alpha": [0.1, 1.0]}
SCALED = StandardScaler().fit_transform(X)


def scaled_ridge() -> Any:
    return make_pipeline(StandardScaler(), Ridge())


def ridge_value(e: Any, X: Any, y: Any) -> float:
    w, alpha = e.coef_, np.broadcast_to(e.alpha_, np.shape(y)[1:] or (1,))
    norms = np.sum(np.atleast_2d(w) ** 2, axis=1)
    return float(np.sum((y - e.predict(X)) ** 2) + alpha @ norms)


def elastic_value(e: Any, X: Any, y: Any) -> float:
    rho = getattr(e, "l1_ratio_", 1.0)
    penalty = rho * np.abs(e.coef_).sum() + 0.5 * (1.0 - rho) * np.sum(e.coef_**2)
    return float(np.mean((y - e.predict(X)) ** 2) / 2.0 + e.alpha_ * penalty)


def rows_value(e: Any, X: Any, y: Any) -> float:
    rho = getattr(e, "l1_ratio_", 1.0)
    penalty = rho * np.sqrt((e.coef_**2).sum(axis=0)).sum() + 0.5 * (1 - rho) * np.sum(e.coef_**2)
    return float(np.sum((y - e.predict(X)) ** 2) / (2.0 * len(y)) + e.alpha_ * penalty)


def signs_value(e: Any, X: Any, y: Any) -> float:
    signs = np.where(y == e.classes_[1], 1.0, -1.0)
    return float(np.sum((signs - e.decision_function(X)) ** 2) + e.alpha_ * np.sum(e.coef_**2))


def logistic_value(e: Any, X: Any, y: Any) -> float:
    index = np.searchsorted(e.classes_, y)
    chosen = np.log(e.predict_proba(X)[np.arange(len(y)), index])
    v = len(y) / (len(e.classes_) * np.bincount(index))[index] if e.class_weight else 1.0
    return float(-np.max(e.C_) * np.sum(v * chosen) + 0.5 * np.sum(e.coef_**2))


TIGHT: dict[str, Any] = {"tol": 1e-12, "cv": 3}
CV: dict[str, tuple[Any, Any, Callable[[Any, Any, Any], float]]] = {
    "LassoCV": (LassoCV(**TIGHT), Y, elastic_value),
    "ElasticNetCV": (ElasticNetCV(l1_ratio=[0.3, 0.8], **TIGHT), Y, elastic_value),
    "LassoLarsCV": (LassoLarsCV(cv=3), Y, elastic_value),
    "LassoLarsIC": (LassoLarsIC(), Y, elastic_value),
    "MultiTaskLassoCV": (MultiTaskLassoCV(**TIGHT), TWO, rows_value),
    "MultiTaskElasticNetCV": (MultiTaskElasticNetCV(l1_ratio=0.4, **TIGHT), TWO, rows_value),
    "RidgeCV": (RidgeCV(), Y, ridge_value),
    "RidgeCV, by target": (RidgeCV(alpha_per_target=True), TWO, ridge_value),
    "RidgeClassifierCV": (RidgeClassifierCV(), LABELS, signs_value),
    "LogisticRegressionCV": (
        LogisticRegressionCV(Cs=3, l1_ratios=(0.0,), scoring="accuracy",
                             use_legacy_attributes=False, **TIGHT),
        LABELS,
        logistic_value,
    ),
    "LogisticRegressionCV, three classes": (
        LogisticRegressionCV(Cs=3, l1_ratios=(0.0,), scoring="accuracy",
                             use_legacy_attributes=True, class_weight="balanced", **TIGHT),
        THREE,
        logistic_value,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CV)
def test_cv_models_are_judged_at_what_they_chose(name: str) -> None:
    estimator, y, value = CV[name]
    fitted = copy.deepcopy(estimator).fit(X, y)
    found = cml.certify(fitted, X, y, tol=1e-5)
    assert found.verdict is cml.Verdict.CERTIFIED, str(found)
    assert found.primal_objective == pytest.approx(value(fitted, X, y), rel=1e-9)
    refuted_when_moved(fitted, y)


def refuted_when_moved(fitted: Any, y: Any) -> None:
    moved = copy.deepcopy(fitted)
    moved.coef_ = moved.coef_ + 0.3 * max(1.0, np.abs(moved.coef_).max())
    worse = cml.certify(moved, X, y, tol=1e-5)
    assert worse.verdict is cml.Verdict.REFUTED
    assert worse.gap > 0.0


@pytest.mark.parametrize(
    "search",
    [
        GridSearchCV(scaled_ridge(), GRID, cv=3),
        RandomizedSearchCV(scaled_ridge(), GRID, cv=3, n_iter=2, random_state=0),
        HalvingGridSearchCV(scaled_ridge(), GRID, cv=3, random_state=0),
    ],
    ids=lambda search: type(search).__name__,
)
def test_searches_are_judged_by_their_best_estimator(search: Any) -> None:
    table = pd.DataFrame(X, columns=list("abcde"))
    fitted = copy.deepcopy(search).fit(table, Y)
    found = cml.certify(fitted, table[list("edcba")], Y)
    assert found.verdict is cml.Verdict.CERTIFIED
    w = fitted.best_estimator_[-1].coef_
    r = Y - fitted.predict(table)
    expected = r @ r + fitted.best_params_["ridge__alpha"] * w @ w
    assert found.primal_objective == pytest.approx(expected, rel=1e-12)
    fitted.best_estimator_[-1].coef_ = w + 0.1
    worse = cml.certify(fitted, table, Y)
    assert worse.verdict is cml.Verdict.REFUTED
    assert {row.column for row in worse.conditions if row.kind == "stationarity"} & set("abcde")


def test_what_was_not_refitted_is_refused() -> None:
    search = GridSearchCV(scaled_ridge(), GRID, cv=3, refit=False).fit(X, Y)
    with pytest.raises(InputError, match="there is no best_estimator_, as refit is False"):
        cml.certify(search, X, Y)
    with pytest.raises(InputError, match="the GridSearchCV is not fitted yet"):
        cml.certify(GridSearchCV(scaled_ridge(), GRID), X, Y)
    means = LogisticRegressionCV(Cs=2, cv=3, refit=False, l1_ratios=(0.0,), scoring="accuracy",
                                 use_legacy_attributes=False)  # fmt: skip
    with pytest.raises(InputError, match="means over the folds, which minimise nothing"):
        cml.certify(means.fit(X, LABELS), X, LABELS)


def test_one_versus_rest_and_one_versus_one_name_their_parts() -> None:
    tight = LogisticRegression(tol=1e-12, max_iter=10000, C=0.7)
    rest = OneVsRestClassifier(tight).fit(X, THREE)
    found = cml.certify(rest, X, THREE)
    assert found.verdict is cml.Verdict.CERTIFIED
    assert set(found.dual) == {"class 0", "class 10", "class 20"}
    total = 0.0
    for k, each in enumerate(rest.estimators_):
        signs = np.where(THREE == rest.classes_[k], 1.0, -1.0)
        z = rest.decision_function(X)[:, k]
        total += 0.7 * np.logaddexp(0.0, -signs * z).sum() + 0.5 * np.sum(each.coef_**2)
    assert found.primal_objective == pytest.approx(total, rel=1e-12)
    rest.estimators_[1].coef_[0, 0] += 0.1
    worse = cml.certify(rest, X, THREE)
    assert worse.verdict is cml.Verdict.REFUTED
    assert worse.reason.startswith("class 10: A feasible point")
    one = OneVsOneClassifier(LinearSVC(tol=1e-10, max_iter=10**6, random_state=0)).fit(X, THREE)
    pairs = cml.certify(one, X, THREE, tol=1e-5)
    assert pairs.verdict is cml.Verdict.CERTIFIED
    assert set(pairs.dual) == {"0 or 10", "0 or 20", "10 or 20"}
    two = OneVsRestClassifier(tight).fit(X, LABELS)
    assert cml.certify(two, X, LABELS).primal_objective == pytest.approx(
        cml.certify(tight.fit(X, LABELS), X, LABELS).primal_objective, rel=1e-9
    )


def test_several_outputs_and_transformed_targets() -> None:
    both = MultiOutputRegressor(Ridge(2.0)).fit(X, TWO, sample_weight=S)
    found = cml.certify(both, X, TWO, sample_weight=S)
    assert found.verdict is cml.Verdict.CERTIFIED
    plain = Ridge(2.0).fit(X, TWO, sample_weight=S)
    direct = cml.certify(plain, X, TWO, sample_weight=S)
    assert found.primal_objective == pytest.approx(direct.primal_objective, rel=1e-9)
    with pytest.raises(InputError, match="y must have 2 columns"):
        cml.certify(both, X, Y)
    targets = np.column_stack([LABELS, LABELS[::-1]])
    classes = MultiOutputClassifier(LogisticRegression(tol=1e-12)).fit(X, targets)
    assert cml.certify(classes, X, targets, tol=1e-5).verdict is cml.Verdict.CERTIFIED
    logs = TransformedTargetRegressor(LinearRegression(), func=np.sinh, inverse_func=np.arcsinh)
    logs.fit(X, Y / 3.0)
    found = cml.certify(logs, X, Y / 3.0)
    assert found.verdict is cml.Verdict.CERTIFIED
    r = np.sinh(Y / 3.0) - np.sinh(logs.predict(X))
    assert found.primal_objective == pytest.approx(r @ r, rel=1e-9)


def test_sparsified_coefficients_are_the_same() -> None:
    fitted = LogisticRegression(C=0.1, solver="liblinear", l1_ratio=1.0, tol=1e-9).fit(X, LABELS)
    before = cml.certify(fitted, X, LABELS)
    after = cml.certify(fitted.sparsify(), X, LABELS)
    assert after.primal_objective == before.primal_objective
    assert after.verdict is before.verdict
