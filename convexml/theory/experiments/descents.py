"""Rates, measured on the textbook's algorithms: each draw takes (bound, generator, a problem)."""

from __future__ import annotations

from itertools import islice
from typing import Any, NamedTuple

import numpy as np

from ... import textbook
from ...numerics import Array, soft_threshold
from ..gradient_rates import (
    accelerated_value,
    decreasing_subgradient_value,
    descent_decrease,
    gradient_descent_distance,
    gradient_descent_steps,
    gradient_descent_value,
    proximal_gradient_rate,
    subgradient_value,
)
from ..newton_rates import (
    THIRD_DERIVATIVE,
    conjugate_gradients_value,
    inexact_distance,
    newton_distance,
)
from ..simulation import Experiment
from ..stochastic import (
    leader_regret,
    online_regret,
    pegasos_value,
    perceptron_updates,
    saga_distance,
    saga_factor,
    sgd_distance,
)

Draw = tuple[Any, Any]
Random = np.random.Generator
STEPS = 60


class TrialProblem(NamedTuple):
    """mean l(y_i, x_i.w) + (lam / 2) |w|^2, its constants and its minimiser."""

    X: Array
    y: Array
    lam: float
    logistic: bool

    def slopes(self, w: Array) -> Array:
        """l' of each sample."""
        z = self.X @ w
        return -self.y / (1.0 + np.exp(self.y * z)) if self.logistic else z - self.y

    def value(self, w: Array) -> float:
        """P(w)."""
        z = self.X @ w
        loss = np.logaddexp(0.0, -self.y * z) if self.logistic else 0.5 * (z - self.y) ** 2
        return float(loss.mean() + 0.5 * self.lam * w @ w)

    def gradient(self, w: Array) -> Array:
        """Of P."""
        return self.X.T @ self.slopes(w) / len(self.y) + self.lam * w

    def sample_gradient(self, w: Array, i: int) -> Array:
        """Of l(y_i, x_i.w) + (lam / 2) |w|^2."""
        return self.X[i] * self.slopes(w)[i] + self.lam * w

    def hessian(self, w: Array) -> Array:
        """Of P."""
        s = np.abs(self.slopes(w))
        curvature = s * (1.0 - s) if self.logistic else np.ones(len(s))
        return (self.X.T * curvature) @ self.X / len(s) + self.lam * np.eye(len(w))

    @property
    def bend(self) -> float:
        """The largest l''."""
        return 0.25 if self.logistic else 1.0

    @property
    def spectrum(self) -> Array:
        """Eigenvalues of X'X / n."""
        return np.linalg.eigvalsh(self.X.T @ self.X / len(self.y))

    @property
    def L(self) -> float:
        """Of the gradient."""
        return float(self.bend * self.spectrum[-1] + self.lam)

    @property
    def L_max(self) -> float:
        """Of the gradient of a sample."""
        return float(self.bend * np.max(np.sum(self.X**2, axis=1)) + self.lam)

    @property
    def mu(self) -> float:
        """Strong convexity."""
        return float(self.lam + (0.0 if self.logistic else self.spectrum[0]))

    @property
    def best(self) -> Array:
        """w*, by Newton's method."""
        start = np.zeros(self.X.shape[1])
        return next(islice(textbook.newton(self.gradient, self.hessian, start), 30, None))


def posed(rng: Random, loss: str, n: int, d: int, lam: float) -> tuple[TrialProblem, Array, Array]:
    """Random data, the minimiser and a start."""
    X = rng.normal(size=(n, d)) / np.sqrt(np.arange(1, d + 1))
    z = X @ rng.normal(size=d) + 0.5 * rng.normal(size=n)
    problem = TrialProblem(X, np.sign(z) if loss == "logistic" else z, lam, loss == "logistic")
    return problem, problem.best, rng.normal(size=d)


def away(points: Any, best: Array) -> Array:
    """|x_t - x*|^2."""
    return np.array([np.sum((x - best) ** 2) for x in points])


def descent(bound: Any, rng: Random, **numbers: Any) -> Draw:
    """Distances or values of gradient descent with the step 1/L, at t = 1, 2, ..."""
    P, best, x = posed(rng, **numbers)
    points = list(islice(textbook.gradient_descent(P.gradient, x, 1.0 / P.L), 1, STEPS))
    t, start = np.arange(1, STEPS), float(np.sum((x - best) ** 2))
    if bound.__name__ == "gradient_descent_distance":
        return away(points, best), bound(t, step=1.0 / P.L, mu=P.mu, distance=start)
    return values(P, points, best), bound(t, step=1.0 / P.L, distance=start)


