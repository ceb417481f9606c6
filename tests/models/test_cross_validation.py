"""Cross-validation: the scores of problems posed on folds, each fit certified."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold

import convexml as cml
from convexml import estimators, kernels

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


def test_classes_are_in_every_fold_alike_and_scored_by_their_loss() -> None:
    found = cml.LogisticRegression(X, SIGNS, 1.0).cross_validate([0.1], folds=3, seed=1)
    splits = list(StratifiedKFold(3, shuffle=True, random_state=1).split(X, SIGNS))
    for (train, test), (own, other), score in zip(
        splits, found.splits, found.scores[:, 0], strict=True
    ):
        assert np.array_equal(test, other)
        assert np.array_equal(train, own)
        fit = cml.LogisticRegression(X[train], SIGNS[train], 0.1).solve(tol=1e-12)
        margin = np.where(SIGNS[test] == "yes", 1.0, -1.0) * fit.decision_function(X[test])
        assert score == pytest.approx(float(np.mean(np.log1p(np.exp(-margin)))), rel=1e-5)


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


def test_the_estimators_make_the_same_folds_and_scores() -> None:
    fitted = estimators.LassoCV(alphas=LAMS, cv=4).fit(X, Y, sample_weight=S)
    problem = cml.Lasso(X, Y, 1.0, sample_weight=S)
    kept = np.flatnonzero(S)
    splits = [(kept[a], kept[b]) for a, b in KFold(4).split(kept)]
    found = problem.cross_validate(fitted.alphas_, folds=splits)
    assert np.array_equal(found.scores.T, fitted.mse_path_)
    assert found.best_lam == fitted.alpha_


def test_a_fit_that_is_not_verified_is_told() -> None:
    apart = np.sign(X[:, 0])
    problem = cml.LogisticRegression(X, apart, 1.0)
    with pytest.warns(ConvergenceWarning, match="2 of 4 fits on folds are not verified"):
        found = problem.cross_validate([1.0, 0.0], folds=2)
    assert not found.is_certified
    assert np.all(found.gaps[:, 0] <= 1e-6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert problem.cross_validate([1.0], folds=2).is_certified


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"lams": 0.1}, "list of values of lam"),
        ({"lams": []}, "list of values of lam"),
        ({"lams": [np.nan]}, "lams"),
        ({"lams": [-1.0]}, "lam"),
        ({"folds": 1}, "folds must be from 2 to the 30 samples"),
        ({"folds": 31}, "folds must be from 2 to the 30 samples"),
        ({"folds": "many"}, "folds cannot be made of 'many'"),
        ({"tol": 0.0}, "tol"),
        ({"seed": -1}, "seed"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(cml.errors.InputError, match=words):
        cml.Lasso(X, Y, 1.0).cross_validate(**{"lams": [0.1]} | given)


def test_a_model_without_a_strength_and_a_fold_without_a_class_are_refused() -> None:
    with pytest.raises(cml.errors.InputError, match="none of them"):
        cml.LeastSquares(X, Y).cross_validate([0.1])
    first = np.arange(30) < 2
    labels = np.where(first, "rare", SIGNS)
    with pytest.raises(cml.errors.InputError, match="without a sample of one of the classes"):
        cml.SoftmaxRegression(X, labels, 1.0).cross_validate([0.1], folds=[(~first, first)])
