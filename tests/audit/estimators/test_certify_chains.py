"""Chains of estimators, output codes and SGDOneClassSVM, by what they document."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge, SGDOneClassSVM
from sklearn.multiclass import OutputCodeClassifier
from sklearn.multioutput import ClassifierChain, RegressorChain
from sklearn.svm import OneClassSVM
from support.estimator_fits import samples

import convexml as cml
from convexml.errors import InputError

X, Y, S = samples("real")
N = len(X)
TARGETS = np.column_stack([Y, X[:, 0] + Y, np.sin(3.0 * Y)])
LABELS = (TARGETS > np.median(TARGETS, axis=0)).astype(int)
AWAY = X + 2.0
THREE = samples("three")[1]
LOGISTIC = LogisticRegression(tol=1e-10, max_iter=10_000, C=0.7)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_a_chain_is_judged_on_what_each_of_its_estimators_saw(form: Any) -> None:
    order = [2, 0, 1]
    ridge = Ridge(2.0, solver="lsqr", tol=1e-12)
    chain = RegressorChain(ridge, order=order).fit(form(X), TARGETS)
    found = cml.certify(chain, form(X), TARGETS)
    assert found.verdict is cml.Verdict.CERTIFIED
    assert list(found.dual) == ["target 2", "target 0", "target 1"]
    expected = 0.0
    for at, (k, each) in enumerate(zip(order, chain.estimators_, strict=True)):
        Z = np.column_stack([X, TARGETS[:, order[:at]]])
        r = TARGETS[:, k] - Z @ each.coef_ - each.intercept_
        expected += float(r @ r + 2.0 * each.coef_ @ each.coef_)
    assert found.primal_objective == pytest.approx(expected, rel=1e-9)
    chain.estimators_[1].coef_ = chain.estimators_[1].coef_ + 0.1
    worse = cml.certify(chain, form(X), TARGETS)
    assert worse.verdict is cml.Verdict.REFUTED
    assert worse.reason.startswith("target 0: ")
    other = TARGETS[:, ::-1]  # the estimators were told other columns
    assert cml.certify(chain, form(X), other).verdict is cml.Verdict.REFUTED


def test_columns_of_a_chain_have_names() -> None:
    frame = pd.DataFrame(X, columns=list("abcde"))
    chain = ClassifierChain(LOGISTIC, order="random", random_state=1).fit(frame, LABELS)
    found = cml.certify(chain, frame[list("edcba")], LABELS, tol=1e-5)
    assert found.verdict is cml.Verdict.CERTIFIED
    names = {*"abcde", "target 0", "target 1", "target 2"}
    assert {row.column for row in found.conditions} - {""} <= names


def test_what_a_chain_does_not_keep_is_refused() -> None:
    with pytest.raises(InputError, match="RegressorChain: with cv its estimators see predictions"):
        cml.certify(RegressorChain(Ridge(), cv=3).fit(X, TARGETS), X, TARGETS)
    with pytest.raises(InputError, match=r"y must have 3 columns, got shape \(40, 2\)"):
        cml.certify(RegressorChain(Ridge()).fit(X, TARGETS), X, TARGETS[:, :2])
    with pytest.raises(InputError, match="the ClassifierChain is not fitted yet"):
        cml.certify(ClassifierChain(LOGISTIC), X, LABELS)


def test_output_codes_are_judged_by_the_codes_that_were_drawn() -> None:
    coded = OutputCodeClassifier(LOGISTIC, code_size=2, random_state=0).fit(X, THREE)
    found = cml.certify(coded, X, THREE, tol=1e-5)
    assert found.verdict is cml.Verdict.CERTIFIED
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
    fitted = SGDOneClassSVM(nu=nu, random_state=0, max_iter=2000).fit(AWAY, sample_weight=s)

    def value(w: np.ndarray, rho: float) -> float:
        return float(0.5 * w @ w + s @ np.maximum(rho - AWAY @ w, 0.0) / (nu * N) - rho)

    found = cml.certify(fitted, AWAY, sample_weight=s)
    at = value(fitted.coef_.ravel(), float(fitted.offset_[0]))
    assert found.primal_objective == pytest.approx(at, rel=1e-12)
    assert found.verdict is cml.Verdict.REFUTED
    tight = OneClassSVM(kernel="linear", nu=nu * N / s.sum(), tol=1e-11).fit(AWAY, sample_weight=s)
    fitted.coef_ = tight.coef_[0] / (nu * N)
    fitted.offset_ = tight.offset_ / (nu * N)
    best = cml.certify(fitted, AWAY, sample_weight=s)
    assert best.verdict is cml.Verdict.CERTIFIED
    assert best.primal_objective == pytest.approx(value(fitted.coef_, fitted.offset_[0]), rel=1e-12)
    below = best.primal_objective + 1e-12 * abs(best.primal_objective)
    assert found.dual_objective <= below
    assert found.dual_objective == pytest.approx(best.primal_objective, rel=1e-6)


def test_sgd_one_class_without_a_minimum_is_refused() -> None:
    with pytest.raises(InputError, match="rho stays at 0, and the minimum is w = 0"):
        cml.certify(SGDOneClassSVM(fit_intercept=False).fit(X), X)
    few = np.full(N, 0.1)
    fitted = SGDOneClassSVM(nu=0.5).fit(X, sample_weight=few)
    with pytest.raises(InputError, match="nu is larger than the mean of the weights"):
        cml.certify(fitted, X, sample_weight=few)
