"""A factor of a kernel matrix: K = L L', by pivoted Cholesky."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh, eigvalsh, lapack

from ..errors import InputError
from ..numerics import EPS, Array, gamma

TOLERANCE = 1e-10
"""How far, relative to the largest entry of K, a matrix may be from one that is PSD."""
SIGNIFICANT = (1e-5, 1e-10)
"""A negative eigenvalue below both, one times the largest eigenvalue, is no rounding: as
scikit-learn's ``sklearn.utils.validation._check_psd_eigenvalues`` has it in double precision."""
CLIPPED = (
    "the kernel matrix has negative eigenvalues, the least is {:.6g}; they are taken for 0, and "
    "what is solved and certified is the problem of that matrix."
)


ULPS = 8.0
"""c of ``is_rounded``: a matrix of products over d numbers is rounded by some sqrt(d) ulps, and its
eigenvalues move by no more than its norm; half an ulp would refuse honest ones."""
TERMS = 64
"""d of ``is_rounded``, which a matrix alone does not tell."""


INDEFINITE = (
    "kernel matrix: must be positive semidefinite, but its least eigenvalue is {:.6g}. Add a "
    "multiple of the identity, or use another kernel."
)


def least_eigenvalue(K: Array) -> float:
    """The least eigenvalue of a symmetric matrix."""
    return float(eigvalsh(K, subset_by_index=[0, 0])[0])


def is_rounded(K: Array) -> bool:
    """Whether the least eigenvalue of a symmetric K is >= -c (n + d) 2^-53 |K|.

    |K| is the smaller of the largest row sum and the Frobenius norm. That is decided by Cholesky's
    method for K moved by so much, whose own rounding is a share n 2^-53 of the trace.
    """
    size = min(float(np.abs(K).sum(axis=1).max(initial=0.0)), float(np.linalg.norm(K)))
    return size == 0.0 or _factors(K, 0.5 * ULPS * (len(K) + TERMS) * EPS * size)


def is_semidefinite(K: Array) -> bool:
    """Whether K is proved to be positive semidefinite: by Cholesky's method for K - s I.

    Where that ends, s at least gamma_{n+1} / (1 - gamma_{n+1}) times the trace, K has no negative
    eigenvalue (Rump, *Verification of positive definiteness*, BIT 46, 2006).
    """
    trace = float(np.abs(np.diagonal(K)).sum())
    tiny = np.finfo(float).tiny * (len(K) + 2.0) ** 2
    return bool(np.array_equal(K, K.T)) and _factors(K, -2.0 * gamma(len(K) + 4) * trace - tiny)


def _factors(K: Array, shift: float) -> bool:
    """Whether Cholesky's method goes through for K + shift I."""
    moved = K.copy()
    np.fill_diagonal(moved, np.diagonal(K) + shift)
    return bool(lapack.dpotrf(moved, lower=1, clean=0, overwrite_a=1)[1] == 0)


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
        raise InputError(INDEFINITE.format(least_eigenvalue(K)))
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
