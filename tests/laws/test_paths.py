"""Regularisation paths: each point is a solve of its own, and bounds hold between the points."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import convexml as cml

RNG = np.random.default_rng(5)
X = RNG.normal(size=(60, 8))
Y = X[:, 0] - 2.0 * X[:, 1] + 0.5 * X[:, 2] + 0.4 * RNG.normal(size=60)
LABELS = np.where(Y > 0.3 * RNG.normal(size=60), 1.0, -1.0)
WIDE = RNG.normal(size=(50, 220)) + 0.7 * RNG.normal(size=(50, 1))
TARGET = WIDE[:, :4] @ np.array([2.0, -1.0, 1.5, 0.7]) + 0.3 * RNG.normal(size=50)
SIDES = np.sign(TARGET - np.median(TARGET) + 1e-9)


@pytest.mark.parametrize("pose", [
    pytest.param(lambda: cml.Lasso(WIDE, TARGET, 1.0), marks=pytest.mark.slow),
    lambda: cml.Lasso(sparse.csc_array(WIDE), TARGET, 1.0),
    lambda: cml.GroupLasso(WIDE, TARGET, 1.0, np.arange(220) // 4),
    lambda: cml.LogisticRegression(WIDE, SIDES, 1.0, "l1"),
    lambda: cml.ElasticNet(sparse.csc_array(WIDE), TARGET, 1.0, 0.5, fit_intercept=False),
])  # fmt: skip
def test_each_point_is_that_of_a_solve_of_its_own_and_costs_less(pose: Callable[[], Any]) -> None:
    problem = pose()
    lams = problem.lam_max * np.geomspace(1.1, 0.02, 6)
    orders = [lams, np.random.default_rng(1).permutation(lams)]
    for order in orders if isinstance(problem, cml.GroupLasso) else orders[:1]:
        passes = []
        for lam, found in zip(order, problem.path(order, tol=1e-9), strict=True):
            assert (found.status, found.problem.lam) == ("optimal", lam)
            alone = pose()
            alone.lam = lam
            best = alone.solve(tol=1e-9)
            assert abs(found.objective - best.objective) <= 2e-9 * found.objective
            passes.append((found.passes, best.passes))
        if order is lams:
            assert np.sum(passes, axis=0)[0] < 1.1 * np.sum(passes, axis=0)[1]
    assert problem.lam == 1.0


def test_a_path_of_sorted_strengths_is_the_lasso_where_these_are_equal() -> None:
    """And w = 0 from lam_max on; lam is a factor on the strengths."""
    lams = np.linspace(1.0, 0.2, 8)
    equal, falling = cml.Slope(X, Y, np.full(8, 2.0)), cml.Slope(X, Y, lams)
    grid = falling.lam_max * np.array([1.01, 0.99, 0.3, 0.05])
    for lam, found in zip(grid, falling.path(grid, tol=1e-9), strict=True):
        alone = cml.Slope(X, Y, lam * lams).solve(tol=1e-9)
        assert found.objective == pytest.approx(alone.objective, rel=1e-8)
        assert bool(np.any(found.primal["w"])) == (lam < falling.lam_max)
    for lam, found in zip(grid, equal.path(grid, tol=1e-9), strict=True):
        lasso = cml.Lasso(X, Y, 2.0 * lam).solve(tol=1e-9)
        assert found.objective == pytest.approx(lasso.objective, rel=1e-8)


# -- everywhere between the ends -------------------------------------------------------------------


def orthogonal() -> tuple[Any, Any]:
    """A lasso whose optimum is known for every lam: X'X = n I, no intercept."""
    rng = np.random.default_rng(6)
    Q = np.linalg.qr(rng.normal(size=(64, 6)))[0] * 8.0
    y = Q @ np.array([3.0, -1.0, 0.5, 0.2, 0.0, 0.01]) + 0.1 * rng.normal(size=64)
    at_zero = np.abs(Q.T @ y / 64.0)

    def optimum(lam: float) -> float:
        return 0.5 * float(np.mean(y**2) - np.sum(np.maximum(at_zero - lam, 0.0) ** 2))

    return cml.Lasso(Q, y, 1.0, fit_intercept=False), optimum


