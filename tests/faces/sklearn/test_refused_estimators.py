"""What is judged and what is refused, with the reason; other data; what a refuted fit is told."""

from __future__ import annotations

import copy
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge, SGDClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC, NuSVR, OneClassSVM
from sklearn.utils import all_estimators
from support.estimator_cases import CASES, SGD
from support.estimator_fits import samples
from support.model_cases import certified, refuted

import convexml as cml
from convexml import estimators as ours
from convexml.errors import InputError
from convexml.sklearn.estimators import CHOICES, KNOWN, PROMISES, REASONS, TRANSLATIONS, WRAPPERS

X, Y, S = samples("real")

LABELS = samples("binary")[1]


def test_a_pipeline_is_judged_on_what_its_last_step_sees() -> None:
    pipeline = make_pipeline(
        PolynomialFeatures(2, include_bias=False),
        "passthrough",
        make_pipeline(StandardScaler(), Lasso(0.1, tol=1e-12)),
    ).fit(X, Y)
    certificate = certified(cml.certify(pipeline, X, Y))
    inner = StandardScaler().fit_transform(
        PolynomialFeatures(2, include_bias=False).fit_transform(X)
    )
    r = Y - pipeline.predict(X)
    lasso = pipeline[-1][-1]
    assert lasso.coef_.shape == (inner.shape[1],)
    expected = r @ r / (2.0 * len(Y)) + 0.1 * np.abs(lasso.coef_).sum()
    assert certificate.primal_objective == pytest.approx(expected, rel=1e-12)


def test_deprecated_spelling_of_the_penalty_is_understood() -> None:
    for settings in (
        {"penalty": "l1", "l1_ratio": 1.0, "solver": "liblinear"},
        {"penalty": None},
        {"penalty": "elasticnet", "l1_ratio": 0.5, "solver": "saga", "max_iter": 5000},
    ):
        with pytest.warns(FutureWarning, match="penalty"):
            fitted = LogisticRegression(tol=1e-10, random_state=0, **settings).fit(X, LABELS)
        certified(cml.certify(fitted, X, LABELS, tol=1e-5))


def test_parts_are_named_and_the_worst_one_decides() -> None:
    targets = np.column_stack([Y, 1e4 * Y[::-1]])
    fitted = Ridge([1.0, 1.0]).fit(X, targets)
    whole = certified(cml.certify(fitted, X, targets))
    assert {row.name.partition(":")[0] for row in whole.conditions} == {"target 0", "target 1"}
    assert set(whole.dual) == {"target 0", "target 1"}
    fitted.coef_[0, 0] += 0.1  # hidden in the sum of the objectives, not in the worst part
    moved = cml.certify(fitted, X, targets)
    assert moved.gap <= 1e-5 * moved.primal_objective
    assert moved.verdict is cml.Verdict.REFUTED
    assert moved.reason.startswith("target 0: ")
    assert moved.witness is not None
    assert moved.witness["part"] == "target 0"


def test_assert_optimal_takes_a_fit_a_posed_problem_and_one_of_cvxpy() -> None:
    assert cml.assert_optimal(Ridge(2.0).fit(X, Y), X, Y).holds(1e-8)
    weighted = LinearRegression().fit(X, Y, sample_weight=S)
    assert cml.assert_optimal(weighted, X, Y, sample_weight=S, gap=1e-9).holds(1e-9)
    with pytest.raises(AssertionError, match="LinearRegression is not certified optimal"):
        cml.assert_optimal(weighted, X, Y)
    posed, reference = cml.Lasso(X, Y, 0.1), Lasso(0.1, tol=1e-13).fit(X, Y)
    cml.assert_optimal(posed, reference.coef_, b=float(reference.intercept_))
    with pytest.raises(AssertionError, match="REFUTED"):
        cml.assert_optimal(posed, reference.coef_ + 0.01, reference.intercept_)
    w = cp.Variable(5, name="w")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - Y) + cp.norm1(w)), [w >= 0])
    problem.solve(solver="CLARABEL")
    cml.assert_optimal(problem, gap=1e-6)
    w.value = w.value + 0.1
    with pytest.raises(AssertionError, match="not certified optimal at gap 1e-06"):
        cml.assert_optimal(problem, gap=1e-6)


MODULES = ("sklearn.linear_model", "sklearn.svm", "sklearn.kernel_ridge")

THEIRS = {
    name: kind for name, kind in all_estimators() if kind.__module__.startswith(MODULES)
}  # fmt: skip


ELSEWHERE = {"GraphicalLasso", "LinearDiscriminantAnalysis", "PCA", "KMeans", "IsotonicRegression"}
ELSEWHERE |= {"GammaRegressor", "AdaBoostClassifier", "SGDOneClassSVM"}
"""Judged by tests of their own, beside this file."""


