"""What cannot be certified is refused by name; pipelines, subclasses, wrong data, assertions."""

from __future__ import annotations

import warnings

import cvxpy as cp
import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    SGDClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from support.estimator_fits import samples

import convexml as cml
from convexml.errors import InputError

X, Y, S = samples("real")
LABELS = samples("binary")[1]
THREE = samples("three")[1]


def test_an_estimator_that_is_not_fitted_is_refused() -> None:
    with pytest.raises(InputError, match=r"Lasso is not fitted yet; call fit\(X, y\) first"):
        cml.certify(Lasso(), X, Y)
    with pytest.raises(InputError, match="Pipeline is not fitted yet"):
        cml.certify(make_pipeline(StandardScaler(), Lasso()), X, Y)


def test_an_unsupported_class_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(InputError, match="GaussianProcessRegressor is not supported"):
        cml.certify(GaussianProcessRegressor().fit(X, Y), X, Y)
    with pytest.raises(InputError, match=r"expected a cvxpy.Problem or a fitted scikit-learn"):
        cml.certify(np.zeros(3), X, Y)


def test_unsupported_options_are_refused() -> None:
    smooth = SGDClassifier(loss="modified_huber", random_state=0).fit(X, LABELS)
    with pytest.raises(InputError, match="loss='modified_huber' is not supported; supported are"):
        cml.certify(smooth, X, LABELS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # how far it came does not matter
        crammer = LinearSVC(multi_class="crammer_singer", random_state=0).fit(X, THREE)
    with pytest.raises(InputError, match="multi_class='crammer_singer' is not supported"):
        cml.certify(crammer, X, THREE)


def test_a_kernel_that_is_not_psd_is_refused_with_its_eigenvalue() -> None:
    sigmoid = SVC(kernel="sigmoid", coef0=-1.0).fit(X, LABELS)
    with pytest.raises(InputError, match=r"SVC: kernel='sigmoid'.*least eigenvalue is -"):
        cml.certify(sigmoid, X, LABELS)
    K = X @ X.T - np.eye(len(X))
    with pytest.raises(InputError, match=r"KernelRidge: kernel='precomputed'.*eigenvalue"):
        cml.certify(KernelRidge(3.0, kernel="precomputed").fit(K, Y), K, Y)


def test_other_data_than_it_was_fitted_on_are_refused() -> None:
    fitted = Ridge().fit(X, Y)
    with pytest.raises(InputError, match="Ridge was fitted on 5 features, X has 4"):
        cml.certify(fitted, X[:, :4], Y)
    with pytest.raises(InputError, match="y must have one entry per row of X"):
        cml.certify(fitted, X, Y[:-1])
    with pytest.raises(InputError, match="X contains nan at row 0, column 1"):
        cml.certify(fitted, np.where(np.arange(5) == 1, np.nan, X), Y)
    with pytest.raises(InputError, match=r"coef_ of shape \(5,\) does not fit"):
        cml.certify(fitted, X, np.column_stack([Y, Y]))
    with pytest.raises(InputError, match="sample_weight must be >= 0"):
        cml.certify(fitted, X, Y, sample_weight=-S)
    machine = SVR().fit(X, Y)
    with pytest.raises(InputError, match="its support vectors are not among X"):
        cml.certify(machine, X[::-1], Y)
    with pytest.raises(InputError, match=r"it was fitted on X of shape \(40, 5\)"):
        cml.certify(machine, X[:-1], Y[:-1])
    with pytest.raises(InputError, match="it was fitted on y of shape"):
        cml.certify(KernelRidge().fit(X, Y), X[:-1], Y[:-1])


def test_labels_that_were_not_fitted_are_refused() -> None:
    fitted = LogisticRegression().fit(X, LABELS)
    with pytest.raises(InputError, match=r"y contains .*maybe.*not among the fitted classes"):
        cml.certify(fitted, X, np.where(np.arange(40) == 3, "maybe", LABELS))
    with pytest.raises(InputError, match="not among the fitted classes"):
        cml.certify(fitted, X, THREE)


def test_an_intercept_that_was_not_fitted_is_refused() -> None:
    fitted = Ridge(fit_intercept=False).fit(X, Y)
    fitted.intercept_ = 0.5
    with pytest.raises(InputError, match="although fit_intercept is False"):
        cml.certify(fitted, X, Y)


def test_coefficients_that_are_not_finite_are_refused() -> None:
    fitted = Ridge().fit(X, Y)
    fitted.coef_[2] = np.nan
    with pytest.raises(InputError, match="coef_ contains nan at entry 2"):
        cml.certify(fitted, X, Y)


def test_a_pipeline_is_judged_on_what_its_last_step_sees() -> None:
    pipeline = make_pipeline(
        PolynomialFeatures(2, include_bias=False),
        "passthrough",
        make_pipeline(StandardScaler(), Lasso(0.1, tol=1e-12)),
    ).fit(X, Y)
    certificate = cml.certify(pipeline, X, Y)
    assert certificate.verdict is cml.Verdict.CERTIFIED
    inner = StandardScaler().fit_transform(
        PolynomialFeatures(2, include_bias=False).fit_transform(X)
    )
    r = Y - pipeline.predict(X)
    lasso = pipeline[-1][-1]
    assert lasso.coef_.shape == (inner.shape[1],)
    expected = r @ r / (2.0 * len(Y)) + 0.1 * np.abs(lasso.coef_).sum()
    assert certificate.primal_objective == pytest.approx(expected, rel=1e-12)


def test_a_subclass_of_the_users_own_is_what_it_extends() -> None:
    class MyRidge(Ridge):
        """Ridge with a method of its own."""

    assert cml.certify(MyRidge(2.0).fit(X, Y), X, Y).verdict is cml.Verdict.CERTIFIED


def test_deprecated_spelling_of_the_penalty_is_understood() -> None:
    for settings, expected in (
        ({"penalty": "l1", "l1_ratio": 1.0, "solver": "liblinear"}, "l1"),
        ({"penalty": None}, "none"),
        ({"penalty": "elasticnet", "l1_ratio": 0.5, "solver": "saga", "max_iter": 5000}, "mixed"),
    ):
        with pytest.warns(FutureWarning, match="penalty"):
            fitted = LogisticRegression(tol=1e-10, random_state=0, **settings).fit(X, LABELS)
        certificate = cml.certify(fitted, X, LABELS, tol=1e-5)
        assert certificate.verdict is cml.Verdict.CERTIFIED, expected


def test_parts_are_named_and_the_worst_one_decides() -> None:
    targets = np.column_stack([Y, 1e4 * Y[::-1]])
    fitted = Ridge([1.0, 1.0]).fit(X, targets)
    whole = cml.certify(fitted, X, targets)
    assert whole.verdict is cml.Verdict.CERTIFIED
    assert {row.name.partition(":")[0] for row in whole.conditions} == {"target 0", "target 1"}
    assert set(whole.dual) == {"target 0", "target 1"}
    fitted.coef_[0, 0] += 0.1  # hidden in the sum of the objectives, not in the worst part
    moved = cml.certify(fitted, X, targets)
    assert moved.gap <= 1e-5 * moved.primal_objective
    assert moved.verdict is cml.Verdict.REFUTED
    assert moved.reason.startswith("target 0: ")
    assert moved.witness is not None
    assert moved.witness["part"] == "target 0"


def test_a_machine_fitted_with_zero_weights_is_judged_as_it_predicts() -> None:
    """After a weight of 0, scikit-learn 1.9 reads a precomputed K in the wrong columns."""
    K = X @ X.T
    fitted = SVR(kernel="precomputed", tol=1e-10).fit(K, Y, sample_weight=S)
    kept = np.flatnonzero(S > 0.0)
    reference = SVR(kernel="precomputed", tol=1e-10)
    reference.fit(K[np.ix_(kept, kept)], Y[kept], sample_weight=S[kept])
    right = np.allclose(fitted.predict(K), reference.predict(K[:, kept]))
    verdict = cml.certify(fitted, K, Y, sample_weight=S, tol=1e-5).verdict
    assert (verdict is cml.Verdict.CERTIFIED) == right


# -- assert_optimal ----------------------------------------------------------------------------


def test_assert_optimal_returns_the_certificate_that_holds() -> None:
    certificate = cml.assert_optimal(Ridge(2.0).fit(X, Y), X, Y)
    assert certificate.holds(1e-8)
    weighted = LinearRegression().fit(X, Y, sample_weight=S)
    assert cml.assert_optimal(weighted, X, Y, sample_weight=S, gap=1e-9).holds(1e-9)
    with pytest.raises(AssertionError, match="LinearRegression is not certified optimal"):
        cml.assert_optimal(weighted, X, Y)


def test_assert_optimal_takes_a_cvxpy_problem() -> None:
    w = cp.Variable(5, name="w")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - Y) + cp.norm1(w)), [w >= 0])
    problem.solve(solver="CLARABEL")
    cml.assert_optimal(problem, gap=1e-6)
    w.value = w.value + 0.1
    with pytest.raises(AssertionError, match="not certified optimal at gap 1e-06"):
        cml.assert_optimal(problem, gap=1e-6)


def test_assert_optimal_takes_a_posed_problem() -> None:
    problem = cml.Lasso(X, Y, 0.1)
    reference = Lasso(0.1, tol=1e-13).fit(X, Y)
    cml.assert_optimal(problem, reference.coef_, reference.intercept_)
    cml.assert_optimal(problem, reference.coef_, b=float(reference.intercept_))
    with pytest.raises(AssertionError, match="REFUTED"):
        cml.assert_optimal(problem, reference.coef_ + 0.01)


def test_assert_optimal_wants_a_positive_gap() -> None:
    with pytest.raises(InputError, match="gap must be > 0"):
        cml.assert_optimal(Ridge().fit(X, Y), X, Y, gap=0.0)


def test_what_was_fitted_with_y_is_judged_with_y() -> None:
    with pytest.raises(InputError, match=r"Ridge was fitted with y; pass certify\(estimator, X, y"):
        cml.certify(Ridge().fit(X, Y), X)
