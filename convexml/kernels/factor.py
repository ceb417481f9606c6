"""A factor of a kernel matrix: K = L L', by pivoted Cholesky."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, eigvalsh, lapack

from ..errors import InputError
from ..numerics import EPS, Array

TOLERANCE = 1e-10
"""How far, relative to the largest entry of K, a matrix may be from one that is PSD."""
SIGNIFICANT = (1e-5, 1e-10)
"""A negative eigenvalue below both, one times the largest eigenvalue, is no rounding: as
scikit-learn's ``sklearn.utils.validation._check_psd_eigenvalues`` has it in double precision."""
CLIPPED = (
    "the kernel matrix has negative eigenvalues, the least is {:.6g}; they are taken for 0, and "
    "what is solved and certified is the problem of that matrix."
)


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
    skew = np.abs(K - K.T)
    if float(np.max(skew, initial=0.0)) > TOLERANCE * size:
        i, j = (int(k) for k in np.unravel_index(np.argmax(skew), K.shape))
        raise InputError(
            f"kernel matrix: must be symmetric, but K[{i}, {j}] = {K[i, j]:.6g} and K[{j}, {i}] = "
            f"{K[j, i]:.6g}. Pass (K + K.T) / 2 where that is rounding."
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


def clipped(K: Array) -> tuple[Array, float] | None:
    """K with 0 for its negative eigenvalues, and the least of them; None where it is significant.

    Parameters
    ----------
    K : array, shape (n, n)
        None, too, where it is not symmetric.
    """
    size = float(np.max(np.abs(K), initial=0.0))
    if float(np.max(np.abs(K - K.T), initial=0.0)) > TOLERANCE * size:
        return None
    values, vectors = eigh(K)
    share, least = SIGNIFICANT
    if values[-1] < 0.0 or values[0] < min(-share * values[-1], -least):
        return None
    parts = vectors * np.sqrt(np.maximum(values, 0.0))
    return parts @ parts.T, float(values[0])
