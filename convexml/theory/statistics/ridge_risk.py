"""The risk of ridge regression and least squares for a fixed design."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics import Array
from ..domains import NONNEGATIVE, POSITIVE, REAL, domains


@domains(X=REAL, theta=REAL, sigma=NONNEGATIVE, lam=NONNEGATIVE)
def ridge_risk(X: Any, theta: Any, sigma: float, lam: float) -> float:
    """Exact risk E |X (theta_hat - theta)|^2 / n of ridge regression, for a fixed design.

    With y = X theta + noise of variance sigma^2, theta_hat minimises |y - X w|^2 / n + lam |w|^2
    (the same as ``Ridge(X, y, lam, fit_intercept=False)``). The risk is

        sum_j theta_j^2 l_j / (1 + l_j/lam)^2 + (sigma^2/n) sum_j l_j^2 / (l_j + lam)^2,

    l_j the eigenvalues of X'X/n, theta_j in its eigenbasis.

    Parameters
    ----------
    X : array, shape (n, d)
        Fixed design.
    theta : array, shape (d,)
        The true coefficients.
    sigma : float
        Standard deviation of the noise.
    lam : float
        Strength, >= 0; 0 is least squares of minimum norm.

    Returns
    -------
    float

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Groudiev, property 2.6.
    """
    values, coefficients = _eigen(X, theta)
    kept = values > 0.0 if lam == 0.0 else np.ones(len(values), dtype=bool)
    shrink = values[kept] / (values[kept] + lam)
    bias = float(np.sum(coefficients[kept] ** 2 * values[kept] * (1.0 - shrink) ** 2))
    return bias + sigma**2 / len(np.asarray(X)) * float(np.sum(shrink**2))


@domains(X=REAL, theta=REAL, sigma=NONNEGATIVE)
def ridge_best_lam(X: Any, theta: Any, sigma: float) -> float:
    """The lam that minimises the bound on the risk: sigma sqrt(tr S) / (|theta| sqrt(n)).

    Parameters
    ----------
    X : array, shape (n, d)
        Fixed design; S = X'X/n.
    theta : array, shape (d,)
        The true coefficients, not all 0.
    sigma : float
        Standard deviation of the noise.

    Returns
    -------
    float
        It minimises ``ridge_risk_bound``, not the risk itself.

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Groudiev, property 2.6.
    """
    trace = float(np.sum(np.asarray(X, dtype=float) ** 2)) / len(X)
    return sigma * np.sqrt(trace / len(X)) / float(np.linalg.norm(theta))


@domains(X=REAL, theta=REAL, sigma=NONNEGATIVE, lam=POSITIVE)
def ridge_risk_bound(X: Any, theta: Any, sigma: float, lam: float) -> float:
    """Bound on the risk: lam |theta|^2 / 4 + sigma^2 tr(S) / (4 n lam).

    Parameters
    ----------
    X : array, shape (n, d)
        Fixed design; S = X'X/n.
    theta : array, shape (d,)
        The true coefficients.
    sigma : float
        Standard deviation of the noise.
    lam : float
        Strength, > 0.

    Returns
    -------
    float
        At ``ridge_best_lam`` it is sigma sqrt(tr S) |theta| / (2 sqrt(n)).

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Groudiev, property 2.6, with the constant that the printed one lacks.
    """
    trace = float(np.sum(np.asarray(X, dtype=float) ** 2)) / len(X)
    square = float(np.sum(np.asarray(theta, dtype=float) ** 2))
    return 0.25 * (lam * square + sigma**2 * trace / (len(X) * lam))


@domains(X=REAL, sigma=NONNEGATIVE)
def least_squares_excess_risk(X: Any, sigma: float) -> float:
    """Excess risk of least squares for a fixed design: sigma^2 rank(X) / n.

    Parameters
    ----------
    X : array, shape (n, d)
        Fixed design, the column of ones included if an intercept is fitted.
    sigma : float
        Standard deviation of the noise.

    Returns
    -------
    float

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Groudiev, property 2.5.
    """
    return sigma**2 * float(np.linalg.matrix_rank(np.asarray(X, dtype=float))) / len(X)


def _eigen(X: Any, theta: Any) -> tuple[Array, Array]:
    matrix = np.asarray(X, dtype=float)
    values, basis = np.linalg.eigh(matrix.T @ matrix / len(matrix))
    values = np.where(values > 1e-12 * values.max(initial=0.0), values, 0.0)
    return values, basis.T @ np.asarray(theta, dtype=float)
