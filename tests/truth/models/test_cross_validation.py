"""Cross-validation, whole grids and leaving one out: every fit certified, scores by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import KFold, LeaveOneOut
from support.exact.exact_learning import Learning
from support.exact.exact_numbers import ONE, ZERO, dot, exact, row

import convexml as cml
from convexml import kernels

LAMS = [0.5, 0.02, 0.1]
rng = np.random.default_rng(0)
X = rng.normal(size=(30, 5))
Y = X @ [1.0, 0.0, -1.0, 0.0, 0.0] + rng.normal(size=30)
SIGNS = np.where(Y > 0.0, "yes", "no")
S = rng.integers(0, 3, size=30).astype(float)


def test_scores_are_those_of_problems_posed_by_hand() -> None:
    found = cml.Lasso(X, Y, 1.0, sample_weight=S).cross_validate(LAMS, folds=4, seed=3)
    kept = np.flatnonzero(S)
    splits = list(KFold(4, shuffle=True, random_state=3).split(kept))
    scores = np.empty((4, 3))
    for fold, (train, test) in enumerate(splits):
        train, test = kept[train], kept[test]
        for k, lam in enumerate(LAMS):
            fit = cml.Lasso(X[train], Y[train], lam, sample_weight=S[train]).solve(tol=1e-12)
            scores[fold, k] = np.average((Y[test] - fit.predict(X[test])) ** 2, weights=S[test])
    np.testing.assert_allclose(found.scores, scores, rtol=1e-5)
    np.testing.assert_allclose(found.mean, scores.mean(axis=0), rtol=1e-5)
    np.testing.assert_allclose(found.std, scores.std(axis=0), rtol=1e-5)
    assert found.gaps.shape == (4, 3)
    assert np.all(found.gaps <= 1e-6)
    assert found.is_certified
    best = LAMS[int(np.argmin(scores.mean(axis=0)))]
    assert found.best_lam == found.solution.problem.lam == best
    again = cml.Lasso(X, Y, best, sample_weight=S).solve()
    assert found.solution.objective == pytest.approx(again.objective, rel=1e-6)
    assert f"best {best:g}" in str(found)
    assert str(found).count("\n") == 4


POSED: dict[str, Any] = {
    "Ridge": lambda: cml.Ridge(X, Y, 1.0),
    "ElasticNet": lambda: cml.ElasticNet(X, Y, 1.0, 0.5),
    "GroupLasso": lambda: cml.GroupLasso(X, Y, 1.0, [0, 0, 1, 1, 1]),
    "LogisticRegression": lambda: cml.LogisticRegression(X, SIGNS, 1.0, sample_weight=S),
    "SoftmaxRegression": lambda: cml.SoftmaxRegression(X, np.digitize(Y, [-1, 1]), 1.0),
    "QuantileRegression": lambda: cml.QuantileRegression(X, Y, 0.3, 1.0),
    "ConstrainedLasso": lambda: cml.ConstrainedLasso(X, Y, 1.0),
    "SoftMarginSVM": lambda: cml.SoftMarginSVM(X, SIGNS, 1.0),
    "KernelSVM": lambda: cml.KernelSVM(X, SIGNS, 1.0, kernels.Gaussian(2.0)),
    "KernelRidge": lambda: cml.KernelRidge(X, Y, 1.0, kernels.Gaussian(2.0)),
    "KernelRidge, precomputed": lambda: cml.KernelRidge(
        X @ X.T + np.eye(30), Y, 1.0, kernels.Precomputed(), sample_weight=np.maximum(S, 1.0)
    ),
}


@pytest.mark.parametrize("name", POSED)
def test_every_fit_is_judged_from_the_rows_of_its_fold(name: str) -> None:
    found = POSED[name]().cross_validate([0.3, 1.0], folds=3)
    assert found.is_certified
    for fold in range(3):
        for k in range(2):
            certificate = found.certificate(fold, k)
            assert certificate.verdict is cml.Verdict.CERTIFIED
            train, test = found.splits[fold]
            assert certificate.dual["u"].shape[0] == len(train)
            assert not set(train) & set(test)
    assert found.solution.status == "optimal"
    assert np.all(np.isfinite(found.scores))


def test_a_score_of_ones_own_sees_labels_and_weights() -> None:
    seen = []

    def errors(y: Any, predicted: Any, sample_weight: Any = None) -> float:
        seen.append(sample_weight)
        assert set(y) | set(predicted) <= {"no", "yes"}
        return float(np.average(y != predicted, weights=sample_weight))

    plain = cml.LogisticRegression(X, SIGNS, 1.0).cross_validate([0.1, 1.0], score=errors)
    assert plain.scores.min() >= 0.0
    assert plain.scores.max() <= 1.0
    assert seen == [None] * 10
    cml.LogisticRegression(X, SIGNS, 1.0, sample_weight=S).cross_validate([0.1], score=errors)
    assert all(len(s) and np.all(s > 0.0) for s in seen[10:])


def test_folds_are_a_splitter_of_all_samples_or_a_list() -> None:
    kept = np.flatnonzero(S)
    problem = cml.Ridge(X, Y, 1.0, sample_weight=S)
    found = problem.cross_validate([0.1], folds=KFold(3))
    for (_, test), (_, own) in zip(KFold(3).split(X), found.splits, strict=True):
        assert np.array_equal(kept[own], np.intersect1d(test, kept))
    mask = np.arange(30) < 20
    one = problem.cross_validate([0.1], folds=[(mask, ~mask)])
    assert np.array_equal(kept[one.splits[0][1]], kept[kept >= 20])
    same = problem.cross_validate([0.1], folds=3)
    again = problem.cross_validate([0.1], folds=3)
    other = problem.cross_validate([0.1], folds=3, seed=1)
    assert np.array_equal(same.scores, again.scores)
    assert not np.array_equal(same.scores, other.scores)


def test_leaving_one_out_by_folds_is_its_closed_form() -> None:
    problem = cml.Ridge(X, Y, 1.0)
    found = problem.cross_validate(LAMS, folds=LeaveOneOut(), tol=1e-10)
    np.testing.assert_allclose(found.mean, problem.leave_one_out(LAMS), rtol=1e-4)


def test_a_model_without_a_strength_and_a_fold_without_a_class_are_refused() -> None:
    with pytest.raises(cml.errors.InputError, match="none of them"):
        cml.LeastSquares(X, Y).cross_validate([0.1])
    first = np.arange(30) < 2
    labels = np.where(first, "rare", SIGNS)
    with pytest.raises(cml.errors.InputError, match="without a sample of one of the classes"):
        cml.SoftmaxRegression(X, labels, 1.0).cross_validate([0.1], folds=[(~first, first)])


@pytest.mark.parametrize(
    "case",
    [pytest.param("twins", marks=pytest.mark.slow), "sparse", "no intercept", "few rows", "lam 0"],
)
def test_awkward_columns_are_certified_as_well(case: str) -> None:
    rng = np.random.default_rng(2)
    data, lams, intercept = rng.normal(size=(30, 350)), [0.3, 0.05], case != "no intercept"
    if case == "twins":
        data[:, 200:] = data[:, :150]
    if case == "sparse":
        data = sparse.csr_array(data[:, :200] * (rng.random((30, 200)) < 0.2))
    if case == "few rows":
        data = data[:7]
    if case == "lam 0":
        data, lams = data[:, :4], [0.3, 0.0]
    y = data[:, [0]].sum(axis=1) + rng.normal(size=data.shape[0])
    for model, *more in ((cml.Lasso,), (cml.Ridge,), (cml.ElasticNet, 0.0), (cml.ElasticNet, 0.7)):
        found = model(data, y, 1.0, *more, fit_intercept=intercept).cross_validate(lams, folds=3)
        assert found.is_certified


STRENGTHS = [0.003, 0.1, 5.0]


def refitted(X: Any, y: Any, s: Any, lam: float, intercept: bool) -> float:
    """The weighted mean of squared errors of fits to n - 1 rows, of least norm at lam = 0."""
    n, d = X.shape
    errors = np.empty(n)
    for i in range(n):
        rows = np.arange(n) != i
        share = s[rows] / s[rows].sum()
        mean, level = (share @ X[rows], share @ y[rows]) if intercept else (np.zeros(d), 0.0)
        root = np.sqrt(share)
        stacked = np.vstack([root[:, None] * (X[rows] - mean), np.sqrt(lam) * np.eye(d)])
        w = np.linalg.lstsq(stacked, np.append(root * (y[rows] - level), np.zeros(d)))[0]
        errors[i] = y[i] - level - (X[i] - mean) @ w
    return float(s @ errors**2 / s.sum())


@pytest.mark.parametrize("intercept", [True, False], ids=["b", "no b"])
@pytest.mark.parametrize(("n", "d"), [(25, 4), (9, 14), (12, 11), (13, 11)])
def test_the_closed_form_is_what_refits_find(n: int, d: int, intercept: bool) -> None:
    rng = np.random.default_rng(n)
    X = rng.normal(size=(n, d)) + 3.0
    y, s = X[:, 0] + rng.normal(size=n), rng.integers(1, 5, size=n) / 2.0
    for weights in (None, s):
        problem = cml.Ridge(X, y, 1.0, fit_intercept=intercept, sample_weight=weights)
        own = np.ones(n) if weights is None else weights
        best = [refitted(X, y, own, lam, intercept) for lam in STRENGTHS]
        np.testing.assert_allclose(problem.leave_one_out(STRENGTHS), best, rtol=1e-9)
        assert problem.lam == 1.0


def test_samples_without_weight_are_not_there_and_sparse_is_as_dense() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 6)) * (rng.random((20, 6)) < 0.5)
    y, s = rng.normal(size=20), rng.integers(0, 3, size=20).astype(float)
    kept = s > 0.0
    best = [refitted(X[kept], y[kept], s[kept], lam, True) for lam in STRENGTHS]
    for given in (X, sparse.csr_array(X), sparse.csc_array(X)):
        found = cml.Ridge(given, y, 1.0, sample_weight=s).leave_one_out(STRENGTHS)
        np.testing.assert_allclose(found, best, rtol=1e-10)
    wide = cml.Ridge(sparse.csr_array(X[:5]), y[:5], 1.0).leave_one_out(STRENGTHS)
    ones = np.ones(5)
    best = [refitted(X[:5], y[:5], ones, lam, True) for lam in STRENGTHS]
    np.testing.assert_allclose(wide, best, rtol=1e-9)


def test_a_sample_that_alone_tells_of_a_column_is_left_out_as_well() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(14, 3)), rng.normal(size=14)
    X[:, 2] = 0.0
    X[4, 2] = 1e4
    for lam in (0.0, 1e-9, 0.1):
        found = cml.Ridge(X, y, 1.0).leave_one_out([lam])[0]
        assert found == pytest.approx(refitted(X, y, np.ones(14), lam, True), rel=1e-6)


def refitted_exactly(X: Any, y: Any, lam: float) -> float:
    """The mean of squared errors of fits to n - 1 rows with an intercept, in rationals."""
    total, n = ZERO, len(y)
    for i in range(n):
        kept = np.arange(n) != i
        fit = Learning(X[kept], y[kept], ("squared",), ("l2", lam)).optimum.x
        total += (exact(y[i]) - dot([*row(X[i]), ONE], fit)) ** 2
    return float(total / n)


@pytest.mark.parametrize("powers", [0, 5, 8])
@pytest.mark.parametrize(("n", "d"), [(24, 4), (5, 4), (5, 7)])
def test_columns_of_unlike_units_are_all_seen(n: int, d: int, powers: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = X @ rng.normal(size=d) + 3.0 + 0.5 * rng.normal(size=n)
    X *= np.logspace(-powers, powers, d)
    lams = [1e-8, 0.01, 10.0]
    best = [refitted_exactly(X, y, lam) for lam in lams]
    for data in (X, sparse.csr_array(X)):
        found = cml.Ridge(data, y, 1.0).leave_one_out(lams)
        np.testing.assert_allclose(found, best, rtol=1e-9)
