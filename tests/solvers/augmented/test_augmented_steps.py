"""What an augmented Lagrangian is made of: the smoothed loss, Newton steps, the line search."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize, sparse

from convexml.design import DenseDesign, ScaledDesign, SparseDesign
from convexml.solvers.second_order import curved_samples
from convexml.solvers.second_order.augmented_lagrangian import ProximalPoint, solved
from convexml.solvers.second_order.curved_samples import newton_step
from convexml.solvers.second_order.proximal_newton import minimise, search
from convexml.solvers.second_order.smoothed_loss import Smoothed

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
    monkeypatch.setattr(curved_samples, "LARGEST", largest)
    monkeypatch.setattr(curved_samples, "ACCURATE", 1e-14)
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


def test_wide_sparse_rows_are_not_made_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    X = sparse.random_array((30, 400), density=0.05, rng=RNG, format="csr")
    level, h, inside = np.ones(400), np.full(30, 2.0), np.ones(30, dtype=bool)
    slope = RNG.normal(size=400)

    def step(design: Any) -> Any:
        return newton_step(design, level, h, inside, slope, 0.3, True)

    dense = step(DenseDesign(X.toarray()))
    monkeypatch.setattr(curved_samples, "ROOM", 0.0)
    monkeypatch.setattr(curved_samples, "LARGEST", 300)
    monkeypatch.setattr(curved_samples, "ACCURATE", 1e-12)
    monkeypatch.setattr(SparseDesign, "dense", None)
    found = step(ScaledDesign(SparseDesign(X), np.ones(400)))
    assert np.allclose(found[0], dense[0], rtol=1e-8, atol=1e-9)
    assert found[1] == pytest.approx(dense[1], rel=1e-8)


def test_a_matrix_that_is_singular_in_floating_point_is_survived() -> None:
    X = np.ones((3, 2))  # the same row thrice, at weights that drown Lam
    step, _ = newton_step(
        DenseDesign(X),
        np.full(2, 1e-30),
        np.full(3, 1e30),
        np.ones(3, bool),
        np.ones(2),
        0.0,
        False,
    )
    assert np.all(np.isfinite(step))


def test_the_line_search_finds_the_flat_place() -> None:
    band = smoothed(0.0, 0.0)
    z, dz = band.y + 3.0, -RNG.random(40)
    u, _ = band.slope(z)
    fall = -float(u @ dz)
    assert fall > 0.0
    t, u, _ = search(band.bands, z, dz, 0.0, 1e-3, fall)
    assert abs(u @ dz + 1e-3 * t) <= 0.3 * fall
    assert t > 1.0


@pytest.mark.parametrize("free_b", [True, False])
@pytest.mark.parametrize("epsilon", [0.0, 0.4])
def test_phi_has_one_minimum(free_b: bool, epsilon: float) -> None:
    """Where Lam w + X'u + fixed = 0 and 1'u + rest = 0; each call leaves a share of it."""
    band, X = smoothed(epsilon, 0.0), RNG.normal(size=(40, 5))
    fixed, rest = RNG.normal(size=5), 0.3
    w, b, z = np.zeros(5), 0.0, np.zeros(40)
    for _ in range(5):
        given = band.bands, np.ones(5), free_b, w, b, z, fixed, rest
        w, b, z, u, v, total, *_ = minimise(DenseDesign(X), *given)
    assert np.allclose(z, X @ w + b)
    assert np.array_equal(u, band.slope(z)[0])
    assert np.allclose(v, X.T @ u + fixed)
    assert np.abs(w + v).max() < 1e-10
    assert abs(total - (u.sum() + rest if free_b else 0.0)) < 1e-12
    assert abs(total) < 1e-10


def test_a_system_that_is_singular_in_floating_point_ends_in_a_finite_point() -> None:
    X, y = np.full((3, 1), 2.0**60), np.array([1.0, 2.0, 3.0])
    band = Smoothed(y, np.zeros(3), (-np.ones(3), np.ones(3)), 0.0, np.zeros(3), 4.0)
    start = ProximalPoint(np.zeros(1), 0.0, np.zeros(3), np.zeros(3), np.zeros(1), 0.0)
    point, steps, _ = solved(DenseDesign(X), band, np.full(1, 1e-30), True, start, start.v, 0.0)
    assert steps > 0
    assert np.all(np.isfinite(point.w))