def values(P: TrialProblem, points: Any, best: Array) -> Array:
    """P(x_t) - P*."""
    return np.array([P.value(x) for x in points]) - P.value(best)


def decrease(bound: Any, rng: Random, **numbers: Any) -> Draw:
    """What a step of a random length below 2/L gains."""
    P, _, x = posed(rng, **numbers)
    step = float(rng.uniform(0.1, 1.99)) / P.L
    g = P.gradient(x)
    return P.value(x) - P.value(x - step * g), bound(step=step, L=P.L, square=float(g @ g))


def enough(bound: Any, rng: Random, **numbers: Any) -> Draw:
    """The steps until |x_t - x*|^2 <= 1e-6."""
    P, best, x = posed(rng, **numbers)
    points = textbook.gradient_descent(P.gradient, x, 1.0 / P.L)
    T = next(t for t, point in enumerate(points) if np.sum((point - best) ** 2) <= 1e-6)
    distance = float(np.sum((x - best) ** 2))
    return T, bound(eps=1e-6, step=1.0 / P.L, mu=P.mu, distance=distance)


def accelerated(bound: Any, rng: Random, **numbers: Any) -> Draw:
    """The values of Nesterov's method with the step 1/L."""
    P, best, x = posed(rng, **numbers)
    points = list(islice(textbook.accelerated_gradient(P.gradient, x, 1.0 / P.L), STEPS))
    limit = bound(np.arange(STEPS), L=P.L, distance=float(np.sum((x - best) ** 2)))
    return values(P, points, best), limit


def conjugate(bound: Any, rng: Random, **numbers: Any) -> Draw:
    """The values of conjugate gradients on H w = h."""
    P, best, x = posed(rng, **numbers)
    H, points = P.hessian(x), [x]
    r = p = -P.gradient(x)
    for _ in range(len(x) - 1):
        step = (r @ r) / (p @ H @ p)
        x, before = x + step * p, r
        r = r - step * H @ p
        p = r + (r @ r) / (before @ before) * p
        points.append(x)
    gaps = values(P, points, best)
    return gaps, bound(np.arange(len(points)), condition=P.L / P.mu, start=float(gaps[0]))


def newton(bound: Any, rng: Random, **numbers: Any) -> Draw:
    """|x_{t+1} - x*| of (inexact) Newton steps from within the quadratic phase."""
    P, best, x = posed(rng, **numbers)
    m = float(np.linalg.eigvalsh(P.hessian(best))[0])
    rows = np.max(np.linalg.norm(P.X, axis=1))
    M = float(THIRD_DERIVATIVE["logistic"] * rows * P.spectrum[-1])
    x, found = best + m / (3.0 * M) * x / np.linalg.norm(x), []
    for _ in range(3):
        r, error = float(np.linalg.norm(x - best)), np.zeros(len(x))
        known = {}
        if bound.__name__ == "inexact_distance":
            error = 0.1 * np.linalg.norm(P.gradient(x)) * rng.normal(size=len(x)) / len(x)
            known = {"residual": float(np.linalg.norm(error))}
        x = x - np.linalg.solve(P.hessian(x), P.gradient(x) + error)
        found.append((np.linalg.norm(x - best), bound(r, m=m, M=M, **known)))
    measured, limit = np.array(found).T
    return measured, np.minimum(limit, 1e6)


def proximal(bound: Any, rng: Random, **numbers: Any) -> Draw:
    """|x_{t+1} - x*|^2 against q |x_t - x*|^2, with 0.1 |w|_1 + (0.2 / 2) |w|^2 for a penalty."""
    P, _, x = posed(rng, **numbers)
    step = 1.0 / P.L

    def prox(v: Array, gamma: float) -> Array:
        return soft_threshold(v, 0.1 * gamma) / (1.0 + 0.2 * gamma)

    steps = textbook.proximal_gradient(P.gradient, prox, x, step)
    points = list(islice(steps, 2000))
    distances = away(points[:STEPS], points[-1])
    return distances[1:], bound(step=step, mu_f=P.mu, mu_g=0.2) * distances[:-1]


