"""Kernel matrices by few of their columns, and random Fourier features."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from ..errors import InputError
from ..numerics import Array, gamma
from ..validation import nonnegative_integer, nonnegative_number, positive_integer
from .base import Kernel
from .matrix import KernelMatrix, read_samples

# A kernel matrix by few of its columns: pivoted Cholesky, and what is left of it, certified.


LOOSE = 1.0 + 1e-6
"""Covers the rounding of the account itself."""
LEAST = 1e-13
"""A pivot below this share of the largest entry of the diagonal is rounding."""
BLOCK = 2_000_000
"""Entries that an account is made of at a time."""


@dataclass(frozen=True, eq=False)
class LowRank:
    """K, nearly L L': the Nystrom approximation K_S K_SS^-1 K_S' of the samples S, factored.

    With interpolation weights B = L L_S^-1, every sample's function is k(x_i, .) = sum_{j in S}
    B_ij k(x_j, .) + r_i. The norms of the r_i are recomputed from the kernel for B as it was
    rounded, so that what is said of them holds for the kernel itself, whatever L may be off by.

    Attributes
    ----------
    L : array, shape (n, r)
        Triangular in the rows of ``pivots``.
    pivots : array of int, shape (r,)
        The samples S, the first chosen first.
    residuals : array, shape (n,)
        At least |r_i|^2; inf for a kernel whose rounding is not known, as a precomputed one.
    """

    L: Array
    pivots: Array
    residuals: Array
    _weights: Array
    _core: Array
    _core_error: float
    _meeting: Array
    """At least |<k(x_j, .), r_i>| for every j in S, which is 0 but for rounding; shape (n,)."""

    @property
    def rank(self) -> int:
        """The number of columns r."""
        return len(self.pivots)

    @cached_property
    def remainder(self) -> float:
        """At least the trace of K - K_S K_SS^-1 K_S', which is no less than its norm."""
        return float(self.residuals.sum()) * LOOSE

    def bound(self, u: Array) -> float:
        """At least u'K u, without K: |L'u|^2 + (sum_i |u_i| |r_i|)^2, and rounding.

        So D(u) >= -F*(u) - bound(u) / (2 lam) takes r rows of the kernel matrix in place of n.

        Parameters
        ----------
        u : array, shape (n,)
        """
        if not np.isfinite(self.remainder):
            return np.inf
        size = np.abs(u)
        a = self._weights.T @ u
        off = gamma(len(u) + 2) * (np.abs(self._weights).T @ size)  # of a
        reach = np.abs(a) + off
        square = float(a @ self._core @ a)
        rounded = 2.0 * float(off @ (np.abs(self._core) @ reach))
        rounded += self._core_error * float(reach.sum()) ** 2
        rounded += gamma(2 * self.rank + 4) * float(np.abs(a) @ np.abs(self._core) @ np.abs(a))
        cross = 2.0 * float(reach.sum()) * float(size @ self._meeting)
        left = float(size @ np.sqrt(self.residuals)) ** 2
        return max(square, 0.0) + (rounded + cross + left) * LOOSE

    def coefficients(self, w: Array) -> Array:
        """Coefficients q, 0 but on S, of the function with coordinates w: f(x_i) = (L w)_i.

        Parameters
        ----------
        w : array, shape (r,)

        Returns
        -------
        array, shape (n,)
        """
        q = np.zeros(len(self.L))
        q[self.pivots] = solve_triangular(self.L[self.pivots].T, w)
        return q


def pivoted_cholesky(kernel: Kernel, X: Any, rank: int | None = None, tol: float = 1e-8) -> LowRank:
    """Factor K = L L' + a remainder, by the column whose diagonal is largest, again and again.

    Ends at ``rank`` columns, or where the trace of the remainder is at most ``tol`` times that of
    K. Takes r rows of K and n r^2 operations. Source: Harbrecht, Peters and Schneider (2012),
    https://doi.org/10.1016/j.apnum.2011.10.001.

    Parameters
    ----------
    kernel : Kernel
        For example ``kernels.Gaussian(1.0)``.
    X : array, shape (n, d)
        Samples in rows; K itself, if precomputed.
    rank : int, optional
        The most columns, >= 1; n by default.
    tol : float
        Share of the trace that may be left, >= 0.

    Returns
    -------
    LowRank
        With ``remainder``, a bound of that trace in which rounding is accounted for.

    Raises
    ------
    InputError
        For a rank below 1, a negative tol, a kernel that overflows, NaN or infinite entries, an X
        that is no matrix.
    """
    owner = "pivoted_cholesky"
    return low_rank(KernelMatrix(owner, kernel, read_samples(kernel, X, owner)), rank, tol)


def low_rank(matrix: KernelMatrix, rank: int | None = None, tol: float = 1e-8) -> LowRank:
    """The same of a kernel matrix of samples that were read; it is named in errors."""
    most = matrix.n if rank is None else positive_integer(rank, matrix.owner, "rank")
    share = nonnegative_number(tol, matrix.owner, "tol")
    with np.errstate(over="ignore", invalid="ignore"):
        L, pivots = _factored(matrix, min(most, matrix.n), share)
    if not np.all(np.isfinite(L)):
        raise matrix.overflow()
    B = solve_triangular(L[pivots], L.T, lower=True, trans="T").T if len(pivots) else L
    return LowRank(L, pivots, *_account(matrix, B, pivots))


