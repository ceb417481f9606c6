"""Small quadratics plus weighted absolute values, their paths in lam, and pairs of coordinates."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from convexml.numerics import Array
from convexml.solvers.coordinate import support as support_newton
from convexml.solvers.coordinate.dual_coordinate_descent import ascend_pairs
from convexml.solvers.coordinate.support import SupportFactor
from convexml.solvers.dual.smo import settle, settle_few

SIZE = 4


def drawn(seed: int) -> tuple[Array, float, Array, Array, Array]:
    """(G, mu, slope, start, level), one coordinate in five without a level."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(6, SIZE))
    level = np.where(rng.random(SIZE) < 0.2, 0.0, 2.0 * rng.random(SIZE))
    start = rng.normal(size=SIZE) * (rng.random(SIZE) < 0.5)
    return A.T @ A, float(rng.choice([0.0, 0.3])), 3.0 * rng.normal(size=SIZE), start, level


def value(x: Array, G: Array, mu: float, slope: Array, start: Array, level: Array) -> float:
    step = x - start
    return float(slope @ step + 0.5 * step @ (G @ step + mu * step) + level @ np.abs(x))


def least(G: Array, mu: float, slope: Array, start: Array, level: Array) -> float:
    """The least value over the minimisers on all supports with all signs."""
    H, values = G + mu * np.eye(SIZE), []
    for signs in product((-1.0, 0.0, 1.0), repeat=SIZE):
        s = np.array(signs)
        on, x = s != 0.0, np.zeros(SIZE)
        right = H @ start - slope - level * s
        x[on] = np.linalg.solve(H[np.ix_(on, on)], right[on])
        values.append(value(x, G, mu, slope, start, level))
    return min(values)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("seed", range(12))
def test_no_support_and_no_signs_are_better(
    seed: int, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(support_newton.settle, "pays", lambda *_: compiled)
    G, mu, slope, start, level = drawn(seed)
    tol = np.full(SIZE, 1e-11)
    x = support_newton.minimise(G, mu, slope, start, level, tol, SupportFactor())
    best = least(G, mu, slope, start, level)
    assert abs(value(x, G, mu, slope, start, level) - best) <= 1e-12 * (1.0 + abs(best))


def test_the_partner_in_a_pair_is_the_one_that_promises_most() -> None:
    # slopes 0.3, -0.2, -0.3: the steepest pair (0, 2) gains 0.36 / 101, the pair (0, 1) 0.25 / 2
    u, g = np.zeros(3), np.array([0.3, -0.2, -0.3])
    ascend_pairs(np.diag([1.0, 1.0, 100.0]), g, u, -np.ones(3), np.ones(3), 0.0, 1, 0.0)
    assert np.allclose(u, [-0.25, 0.25, 0.0])
    assert np.allclose(g, [0.05, 0.05, -0.3])


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("paired", [True, False])
def test_few_samples_are_settled_as_many_are(paired: bool, epsilon: float) -> None:
    """Two ways of the same steps; the value falls, as far as the kinks at 0 and the box."""
    rng, ones = np.random.default_rng(3), np.ones(12)
    for _ in range(20):
        A, u = rng.normal(size=(12, 12)), rng.uniform(-1.0, 1.0, 12).round(1)
        Q, y = A @ A.T, rng.normal(size=12)
        one, other, g, h = u.copy(), u.copy(), y + Q @ u, y + Q @ u
        settle(Q, g, one, -ones, ones, epsilon, paired)
        assert not settle_few(Q, h, other, -ones, ones, epsilon, paired)
        np.testing.assert_allclose(one, other, atol=1e-9)
        for moved, slope in ((one, g), (other, h)):
            np.testing.assert_allclose(slope, y + Q @ moved, atol=1e-8)
            cost = [y @ v + 0.5 * v @ Q @ v + epsilon * np.abs(v).sum() for v in (u, moved)]
            assert cost[1] <= cost[0]