def sgd(bound: Any, rng: Random, **numbers: Any) -> Draw:
    """|x_T - x*|^2 of SGD with the step 1 / (2 L_max)."""
    P, best, x = posed(rng, **numbers)
    n, step, T = len(P.y), 0.5 / P.L_max, 200
    points = textbook.sgd(P.sample_gradient, n, x, step, int(rng.integers(2**31)))
    noise = float(np.mean([np.sum(P.sample_gradient(best, i) ** 2) for i in range(n)]))
    distance = float(np.sum((x - best) ** 2))
    last = next(islice(points, T, None))
    return np.sum((last - best) ** 2), bound(T, step=step, mu=P.mu, noise=noise, distance=distance)


def saga(bound: Any, rng: Random, **numbers: Any) -> Draw:
    """|x_T - x*|^2 of SAGA with the step 1 / (4 L_max)."""
    P, best, x = posed(rng, **numbers)
    n, step, T = len(P.y), 0.25 / P.L_max, 200
    points = textbook.saga(
        P.sample_gradient, lambda v, gamma: v, n, x, step, int(rng.integers(2**31))
    )
    factor = saga_factor if bound is saga_distance else bound
    start = float(np.sum((x - best) ** 2)) * (1.0 + 3.0 * n * step**2 * P.L_max * P.L)
    rate = factor(step=step, n=n, mu_f=P.mu)
    limit = bound if bound is saga_distance else saga_distance
    last = next(islice(points, T, None))
    return np.sum((last - best) ** 2), limit(T, factor=rate, start=start)


def absolute(rng: Random, T: int, d: int) -> tuple[Array, Array, Array]:
    """Rows of length 1, targets, and a point of length at most 1 to compare with."""
    X = rng.normal(size=(T, d))
    X /= np.linalg.norm(X, axis=1)[:, None]
    w = rng.normal(size=d)
    w /= max(1.0, float(np.linalg.norm(w)))
    return X, X @ w + 0.3 * rng.standard_t(3, size=T), w


def into_ball(x: Array) -> Array:
    """The nearest point with |x| <= 1."""
    return x / max(1.0, float(np.linalg.norm(x)))


def regret(bound: Any, rng: Random, T: int, d: int) -> Draw:
    """Regret of rounds |x_t.w - y_t| in the unit ball, after 1, 2, ... T, against a fixed w."""
    X, y, w = absolute(rng, T, d)
    step, t = 1.0 / np.sqrt(T), np.arange(1, T + 1)

    def slope(x: Array, s: int) -> Array:
        return X[s] * np.sign(X[s] @ x - y[s])

    if bound.__name__ == "online_regret":
        game = textbook.online_gradient_descent(slope, np.zeros(d), step, into_ball)
        limit = bound(t, step=step, slope=1.0, distance=float(w @ w))
    else:
        game = textbook.follow_the_regularized_leader(slope, d, step, into_ball)
        limit = bound(t, step=step, slope=1.0, spread=0.5 * float(w @ w))
    played = np.array(list(islice(game, T)))
    suffered = np.abs(np.sum(X * played, axis=1) - y)
    return np.cumsum(suffered - np.abs(X @ w - y)), limit


def averaged(bound: Any, rng: Random, T: int, d: int) -> Draw:
    """f(mean of x_0 ... x_{t-1}) - f(w) of the subgradient method, f = mean |x_i.w - y_i|."""
    X, y, w = absolute(rng, 40, d)

    def slope(x: Array) -> Array:
        return X.T @ np.sign(X @ x - y) / len(y)

    falls = bound is decreasing_subgradient_value
    step = (lambda s: 1.0 / np.sqrt(s + 1.0)) if falls else 1.0 / np.sqrt(T)
    points = np.array(list(islice(textbook.subgradient(slope, np.zeros(d), step), T)))
    means = np.cumsum(points, axis=0) / np.arange(1, T + 1)[:, None]
    gaps = np.abs(means @ X.T - y).mean(axis=1) - np.abs(X @ w - y).mean()
    first = {"scale": 1.0} if falls else {"step": step}
    return gaps, bound(np.arange(1, T + 1), rho=1.0, distance=float(w @ w), **first)


ROUNDS = tuple({"T": T, "d": d} for T, d in ((20, 2), (100, 5), (400, 3)))


