"""Newton steps of smoothed losses, by conjugate gradients and in clusters: their systems."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize, sparse

import convexml as cml
from convexml.data import DenseDesign, SparseDesign
from convexml.penalties import SortedL1
from convexml.solvers import Iterate
from convexml.solvers.dual.proximal_point import CentredSquares, ProximalStep
from convexml.solvers.second_order import augmented_lagrangian as module
from convexml.solvers.second_order.augmented_lagrangian import (
    Smoothed,
    augmented_lagrangian,
    newton_step,
)

RNG = np.random.default_rng(5)


def smoothed(epsilon: float, K: float) -> Smoothed:
    n = 40
    lo, hi = -RNG.random(n) - 0.1, RNG.random(n) + 0.1
    v = np.clip(RNG.normal(size=n), lo, hi)
    return Smoothed(RNG.normal(size=n), np.full(n, K), (lo, hi), epsilon, v, 0.7)


@pytest.mark.parametrize(("epsilon", "K"), [(0.0, 0.0), (0.0, 0.5), (0.4, 0.0), (0.4, 0.5)])
def test_the_slope_is_the_maximiser_and_the_near_are_all_that_may_move(
    epsilon: float, K: float
) -> None:
    band = smoothed(epsilon, K)
    z = band.y + RNG.normal(size=40)
    u, inside = band.slope(z)
    for i in range(40):

        def cost(x: float, i: int = i) -> float:
            own = band.y[i] * x + epsilon * abs(x) + 0.5 * K * x * x
            return own - x * z[i] + 0.5 * band.D[i] * (x - band.centre[i]) ** 2

        ends = (band.lo[i], band.hi[i])
        best = optimize.minimize_scalar(
            cost, bounds=ends, method="bounded", options={"xatol": 1e-12}
        )
        least = min((float(best.x), *ends, 0.0), key=cost)
        assert u[i] == pytest.approx(least, abs=1e-6)
        assert cost(u[i]) <= cost(least) + 1e-12
    assert 0 < inside.sum() < 40
    # A sample that is not near keeps its u wherever z goes within the reach, and a near one not.
    for reach in (0.05, 0.5):
        near = np.zeros(40, dtype=bool)
        near[band.near(z, reach)] = True
        moved = np.zeros(40, dtype=bool)
        for t in (-reach, reach):
            moved |= band.slope(z + 0.999999 * t)[0] != u
        assert np.array_equal(moved, near)


@pytest.mark.parametrize("free_b", [True, False])
@pytest.mark.parametrize("count", [0, 3, 12])
@pytest.mark.parametrize("largest", [3000, 2])
@pytest.mark.parametrize("kind", [np.array, np.asfortranarray, sparse.csr_array, sparse.csc_array])
def test_newton_steps_solve_the_dense_system(
    free_b: bool, count: int, largest: int, kind: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By rows, by columns and by products, of X and X'X in either order of memory."""
    monkeypatch.setattr(module, "LARGEST", largest)
    monkeypatch.setattr(module, "ACCURATE", 1e-14)
    n, d = 20, 6
    X, level, h = RNG.normal(size=(n, d)), RNG.random(d) + 0.1, RNG.random(n) + 0.5
    inside = np.zeros(n, dtype=bool)
    inside[RNG.permutation(n)[:count]] = True
    slope, total = RNG.normal(size=d), 0.7
    own = kind(X)
    design = SparseDesign(own) if sparse.issparse(own) else DenseDesign(own)
    dw, db = newton_step(design, level, h, inside, slope, total, free_b)
    A = np.column_stack([X, np.ones(n)])[inside]
    matrix = A.T @ (h[inside, None] * A) + np.diag(np.append(level, 0.0))
    if not count:
        matrix[d, d] = h.max()
    if not free_b:
        matrix[d], matrix[:, d], matrix[d, d], total = 0.0, 0.0, 1.0, 0.0
    assert np.allclose(matrix @ np.append(dw, db), -np.append(slope, total), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("reach", [2.0, 0.0])
def test_samples_left_out_change_nothing_but_the_work(
    reach: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where too few are looked at: those that move are noticed by the next product."""
    X = RNG.normal(size=(3000, 8))
    y = np.sign(X[:, 0] + 0.5 * RNG.normal(size=3000))
    objective, zero = cml.SoftMarginSVM(X, y, 1.0).objective_parts, np.zeros(8)

    def last(few: float) -> Iterate:
        monkeypatch.setattr(module, "FEW", few)
        monkeypatch.setattr(module, "TINY", 0)
        points = [point for point in augmented_lagrangian(objective, zero, 0.0)]
        return points[-1]

    whole = last(-1.0)
    monkeypatch.setattr(module, "REACH", reach)
    some = last(0.4)
    assert np.allclose(some.w, whole.w, rtol=1e-9, atol=1e-10)
    if reach:
        assert some.passes < whole.passes


def wide(n: int, d: int, share: float, **given: Any) -> cml.Slope:
    """Few samples, many features, strengths of so small a share of the least that gives w = 0."""
    X = RNG.normal(size=(n, d))
    y = X[:, :4] @ [3.0, -2.0, 1.0, 1.0] + 0.5 * RNG.normal(size=n)
    lams = np.linspace(2.0, 0.5, d)
    return cml.Slope(X, y, share * cml.Slope(X, y, lams, **given).lam_max * lams, **given)


def test_the_clusters_are_columns_of_norm_one_and_newton_steps_use_their_slope() -> None:
    """A S of signs by hand; the slope of phi against finite differences of its value."""
    problem = wide(6, 5, 0.1)
    system = CentredSquares(problem.objective_parts)
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
