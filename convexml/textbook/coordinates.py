"""One coordinate, or one block of variables, at a time, as printed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..numerics import Array, soft_threshold


def coordinate_descent(
    X: Array, y: Array, lam: float, w: Array, seed: int | None = None
) -> Iterator[Array]:
    """Coordinate descent for (1/2n) |y - X w|^2 + lam |w|_1: an iterate a coordinate.

    w_j <- S(X_j'(y - X w + X_j w_j) / n, lam) / (|X_j|^2 / n), j = 1 ... d in turn, or drawn
    uniformly. Source: [H] 6; Friedman, Hastie and Tibshirani, 2010, section 2.

    Parameters
    ----------
    X : array, shape (n, d)
        Without columns of zeros.
    y : array, shape (n,)
        The responses.
    lam : float
        >= 0.
    w : array, shape (d,)
        The start.
    seed : int, optional
        Of the draws; None goes through the coordinates in turn.

    Yields
    ------
    array, shape (d,)
        The start, and w after each coordinate.
    """
    n, d = X.shape
    rng, t = np.random.default_rng(seed), 0
    while True:
        yield w
        j = t % d if seed is None else int(rng.integers(d))
        w = w.copy()
        correlation = X[:, j] @ (y - X @ w + X[:, j] * w[j]) / n
        w[j] = soft_threshold(correlation, lam) / (X[:, j] @ X[:, j] / n)
        t += 1


def dual_coordinate_ascent(
    X: Array, y: Array, C: Array | float, seed: int | None = None
) -> Iterator[tuple[Array, Array]]:
    """Dual coordinate ascent for 1/2 |w|^2 + C sum (1 - y_i <w, x_i>)_+, without an intercept.

    alpha_i <- clip(alpha_i + (1 - y_i <w, x_i>) / |x_i|^2, 0, C), w = sum_i alpha_i y_i x_i.
    Source: Hsieh et al., 2008, https://doi.org/10.1145/1390156.1390208.

    Parameters
    ----------
    X : array, shape (n, d)
        Without rows of zeros.
    y : array, shape (n,)
        Labels -1 and +1.
    C : float or array of shape (n,)
        > 0.
    seed : int, optional
        Of the draws; None goes through the samples in turn.

    Yields
    ------
    tuple of (array of shape (d,), array of shape (n,))
        w and alpha, from 0.
    """
    n = len(y)
    rng, t, alpha = np.random.default_rng(seed), 0, np.zeros(n)
    most = np.broadcast_to(C, n)
    while True:
        w = X.T @ (alpha * y)
        yield w, alpha
        i = t % n if seed is None else int(rng.integers(n))
        alpha = alpha.copy()
        alpha[i] = np.clip(alpha[i] + (1.0 - y[i] * (X[i] @ w)) / (X[i] @ X[i]), 0.0, most[i])
        t += 1


def admm(X: Array, y: Array, lam: float, rho: float = 1.0) -> Iterator[Array]:
    """ADMM for (1/2n) |y - X w|^2 + lam |v|_1 subject to w = v.

    w = (X'X/n + rho I)^-1 (X'y/n + rho (v - q)); v = S(w + q, lam / rho); q = q + w - v.
    Source: Boyd et al., 2011, section 6.4, https://doi.org/10.1561/2200000016.

    Parameters
    ----------
    X : array, shape (n, d)
        The samples, a row each.
    y : array, shape (n,)
        The responses.
    lam : float
        >= 0.
    rho : float
        > 0.

    Yields
    ------
    array, shape (d,)
        v, from 0.
    """
    n, d = X.shape
    v, q = np.zeros(d), np.zeros(d)
    while True:
        yield v
        w = np.linalg.solve(X.T @ X / n + rho * np.eye(d), X.T @ y / n + rho * (v - q))
        v = soft_threshold(w + q, lam / rho)
        q = q + w - v
