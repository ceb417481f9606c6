"""Searches, CV models, wrappers and chains are judged as what they fitted, by documented values.

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
import sklearn.linear_model as lm
from scipy import sparse
from sklearn.compose import TransformedTargetRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier, OutputCodeClassifier
from sklearn.multioutput import MultiOutputClassifier, MultiOutputRegressor, RegressorChain
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC, OneClassSVM
from support.estimator_fits import samples
from support.model_cases import certified, refuted

import convexml as cml
from convexml.errors import InputError

X, Y, S = samples("real")

LABELS, THREE, TWO = (samples(kind)[1] for kind in ("binary", "three", "two"))

GRID = {"ridge__alpha": [0.1, 1.0]}


def scaled_ridge() -> Any:
    return make_pipeline(StandardScaler(), lm.Ridge())


def ridge_value(e: Any, X: Any, y: Any) -> float:
    w, alpha = e.coef_, np.broadcast_to(e.alpha_, np.shape(y)[1:] or (1,))
    norms = np.sum(np.atleast_2d(w) ** 2, axis=1)
    return float(np.sum((y - e.predict(X)) ** 2) + alpha @ norms)


def elastic_value(e: Any, X: Any, y: Any) -> float:
    rho = getattr(e, "l1_ratio_", 1.0)
    penalty = rho * np.abs(e.coef_).sum() + 0.5 * (1.0 - rho) * np.sum(e.coef_**2)
    return float(np.mean((y - e.predict(X)) ** 2) / 2.0 + e.alpha_ * penalty)


def logistic_value(e: Any, X: Any, y: Any) -> float:
    index = np.searchsorted(e.classes_, y)
    chosen = np.log(e.predict_proba(X)[np.arange(len(y)), index])
    v = len(y) / (len(e.classes_) * np.bincount(index))[index] if e.class_weight else 1.0
    return float(-np.max(e.C_) * np.sum(v * chosen) + 0.5 * np.sum(e.coef_**2))


TIGHT: dict[str, Any] = {"tol": 1e-12, "cv": 3}

LOGISTIC_CV = {"Cs": 3, "l1_ratios": (0.0,), "scoring": "accuracy", **TIGHT}
CV: dict[str, tuple[Any, Any, Callable[[Any, Any, Any], float]]] = {
    "LassoCV": (lm.LassoCV(**TIGHT), Y, elastic_value),
    "ElasticNetCV": (lm.ElasticNetCV(l1_ratio=[0.3, 0.8], **TIGHT), Y, elastic_value),
    "LassoLarsCV": (lm.LassoLarsCV(cv=3), Y, elastic_value),
    "LassoLarsIC": (lm.LassoLarsIC(), Y, elastic_value),
    "RidgeCV": (lm.RidgeCV(), Y, ridge_value),
    "RidgeCV, by target": (lm.RidgeCV(alpha_per_target=True), TWO, ridge_value),
    "LogisticRegressionCV": (
        lm.LogisticRegressionCV(use_legacy_attributes=False, **LOGISTIC_CV), LABELS, logistic_value
    ),
    "LogisticRegressionCV, three classes": (
        lm.LogisticRegressionCV(use_legacy_attributes=True, class_weight="balanced", **LOGISTIC_CV),
        THREE,
        logistic_value,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CV)
def test_cv_models_are_judged_at_what_they_chose(name: str) -> None:
    estimator, y, value = CV[name]
    fitted = copy.deepcopy(estimator).fit(X, y)
    found = certified(cml.certify(fitted, X, y, tol=1e-5))
    assert found.primal_objective == pytest.approx(value(fitted, X, y), rel=1e-9)
    fitted.coef_ = fitted.coef_ + 0.3 * max(1.0, np.abs(fitted.coef_).max())
    worse = refuted(cml.certify(fitted, X, y, tol=1e-5))
    assert worse.gap > 0.0


def test_searches_are_judged_by_their_best_estimator() -> None:
    table = pd.DataFrame(X, columns=list("abcde"))
    for search in (
        GridSearchCV(scaled_ridge(), GRID, cv=3),
        RandomizedSearchCV(scaled_ridge(), GRID, cv=3, n_iter=2, random_state=0),
        HalvingGridSearchCV(scaled_ridge(), GRID, cv=3, random_state=0),
    ):
        fitted = search.fit(table, Y)
        found = certified(cml.certify(fitted, table[list("edcba")], Y))
        w = fitted.best_estimator_[-1].coef_
        r = Y - fitted.predict(table)
        expected = r @ r + fitted.best_params_["ridge__alpha"] * w @ w
        assert found.primal_objective == pytest.approx(expected, rel=1e-12)
        fitted.best_estimator_[-1].coef_ = w + 0.1
        worse = refuted(cml.certify(fitted, table, Y))
        assert {row.column for row in worse.conditions if row.kind == "stationarity"} & set("abcde")


def test_what_was_not_refitted_is_refused() -> None:
    search = GridSearchCV(scaled_ridge(), GRID, cv=3, refit=False).fit(X, Y)
    with pytest.raises(InputError, match="there is no best_estimator_, as refit is False"):
        cml.certify(search, X, Y)
    with pytest.raises(InputError, match="the GridSearchCV is not fitted yet"):
        cml.certify(GridSearchCV(scaled_ridge(), GRID), X, Y)
    means = lm.LogisticRegressionCV(refit=False, use_legacy_attributes=False, **LOGISTIC_CV)
    with pytest.raises(InputError, match="means over the folds, which minimise nothing"):
        cml.certify(means.fit(X, LABELS), X, LABELS)


def test_one_versus_rest_and_one_versus_one_name_their_parts() -> None:
    tight = lm.LogisticRegression(tol=1e-12, max_iter=10000, C=0.7)
    rest = OneVsRestClassifier(tight).fit(X, THREE)
    found = certified(cml.certify(rest, X, THREE))
    assert set(found.dual) == {"class 0", "class 10", "class 20"}
    total = 0.0
    for k, each in enumerate(rest.estimators_):
        signs = np.where(THREE == rest.classes_[k], 1.0, -1.0)
        z = rest.decision_function(X)[:, k]
        total += 0.7 * np.logaddexp(0.0, -signs * z).sum() + 0.5 * np.sum(each.coef_**2)
    assert found.primal_objective == pytest.approx(total, rel=1e-12)
    rest.estimators_[1].coef_[0, 0] += 0.1
    worse = refuted(cml.certify(rest, X, THREE))
    assert worse.reason.startswith("class 10: A feasible point")
    one = OneVsOneClassifier(LinearSVC(tol=1e-10, max_iter=10**6, random_state=0)).fit(X, THREE)
    pairs = certified(cml.certify(one, X, THREE, tol=1e-5))
    assert set(pairs.dual) == {"0 or 10", "0 or 20", "10 or 20"}
    two = OneVsRestClassifier(tight).fit(X, LABELS)
    assert cml.certify(two, X, LABELS).primal_objective == pytest.approx(
        cml.certify(tight.fit(X, LABELS), X, LABELS).primal_objective, rel=1e-9
    )


def test_several_outputs_and_transformed_targets() -> None:
    both = MultiOutputRegressor(lm.Ridge(2.0)).fit(X, TWO, sample_weight=S)
    found = certified(cml.certify(both, X, TWO, sample_weight=S))
    plain = lm.Ridge(2.0).fit(X, TWO, sample_weight=S)
    direct = cml.certify(plain, X, TWO, sample_weight=S)
    assert found.primal_objective == pytest.approx(direct.primal_objective, rel=1e-9)
    with pytest.raises(InputError, match="y must have 2 columns"):
        cml.certify(both, X, Y)
    targets = np.column_stack([LABELS, LABELS[::-1]])
    classes = MultiOutputClassifier(lm.LogisticRegression(tol=1e-12)).fit(X, targets)
    assert cml.certify(classes, X, targets, tol=1e-5).verdict is cml.Verdict.CERTIFIED
    logs = TransformedTargetRegressor(lm.LinearRegression(), func=np.sinh, inverse_func=np.arcsinh)
    logs.fit(X, Y / 3.0)
    found = certified(cml.certify(logs, X, Y / 3.0))
    r = np.sinh(Y / 3.0) - np.sinh(logs.predict(X))
    assert found.primal_objective == pytest.approx(r @ r, rel=1e-9)


N = len(X)

TARGETS = np.column_stack([Y, X[:, 0] + Y, np.sin(3.0 * Y)])

MANY = (TARGETS > np.median(TARGETS, axis=0)).astype(int)

AWAY = X + 2.0

LOGISTIC = lm.LogisticRegression(tol=1e-10, max_iter=10_000, C=0.7)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_chain_is_judged_on_what_each_of_its_estimators_saw(form: Any) -> None:
    order = [2, 0, 1]
    ridge = lm.Ridge(2.0, solver="lsqr", tol=1e-12)
    chain = RegressorChain(ridge, order=order).fit(form(X), TARGETS)
    found = certified(cml.certify(chain, form(X), TARGETS))
    assert list(found.dual) == ["target 2", "target 0", "target 1"]
    expected = 0.0
    for at, (k, each) in enumerate(zip(order, chain.estimators_, strict=True)):
        Z = np.column_stack([X, TARGETS[:, order[:at]]])
        r = TARGETS[:, k] - Z @ each.coef_ - each.intercept_
        expected += float(r @ r + 2.0 * each.coef_ @ each.coef_)
    assert found.primal_objective == pytest.approx(expected, rel=1e-9)
    chain.estimators_[1].coef_ = chain.estimators_[1].coef_ + 0.1
    worse = refuted(cml.certify(chain, form(X), TARGETS))
    assert worse.reason.startswith("target 0: ")
    other = TARGETS[:, ::-1]  # the estimators were told other columns
    assert cml.certify(chain, form(X), other).verdict is cml.Verdict.REFUTED


def test_output_codes_are_judged_by_the_codes_that_were_drawn() -> None:
    coded = OutputCodeClassifier(LOGISTIC, code_size=2, random_state=0).fit(X, THREE)
    found = certified(cml.certify(coded, X, THREE, tol=1e-5))
    sides = coded.code_book_[np.searchsorted(coded.classes_, THREE)]
    expected = 0.0
    for k, each in enumerate(coded.estimators_):
        if np.ptp(sides[:, k]) > 0.0:
            losses = np.logaddexp(0.0, -sides[:, k] * each.decision_function(X))
            expected += float(0.7 * losses.sum() + 0.5 * np.sum(each.coef_**2))
    assert found.primal_objective == pytest.approx(expected, rel=1e-9)
    coded.code_book_ = -coded.code_book_
    assert cml.certify(coded, X, THREE, tol=1e-5).verdict is cml.Verdict.REFUTED
    with pytest.raises(InputError, match="y contains 7, which is not among the fitted classes"):
        cml.certify(coded, X, np.where(THREE == 0, 7, THREE))


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_sgd_one_class_is_judged_by_its_primal_objective(weighted: bool) -> None:
    s = np.maximum(S, 0.1) if weighted else np.ones(N)
    nu = 0.3
    fitted = lm.SGDOneClassSVM(nu=nu, random_state=0, max_iter=2000).fit(AWAY, sample_weight=s)

    def value(w: np.ndarray, rho: float) -> float:
        return float(0.5 * w @ w + s @ np.maximum(rho - AWAY @ w, 0.0) / (nu * N) - rho)

    found = cml.certify(fitted, AWAY, sample_weight=s)
    at = value(fitted.coef_.ravel(), float(fitted.offset_[0]))
    assert found.primal_objective == pytest.approx(at, rel=1e-12)
    assert found.verdict is cml.Verdict.REFUTED
    tight = OneClassSVM(kernel="linear", nu=nu * N / s.sum(), tol=1e-11).fit(AWAY, sample_weight=s)
    fitted.coef_ = tight.coef_[0] / (nu * N)
    fitted.offset_ = tight.offset_ / (nu * N)
    best = certified(cml.certify(fitted, AWAY, sample_weight=s))
    assert best.primal_objective == pytest.approx(value(fitted.coef_, fitted.offset_[0]), rel=1e-12)
    below = best.primal_objective + 1e-12 * abs(best.primal_objective)
    assert found.dual_objective <= below
    assert found.dual_objective == pytest.approx(best.primal_objective, rel=1e-6)


def test_sgd_one_class_without_a_minimum_is_refused() -> None:
    with pytest.raises(InputError, match="rho stays at 0, and the minimum is w = 0"):
        cml.certify(lm.SGDOneClassSVM(fit_intercept=False).fit(X), X)
    few = np.full(N, 0.1)
    fitted = lm.SGDOneClassSVM(nu=0.5).fit(X, sample_weight=few)
    with pytest.raises(InputError, match="nu is larger than the mean of the weights"):
        cml.certify(fitted, X, sample_weight=few)
