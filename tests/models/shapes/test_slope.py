"""SLOPE: values of other routes, clusters, points that somebody brings, corrupted ones."""

from __future__ import annotations

from itertools import permutations

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml import Verdict
from convexml.penalties import SortedL1

RNG = np.random.default_rng(8)
X = RNG.normal(size=(30, 6)) @ (np.eye(6) + 0.5)
Y = X @ [2.0, 2.0, -2.0, 0.5, 0.0, 0.0] + RNG.normal(size=30)
LAMS = np.array([1.0, 0.7, 0.5, 0.5, 0.2, 0.0])


def largest_over_orders(lams: np.ndarray, w: np.ndarray) -> float:
    """The penalty is the largest of all assignments of strengths to coefficients."""
    return max(float(np.take(lams, order) @ np.abs(w)) for order in permutations(range(w.size)))


def stated(X: np.ndarray, y: np.ndarray, lams: np.ndarray) -> float:
    """The value by CVXPY: strengths against sizes as the dual of an assignment."""
    d = X.shape[1]
    w, b, rows, columns = cp.Variable(d), cp.Variable(), cp.Variable((d, 1)), cp.Variable((1, d))
    pairs = cp.reshape(cp.abs(w), (d, 1), order="C") @ lams[None]
    fit = cp.sum_squares(y - X @ w - b) / (2 * len(y))
    covers = rows @ np.ones((1, d)) + np.ones((d, 1)) @ columns >= pairs
    problem = cp.Problem(cp.Minimize(fit + cp.sum(rows) + cp.sum(columns)), [covers])
    return float(problem.solve(solver="CLARABEL", tol_gap_rel=1e-10))


def test_the_penalty_is_the_largest_over_all_orders() -> None:
    penalty = SortedL1(LAMS)
    for w in (RNG.normal(size=6), np.array([1.0, -1.0, 1.0, 0.0, 0.0, 3.0])):
        assert penalty.value(w) == pytest.approx(largest_over_orders(LAMS, w), rel=1e-14)


@pytest.mark.parametrize("factor", [0.01, 0.2, 0.9])
def test_the_value_is_that_of_cvxpy(factor: float) -> None:
    lams = factor * cml.Slope(X, Y, LAMS).lam_max * LAMS
    solution = cml.Slope(X, Y, lams).solve(tol=1e-9)
    assert solution.status == "optimal"
    assert solution.objective == pytest.approx(stated(X, Y, lams), rel=1e-8)
    assert np.isfinite(solution.certificate.proved_gap)


def test_equal_strengths_are_the_lasso_and_clusters_have_one_size() -> None:
    ours, theirs = cml.Slope(X, Y, np.full(6, 0.3)).solve(), cml.Lasso(X, Y, 0.3).solve()
    assert ours.objective == pytest.approx(theirs.objective, rel=1e-9)
    sizes = np.abs(cml.Slope(X, Y, LAMS).solve().primal["w"])
    assert len(set(sizes.tolist())) < np.count_nonzero(sizes) + (0.0 in sizes)


def test_lam_max_is_the_smallest_factor() -> None:
    top = cml.Slope(X, Y, LAMS).lam_max
    assert not cml.Slope(X, Y, top * (1 + 1e-12) * LAMS).solve().primal["w"].any()
    assert cml.Slope(X, Y, 0.999 * top * LAMS).solve().primal["w"].any()


def test_a_dual_point_of_another_order_of_bounds_is_not_certified() -> None:
    problem = cml.Slope(X, Y, LAMS)
    solution = problem.solve(tol=1e-9)
    w, b, u = solution.primal["w"], float(solution.primal["b"]), solution.dual["u"]
    assert problem.certify(w, b, u).verdict is Verdict.CERTIFIED
    pushed = np.abs(X.T @ u)
    assert pushed.max() > LAMS[1:].max()  # more than the second strength: no bound entry by entry
    assert problem.certify(w, b, 1.01 * u).verdict is not Verdict.CERTIFIED
    for k in range(6):
        worse = w + 0.05 * np.eye(6)[k]
        found = problem.certify(worse, b)
        assert found.verdict is Verdict.REFUTED
        assert found.gap >= problem.objective(worse, b) - solution.objective


def test_strengths_can_be_changed() -> None:
    problem = cml.Slope(X, Y, LAMS)
    before = problem.primal
    problem.lams = 2.0 * LAMS
    assert problem.primal is not before
    assert problem.solve().objective == pytest.approx(stated(X, Y, 2.0 * LAMS), rel=1e-7)
