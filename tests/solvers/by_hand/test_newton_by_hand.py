"""The first iterates of Newton's method, IRLS and interior points, in dense linear systems."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import numpy as np
import pytest
from support.solvers.by_hand import MASK, A, D, N, S, X, iterates

import convexml as cml
from convexml.numerics import Array


def damped_newton(x: Array, lam: float, as_least_squares: bool) -> Iterator[Array]:
    """Newton's point, or the weighted ridge fit to the working response; halved or doubled."""

    def value(x: Array) -> float:
        return float(np.mean(np.logaddexp(0.0, -S * (A @ x))) + 0.5 * lam * x[:D] @ x[:D])

    while True:
        yield x
        z = A @ x
        p = 1.0 / (1.0 + np.exp(-z))
        h = p * (1.0 - p)
        g = A.T @ (p - (S + 1.0) / 2.0) / N + lam * MASK * x
        if as_least_squares:
            response = z - (p - (S + 1.0) / 2.0) / h
            M = np.vstack([np.sqrt(h / N)[:, None] * A, np.sqrt(lam) * np.diag(MASK)])
            goal = np.append(np.sqrt(h / N) * response, np.zeros(D + 1))
            step = np.linalg.lstsq(M, goal, rcond=None)[0] - x
        else:
            step = -np.linalg.solve(A.T @ (h[:, None] * A) / N + lam * np.diag(MASK), g)
        descent, t = float(g @ step), 1.0
        while value(x + t * step) > value(x) + 1e-4 * t * descent:
            t *= 0.5
        while t >= 1.0 and value(x + t * step) < value(x) + 0.55 * t * descent:
            if not value(x + 2.0 * t * step) < value(x + t * step):
                break
            t *= 2.0
        x = x + t * step


@pytest.mark.parametrize("solver", ["newton", "irls"])
@pytest.mark.parametrize("size", [0.0, 2.5])
def test_newton_and_irls(solver: str, size: float) -> None:
    lam, start = 1e-4, size * np.array([1.0, 1.0, -1.0, 1.0])
    found = iterates(cml.LogisticRegression(X, S, lam), solver, start)
    points = [np.append(each.w, each.b) for each in found]
    goals = list(islice(damped_newton(np.append(start, 0.0), lam, solver == "irls"), len(points)))
    assert len(points) >= 6
    for point, goal in zip(points, goals, strict=True):
        assert np.allclose(point, goal, rtol=1e-6, atol=1e-8)


def newton_step(
    r: list[Array], s1: Array, s2: Array, z1: Array, z2: Array, t1: Any, t2: Any
) -> list[Array]:
    """(dw, db, dp, dz1, dz2) from the five linearised conditions of a soft margin's dual."""
    one, eye, none = np.ones((N, 1)), np.eye(N), np.zeros
    M = np.block(
        [
            [np.eye(D), none((D, 1)), X.T, none((D, N)), none((D, N))],
            [none((1, D)), none((1, 1)), one.T, none((1, N)), none((1, N))],
            [-X, -one, none((N, N)), -eye, eye],
            [none((N, D)), none((N, 1)), np.diag(z1), np.diag(s1), none((N, N))],
            [none((N, D)), none((N, 1)), -np.diag(z2), none((N, N)), np.diag(s2)],
        ]
    )
    right = np.concatenate([*(-each for each in r), t1 - s1 * z1, t2 - s2 * z2])
    return np.split(np.linalg.solve(M, right), [D, D + 1, D + 1 + N, D + 1 + 2 * N])


def test_interior_point() -> None:
    """Mehrotra's steps for the dual of the soft margin, all unknowns in one dense system."""
    C = 0.8
    lo, hi = np.where(S > 0.0, -C, 0.0), np.where(S > 0.0, 0.0, C)

    def longest(pairs: list[tuple[Array, Array]]) -> float:
        ratios = [1.0 / 0.995]
        for value, change in pairs:
            ratios += [-v / dv for v, dv in zip(value, change, strict=True) if dv < 0.0]
        return min(ratios)

    def expected() -> Iterator[Array]:
        w, b, p = np.zeros(D), 1.0, (lo + hi) / 2.0  # b = 1: most labels are +1
        yield np.zeros(D + 1)
        slope = S - b
        size = np.abs(slope).mean()
        z1, z2 = np.maximum(slope, 0.0) + size, np.maximum(-slope, 0.0) + size
        while True:
            yield np.append(w, b)
            s1, s2 = p - lo, hi - p
            mu = (s1 @ z1 + s2 @ z2) / (2 * N)
            r = [w + X.T @ p, np.array([p.sum()]), S - X @ w - b - z1 + z2]
            _, _, dp, d1, d2 = newton_step(r, s1, s2, z1, z2, 0.0, 0.0)
            far = min(1.0, longest([(s1, dp), (s2, -dp), (z1, d1), (z2, d2)]))
            reached = (s1 + far * dp) @ (z1 + far * d1) + (s2 - far * dp) @ (z2 + far * d2)
            sigma = (reached / (2 * N) / mu) ** 3
            goals = sigma * mu - dp * d1, sigma * mu + dp * d2
            dw, db, dp, d1, d2 = newton_step(r, s1, s2, z1, z2, *goals)
            step = min(1.0, 0.995 * longest([(s1, dp), (s2, -dp), (z1, d1), (z2, d2)]))
            w, b, p = w + step * dw, b + step * float(db[0]), p + step * dp
            z1, z2 = z1 + step * d1, z2 + step * d2

    assert np.sum(S > 0.0) > np.sum(S < 0.0)
    found = iterates(cml.SoftMarginSVM(X, S, C), "interior_point")
    points = [np.append(each.w, each.b) for each in found]
    assert len(points) >= 8
    for k, (point, goal) in enumerate(zip(points, expected(), strict=False)):
        assert np.allclose(point, goal, rtol=1e-6, atol=1e-7), k
