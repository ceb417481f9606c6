"""What estimators vary by: Gauss and Markov, ridge regression, and what is paid for stability."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...errors import InputError
from ...numerics import Array
from ...validation import finite_array
from ..domains import COUNT, NONNEGATIVE, POSITIVE, REAL, domains


@domains(sigma=NONNEGATIVE)
def least_squares_variance(X: Any, *, sigma: float) -> Array:
    """Variance of the least squares estimate, X fixed: sigma^2 (X'X)^-1.

    No linear unbiased estimate has less in any direction, where X has full column rank and the
    errors are uncorrelated with mean 0 and one variance sigma^2 (Gauss and Markov).

    Parameters
    ----------
    X : array, shape (n, d)
        A column of ones is an intercept. Of full column rank.
    sigma : float
        Standard deviation of an error.

    Returns
    -------
    array, shape (d, d)

    Raises
    ------
    InputError
        For columns that depend on each other, and for an argument outside its domain.

    References
    ----------
    Hajjar, *Linear Models*, section 4.
    """
    X = finite_array(X, "least_squares_variance", "X")
    if np.linalg.matrix_rank(X) < X.shape[1]:
        raise InputError(
            "least_squares_variance: X must have full column rank; no estimate is unbiased "
            "where columns depend on each other. Drop one, or take ridge_variance."
        )
    half = np.linalg.inv(np.linalg.qr(X, mode="r"))
    return sigma**2 * half @ half.T


@domains(sigma=NONNEGATIVE, lam=NONNEGATIVE)
def ridge_variance(X: Any, *, sigma: float, lam: float) -> Array:
    """Variance of the ridge estimate: sigma^2 (X'X + n lam I)^-1 X'X (X'X + n lam I)^-1, X fixed.

    The loss is the mean (1/2n) |y - X w|^2 + (lam / 2) |w|^2, without an intercept.

    Parameters
    ----------
    X : array, shape (n, d)
        The samples, a row each.
    sigma : float
        Standard deviation of an error.
    lam : float
        Strength, >= 0; 0 takes the pseudo-inverse.

    Returns
    -------
    array, shape (d, d)

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Hajjar, *Linear Models*, section 5 (corrected).
    """
    X = finite_array(X, "ridge_variance", "X")
    _, s, V = np.linalg.svd(X, full_matrices=False)
    kept = s > len(X) * np.finfo(float).eps * np.max(s, initial=0.0)
    shrunk = sigma * s[kept] / (s[kept] ** 2 + len(X) * lam)
    return (V[kept].T * shrunk**2) @ V[kept]


@domains(theta=REAL, lam=POSITIVE)
def ridge_bias(X: Any, theta: Any, *, lam: float) -> Array:
    """Bias of the ridge estimate, X fixed: E theta_hat - theta = -n lam (X'X + n lam I)^-1 theta.

    Its square and the trace of ``ridge_variance`` are E |theta_hat - theta|^2.

    Parameters
    ----------
    X : array, shape (n, d)
        The samples, a row each.
    theta : array, shape (d,)
        The true coefficients.
    lam : float
        Strength, > 0, as of ``ridge_variance``.

    Returns
    -------
    array, shape (d,)

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Hajjar, *Linear Models*, section 5.
    """
    X, level = finite_array(X, "ridge_bias", "X"), len(X) * lam
    gram = X.T @ X + level * np.eye(X.shape[1])
    return -level * np.linalg.solve(gram, np.asarray(theta, dtype=float))


@domains(rho=NONNEGATIVE, lam=POSITIVE, m=COUNT, norm=NONNEGATIVE)
def regularized_excess(*, rho: float, lam: float, m: int, norm: float) -> float:
    """Bound on E risk(w_S) - risk(w): lam |w|^2 + 2 rho^2 / (lam m), for any fixed w.

    w_S minimises the mean loss on m samples + lam |w|^2; losses are convex and rho-Lipschitz in w.
    The first term is what fitting loses, the second what stability costs; at
    lam = sqrt(2 / m) rho / |w| their sum is least, |w| rho sqrt(8 / m).

    Parameters
    ----------
    rho : float
        Lipschitz constant of the loss as a function of w.
    lam : float
        Strength, > 0.
    m : int
        Number of samples.
    norm : float
        |w| of what is compared with.

    Returns
    -------
    float

    Raises
    ------
    InputError
        For an argument outside its domain.

    References
    ----------
    Shalev-Shwartz and Ben-David, corollaries 13.8 and 13.9.
    """
    return lam * norm**2 + 2.0 * rho**2 / (lam * m)
