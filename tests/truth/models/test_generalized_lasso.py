"""The generalized lasso, SLOPE: lasso and trend filters, graphs, exact fits, bad columns."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_diabetes

import convexml as cml
from convexml import Verdict
from convexml.errors import InputError
from convexml.numerics import Array

X = load_diabetes().data[:80, [0, 2, 3, 8, 9]] * 20.0
Y = load_diabetes().target[:80] / 20.0
PAIRS = np.array([np.eye(5)[i] - np.eye(5)[j] for i, j in combinations(range(5), 2)])
CHAIN = np.diff(np.eye(5), axis=0)


def plain(X: Array, y: Array, lam: float, A: Array, *, intercept: bool = True, s: Array) -> float:
    """The optimal value by CVXPY, as one would write it."""
    w, b = cp.Variable(X.shape[1]), cp.Variable() if intercept else 0.0
    fit = cp.sum_squares(cp.multiply(np.sqrt(s / s.sum()), X @ w + b - y)) / 2.0
    problem = cp.Problem(cp.Minimize(fit + lam * cp.norm1(A @ w)))
    return float(problem.solve(solver="CLARABEL", tol_gap_rel=1e-10, tol_gap_abs=1e-12))


def test_the_identity_is_the_lasso_and_differences_are_trend_filters() -> None:
    ours, lasso = cml.GeneralizedLasso(X, Y, 0.3, np.eye(5)), cml.Lasso(X, Y, 0.3)
    assert ours.lam_max == pytest.approx(lasso.lam_max, rel=1e-12)
    one, other = ours.solve(tol=1e-10), lasso.solve(tol=1e-10)
    np.testing.assert_allclose(one.primal["w"], other.primal["w"], atol=1e-6)
    assert np.all((np.abs(one.primal["w"]) > 1e-12) == (other.primal["w"] != 0.0))
    for order in (0, 1, 2):
        A, y = np.diff(np.eye(40), order + 1, axis=0), Y[:40]
        ours = cml.GeneralizedLasso(np.eye(40), y, 0.1, A, fit_intercept=False)
        trend = cml.TrendFilter(y, 0.1, order)
        assert ours.lam_max == pytest.approx(trend.lam_max, rel=1e-9)
        found, known = ours.solve(tol=1e-8), trend.solve(tol=1e-8)
        assert abs(found.objective - known.objective) <= found.gap + known.gap


def test_from_lam_max_on_the_combinations_are_zero() -> None:
    for A in (PAIRS, np.eye(5), CHAIN[:2]):
        problem = cml.GeneralizedLasso(X, Y, 1.0, A)
        most = problem.lam_max
        for factor in (1.0 + 1e-8, 3.0):
            problem.lam = factor * most
            solution = problem.solve(tol=1e-10)
            assert solution.status == "optimal"
            w = solution.primal["w"]
            assert np.max(np.abs(A @ w)) <= 1e-12 * max(np.max(np.abs(w)), 1.0)
        problem.lam = 0.97 * most
        assert np.max(np.abs(A @ problem.solve(tol=1e-9).primal["w"])) > 1e-4
        problem.lam = 0.0
        free = cml.LeastSquares(X, Y).solve().objective
        assert problem.solve(tol=1e-10).objective == pytest.approx(free, rel=1e-10)


def test_columns_that_depend_exactly_are_certified_and_others_have_a_reason() -> None:
    levels = np.random.default_rng(0).integers(0, 5, size=len(Y))
    known = plain(np.eye(5)[levels], Y, 0.02, CHAIN, s=np.ones(len(Y)))
    solution = cml.GeneralizedLasso(np.eye(5)[levels], Y, 0.02, CHAIN).solve(tol=1e-8)
    assert solution.status == "optimal"  # of the same value for every b
    assert solution.objective == pytest.approx(known, rel=1e-7)
    sums = np.column_stack([X, X[:, 0] + 0.3 * X[:, 1]])  # but for rounding
    rows = np.eye(6)[2:5]
    doubtful = cml.GeneralizedLasso(sums, Y, 0.02, rows).solve()
    assert doubtful.status == "inaccurate"
    assert doubtful.gap == np.inf
    assert "depend on each other up to rounding" in doubtful.certificate.reason
    twice = np.column_stack([X, X[:, 0]])
    assert cml.GeneralizedLasso(twice, Y, 0.0, rows).solve().status == "optimal"


@pytest.mark.parametrize("size", [1e-308, 5e-324, 1e300])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_combinations_beyond_float64_are_refused(size: float, form: Callable[..., Any]) -> None:
    X, y, A = np.array([[0.3], [0.8]]), np.array([0.1, -0.1]), np.array([[1.0], [0.0], [size]])
    with pytest.raises(InputError, match=r"GeneralizedLasso: A has an entry .* change its unit"):
        cml.GeneralizedLasso(X, y, 1.0, form(A))


FITTED = np.array([[1.0, 0, 2], [0, 1, 1]]), np.array([1.0, 2]), np.array([[1.0, 1, -1]])
THREE = (
    np.array([[3.0, 3, 1, 2, 3], [-1, -1, -1, -1, 1], [2, 2, 2, 1, -3]]) * 1e-8,
    np.array([3.0, -2, 0]),
    np.array([[2.0, 0, -1, -1, -2]]),
)


@pytest.mark.parametrize("given", [FITTED, THREE])
@pytest.mark.parametrize("lam", [0.0, 0.1])
def test_an_exact_fit_is_certified(given: tuple[Array, Array, Array], lam: float) -> None:
    problem = cml.GeneralizedLasso(given[0], given[1], lam, given[2], fit_intercept=False)
    assert problem.lam_max == 0.0
    solution = problem.solve()
    # Aw = 0 has no solution in float64 where w is 1e8: what is left is the rounding of its terms.
    left = (
        4.0 * lam * np.finfo(float).eps * float(np.sum(np.abs(given[2]) @ np.abs(solution.coef_)))
    )
    assert solution.objective <= 1e-20 + left
    assert solution.status == "optimal" or solution.gap <= 2.0 * left


def test_who_brings_an_exact_fit_needs_no_dual_point() -> None:
    rows, y, A = FITTED
    w = np.linalg.solve(np.vstack([rows, A]), np.append(y, 0.0))
    problem = cml.GeneralizedLasso(rows / 3.0, y / 3.0, 0.1, A / 7.0, fit_intercept=False)
    for near in (w, w + 1e-15):
        assert problem.certify(near).verdict is Verdict.CERTIFIED
    assert problem.certify(1.001 * w).verdict is Verdict.REFUTED


def test_few_samples_among_many_directions_are_fitted() -> None:
    rng = np.random.default_rng(0)
    given, y, A = rng.normal(size=(3, 10)), rng.normal(size=3), rng.normal(size=(4, 10))
    for intercept in (False, True):
        problem = cml.GeneralizedLasso(given, y, 0.1, A, fit_intercept=intercept)
        solution = problem.solve()
        assert (problem.lam_max, solution.status) == (0.0, "optimal")
        assert problem.certify(**solution.primal, s=np.full(4, 0.1)).verdict is Verdict.UNDECIDED


SLOPE_RNG = np.random.default_rng(8)
NEAR = SLOPE_RNG.normal(size=(30, 6)) @ (np.eye(6) + 0.5)
MIXED = NEAR @ [2.0, 2.0, -2.0, 0.5, 0.0, 0.0] + SLOPE_RNG.normal(size=30)
LAMS = np.array([1.0, 0.7, 0.5, 0.5, 0.2, 0.0])


def test_equal_strengths_are_the_lasso_and_clusters_have_one_size() -> None:
    ours, theirs = (
        cml.Slope(NEAR, MIXED, np.full(6, 0.3)).solve(),
        cml.Lasso(NEAR, MIXED, 0.3).solve(),
    )
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-9)
    sizes = np.abs(cml.Slope(NEAR, MIXED, LAMS).solve().primal["w"])
    assert len(set(sizes.tolist())) < np.count_nonzero(sizes) + (0.0 in sizes)


def test_lam_max_is_the_smallest_factor() -> None:
    top = cml.Slope(NEAR, MIXED, LAMS).lam_max
    assert not cml.Slope(NEAR, MIXED, top * (1 + 1e-12) * LAMS).solve().primal["w"].any()
    assert cml.Slope(NEAR, MIXED, 0.999 * top * LAMS).solve().primal["w"].any()


def test_a_dual_point_of_another_order_of_bounds_is_not_certified() -> None:
    problem = cml.Slope(NEAR, MIXED, LAMS)
    solution = problem.solve(tol=1e-9)
    w, b, u = solution.primal["w"], float(solution.primal["b"]), solution.dual["u"]
    assert problem.certify(w, b, u).verdict is Verdict.CERTIFIED
    pushed = np.abs(NEAR.T @ u)
    assert pushed.max() > LAMS[1:].max()  # more than the second strength: no bound entry by entry
    assert problem.certify(w, b, 1.01 * u).verdict is not Verdict.CERTIFIED
    for k in range(6):
        worse = w + 0.05 * np.eye(6)[k]
        found = problem.certify(worse, b)
        assert found.verdict is Verdict.REFUTED
        assert found.gap >= problem.objective(worse, b) - solution.objective