def test_every_estimator_is_judged_or_refused() -> None:
    tested = {type(case.estimator).__name__ for case in (*CASES, *SGD)}
    assert tested | ELSEWHERE == set(TRANSLATIONS)
    known = set(TRANSLATIONS) | set(CHOICES)
    assert set(THEIRS) == {name for name in (known | set(REASONS)) if name in THEIRS}
    assert not known & set(REASONS)
    assert set(PROMISES) <= set(KNOWN)


def test_every_name_is_one_of_scikit_learns() -> None:
    names = {name for name, _ in all_estimators()} | {"HalvingGridSearchCV", "Pipeline"}
    names |= {"HalvingRandomSearchCV"}
    assert set(TRANSLATIONS) | set(CHOICES) | set(REASONS) | set(WRAPPERS) <= names
    assert {judged for judged, _ in CHOICES.values()} <= set(TRANSLATIONS)


@pytest.mark.filterwarnings("ignore:Class PassiveAggressive:FutureWarning")
def test_what_is_refused_is_refused_by_name_with_the_reason() -> None:
    for name, reason in REASONS.items():
        with pytest.raises(InputError) as caught:
            cml.certify(dict(all_estimators())[name](), X, Y)
        assert str(caught.value) == f"certify: {name} cannot be judged: {reason}."


def test_a_default_fit_is_told_what_its_tolerance_promised() -> None:
    fitted = SVC().fit(X, LABELS)
    found = refuted(cml.certify(fitted, X, LABELS))
    assert "SVC's tol=0.001 promises the optimality conditions of its dual within" in found.reason
    assert "a smaller tol tightens the fit" in found.reason
    words = found.reason.partition("It is certified at tol=")[2]
    at = float(words.split(". ")[0])
    assert cml.certify(fitted, X, LABELS, tol=at).verdict is cml.Verdict.CERTIFIED
    assert found.relative_gap <= at < 2.0 * found.relative_gap + 1e-300
    tight = SVC(tol=1e-9).fit(X, LABELS)
    assert cml.certify(tight, X, LABELS).reason == ""


def test_what_stopped_too_early_is_told_to_go_on() -> None:
    fitted = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1))
    with pytest.warns(Warning, match="failed to converge"):
        fitted.fit(X, LABELS)
    found = cml.certify(fitted, X, LABELS)
    assert "LogisticRegression stopped at max_iter=1, short of what its tol=0.0001" in found.reason
    assert "raise max_iter" in found.reason


def test_what_has_no_tolerance_or_holds_nothing_is_not_told_of_one() -> None:
    fitted = Lasso(0.1).fit(X, Y)
    fitted.coef_ = fitted.coef_ + 1e3
    found = refuted(cml.certify(fitted, X, Y))
    assert "It is certified" not in found.reason  # at no tolerance that means anything
    from sklearn.kernel_ridge import KernelRidge

    moved = KernelRidge().fit(X, Y)
    moved.dual_coef_ = moved.dual_coef_ + 0.1
    assert "KernelRidge has no tol" in cml.certify(moved, X, Y).reason