def pegasos(bound: Any, rng: Random, n: int, d: int, lam: float) -> Draw:
    """f(mean of w_1 ... w_T) - f*, T = 200, rows of length 1: rho = 2; f* by dual ascent."""
    X, z, _ = absolute(rng, n, d)
    y, T = np.sign(z), 200
    ascent = textbook.dual_coordinate_ascent(X, y, 1.0 / (lam * n), seed=None)
    w = next(islice(ascent, 60 * n, None))[0]

    def value(v: Array) -> float:
        return float(np.maximum(1.0 - y * (X @ v), 0.0).mean() + 0.5 * lam * v @ v)

    mean = next(islice(textbook.pegasos(X, y, lam, int(rng.integers(2**31))), T - 1, None))
    return value(mean) - value(w), bound(T, lam=lam, rho=2.0)


def perceptron(bound: Any, rng: Random, n: int, d: int, margin: float) -> Draw:
    """Updates on data that a unit vector separates with a margin."""
    w = into_ball(10.0 * rng.normal(size=d))
    X = rng.normal(size=(n, d))
    y = np.where(X @ w >= 0.0, 1.0, -1.0)
    X += margin * y[:, None] * w
    updates = sum(1 for _ in textbook.perceptron(X, y)) - 1
    radius = float(np.max(np.linalg.norm(X, axis=1)))
    return updates, bound(radius=radius, w=w / float(np.min(y * (X @ w))))


def data(*rows: tuple[str, int, int, float]) -> tuple[dict[str, Any], ...]:
    """Problems by loss, samples, features, strength."""
    return tuple({"loss": loss, "n": n, "d": d, "lam": lam} for loss, n, d, lam in rows)


MIXED = data(("squared", 30, 4, 0.0), ("squared", 10, 20, 0.1), ("logistic", 40, 5, 0.1))
SQUARED = data(("squared", 30, 4, 0.0), ("squared", 10, 20, 0.1), ("squared", 50, 8, 0.01))
LOGISTIC = data(("logistic", 30, 2, 0.1), ("logistic", 40, 5, 0.1), ("logistic", 20, 8, 0.5))
DRAWN = data(("squared", 10, 3, 0.1), ("squared", 20, 5, 0.5), ("logistic", 20, 3, 0.2))
UPPER = "upper"

TABLE = [
    Experiment(gradient_descent_distance, UPPER, "|x_t - x*|^2", descent, MIXED, each=True),
    Experiment(gradient_descent_value, UPPER, "f(x_t) - f*", descent, MIXED, each=True),
    Experiment(descent_decrease, "lower", "f(x_t) - f(x_{t+1})", decrease, MIXED, each=True),
    Experiment(gradient_descent_steps, UPPER, "T: |x_T - x*|^2 <= 1e-6", enough, MIXED, each=True),
    Experiment(accelerated_value, UPPER, "f(x_t) - f*", accelerated, MIXED, each=True),
    Experiment(conjugate_gradients_value, UPPER, "f(x_t) - f*", conjugate, SQUARED, each=True),
    Experiment(newton_distance, UPPER, "|x_{t+1} - x*|", newton, LOGISTIC, each=True),
    Experiment(inexact_distance, UPPER, "|x_{t+1} - x*|", newton, LOGISTIC, each=True),
    Experiment(proximal_gradient_rate, UPPER, "|x_{t+1} - x*|^2", proximal, MIXED, each=True),
    Experiment(subgradient_value, UPPER, "f(mean) - f(w)", averaged, ROUNDS, each=True),
    Experiment(decreasing_subgradient_value, UPPER, "f(mean) - f(w)", averaged, ROUNDS, each=True),
    Experiment(online_regret, UPPER, "regret after t rounds", regret, ROUNDS, each=True),
    Experiment(leader_regret, UPPER, "regret after t rounds", regret, ROUNDS, each=True),
    Experiment(sgd_distance, UPPER, "E |x_T - x*|^2", sgd, DRAWN),
    Experiment(saga_distance, UPPER, "E |x_T - x*|^2", saga, DRAWN),
    Experiment(saga_factor, UPPER, "E |x_T - x*|^2", saga, DRAWN),
    Experiment(
        pegasos_value,
        UPPER,
        "E f(mean) - f*",
        pegasos,
        tuple(
            {"n": n, "d": d, "lam": lam} for n, d, lam in ((30, 2, 0.1), (50, 5, 0.5), (20, 9, 1.0))
        ),
    ),
    Experiment(
        perceptron_updates,
        UPPER,
        "updates",
        perceptron,
        tuple(
            {"n": n, "d": d, "margin": m} for n, d, m in ((20, 2, 0.5), (50, 5, 0.3), (30, 10, 1.0))
        ),
        each=True,
    ),
]
