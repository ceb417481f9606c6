"""A factor of a kernel matrix: K = L L', by pivoted Cholesky."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigvalsh, lapack

from ..errors import InputError
from ..numerics import EPS, Array

TOLERANCE = 1e-10
"""How far, relative to the largest entry of K, a matrix may be from one that is PSD."""


def factor(K: Array) -> Array:
    """Factor K = L L' to rounding by Cholesky's method with pivoting (LAPACK's dpstrf).

    Parameters
    ----------
    K : array, shape (n, n)
        Symmetric positive semidefinite.

    Returns
    -------
    array, shape (n, r)
        L, r the numerical rank.

    Raises
    ------
    InputError
        If K is not square, not symmetric, or has a negative eigenvalue, which is named.
    """
    if K.ndim != 2 or K.shape[0] != K.shape[1]:
        raise InputError(f"kernel matrix: must be square, got shape {K.shape}.")
    size = float(np.max(np.abs(K), initial=0.0))
    skew = float(np.max(np.abs(K - K.T), initial=0.0))
    if skew > TOLERANCE * size:
        raise InputError(
            f"kernel matrix: must be symmetric, but K - K' has an entry of {skew:.3g}."
        )
    n = K.shape[0]
    packed, order, rank, info = lapack.dpstrf(K, lower=1, tol=n * EPS * size)
    if info < 0:
        raise InputError(f"kernel matrix: dpstrf refused argument {-info}.")
    lower = np.tril(packed)[:, :rank]
    L = np.empty_like(lower)
    L[order - 1] = lower
    left = K - L @ L.T
    if float(np.max(np.abs(left), initial=0.0)) > max(TOLERANCE, 4.0 * n * n * EPS) * size:
        least = float(eigvalsh(K, subset_by_index=[0, 0])[0])
        raise InputError(
            "kernel matrix: must be positive semidefinite, but its least eigenvalue is "
            f"{least:.6g}. Add a multiple of the identity, or use another kernel."
        )
    # Products of tiny kernel values underflow, and such numbers slow all later algebra down.
    L[np.abs(L) < EPS**2 * np.sqrt(size)] = 0.0
    return np.ascontiguousarray(L)
