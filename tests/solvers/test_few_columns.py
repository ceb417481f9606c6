"""Small quadratics plus weighted absolute values: against every support and sign there is."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from convexml.numerics import Array
from convexml.solvers.coordinate import support_newton
from convexml.solvers.coordinate.few_columns import settle
from convexml.solvers.coordinate.support_factor import SupportFactor

D = 4


def quadratic(seed: int) -> tuple[Array, float, Array, Array, Array]:
    """(G, mu, slope, start, level), one coordinate in five without a level."""
    rng = np.random.default_rng(seed)
    A = rng.normal(size=(6, D))
    level = np.where(rng.random(D) < 0.2, 0.0, 2.0 * rng.random(D))
    start = rng.normal(size=D) * (rng.random(D) < 0.5)
    return A.T @ A, float(rng.choice([0.0, 0.3])), 3.0 * rng.normal(size=D), start, level


def value(x: Array, G: Array, mu: float, slope: Array, start: Array, level: Array) -> float:
    step = x - start
    return float(slope @ step + 0.5 * step @ (G @ step + mu * step) + level @ np.abs(x))


def least(G: Array, mu: float, slope: Array, start: Array, level: Array) -> float:
    """The least value over the minimisers on all supports with all signs."""
    H, values = G + mu * np.eye(D), []
    for signs in product((-1.0, 0.0, 1.0), repeat=D):
        s = np.array(signs)
        on, x = s != 0.0, np.zeros(D)
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
    G, mu, slope, start, level = quadratic(seed)
    tol = np.full(D, 1e-11)
    x = support_newton.minimise(G, mu, slope, start, level, tol, SupportFactor())
    best = least(G, mu, slope, start, level)
    assert abs(value(x, G, mu, slope, start, level) - best) <= 1e-12 * (1.0 + abs(best))


@pytest.mark.parametrize("seed", range(12))
def test_the_compiled_loop_ends_within_the_tolerances(seed: int) -> None:
    G, mu, slope, start, level = quadratic(seed)
    x, tol = start.copy(), np.full(D, 1e-11)
    assert settle(G, mu, slope, start, level, tol, x)
    g = slope + G @ (x - start) + mu * (x - start)
    assert np.all(np.abs(g + level * np.sign(x))[x != 0.0] <= tol[x != 0.0])
    assert np.all(np.abs(g[x == 0.0]) <= (level + tol)[x == 0.0])


def test_what_is_singular_is_left_to_others() -> None:
    """Of two equal columns without a level any sum will do: the other way finds one."""
    a = np.array([1.0, 2.0, -1.0])
    A = np.column_stack([a, a, [0.0, 1.0, 1.0]])
    G, slope, level = A.T @ A, A.T @ np.array([1.0, -2.0, 3.0]), np.array([0.0, 0.0, 0.1])
    zero, tol = np.zeros(3), np.full(3, 1e-9)
    assert not settle(G, 0.0, slope, zero, level, np.full(3, 1e-300), zero.copy())
    x = support_newton.minimise(G, 0.0, slope, zero, level, tol, SupportFactor())
    g = slope + G @ x
    assert np.all(np.abs(g[:2]) <= 1e-8)