@pytest.mark.parametrize("tol", [1e-2, 1e-3, pytest.param(1e-5, marks=pytest.mark.slow)])
def test_every_lam_is_within_tol_of_a_known_optimum(tol: float) -> None:
    problem, optimum = orthogonal()
    high, low = 1.5 * problem.lam_max, 0.01 * problem.lam_max
    path = problem.path((high, low), everywhere=tol)
    assert path.holds
    assert path.worst_gap <= tol
    assert (path.lams[0], path.lams[-1]) == (high, low)
    missed, bounds = [], []
    for lam in np.append(np.geomspace(low, high, 200)[1:-1], [low, high, *path.lams]):
        problem.lam = lam
        value, best = problem.objective(path.at(lam).primal["w"]), optimum(lam)
        missed.append((value - best) / value)
        bounds.append(path.gap_at(lam))
    assert np.all(np.array(missed) <= np.array(bounds) + 1e-14)
    assert max(bounds) <= path.worst_gap
    assert max(missed) >= 0.3 * tol  # the grid is no finer than it has to be
    again = problem.path((low, high), everywhere=tol)  # ends in either order
    assert [len(list(again)), again.lams[0]] == [len(path), high]
    assert "worst gap" in repr(again)


MODELS: dict[str, Any] = {
    "ridge": lambda: cml.Ridge(X, Y, 1.0),
    "elastic net": lambda: cml.ElasticNet(X, Y, 1.0, 0.5),
    "group lasso": lambda: cml.GroupLasso(X, Y, 1.0, np.arange(8) // 2),
    "slope": lambda: cml.Slope(X, Y, np.linspace(1.0, 0.2, 8)),
    "logistic": lambda: cml.LogisticRegression(X, LABELS, 1.0),
    "softmax": lambda: cml.SoftmaxRegression(X, np.digitize(Y, [-1.0, 1.0]), 1.0),
    "quantile": lambda: cml.QuantileRegression(X, Y, 0.3, 1.0),
    "hinge": lambda: cml.SoftMarginSVM(X, LABELS, 1.0, sample_weight=np.arange(60.0)),
    "tube": lambda: cml.SVR(X, Y, 1.0, 0.1),
}


@pytest.mark.parametrize("name", MODELS)
def test_another_solver_finds_nothing_better_in_between(name: str) -> None:
    problem = MODELS[name]()
    parameter = "C" if hasattr(type(problem), "C") else "lam"
    path = problem.path((0.5, 0.02), everywhere=1e-3)
    assert path.holds
    assert getattr(problem, parameter) == 1.0
    for value in np.geomspace(0.021, 0.49, 4):
        found, bound = path.at(value), path.gap_at(value)
        setattr(problem, parameter, value)
        best = problem.solve("clarabel", tol=1e-8)
        P = problem.objective(found.primal["w"], found.primal["b"])
        assert P - best.objective <= bound * P
        assert P - best.dual_objective <= bound * P + 1e-7 * P
        assert bound <= path.worst_gap <= 1e-3
        assert P >= best.dual_objective


def test_what_is_off_at_the_ends_shows() -> None:
    """A point that was not solved leaves a gap that is told, and no endless grid."""
    problem, _ = orthogonal()
    ends = (problem.lam_max, 0.1 * problem.lam_max)
    path = problem.path(ends, everywhere=1e-4, solver="fista", max_iter=2, tol=1e-3)
    assert not path.holds
    assert path.worst_gap > 1e-4
    assert len(path) < 200


LASSO = cml.Lasso(X, Y, 1.0)


@pytest.mark.parametrize(("problem", "ends", "tol", "words"), [
    (LASSO, (1.0, 0.1, 0.01), 1e-3, "two ends"),
    (LASSO, (1.0, 1.0), 1e-3, "two different finite"),
    (LASSO, (1.0, 0.0), 1e-3, "numbers > 0"),
    (LASSO, (1.0, np.nan), 1e-3, "numbers > 0"),
    (LASSO, (1.0, 0.1), 0.0, "everywhere"),
    (cml.ConstrainedLasso(X, Y, 1.0), (1.0, 0.1), 0.1, "not linear"),
    (cml.KernelRidge(X, Y, 1.0, cml.kernels.Gaussian(1.0)), (1.0, 0.1), 0.1, "of kernels"),
    (LASSO, (1.0, 0.1), 0.1, "from 0.1 to 1"),
])  # fmt: skip
def test_what_no_path_is_told_for(problem: Any, ends: Any, tol: float, words: str) -> None:
    with pytest.raises(cml.errors.InputError, match=words):
        problem.path(ends, everywhere=tol).at(2.0)
