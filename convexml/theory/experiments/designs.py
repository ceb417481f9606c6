"""Estimators on a fixed design, measured over the noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics import Array
from ..simulation import Experiment
from ..statistics import (
    least_squares_excess_risk,
    least_squares_variance,
    ridge_best_lam,
    ridge_bias,
    ridge_risk,
    ridge_risk_bound,
    ridge_variance,
    source_risk,
)

Draw = tuple[Any, Any]
Random = np.random.Generator
REPEATS = 40
"""Fits within a draw."""


def fits(rng: Random, X: Array, theta: Array, sigma: float, lam: float) -> Array:
    """theta_hat - theta of the minimisers of |y - X w|^2 / n + lam |w|^2, a row each."""
    Y = X @ theta + sigma * rng.normal(size=(REPEATS, len(X)))
    gram = X.T @ X + len(X) * lam * np.eye(X.shape[1])
    return np.linalg.solve(gram, X.T @ Y.T).T - theta


def fixed(n: int, d: int) -> tuple[Array, Array]:
    """The design and the true coefficients of a problem: the same for all seeds."""
    rng = np.random.default_rng(n)
    return rng.normal(size=(n, d)) / np.arange(1, d + 1), rng.normal(size=d)


def square(errors: Array) -> float:
    """The mean of |theta_hat - theta|^2."""
    return float(np.mean(np.sum(errors**2, axis=1)))


def risk(X: Array, errors: Array) -> float:
    """The mean of |X (theta_hat - theta)|^2 / n."""
    return square(errors @ X.T) / len(X)


def least_squares(bound: Any, rng: Random, n: int, d: int, sigma: float) -> Draw:
    """E |theta_hat - theta|^2 is the trace of the variance."""
    X, theta = fixed(n, d)
    return square(fits(rng, X, theta, sigma, 0.0)), np.trace(bound(X, sigma=sigma))


def gauss_markov(bound: Any, rng: Random, n: int, d: int, sigma: float) -> Draw:
    """The variance, in a random direction, of least squares with random weights."""
    X, _ = fixed(n, d)
    W, v = rng.uniform(0.2, 5.0, n), rng.normal(size=d)
    A = np.linalg.solve((X.T * W) @ X, X.T * W)
    return sigma**2 * float(np.sum((v @ A) ** 2)), v @ bound(X, sigma=sigma) @ v


def least_squares_risk(bound: Any, rng: Random, n: int, d: int, sigma: float) -> Draw:
    """The risk of least squares."""
    X, theta = fixed(n, d)
    return risk(X, fits(rng, X, theta, sigma, 0.0)), bound(X, sigma)


NOISY = (
    {"n": 10, "d": 2, "sigma": 0.5},
    {"n": 30, "d": 5, "sigma": 1.0},
    {"n": 60, "d": 3, "sigma": 2.0},
)


def variance(bound: Any, rng: Random, n: int, d: int, sigma: float, lam: float) -> Draw:
    """E |theta_hat|^2 where theta = 0."""
    X, _ = fixed(n, d)
    return square(fits(rng, X, np.zeros(d), sigma, lam)), np.trace(bound(X, sigma=sigma, lam=lam))


def split(bound: Any, rng: Random, n: int, d: int, sigma: float, lam: float) -> Draw:
    """E |theta_hat - theta|^2 = |bias|^2 + trace of the variance."""
    X, theta = fixed(n, d)
    spread = float(np.trace(ridge_variance(X, sigma=sigma, lam=lam)))
    shift = float(np.sum(bound(X, theta, lam=lam) ** 2))
    return square(fits(rng, X, theta, sigma, lam)), shift + spread


def ridge(bound: Any, rng: Random, n: int, d: int, sigma: float, lam: float) -> Draw:
    """The risk of ridge regression."""
    X, theta = fixed(n, d)
    return risk(X, fits(rng, X, theta, sigma, lam)), bound(X, theta, sigma, lam)


def best(bound: Any, rng: Random, n: int, d: int, sigma: float, lam: float) -> Draw:
    """The bound of the risk at any lam, against that at the best."""
    X, theta = fixed(n, d)
    other = lam * float(np.exp(rng.normal()))
    least = ridge_risk_bound(X, theta, sigma, bound(X, theta, sigma))
    return ridge_risk_bound(X, theta, sigma, other), least


def smooth(bound: Any, rng: Random, n: int, d: int, source: float, lam: float) -> Draw:
    """The risk of ridge regression where theta = S^r g, |g| = 1, sigma = 1."""
    X, g = fixed(n, d)
    values, V = np.linalg.eigh(X.T @ X / n)
    theta = V @ (values**source * (V.T @ g / np.linalg.norm(g)))
    limit = bound(X, sigma=1.0, lam=lam, source=source, norm=1.0)
    return risk(X, fits(rng, X, theta, 1.0, lam)), limit


STRENGTHS = tuple(
    {"n": n, "d": d, "sigma": s, "lam": lam}
    for n, d, s, lam in ((10, 2, 0.5, 0.1), (30, 5, 1.0, 0.5), (20, 30, 1.0, 0.2))
)
SOURCES = tuple(
    {"n": n, "d": d, "source": r, "lam": lam}
    for n, d, r, lam in ((30, 5, 0.0, 0.3), (30, 5, 0.25, 0.2), (60, 10, 0.5, 0.1))
)

TABLE = [
    Experiment(
        least_squares_variance, "equal", "E |theta_hat - theta|^2 = trace", least_squares, NOISY
    ),
    Experiment(
        least_squares_variance,
        "lower",
        "variance of another linear unbiased estimate (Gauss and Markov)",
        gauss_markov,
        NOISY,
        each=True,
    ),
    Experiment(least_squares_excess_risk, "equal", "E risk", least_squares_risk, NOISY),
    Experiment(ridge_variance, "equal", "E |theta_hat|^2 = trace, theta = 0", variance, STRENGTHS),
    Experiment(ridge_bias, "equal", "E |theta_hat - theta|^2 = bias^2 + var", split, STRENGTHS),
    Experiment(ridge_risk, "equal", "E risk of ridge", ridge, STRENGTHS),
    Experiment(ridge_risk_bound, "upper", "E risk of ridge", ridge, STRENGTHS),
    Experiment(ridge_best_lam, "lower", "the bound at any other lam", best, STRENGTHS, each=True),
    Experiment(source_risk, "upper", "E risk of ridge, theta = S^r g", smooth, SOURCES),
]
