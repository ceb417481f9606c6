"""Supports of degenerate problems, against linear programs over the whole set of optima."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from scipy.optimize import linprog

import convexml as cml
from convexml.numerics import Array


def multiplier_ranges(
    X: Array, y: Array, C: float, w: Array, value: float
) -> Iterator[tuple[float, float]]:
    """The least and the largest alpha_i over all optimal alpha.

    w = sum alpha_i y_i x_i, sum alpha_i y_i = 0 and sum alpha_i - |w|^2 / 2 = P*.
    """
    A = np.vstack([(y[:, None] * X).T, y, np.ones(len(y))])
    right = np.concatenate([w, [0.0, value + 0.5 * w @ w]])
    for i in range(len(y)):
        ends = []
        for sign in (1.0, -1.0):
            cost = np.zeros(len(y))
            cost[i] = sign
            found = linprog(cost, A_eq=A, b_eq=right, bounds=(0.0, C), method="highs")
            assert found.status == 0
            ends.append(sign * found.fun)
        yield ends[0], ends[1]


def intercept_range(X: Array, y: Array, C: float, w: Array) -> tuple[float, float]:
    """The least and the largest b that are optimal with this w."""
    n = len(y)
    A = np.hstack([-y[:, None], -np.eye(n)])
    right = y * (X @ w) - 1.0
    bounds = [(None, None)] + [(0.0, None)] * n
    least = linprog(np.append(0.0, np.full(n, C)), A, right, bounds=bounds, method="highs").fun
    A, right = np.vstack([A, np.append(0.0, np.full(n, C))]), np.append(right, least + 1e-11)
    ends = [
        linprog(np.append(sign, np.zeros(n)), A, right, bounds=bounds, method="highs")
        for sign in (1.0, -1.0)
    ]
    return ends[0].fun, -ends[1].fun


@pytest.mark.parametrize("seed", [0, 1, 3, 4])
def test_duplicate_samples_share_their_multiplier(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(12, 2))
    X = np.vstack([X, X])
    y = np.tile(np.where(X[:12, 0] + 0.5 * rng.normal(size=12) > 0.0, 1.0, -1.0), 2)
    y[[0, 12]], y[[1, 13]] = 1.0, -1.0
    solution = cml.SoftMarginSVM(X, y, C=0.5).solve(tol=1e-10)
    found = solution.certified_support()
    shared = 0
    ranges = multiplier_ranges(X, y, 0.5, solution.primal["w"], solution.objective)
    for label, (least, most) in zip(found.samples, ranges, strict=True):
        truth = {"not_support": most < 1e-6, "at_bound": least > 0.5 - 1e-6}
        truth["free"] = least > 1e-7 and most < 0.5 - 1e-7
        truth["undecidable"] = True
        assert truth[label], (label, least, most)
        shared += most - least > 1e-3
        assert label != "undecidable" or most - least > 1e-3
    assert shared >= 2


@pytest.mark.parametrize("seed", range(6))
def test_without_a_free_support_vector_b_has_an_interval(seed: int) -> None:
    rng = np.random.default_rng(seed)
    y = np.repeat([-1.0, 1.0], 6)
    X = rng.normal(size=(12, 3)) + 0.5 * y[:, None]
    C = 0.01
    problem = cml.SoftMarginSVM(X, y, C=C)
    w = C * y @ X  # all samples at the bound
    low, high = intercept_range(X, y, C, w)
    assert high - low > 0.1
    found = problem.solve(tol=1e-10).certified_support()
    assert found.b_interval == pytest.approx((low, high), abs=1e-4)
    assert found.b_interval[0] <= low + 1e-9
    assert found.b_interval[1] >= high - 1e-9
    assert set(found.samples) == {"at_bound"}
    assert found.optimal_b is not None
    assert low - 1e-9 <= found.optimal_b[0] < found.optimal_b[1] <= high + 1e-9
    assert (found.unique_w.answer, found.unique.answer) == ("yes", "no")
    assert found.unique.direction is not None
    values = [problem.objective(w, b) for b in found.optimal_b]
    assert values[0] == pytest.approx(values[1], rel=1e-12)


@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6])
def test_the_interval_of_b_holds_every_optimal_b_at_any_gap(gap: float) -> None:
    y = np.repeat([-1.0, 1.0], 6)
    X = np.random.default_rng(1).normal(size=(12, 3)) + 0.5 * y[:, None]
    w = 0.01 * y @ X
    low, high = intercept_range(X, y, 0.01, w)
    problem = cml.SoftMarginSVM(X, y, C=0.01)
    found = problem.certified_support(w * (1.0 + np.sqrt(gap)), 0.5 * (low + high), -0.01 * y)
    assert found.b_interval[0] <= low
    assert found.b_interval[1] >= high


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_twin_columns_are_undecidable_and_not_unique(sign: float) -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20, 4))
    y = 2.0 * X[:, 0] + 0.1 * rng.normal(size=20)
    X = np.hstack([X, sign * X[:, :1]])
    problem = cml.Lasso(X, y, lam=0.1)
    solution = problem.solve(tol=1e-10)
    found = solution.certified_support()
    assert list(found.coordinates[[0, 4]]) == ["undecidable", "undecidable"]
    assert found.unique.answer == "no"
    direction = found.unique.direction
    assert direction is not None
    w, b = solution.primal["w"], float(solution.primal["b"])
    total = w[0] + sign * w[4]
    for share in (0.0, 0.3, 1.0):  # explicit other minimisers
        other = w.copy()
        other[0], other[4] = share * total, sign * (1.0 - share) * total
        assert problem.objective(other, b) == pytest.approx(solution.objective, rel=1e-12)
        moved = (other - w)[[0, 4]]
        assert abs(moved[0] * direction[4] - moved[1] * direction[0]) <= 1e-12


def test_twin_columns_that_are_not_needed_leave_one_minimiser() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(30, 3))
    X = np.hstack([X, X[:, 2:]])
    found = cml.Lasso(X, 2.0 * X[:, 0], lam=0.3).solve(tol=1e-10).certified_support()
    assert list(found.coordinates) == ["nonzero", "zero", "zero", "zero"]
    assert found.unique.answer == "yes"


def test_at_lam_max_only_the_critical_coordinate_is_undecidable() -> None:
    rng = np.random.default_rng(5)
    problem = cml.Lasso(rng.normal(size=(25, 6)), rng.normal(size=25), lam=1.0)
    problem.lam = problem.lam_max
    found = problem.solve(tol=1e-10).certified_support()
    assert sorted(found.coordinates) == ["undecidable", *["zero"] * 5]
    problem.lam = 1.001 * problem.lam_max
    found = problem.solve(tol=1e-10).certified_support()
    assert set(found.coordinates) == {"zero"}
    assert found.unique.answer == "yes"
