"""The least singular value of a matrix, bounded from below with all rounding accounted for."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from scipy import linalg

from ...numerics import EPS, Array, gamma, length

SAFE = 1.0 + 1e-9
"""Covers the rounding of norms and quotients of a few hundred thousand terms."""
EASY = 1e-10
"""Above this share of the trace the least eigenvalue of the Gram matrix is tried."""


def unit_columns(B: Array) -> tuple[Array, Array]:
    """(B S, s) with S = diag(s) powers of two: columns of norm in [1, 2), zeros left alone."""
    first = powers(np.max(np.abs(B), axis=0, initial=0.0))
    second = powers(np.linalg.norm(B * first, axis=0))
    return B * first * second, first * second


def powers(size: Array) -> Array:
    """2^-k with 2^k <= size < 2^(k + 1); 1 for 0 and what is not finite."""
    known = (size > 0.0) & np.isfinite(size)
    exponent = np.frexp(np.where(known, size, 1.0))[1] - 1
    return np.ldexp(1.0, np.where(known, -np.clip(exponent, -1000, 1000), 0))


def least_singular_value(B: Array) -> float:
    """Return a number that is at most sigma_min(B); 0 where nothing better can be proved.

    The Gram matrix G of B has sigma_min^2 as its least eigenvalue, and G - s I is positive definite
    where the Cholesky factorisation of a slightly smaller matrix runs to its end (Rump, 2006,
    https://doi.org/10.1007/s10543-006-0056-1). Where squaring loses too much, ``from_inverse``.

    Parameters
    ----------
    B : array, shape (n, k)
        Best with columns of norm about 1; see ``unit_columns``.

    Returns
    -------
    float
        inf if k = 0.
    """
    n, k = B.shape
    if k == 0:
        return np.inf
    if n < k or not np.all(np.isfinite(B)):
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        gram = B.T @ B
    found = from_gram(gram, n)
    if found > 0.0:
        return found
    R = linalg.qr(B, mode="r", check_finite=False)[0][:k]
    return from_inverse([B], inverse_of(R))


def from_gram(gram: Array, n: int) -> float:
    """Bound sigma_min(B) from the computed Gram matrix of n rows; 0 where nothing is proved."""
    trace = float(np.trace(gram)) * (1.0 + 2.0 * gamma(n))
    if not (np.isfinite(trace) and np.all(np.isfinite(gram))):
        return 0.0
    least = float(np.linalg.eigvalsh(gram)[0])
    error = gamma(n + 2) * trace
    if not least > max(EASY * trace, 4.0 * error):
        return 0.0
    return float(np.sqrt(max(least_eigenvalue(gram, least) - error, 0.0))) * (1.0 - 4.0 * EPS)


def least_eigenvalue(matrix: Array, guess: float) -> float:
    """Return a lower bound of the least eigenvalue of a symmetric matrix; -inf where none is known.

    Parameters
    ----------
    matrix : array, shape (k, k)
    guess : float
        About the least eigenvalue, as computed.
    """
    k, trace = len(matrix), float(np.trace(matrix))
    # What the factorisation and the shift of the diagonal may lose.
    error = 2.0 * gamma(k + 3) * (trace + k * abs(guess))
    shift = guess - 2.0 * error
    try:
        np.linalg.cholesky(0.5 * (matrix + matrix.T) - shift * np.eye(k))
    except np.linalg.LinAlgError:
        return -np.inf
    return shift - error


def inverse_of(R: Array) -> Array | None:
    """R^-1 of an upper triangle, as computed; None if it is singular."""
    if not np.all(np.abs(np.diag(R)) > 0.0):
        return None
    with np.errstate(over="ignore", invalid="ignore"):
        S = linalg.solve_triangular(R, np.eye(len(R)), check_finite=False)
    return S if np.all(np.isfinite(S)) else None


def from_inverse(blocks: Iterable[Array], S: Array | None) -> float:
    """Bound sigma_min(B) for an S that makes B S about orthonormal: sigma_min(B S) / |S|.

    Parameters
    ----------
    blocks : iterable of arrays, shape (n_i, k)
        The rows of B.
    S : array, shape (k, k), or None
        About the inverse of the triangle of B.
    """
    if S is None:
        return 0.0
    k, n = len(S), 0
    gram, lost, size = np.zeros((k, k)), 0.0, np.abs(S)
    with np.errstate(over="ignore", invalid="ignore"):
        for block in blocks:
            product = block @ S
            gram += product.T @ product
            lost += float(np.sum((np.abs(block) @ size) ** 2))
            n += len(block)
        error = gamma(n + 3) * float(np.trace(gram)) * (1.0 + 2.0 * gamma(n))
        off = float(np.linalg.norm(gram - np.eye(k))) * (1.0 + 2.0 * gamma(k * k))
        square = 1.0 - off - 2.0 * error
        if not (n >= k and square > 0.0):
            return 0.0
        found = (np.sqrt(square) - 1.01 * gamma(k + 1) * np.sqrt(lost)) / length(S)
    return max(float(found), 0.0) * (1.0 - 1e-8)
