"""The first iterates of deterministic solvers, against plain NumPy and the page's algorithms.

The re-statements see X, y and the numbers of the problem only: losses, proxes, gradients and
linear systems are written out here, dense and slow.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, pairwise
from typing import Any

import numpy as np
import pytest

import convexml as cml
from convexml import losses, penalties, textbook
from convexml.numerics import Array
from convexml.solvers import steps
from convexml.solvers.registry import ALGORITHMS

COUNT, LAM = 10, 0.3
RNG = np.random.default_rng(20)
N, D = 13, 4
X = RNG.normal(size=(N, D)) * np.array([1.0, 0.6, 2.0, 1.3]) + 0.2
Y = X @ np.array([1.0, -2.0, 0.0, 0.5]) + 0.7 + RNG.normal(size=N)
S = np.where(Y > np.quantile(Y, 0.35), 1.0, -1.0)
A = np.column_stack([X, np.ones(N)])
MASK, ZERO = np.append(np.ones(D), 0.0), np.zeros(D + 1)
LASSO_L = float(np.linalg.eigvalsh(A.T @ A / N)[-1])


def iterates(
    problem: Any, solver: str, start: Array | None = None, count: int = COUNT, **options: Any
) -> list[Any]:
    """The first iterates, the start included."""
    objective = problem.objective_parts
    w = np.zeros(objective.d) if start is None else start
    run = ALGORITHMS[solver].start(objective, w, 0.0, 0, options)
    return list(islice(run, count))


def agree(found: list[Any], expected: Iterator[Array], least: int = 8, rtol: float = 1e-8) -> None:
    """That all (w, b) are those expected, and that they move."""
    points = [np.append(each.w, each.b) for each in found]
    assert len(points) >= least
    goals = list(islice(expected, len(points)))
    assert len(goals) == len(points)
    for k, (point, goal) in enumerate(zip(points, goals, strict=True)):
        assert np.allclose(point, goal, rtol=rtol, atol=1e-2 * rtol), (k, point, goal)
    moves = [np.linalg.norm(b - a) > 1e-6 for a, b in pairwise(points)]
    assert sum(moves) >= least - 2


def soft(v: Array, level: Any) -> Array:
    return np.sign(v) * np.maximum(np.abs(v) - level, 0.0)


def in_ball(x: Array, radius: float) -> Array:
    """w in its ball, b free."""
    norm = np.linalg.norm(x[:D])
    return np.append(x[:D] * (radius / norm), x[D]) if norm > radius else x


def hinge_slope(x: Array) -> Array:
    """The mean of -y_i (x_i, 1) where y z < 1; 0 at the kink."""
    return A.T @ np.where(S * (A @ x) < 1.0, -S, 0.0) / N


# -- gradients -------------------------------------------------------------------------------------
def squared_gradient(x: Array) -> Array:
    return A.T @ (A @ x - Y) / N


def ridge_value(x: Array) -> float:
    r = A @ x - Y
    return float(r @ r / (2 * N) + 0.5 * LAM * x[:D] @ x[:D])


def ridge_gradient(x: Array) -> Array:
    return squared_gradient(x) + LAM * MASK * x


@pytest.mark.parametrize("step", [None, 0.07])
def test_gradient_descent(step: float | None) -> None:
    found = iterates(cml.Ridge(X, Y, LAM), "gradient_descent", step=step)
    L = float(np.linalg.eigvalsh(A.T @ A / N)[-1]) + LAM
    gamma = 1.0 / L if step is None else step
    agree(found, textbook.gradient_descent(ridge_gradient, ZERO, gamma))
    assert all(each.facts["step"] == pytest.approx(gamma, rel=1e-12) for each in found)


def searched(first: float, slope: float, borwein: bool) -> Iterator[tuple[Array, float]]:
    """Armijo's rule, the first trial the last step doubled, or the Barzilai-Borwein step."""
    x, step = ZERO, np.nan
    before: tuple[Array, Array] | None = None
    while True:
        yield x, step
        g = ridge_gradient(x)
        trial = first if before is None else 2.0 * step
        if borwein and before is not None:
            s, d = x - before[0], g - before[1]
            trial = float(s @ s) / float(s @ d)
        while not ridge_value(x - trial * g) <= ridge_value(x) - slope * trial * g @ g:
            trial *= 0.5
        before, step, x = (x, g), trial, x - trial * g