def _factored(matrix: KernelMatrix, most: int, share: float) -> tuple[Array, Array]:
    """L and its pivots: each column is a row of K less what those before it explain."""
    left = np.maximum(matrix.diagonal, 0.0)
    enough, least = share * float(left.sum()), LEAST * float(left.max(initial=0.0))
    L, pivots = np.zeros((matrix.n, most)), np.zeros(most, dtype=np.intp)
    for k in range(most):
        at = int(np.argmax(left))
        if float(left.sum()) <= enough or left[at] <= least:
            return np.ascontiguousarray(L[:, :k]), pivots[:k]
        row = matrix.rows(np.array([at]))[0]
        L[:, k] = (row - L[:, :k] @ L[at, :k]) / np.sqrt(left[at])
        L[pivots[:k], k] = 0.0
        pivots[k] = at
        left = np.maximum(left - L[:, k] ** 2, 0.0)
        left[pivots[: k + 1]] = 0.0
    return L, pivots


def _account(
    matrix: KernelMatrix, B: Array, pivots: Array
) -> tuple[Array, Array, Array, float, Array]:
    """Bounds of |r_i|^2, B, K_SS with what it may be off by, and bounds of <k(x_j, .), r_i>.

    |r_i|^2 = k_ii - 2 B_i.K_iS + B_i K_SS B_i' and <k_j, r_i> = K_ij - (K_SS B_i')_j.
    """
    core, unknown = matrix.block(pivots), np.full(matrix.n, np.inf)
    if not matrix.is_exact:
        return unknown, B, core, np.inf, unknown
    share, sizes = matrix.share, matrix.sizes
    rounded = share + gamma(2 * len(pivots) + 8) * (1.0 + share)
    on, few = sizes[pivots], max(1, BLOCK // max(1, len(pivots)))
    residuals, meeting = np.empty(matrix.n), np.empty(matrix.n)
    for start in range(0, matrix.n, few):
        part = slice(start, start + few)
        b = B[part]
        rows = matrix.rows(pivots, np.arange(matrix.n)[part]).T
        met = b @ core
        apart, reach = rows - met, np.abs(b) @ on + sizes[part]
        found = matrix.diagonal[part] - np.einsum("ij,ij->i", b, rows + apart)
        residuals[part] = np.maximum(found, 0.0) + 4.0 * rounded * reach**2
        off = np.abs(apart) + 2.0 * rounded * reach[:, None] * on
        meeting[part] = np.max(off, axis=1, initial=0.0)
    core_error = share * float(np.max(on, initial=0.0)) ** 2
    return residuals * LOOSE, B, core, core_error, meeting * LOOSE


# Random Fourier features: a kernel of x - x' is a mean of cosines.


MOST = 2**20
"""Frequencies that are drawn."""


def fourier_features(
    kernel: Kernel, X: Any, rank: int, seed: int = 0, owner: str = "fourier_features"
) -> Array:
    """Features Z with Z Z' near K in the mean: (cos(V x), sin(V x)) / sqrt(m), V random.

    Source: Rahimi and Recht (2007), Random Features for Large-Scale Kernel Machines.

    Parameters
    ----------
    kernel : Kernel
        ``Gaussian`` or ``Laplacian``, or one of the user's with ``frequencies``.
    X : array, shape (n, d)
        Samples in rows.
    rank : int
        The number of features, >= 2: m = rank // 2 frequencies with a cosine and a sine each.
    seed : int
        Of the frequencies.
    owner : str
        Who is named in errors.

    Returns
    -------
    array, shape (n, 2 m)

    Raises
    ------
    InputError
        For a kernel without a law of frequencies, a rank below 2, NaN or infinite entries, an X
        that is no matrix or overflows.
    """
    m = positive_integer(rank, owner, "rank") // 2
    if m < 1:
        raise InputError(f"{owner}: rank must be at least 2, a cosine and a sine; got {rank}.")
    if m > MOST:
        raise InputError(f"{owner}: rank must be at most {2 * MOST}, got {rank!r}.")
    A = read_samples(kernel, X, owner)
    rng = np.random.default_rng(nonnegative_integer(seed, owner, "seed"))
    V = kernel.frequencies(rng, m, A.shape[1])
    if V is None:
        raise InputError(
            f"{owner}: kernel {kernel!r} has no law of frequencies; Gaussian and Laplacian have. "
            'Take method="nystrom", which needs none.'
        )
    with np.errstate(over="ignore", invalid="ignore"):
        phase = A @ V.T
    if not np.all(np.isfinite(phase)):
        raise InputError(f"{owner}: {kernel!r} overflows on these samples; scale X down.")
    return np.concatenate([np.cos(phase), np.sin(phase)], axis=1) / np.sqrt(m)
