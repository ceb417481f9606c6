"""The first iterates of coordinate descent and its dual, against plain NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

import numpy as np
from support.solvers.by_hand import A, D, N, S, X, Y, agree, iterates, soft

import convexml as cml
from convexml import losses, penalties
from convexml.numerics import Array
from convexml.solvers.coordinate.dual_steps import ascend_pairs
from convexml.solvers.registry import ALGORITHMS


def test_coordinate_descent() -> None:
    """Elastic net on the logistic loss: cycles on the quadratic model, then Armijo."""
    lam, share = 0.06, 0.7
    l1, l2 = lam * share, lam * (1.0 - share)

    def value(x: Array) -> float:
        fit = float(np.mean(np.logaddexp(0.0, -S * (A @ x))))
        return fit + l1 * np.abs(x[:D]).sum() + 0.5 * l2 * float(x[:D] @ x[:D])

    def expected() -> Iterator[Array]:
        x = np.zeros(D + 1)
        while True:
            yield x
            p = 1.0 / (1.0 + np.exp(-S * (A @ x)))
            slope = A.T @ (-S * (1.0 - p)) / N
            h = np.clip(p * (1.0 - p), 0.25e-3, 0.25) / N
            gram = A.T @ (h[:, None] * A)
            top = np.diag(gram)[:D].max()
            trial = soft(x[:D] - slope[:D] / top, l1 / top) / (1.0 + l2 / top)
            free = np.append((x[:D] != 0.0) | (trial != x[:D]), True)
            new = x.copy()
            for _ in range(200):
                for j in np.flatnonzero(free):
                    g = slope[j] + gram[j] @ (new - x)
                    goal = gram[j, j] * new[j] - g
                    if j < D:
                        new[j] = soft(goal, l1) / (gram[j, j] + l2)
                    else:
                        new[j] = goal / gram[j, j]
            step = new - x
            penalty = l1 * (np.abs(new[:D]).sum() - np.abs(x[:D]).sum())
            penalty += 0.5 * l2 * float(new[:D] @ new[:D] - x[:D] @ x[:D])
            descent, t = float(slope @ step) + penalty, 1.0
            while value(x + t * step) > value(x) + 1e-4 * t * descent + 1e-15:
                t *= 0.5
            x = x + t * step

    problem = cml.LearningProblem(X, S, losses.Logistic(), penalties.ElasticNet(lam, share))
    start = np.zeros(D)
    found = list(
        islice(
            ALGORITHMS["coordinate_descent"].start(problem.objective_parts, start, 0.0, 0, {}), 8
        )
    )
    agree(found, expected(), least=6)


def test_dual_coordinate_descent_without_an_intercept() -> None:
    """Hsieh et al.: single coordinates, those that violate most first, three rounds of them."""
    C = 0.7

    def expected() -> Iterator[Array]:
        alpha = np.zeros(N)
        Q = (S[:, None] * X) @ (S[:, None] * X).T
        yield np.zeros(D + 1)
        while True:
            w = X.T @ (alpha * S)
            yield np.append(w, 0.0)
            g = Q @ alpha - 1.0
            gain = np.maximum(np.where(alpha < C, -g, -np.inf), np.where(alpha > 0, g, -np.inf))
            order = np.argsort(-gain, kind="stable")
            for i in np.tile(order, 3):
                alpha[i] = np.clip(alpha[i] - (Q[i] @ alpha - 1.0) / Q[i, i], 0.0, C)

    problem = cml.SoftMarginSVM(X, S, C, fit_intercept=False)
    agree(iterates(problem, "dual_coordinate_descent"), expected())


def test_dual_coordinate_descent_with_an_intercept_takes_pairs() -> None:
    """Fan, Chen and Lin: the largest slope falls, its partner by the decrease promised.

    Most steps end at a bound: after a step between bounds two slopes tie, and rounding chooses.
    """
    lam, n, delta = 0.4, N, 0.25
    problem = cml.LearningProblem(X, Y, losses.Huber(delta), penalties.L2(lam))

    def expected() -> Iterator[Array]:
        # min over u: sum_i n u_i^2 / 2 + y_i u_i + |X'u|^2 / (2 lam), |u_i| <= delta / n, sum u = 0
        u, bound = np.zeros(n), delta / n
        Q = X @ X.T / lam + n * np.eye(n)
        while True:
            yield -X.T @ u / lam
            for _ in range(3 * n):
                g = Q @ u + Y
                falls = np.flatnonzero(u > -bound)
                i = falls[np.argmax(g[falls])]
                best, j = 0.0, -1
                for k in range(n):
                    curve = Q[i, i] + Q[k, k] - 2.0 * Q[i, k]
                    fall = g[i] - g[k]
                    if u[k] < bound and fall > 0.0 and curve > 0.0 and fall**2 / curve > best:
                        best, j, step = fall**2 / curve, k, fall / curve
                if j < 0:
                    break
                step = min(step, u[i] + bound, bound - u[j])
                ends = step == u[i] + bound, step == bound - u[j]
                u[i], u[j] = u[i] - step, u[j] + step
                u[i], u[j] = (-bound if ends[0] else u[i]), (bound if ends[1] else u[j])

    found = iterates(problem, "dual_coordinate_descent")[1:]
    goals = list(islice(expected(), len(found)))
    assert len(found) >= 2
    for each, w in zip(found, goals, strict=True):
        assert np.allclose(each.w, w, rtol=1e-6, atol=1e-8)
    assert np.linalg.norm(found[1].w) > 1e-3


def test_the_partner_in_a_pair_is_the_one_that_promises_most() -> None:
    # slopes 0.3, -0.2, -0.3: the steepest pair (0, 2) gains 0.36 / 101, the pair (0, 1) 0.25 / 2
    u, g = np.zeros(3), np.array([0.3, -0.2, -0.3])
    ascend_pairs(np.diag([1.0, 1.0, 100.0]), g, u, -np.ones(3), np.ones(3), 0.0, 1, 0.0)
    assert np.allclose(u, [-0.25, 0.25, 0.0])
    assert np.allclose(g, [0.05, 0.05, -0.3])