@pytest.mark.parametrize(("rule", "first", "slope", "borwein"), [
    (steps.Backtracking(first=3.0), 3.0, 0.5, False),
    (steps.Backtracking(first=50.0, slope=0.1), 50.0, 0.1, False),
    ("barzilai_borwein", 1.0 / (LASSO_L + LAM), 1e-4, True),
    (steps.BarzilaiBorwein(first=40.0, slope=0.4), 40.0, 0.4, True),
], ids=["armijo", "armijo, slope 0.1", "BB", "BB, slope 0.4"])  # fmt: skip
def test_searched_steps_and_the_decrease_of_armijo(
    rule: Any, first: float, slope: float, borwein: bool
) -> None:
    found = iterates(cml.Ridge(X, Y, LAM), "gradient_descent", step=rule)
    pairs = list(islice(searched(first, slope, borwein), COUNT))
    agree(found, iter([x for x, _ in pairs]))
    points = [np.append(each.w, each.b) for each in found]
    taken = [float(each.facts["step"]) for each in found]
    assert taken[1:] == pytest.approx([step for _, step in pairs][1:], rel=1e-6)
    for x, ahead, step in zip(points, points[1:], taken[1:], strict=False):
        g = ridge_gradient(x)
        assert ridge_value(ahead) <= ridge_value(x) - slope * step * (g @ g) + 1e-14


def accelerated(
    step: float, restart: bool, gradient: Any, prox: Any
) -> Iterator[tuple[Array, int]]:
    """Beck and Teboulle's recursion; restarts of O'Donoghue and Candes, by the gradient."""
    x = y = ZERO
    t, origin, k = 1.0, 0, 0
    while True:
        yield x, origin
        ahead = prox(y - step * gradient(y), step)
        k += 1
        following = (1.0 + np.sqrt(1.0 + 4.0 * t**2)) / 2.0
        if restart and (y - ahead) @ (ahead - x) > 0.0:
            y, t, origin = ahead, 1.0, k
        else:
            y, t = ahead + (t - 1.0) / following * (ahead - x), following
        x = ahead


def accelerates(found: list[Any], count: int, *recursion: Any) -> int:
    """That so many iterates and restarts are those of the recursion; the last restart."""
    points, restarts = zip(*islice(accelerated(*recursion), count), strict=True)
    agree(found, iter(points))
    assert tuple(each.facts["restarted_at"] for each in found) == restarts
    return int(restarts[-1])


@pytest.mark.parametrize("restart", [True, False])
def test_accelerated_gradient(restart: bool) -> None:
    lam = 1e-3
    problem = cml.LogisticRegression(X, S, lam)
    L = 0.25 * LASSO_L + lam
    gradient = lambda x: A.T @ (-S / (1.0 + np.exp(S * (A @ x)))) / N + lam * MASK * x  # noqa: E731
    for step in (None, 5.0 / L):  # the longer one overshoots, and restarts
        found = iterates(problem, "accelerated_gradient", count=60, step=step, restart=restart)
        last = accelerates(found, 60, step or 1.0 / L, restart, gradient, lambda v, _: v)
        assert (last > 0) == restart or step is None


def lasso_prox(v: Array, step: float) -> Array:
    return np.append(soft(v[:D], step * 0.2), v[D])


@pytest.mark.parametrize("restart", [True, False])
def test_fista(restart: bool) -> None:
    for step in (None, 1.9 / LASSO_L):
        found = iterates(cml.Lasso(X, Y, 0.2), "fista", step=step, restart=restart)
        accelerates(found, COUNT, step or 1.0 / LASSO_L, restart, squared_gradient, lasso_prox)


def test_proximal_gradient() -> None:
    found = iterates(cml.Lasso(X, Y, 0.2), "proximal_gradient")
    page = textbook.proximal_gradient(squared_gradient, lasso_prox, ZERO, 1.0 / LASSO_L)
    agree(found, page)


# -- subgradients ----------------------------------------------------------------------------------
def test_the_subgradient_method_projects_on_the_ball_and_averages() -> None:
    radius, eta = 0.3, 0.11
    problem = cml.LearningProblem(X, S, losses.Hinge(), penalties.L2Ball(radius))
    found = iterates(problem, "subgradient", step=eta)
    into = lambda x: in_ball(x, radius)  # noqa: E731
    agree(found, textbook.subgradient(hinge_slope, ZERO, eta, into, True))
    last = COUNT * found[-1].w - (COUNT - 1) * found[-2].w
    assert np.linalg.norm(last) == pytest.approx(radius)  # the projection was needed