def gaussian(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """A kernel of scikit-learn's machines: it does not change where all samples are moved."""
    return np.exp(-0.2 * ((A[:, None] - B[None]) ** 2).sum(axis=2))


@pytest.mark.parametrize("kind", [KernelRidge, ours.KernelRidge])
@pytest.mark.parametrize("stored", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_other_samples_of_the_same_kernel_are_refused(kind: Any, stored: Any) -> None:
    fitted = kind(alpha=0.1, kernel="rbf").fit(stored(X), Y)
    for same in (X, sparse.csr_array(X)):
        assert cml.certify(fitted, same, Y).verdict is cml.Verdict.CERTIFIED
    for other in (X + 5.0, -X, X[:, ::-1], sparse.csr_array(-X)):
        with pytest.raises(InputError, match="rows that it predicts from are not those of X"):
            cml.certify(fitted, other, Y)


@pytest.mark.parametrize("kind", [NuSVR, OneClassSVM, SVC, ours.SVR])
def test_machines_with_a_kernel_of_the_users_own(kind: Any) -> None:
    y = LABELS if kind.__name__ == "SVC" else Y
    fitted = kind(kernel=gaussian, tol=1e-8).fit(X, y)
    assert cml.certify(fitted, X, y, tol=1e-4).verdict is cml.Verdict.CERTIFIED
    assert fitted.predict(X[:3]).shape == (3,)
    with pytest.raises(InputError, match="rows that it predicts from are not those of X"):
        cml.certify(fitted, -X, y)


def test_a_one_class_machine_needs_no_y() -> None:
    fitted = OneClassSVM(nu=0.3, tol=1e-8).fit(X, sample_weight=S)
    found = certified(cml.certify(fitted, X, sample_weight=S))
    ignored = cml.certify(fitted, X, Y, sample_weight=S)
    assert ignored.primal_objective == found.primal_objective
    alpha = -found.dual["u"]
    assert alpha.sum() == pytest.approx(0.3 * S.sum(), rel=1e-12)
    assert np.all((alpha >= 0.0) & (alpha <= S))
    assert cml.assert_optimal(fitted, X, sample_weight=S, gap=1e-6).holds(1e-6)
    moved = copy.deepcopy(fitted)
    moved.intercept_ = moved.intercept_ + 0.1
    worse = refuted(cml.certify(moved, X, sample_weight=S))
    assert worse.witness is not None


def test_where_reduced_hulls_meet_no_direction_is_certified() -> None:
    """The means of the classes are as one: w = 0 is optimal, and any other w is refuted."""
    labels = samples("binary")[1]
    centred = X.copy()
    for label in np.unique(labels):
        centred[labels == label] -= centred[labels == label].mean(axis=0)
    fitted = NuSVC(nu=0.4, kernel="linear").fit(centred, labels)
    fitted.dual_coef_ = fitted.dual_coef_ * np.linspace(0.5, 1.0, fitted.dual_coef_.size)
    found = refuted(cml.certify(fitted, centred, labels))
    assert found.witness is not None
    assert found.witness["objective"] <= 1e-9


def refused() -> dict[str, tuple[Any, tuple[Any, ...], str]]:
    """What is passed, and words of the refusal."""
    K, THREE = X @ X.T - np.eye(len(X)), samples("three")[1]
    ridge, machine = Ridge().fit(X, Y), SVR().fit(X, Y)
    logistic = LogisticRegression().fit(X, LABELS)
    smooth = SGDClassifier(loss="modified_huber", random_state=0).fit(X, LABELS)
    crammer = LinearSVC(multi_class="crammer_singer", random_state=0, C=1e-3).fit(X, THREE)
    sigmoid = SVC(kernel="sigmoid", coef0=-1.0).fit(X, LABELS)
    kernel = KernelRidge(3.0, kernel="precomputed").fit(K, Y)
    nan = np.where(np.arange(5) == 1, np.nan, X)
    shifted, spoilt = Ridge(fit_intercept=False).fit(X, Y), Ridge().fit(X, Y)
    shifted.intercept_, spoilt.coef_[2] = 0.5, np.nan
    return {
        "a pipeline": (make_pipeline(StandardScaler(), Lasso()), (X, Y), "Pipeline is not fitted"),
        "a process": (GaussianProcessRegressor().fit(X, Y), (X, Y), "ProcessRegressor is not sup"),
        "modified_huber": (smooth, (X, LABELS), "loss='modified_huber' is not supported; supp"),
        "crammer_singer": (crammer, (X, THREE), "multi_class='crammer_singer' is not supported"),
        "sigmoid": (sigmoid, (X, LABELS), "SVC: kernel='sigmoid'.*least eigenvalue is -"),
        "precomputed": (kernel, (K, Y), "KernelRidge: kernel='precomputed'.*eigenvalue"),
        "nan": (ridge, (nan, Y), "X contains nan at row 0, column 1"),
        "two targets": (ridge, (X, np.column_stack([Y, Y])), r"coef_ of shape \(5,\) does not fit"),
        "negative weights": (ridge, (X, Y, -S), "sample_weight must be >= 0"),
        "other vectors": (machine, (X[::-1], Y), "its support vectors are not among X"),
        "fewer rows": (machine, (X[:-1], Y[:-1]), r"it was fitted on X of shape \(40, 5\)"),
        "fewer targets": (KernelRidge().fit(X, Y), (X[:-1], Y[:-1]), "it was fitted on y of shape"),
        "other labels": (logistic, (X, THREE), "not among the fitted classes"),
        "an intercept": (shifted, (X, Y), "although fit_intercept is False"),
        "nan inside": (spoilt, (X, Y), "coef_ contains nan at entry 2"),
    }


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_cannot_be_judged_is_refused_in_words() -> None:
    for estimator, (A, *targets), words in refused().values():
        y, s = [*targets, None, None][:2]
        with pytest.raises(InputError, match=words):
            cml.certify(estimator, A, y, sample_weight=s)
    with pytest.raises(InputError, match="gap must be > 0"):
        cml.assert_optimal(Ridge().fit(X, Y), X, Y, gap=0.0)
