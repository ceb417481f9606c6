"""A fitted AdaBoostClassifier: its loss, bounds by closed forms, and what is refused."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.datasets import load_iris
from sklearn.ensemble import AdaBoostClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier
from sklearn.tree import DecisionTreeClassifier
from support.oracles.boosting.stumps import stumps

import convexml as cml
from convexml import Verdict
from convexml.audit.sklearn.estimators import parts_of
from convexml.errors import InputError
from convexml.models.boosting import program
from convexml.numerics import Array

IRIS, KIND = (part[50:] for part in load_iris(return_X_y=True))


def mixed(n: int = 240, values: int = 3) -> tuple[Array, Array, Array]:
    """Features of few values, labels that no sum of stumps separates, weights with zeros."""
    rng = np.random.default_rng(5)
    X = rng.integers(0, values, size=(n, 3)).astype(float) / 7.0
    y = np.where(X[:, 0] - X[:, 1] + 0.3 * rng.normal(size=n) > 0.0, "b", "a")
    return X, y, rng.integers(0, 3, size=n).astype(float)


def optimum(X: Array, y: Array, s: Array) -> float:
    """The least exponential loss of sums of stumps and a constant, by BFGS."""
    H, c = np.column_stack([stumps(X)[:, ::2], np.ones(len(X))]), s / s.sum()
    signs = np.where(y == "b", 1.0, -1.0)

    def loss(w: Array) -> tuple[float, Array]:
        push = c * np.exp(-signs * (H @ w))
        return float(push.sum()), -H.T @ (signs * push)

    return float(minimize(loss, np.zeros(H.shape[1]), jac=True, options={"gtol": 1e-10}).fun)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_loss_is_that_of_half_the_weights_and_its_bound_the_optimum(weighted: bool) -> None:
    X, y, s = mixed()
    s = s if weighted else np.ones(len(y))
    with np.errstate(divide="ignore"):  # it takes log(s) where s is 0
        fitted = AdaBoostClassifier(n_estimators=100, random_state=0).fit(X, y, sample_weight=s)
    found = cml.certify(fitted, X, y, sample_weight=s)
    scores = fitted.decision_function(X) * fitted.estimator_weights_.sum() / 4.0
    loss = float(s @ np.exp(-np.where(y == "b", 1.0, -1.0) * scores)) / s.sum()
    assert found.primal_objective == pytest.approx(loss, rel=1e-9)
    best = optimum(X, y, s)
    assert found.gap >= loss - best - 1e-12
    assert found.dual_objective == pytest.approx(best, rel=1e-2)
    assert found.dual_objective <= best * (1.0 + 1e-9)
    near = cml.certify(fitted, X, y, sample_weight=s, tol=2.0 * found.relative_gap)
    assert near.verdict is Verdict.CERTIFIED
    (part,) = parts_of(fitted, X, y, s)
    assert part.value == pytest.approx(loss, rel=1e-9)
    worse = copy.deepcopy(fitted)
    worse.estimator_weights_ = 1.5 * fitted.estimator_weights_
    refuted = cml.certify(worse, X, y, sample_weight=s)
    assert refuted.verdict is Verdict.REFUTED
    assert refuted.witness["objective"] >= best * (1.0 - 1e-9)


@pytest.mark.parametrize("few", [0, 1000])
def test_of_one_feature_every_function_is_a_sum_of_stumps(
    few: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P* = sum over its values of 2 sqrt(a b), a and b the weights of the classes there."""
    monkeypatch.setattr(program, "FEW", few)
    rng = np.random.default_rng(1)
    x, s = rng.integers(0, 6, size=300), rng.uniform(0.5, 2.0, size=300)
    y = rng.integers(0, 2, size=300)
    sums = np.array([[s[(x == v) & (y == k)].sum() for k in (0, 1)] for v in range(6)])
    best = float(2.0 * np.sqrt(sums.prod(axis=1)).sum() / s.sum())
    X = x[:, None].astype(float)
    fitted = AdaBoostClassifier(n_estimators=100, random_state=0).fit(X, y, sample_weight=s)
    found = cml.certify(fitted, X, y, sample_weight=s)
    assert found.dual_objective == pytest.approx(best, rel=1e-6)
    assert found.dual_objective <= best * (1.0 + 1e-14)
    assert found.gap >= found.primal_objective - best
    assert found.relative_gap < 1e-3


def test_many_stumps_have_the_bound_of_samples_that_are_alike(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, y, s = mixed()
    whole = cml.AdaBoost(X, y, 3000, sample_weight=s).solve(tol=1e-9)
    monkeypatch.setattr(program, "FEW", 0)
    solution = cml.AdaBoost(X, y, 50, sample_weight=s).solve()
    signs, total = np.where(y == "b", 1.0, -1.0), 0.0
    for row in np.unique(X, axis=0):
        there = np.all(X == row, axis=1)
        total += 2.0 * np.sqrt(np.prod([s[there & (signs == sign)].sum() for sign in (-1, 1)]))
    assert solution.dual_objective == pytest.approx(total / s.sum(), rel=1e-12)
    assert 0.0 < solution.dual_objective <= whole.objective
    assert solution.status == "inaccurate"
    assert "no stump tells apart" in solution.certificate.reason
    assert solution.problem.dual_objective(solution.dual["u"]) == pytest.approx(
        solution.dual_objective, rel=1e-12
    )
    assert solution.gap >= solution.objective - whole.objective


def test_classes_that_trees_separate_have_no_bound_above_zero() -> None:
    fitted = AdaBoostClassifier(n_estimators=20, random_state=0).fit(IRIS, KIND)
    found = cml.certify(fitted, IRIS, KIND)
    assert found.verdict is not Verdict.CERTIFIED
    assert found.dual_objective == 0.0
    assert found.gap == pytest.approx(found.primal_objective, rel=1e-9)


def test_what_is_no_stump_is_refused() -> None:
    def fit(base: object, y: Array = KIND, X: Array = IRIS) -> AdaBoostClassifier:
        return AdaBoostClassifier(base, n_estimators=3, random_state=0).fit(X, y)

    with pytest.raises(InputError, match=r"estimators_\[0\] is a tree of depth 2; judged"):
        cml.certify(fit(DecisionTreeClassifier(max_depth=2)), IRIS, KIND)
    with pytest.raises(InputError, match=r"estimators_\[0\] is a LogisticRegression; judged"):
        cml.certify(fit(LogisticRegression(max_iter=1000)), IRIS, KIND)
    X, three = load_iris(return_X_y=True)
    with pytest.raises(InputError, match="it was fitted on 3 classes"):
        cml.certify(fit(None, three, X), X, three)
    each = OneVsRestClassifier(AdaBoostClassifier(n_estimators=3)).fit(X, three)
    assert len(parts_of(each, X, three)) == 3
    with pytest.raises(InputError, match="has no sample of X on either side"):
        cml.certify(fit(None), np.zeros_like(IRIS) + np.arange(4.0) + 9.0 * KIND[:, None], KIND)