def test_the_subgradient_method_stays_in_the_ball_of_a_strongly_convex_penalty() -> None:
    C, eta, x0 = 0.5, 0.9, np.array([0.1, 0.0, -0.2, 0.3, 0.0])
    value = 0.5 * x0 @ x0 + C * np.sum(np.maximum(1.0 - S * (A @ x0), 0.0))
    ball = np.sqrt(2.0 * value)
    found = iterates(cml.SoftMarginSVM(X, S, C), "subgradient", x0[:D], step=eta)
    slope = lambda x: C * N * hinge_slope(x) + MASK * x  # noqa: E731
    agree(found, textbook.subgradient(slope, x0, eta, lambda x: in_ball(x, ball), True))
    assert found[0].facts["ball"] == pytest.approx(ball)
    recovered = [(k + 1) * b.w - k * a.w for k, (a, b) in enumerate(pairwise(found), 1)]
    assert max(map(np.linalg.norm, recovered)) == pytest.approx(ball)


def test_the_default_step_of_the_subgradient_method() -> None:
    problem = cml.LearningProblem(X, S, losses.Hinge(), penalties.L2Ball(0.5), fit_intercept=False)
    (first, *_) = iterates(problem, "subgradient", horizon=400)
    one_by_one = np.mean(np.linalg.norm(X, axis=1))
    together = np.sqrt(np.linalg.eigvalsh(X.T @ X / N)[-1])
    P0 = 1.0
    rho = min(one_by_one, together)
    assert first.facts["step"] == pytest.approx(P0 / rho / (rho * 20.0))


def test_perceptron() -> None:
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(30, 3))
    labels = np.where(rows @ np.array([1.0, -1.0, 0.4]) + 0.1 > 0.0, 1.0, -1.0)
    wide = np.column_stack([rows, np.ones(30)])

    def scaled() -> Iterator[Array]:
        for x in textbook.perceptron(wide, labels):
            margin = np.min(labels * (wide @ x))
            yield x / margin if margin > 0.0 else x

    problem = cml.HalfspaceLP(rows, labels, fit_intercept=True)
    found = iterates(problem, "perceptron", count=1000)
    agree(found, scaled(), least=6)


@pytest.mark.parametrize("rho", [1e-4, 0.05, 40.0])
def test_admm_and_its_changes_of_rho(rho: float) -> None:
    lam, blocks = 0.2, 3
    rows = np.split(np.arange(N), [5, 10])
    tau = np.append(np.sum(X**2, axis=0), float(N)) / blocks
    changes, residuals = [], []

    def expected() -> Iterator[Array]:
        strength = rho
        v = np.zeros(D + 1)
        x, t = np.zeros((blocks, D + 1)), np.zeros((blocks, D + 1))
        p, s = np.zeros(N), np.zeros(N)
        yield v
        for iteration in range(1, 100):
            z = (Y / N + strength * (p - s)) / (1.0 / N + strength)
            mean = np.mean(x - t, axis=0)
            v = np.append(soft(mean[:D], lam / (strength * tau[:D] * blocks)), mean[D])
            x_old, p_old = x.copy(), p.copy()
            for k, at in enumerate(rows):  # least squares for (v + t_k, z + s) on p = X x
                M = np.vstack([A[at], np.diag(np.sqrt(tau))])
                goal = np.append(z[at] + s[at], np.sqrt(tau) * (v + t[k]))
                x[k] = np.linalg.lstsq(M, goal, rcond=None)[0]
                p[at] = A[at] @ x[k]
            s, t = s + z - p, t + v - x
            primal = np.sum((z - p) ** 2) + np.sum(tau * (v - x) ** 2)
            dual = np.sum((p - p_old) ** 2) + np.sum(tau * (x - x_old) ** 2)
            residuals.append((primal, dual))
            yield v
            ratio = np.sqrt(primal / dual)
            if iteration % 5 == 0 and not 1 / 3 < ratio < 3:
                factor = 2.0 if ratio > 1.0 else 0.5
                changes.append(factor)
                strength, s, t = strength * factor, s / factor, t / factor

    found = iterates(cml.Lasso(X, Y, lam), "admm", count=18, rho=rho, blocks=blocks)
    agree(found, expected())
    assert bool(changes) == (rho != 0.05)
    told = [(each.facts["primal"], each.facts["dual"]) for each in found[1:]]
    assert np.allclose(told, residuals[: len(told)], rtol=1e-7)
    assert found[-1].facts["rho"] != rho or rho == 0.05


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
    expected = damped_newton(np.append(start, 0.0), lam, solver == "irls")
    agree(found, expected, least=6, rtol=1e-6)


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
    agree(iterates(cml.SoftMarginSVM(X, S, C), "interior_point"), expected(), rtol=1e-6)
