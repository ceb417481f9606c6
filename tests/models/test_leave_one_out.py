"""Leaving one sample out of ridge regression, beside fits to all others."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import convexml as cml

LAMS = [0.003, 0.1, 5.0]


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
        best = [refitted(X, y, own, lam, intercept) for lam in LAMS]
        np.testing.assert_allclose(problem.leave_one_out(LAMS), best, rtol=1e-9)
        assert problem.lam == 1.0


def test_it_is_what_problems_posed_on_the_others_predict() -> None:
    rng = np.random.default_rng(0)
    X, y, s = rng.normal(size=(12, 3)), rng.normal(size=12), np.arange(1.0, 13.0)
    total = 0.0
    for i in range(12):
        rows = np.arange(12) != i
        found = cml.Ridge(X[rows], y[rows], 0.3, sample_weight=s[rows]).solve(tol=1e-12)
        total += s[i] * (y[i] - found.predict(X[i : i + 1])[0]) ** 2
    error = cml.Ridge(X, y, 0.3, sample_weight=s).leave_one_out([0.3])[0]
    assert error == pytest.approx(total / s.sum(), rel=1e-9)


def test_samples_without_weight_are_not_there_and_sparse_is_as_dense() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20, 6)) * (rng.random((20, 6)) < 0.5)
    y, s = rng.normal(size=20), rng.integers(0, 3, size=20).astype(float)
    kept = s > 0.0
    best = [refitted(X[kept], y[kept], s[kept], lam, True) for lam in LAMS]
    for given in (X, sparse.csr_array(X), sparse.csc_array(X)):
        found = cml.Ridge(given, y, 1.0, sample_weight=s).leave_one_out(LAMS)
        np.testing.assert_allclose(found, best, rtol=1e-10)
    wide = cml.Ridge(sparse.csr_array(X[:5]), y[:5], 1.0).leave_one_out(LAMS)
    ones = np.ones(5)
    best = [refitted(X[:5], y[:5], ones, lam, True) for lam in LAMS]
    np.testing.assert_allclose(wide, best, rtol=1e-9)


@pytest.mark.parametrize(("n", "d"), [(15, 4), (6, 12)])
def test_without_a_penalty_it_is_the_fit_of_least_norm(n: int, d: int) -> None:
    rng = np.random.default_rng(2)
    X, y = rng.normal(size=(n, d)), rng.normal(size=n)
    found = cml.Ridge(X, y, 1.0).leave_one_out([0.0])[0]
    assert found == pytest.approx(refitted(X, y, np.ones(n), 0.0, True), rel=1e-8)


def test_a_sample_that_alone_tells_of_a_column_is_left_out_as_well() -> None:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(14, 3)), rng.normal(size=14)
    X[:, 2] = 0.0
    X[4, 2] = 1e4
    for lam in (0.0, 1e-9, 0.1):
        found = cml.Ridge(X, y, 1.0).leave_one_out([lam])[0]
        assert found == pytest.approx(refitted(X, y, np.ones(14), lam, True), rel=1e-6)


@pytest.mark.parametrize(
    ("lams", "words"),
    [(0.1, "must be a vector"), ([-1.0], "lams"), ([np.nan], "lams"), ("a", "lams")],
)
def test_what_is_no_list_of_strengths_is_refused(lams: Any, words: str) -> None:
    problem = cml.Ridge(np.eye(3), np.arange(3.0), 1.0)
    with pytest.raises(cml.errors.InputError, match=rf"Ridge\.leave_one_out.*{words}"):
        problem.leave_one_out(lams)


def test_one_sample_cannot_be_left_out() -> None:
    problem = cml.Ridge(np.eye(2), [1.0, 2.0], 1.0, sample_weight=[1.0, 0.0])
    with pytest.raises(cml.errors.InputError, match="takes two samples"):
        problem.leave_one_out([1.0])


def refitted_exactly(X: Any, y: Any, lam: float) -> float:
    """The mean of squared errors of fits to n - 1 rows with an intercept, in rationals."""
    rows = [[*map(Fraction, x), Fraction(1), Fraction(t)] for x, t in zip(X, y, strict=True)]
    n, m, total = len(rows), X.shape[1] + 1, Fraction(0)
    ridge = (n - 1) * Fraction(lam)
    gram = [[sum(row[p] * row[q] for row in rows) for q in range(m + 1)] for p in range(m)]
    for row in rows:
        A = [[gram[p][q] - row[p] * row[q] for q in range(m + 1)] for p in range(m)]
        for p in range(m - 1):
            A[p][p] += ridge
        for p in range(m):
            for q in range(m):
                if q != p:
                    ratio = A[q][p] / A[p][p]
                    A[q] = [u - ratio * v for u, v in zip(A[q], A[p], strict=True)]
        error = row[m] - sum(row[p] * A[p][m] / A[p][p] for p in range(m))
        total += error * error
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


def test_columns_without_variation_and_twins_change_nothing_beside_large_ones() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20, 3)) * [1e-6, 1.0, 1e6]
    y = X @ [1e6, 1.0, 1e-6] + rng.normal(size=20)
    best = cml.Ridge(X, y, 1.0).leave_one_out([0.0])
    more = np.column_stack([X, np.full(20, 0.1), X[:, 0], 3.0 * X[:, 2]])
    np.testing.assert_allclose(cml.Ridge(more, y, 1.0).leave_one_out([0.0]), best, rtol=1e-9)


def test_a_sparse_x_too_large_to_be_dense_warns(monkeypatch: pytest.MonkeyPatch) -> None:
    from convexml.models.folds import leave_one_out

    monkeypatch.setattr(leave_one_out, "ENTRIES", 10)
    X = np.random.default_rng(4).normal(size=(20, 2)) * [1e-7, 1e7]
    with pytest.warns(RuntimeWarning, match="similar units"):
        cml.Ridge(sparse.csr_array(X), X[:, 1], 1.0).leave_one_out([0.01])
