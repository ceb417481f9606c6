"""Proximal points of sorted l1: values of other routes, clusters, tiny strengths, hard designs."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse

import convexml as cml
from convexml import Verdict
from convexml.errors import UnsuitableSolverError
from convexml.penalties import SortedL1
from convexml.solvers.dual.proximal_point import (
    CentredSquares,
    ProximalStep,
    has_clusters_of,
    proximal_point,
)

RNG = np.random.default_rng(12)
SLOW = pytest.mark.slow


def wide(n: int, d: int, share: float, **given: Any) -> cml.Slope:
    """Few samples, many features, strengths of so small a share of the least that gives w = 0."""
    X = RNG.normal(size=(n, d))
    y = X[:, :4] @ [3.0, -2.0, 1.0, 1.0] + 0.5 * RNG.normal(size=n)
    lams = np.linspace(2.0, 0.5, d)
    return cml.Slope(X, y, share * cml.Slope(X, y, lams, **given).lam_max * lams, **given)


def value_by_cvxpy(problem: cml.Slope) -> float:
    """The optimal value, by the sums of largest sizes."""
    objective = problem.objective_parts
    X, lams = objective.design.dense(), objective.penalty.lams  # type: ignore[attr-defined]
    w, b = cp.Variable(objective.d), cp.Variable()
    falls = -np.diff(lams, append=0.0)
    levels = sum(fall * cp.sum_largest(cp.abs(w), k + 1) for k, fall in enumerate(falls[:-1]))
    levels += falls[-1] * cp.norm1(w)
    miss = objective.y - X @ w - (b if objective.fit_intercept else 0.0)
    fit = cp.sum_squares(cp.multiply(np.sqrt(objective.c), miss)) / 2.0
    return float(cp.Problem(cp.Minimize(fit + levels)).solve("CLARABEL", tol_gap_rel=1e-10))


@pytest.mark.parametrize(("share", "fit_intercept"), [(0.3, False), (1e-4, True)])
def test_the_value_is_that_of_cvxpy(share: float, fit_intercept: bool) -> None:
    problem = wide(6, 12, share, fit_intercept=fit_intercept)
    solution = problem.solve("proximal_point", tol=1e-10)
    assert solution.status == "optimal"
    assert solution.solver == "proximal_point"
    assert solution.objective == pytest.approx(value_by_cvxpy(problem), rel=1e-6)


def test_weights_and_sparse_designs_are_served() -> None:
    X = sparse.random(10, 16, 0.3, random_state=3, format="csr")
    y, weights = RNG.normal(size=10), RNG.uniform(0.5, 3.0, size=10)
    lams = np.linspace(0.02, 0.0, 16)
    thin = cml.Slope(X, y, lams, sample_weight=weights)
    dense = cml.Slope(X.toarray(), y, lams, sample_weight=weights)
    found = [each.solve("proximal_point", tol=1e-9) for each in (thin, dense)]
    assert [each.status for each in found] == ["optimal", "optimal"]
    assert found[0].objective == pytest.approx(found[1].objective, rel=1e-8)
    assert found[0].objective == pytest.approx(value_by_cvxpy(dense), rel=1e-6)


@pytest.mark.parametrize(("d", "tol"), [(100, 1e-10), pytest.param(200, 1e-6, marks=SLOW)])
def test_tiny_strengths_on_few_samples_are_certified_by_auto(d: int, tol: float) -> None:
    problem = wide(d // 4, d, 1e-4)
    solution = problem.solve(tol=tol)
    assert (solution.status, solution.solver) == ("optimal", "proximal_point")
    assert solution.certificate.verdict is Verdict.CERTIFIED
    assert solution.relative_gap <= tol
    assert np.count_nonzero(solution.primal["w"]) < d


@pytest.mark.parametrize("kind", ["twins", "constant", "scales", "one sample", "equal"])
def test_hard_designs_end_certified(kind: str) -> None:
    X, y = RNG.normal(size=(15, 20)), RNG.normal(size=15)
    lams = np.linspace(0.05, 0.01, 20)
    match kind:
        case "twins":
            X[:, 10:] = X[:, :10]
        case "constant":
            X[:, 3], X[:, 4] = 0.0, 1.0
        case "scales":
            X, lams = 1e8 * X, 1e8 * lams
        case "one sample":
            X, y = X[:1], y[:1]
        case "equal":
            lams = np.full(20, 0.03)
    solution = cml.Slope(X, y, lams).solve("proximal_point")
    assert solution.status == "optimal", str(solution)


def test_a_start_near_the_solution_is_used() -> None:
    problem = wide(20, 60, 1e-3)
    first = problem.solve("proximal_point")
    again = problem.solve("proximal_point", w0=first.primal["w"])
    assert again.passes < 0.5 * first.passes


def test_iterates_lower_the_objective_and_end() -> None:
    objective = wide(10, 30, 1e-3).objective_parts
    points = list(proximal_point(objective, np.zeros(30), 0.0))
    values = [objective.primal(each.w, each.b) for each in points]
    falls = [after - before for before, after in pairwise(values)]
    assert max(falls) <= 1e-14 * values[0]
    assert len(points) < 60


def test_the_clusters_are_columns_of_norm_one_and_newton_steps_use_their_slope() -> None:
    """A S of signs by hand; the slope of phi against finite differences of its value."""
    problem = wide(6, 5, 0.1)
    system = CentredSquares(problem.objective_parts, 0.0)
    w = np.array([2.0, -1.0, 2.0, 0.0, 1.0])
    A = np.column_stack([system.forth(unit) for unit in np.eye(5)])
    expected = np.column_stack([A[:, 4] - A[:, 1], A[:, 0] + A[:, 2]]) / np.sqrt(2.0)
    np.testing.assert_allclose(system.clusters(w), expected, atol=1e-14)
    np.testing.assert_allclose(system.back(A[:, 0]), A.T @ A[:, 0], atol=1e-13)
    np.testing.assert_allclose(system.squares(), (A**2).sum(axis=0), rtol=1e-12)

    penalty, v, sigma = SortedL1(np.linspace(1.0, 0.2, 5), 0.05), 0.3 * w, 0.7
    step = ProximalStep(system, penalty, v, sigma)

    def phi(r: np.ndarray) -> float:
        pull = A.T @ r
        x = penalty.prox(v - sigma * pull, sigma)
        most = -pull @ x - penalty.value(x) - (x - v) @ (x - v) / (2.0 * sigma)
        return float(0.5 * r @ r + r @ system.target + most)

    r = RNG.normal(size=6)
    slope = [(phi(r + 1e-6 * e) - phi(r - 1e-6 * e)) / 2e-6 for e in np.eye(6)]
    np.testing.assert_allclose(step.at(r, A.T @ r).slope, slope, atol=1e-7)
    found = step.solve(r, A.T @ r)
    assert found is not None
    x = found[0].w
    near = [x + 1e-4 * RNG.normal(size=5) for _ in range(50)]

    def regularised(x: np.ndarray) -> float:
        miss = A @ x - system.target
        return float(0.5 * miss @ miss + penalty.value(x) + (x - v) @ (x - v) / (2.0 * sigma))

    room = 0.5 * float(found[0].slope @ found[0].slope)  # what a slope of the dual leaves, at most
    assert all(regularised(x) <= regularised(other) + room for other in near)
    assert room < 1e-2 * regularised(x)


def test_clusters_differ_by_a_sign_a_size_or_a_zero() -> None:
    w = np.array([2.0, -1.0, 1.0, 0.0])
    assert has_clusters_of(w, np.array([5.0, -3.0, 3.0, 0.0]))
    for other in ([2.0, 1.0, 1.0, 0.0], [2.0, -1.0, 1.5, 0.0], [2.0, -1.0, 1.0, 0.5]):
        assert not has_clusters_of(w, np.array(other))
    assert not has_clusters_of(w, np.array([1.0, -2.0, 2.0, 0.0]))


def test_other_penalties_are_refused_with_the_reason() -> None:
    problem = cml.Lasso(RNG.normal(size=(9, 3)), RNG.normal(size=9), 0.1)
    with pytest.raises(UnsuitableSolverError, match="its penalty is not the sorted l1 norm"):
        problem.solve("proximal_point")
