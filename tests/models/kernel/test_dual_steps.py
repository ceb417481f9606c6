"""The steps of a working set of the dual against other solvers and by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from convexml.solvers.coordinate.dual_steps import most_violating
from convexml.solvers.dual.free_steps import few_step, newton_step, settle, settle_few

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("settle", [settle, settle_few])
def test_the_exact_step_is_that_of_a_solver(settle: Any) -> None:
    """Inside wide boxes the QP with 1'u = 0 is solved in one step; in narrow ones ends are met."""
    A = RNG.normal(size=(8, 8))
    Q, y = A @ A.T, RNG.normal(size=8)
    u, g = np.zeros(8), y.copy()
    settle(Q, g, u, np.full(8, -1e3), np.full(8, 1e3), 0.0, True)
    bordered = np.block([[Q, np.ones((8, 1))], [np.ones((1, 8)), np.zeros((1, 1))]])
    exact = np.linalg.solve(bordered, np.append(-y, 0.0))[:8]
    np.testing.assert_allclose(u, exact, rtol=1e-7)
    np.testing.assert_allclose(g, y + Q @ u, atol=1e-7)
    u, g = np.zeros(8), y.copy()
    settle(Q, g, u, np.full(8, -0.05), np.full(8, 0.05), 0.0, False)
    assert np.all(np.abs(u) <= 0.05)
    root = np.linalg.cholesky(Q).T
    bounded = lsq_linear(root, -np.linalg.solve(root.T, y), (-0.05, 0.05)).x
    value, start = y @ u + 0.5 * u @ Q @ u, y @ bounded + 0.5 * bounded @ Q @ bounded
    assert start - 1e-12 <= value < 0.0


@pytest.mark.parametrize("steps", [newton_step, few_step])
def test_a_singular_step_still_descends(steps: Any) -> None:
    A = RNG.normal(size=(6, 2))
    Q, slope = A @ A.T, A @ np.array([1.0, -2.0])
    step = steps(Q, slope, False)
    assert step is not None
    np.testing.assert_allclose(Q @ step, -slope, atol=1e-4)
    none = steps(np.zeros((3, 3)), np.ones(3), True)
    assert none is None or not none.any()


@pytest.mark.parametrize("epsilon", [0.0, 0.3])
@pytest.mark.parametrize("paired", [True, False])
def test_few_samples_are_settled_as_many_are(paired: bool, epsilon: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        A, u = rng.normal(size=(12, 12)), rng.uniform(-1.0, 1.0, 12).round(1)
        Q, y = A @ A.T, rng.normal(size=12)
        one, other = u.copy(), u.copy()
        g, h = y + Q @ u, y + Q @ u
        box = np.full(12, -1.0), np.full(12, 1.0), epsilon, paired
        settle(Q, g, one, *box)
        assert not settle_few(Q, h, other, *box)
        np.testing.assert_allclose(one, other, atol=1e-9)
        np.testing.assert_allclose(g, h, atol=1e-8)
    assert settle_few(np.eye(60), np.ones(60), np.zeros(60), -np.ones(60), np.ones(60), 0.0, False)


def test_the_most_violating_by_hand() -> None:
    """Rising gains -g, falling g; samples at an end move one way only."""
    u = np.array([0.0, 1.0, 0.5, 0.0, 1.0, 0.0])
    g = np.array([-3.0, 2.0, 0.1, -1.0, -5.0, 4.0])
    lo, hi = np.zeros(6), np.ones(6)
    chosen, up, down = most_violating(g, u, lo, hi, 0.0, True, 3, 10)
    assert (up, down) == (3.0, 2.0)
    assert chosen.tolist() == [0, 1, 2]  # the free one, and the best of each side
    chosen, up, down = most_violating(g, u, lo, hi, 0.0, True, 6, 10)
    assert chosen.tolist() == [0, 1, 2, 3]  # 4 cannot rise, 5 cannot fall
    chosen, up, down = most_violating(g, u, lo, hi, 0.0, True, 6, 0)
    assert chosen.tolist() == [0, 1, 2, 3]  # 2 by its gain: free ones are too many
    chosen, up, down = most_violating(g, u, lo, hi, 0.5, False, 2, 10)
    assert (up, down) == (2.5, 2.5)
    assert chosen.tolist() == [0, 2]


def test_the_most_violating_are_no_worse_than_any_other() -> None:
    """Also where many violate alike: then as many are chosen, from all over."""
    rng = np.random.default_rng(2)
    for n, levels in ((200, 1), (200, 3), (200, 1000)):
        g = -1.0 - rng.integers(0, levels, n)  # all may rise, none fall
        u, lo, hi = np.zeros(n), np.zeros(n), np.ones(n)
        chosen, up, _ = most_violating(g, u, lo, hi, 0.0, False, 24, 10)
        assert len(set(chosen)) == 24
        assert up == -g.min()
        assert np.max(g[chosen]) <= np.delete(g, chosen).min()
    chosen, _, _ = most_violating(np.full(n, -1.0), u, lo, hi, 0.0, False, 24, 10)
    assert np.diff(chosen).max() <= 9
