"""A kernel matrix, seen through the rows and products that somebody asks for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eigh, eigvalsh, lapack

from ..compiled import compiled
from ..errors import InputError
from ..numerics import EPS, Array, gamma, same
from ..validation import finite_array, finite_sparse
from .base import Kernel, Rows

# Rows and blocks of a kernel matrix, made for whoever asks; never all of it.


LESS = 0.8
"""Share of the rows of a product below which what has changed of it is made."""
FARTHER = 4.0
"""Times |q| that the weights of a product may have added up to on the way to q."""
KEPT = 3_000_000
"""Entries of the rows that are kept: 12 MB."""
SINGLE = 1e30
"""Entries of this size, or one by it, are not for single precision."""
BLOCK = 20_480
"""Entries of the rows that are made at a time: they stay in the cache."""


@dataclass(frozen=True, eq=False)
class Applied:
    """K q, a sum of so many rows with weights of these sizes."""

    q: Array
    values: Array
    sizes: Array
    count: int


class KernelRows:
    """K_ij = k(x_i, x_j), shape (n, n), of samples that are in order.

    Blocks and products are in double precision, of rows made anew. ``add`` keeps the rows that it
    makes, in single precision: it steers, and nothing is judged by it.

    Parameters
    ----------
    rows : callable
        Makes rows, or some columns of them, as ``Kernel.rows_of``.
    n : int
    size : float
        That of the largest entry.
    """

    def __init__(self, rows: Rows, n: int, size: float) -> None:
        self._rows, self.n, self.size = rows, n, size
        self._kept = np.empty((0, self.n))
        self._slot = np.zeros(0, dtype=np.intp)
        self._used = 0
        self._last: list[Applied] = []

    def rows(self, index: Array, columns: Array | None = None) -> Array:
        """K[index], or those columns of it, made anew."""
        return self._rows(index, columns)

    def block(self, index: Array) -> Array:
        """K[index, index]."""
        step = max(1, BLOCK // max(1, index.size))
        if index.size <= step:
            return self._rows(index, index)
        made = np.empty((index.size, index.size))
        for k in range(0, index.size, step):
            made[k : k + step] = self._rows(index[k : k + step], index)
        return made

    def product(self, q: Array) -> Array:
        """K q from the rows of the nonzero q_j, a block at a time; not to be written to."""
        return self._applied(q).values

    def _applied(self, q: Array) -> Applied:
        """K q with its account, from that of a product before where few of the q_j are others."""
        for known in self._last:
            if same(known.q, q):
                return known
        found = self._continued(q)
        if found is None:
            found = Applied(q.copy(), self._sum(q), np.abs(q), int(np.count_nonzero(q)))
        self._last = [found, *self._last[:1]]
        return found

    def _continued(self, q: Array) -> Applied | None:
        """The product before and that of what has changed, where this is less and as accurate."""
        if not self._last:
            return None
        before = self._last[0]
        change = q - before.q
        sizes, count = before.sizes + np.abs(change), int(np.count_nonzero(change))
        if not (count <= LESS * np.count_nonzero(q) and sizes.sum() <= FARTHER * np.abs(q).sum()):
            return None
        values = before.values + self._sum(change)
        return Applied(q.copy(), values, sizes, before.count + count + 2)

    def _sum(self, q: Array) -> Array:
        """sum_j q_j K_j over the nonzero q_j."""
        used, found = q.nonzero()[0], np.zeros(self.n)
        self.add_anew(used, q[used], found)
        return found

    def begin_anew(self) -> bool:
        """Forget products that were continued, whose account is larger; whether there were any."""
        known = self._last
        self._last = [each for each in known if each.sizes.sum() <= np.abs(each.q).sum()]
        return len(self._last) < len(known)

    def add_anew(self, index: Array, weights: Array, total: Array) -> None:
        """Add sum_k weights_k K[index_k] to ``total``, by rows made for it."""
        for k in range(0, index.size, self._step):
            part = slice(k, k + self._step)
            total += weights[part] @ self._rows(index[part])

    def add(self, index: Array, weights: Array, total: Array) -> None:
        """The same by rows that are kept while there is room.

        Those that were kept before are rounded to single precision.
        """
        if not self._slot.size:
            self._slot = np.full(self.n, -1)
            fits = 1.0 / SINGLE < self.size < SINGLE
            shape = min(self.n, max(KEPT // self.n, 1)), self.n
            self._kept = np.empty(shape, dtype=np.float32 if fits else np.float64)
        slots = self._slot[index]
        known = (slots >= 0).nonzero()[0]
        if known.size:
            add_rows(self._kept, slots[known], weights[known], total)
            left = (slots < 0).nonzero()[0]
            index, weights = index[left], weights[left]
        step = self._step
        for k in range(0, index.size, step):
            part = index[k : k + step]
            made = self._rows(part)
            total += weights[k : k + step] @ made
            if self._used + part.size > len(self._kept):
                self._slot[:], self._used = -1, 0
            if part.size <= len(self._kept):
                self._kept[self._used : self._used + part.size] = made
                self._slot[part] = np.arange(self._used, self._used + part.size)
                self._used += part.size

    def part(self, index: Array) -> KernelRows:
        """The same of some of the samples alone."""
        whole = self._rows

        def rows(some: Array, columns: Array | None = None) -> Array:
            return whole(index[some], index if columns is None else index[columns])

        return KernelRows(rows, len(index), self.size)

    @property
    def _step(self) -> int:
        return max(1, BLOCK // self.n)


@compiled(work=lambda kept, slots, *others: len(slots) * (2.0 + 1e-3 * kept.shape[1]))
def add_rows(kept: Array, slots: Array, weights: Array, total: Array) -> None:
    """Add weights_k kept[slots_k] to ``total``."""
    for k in range(len(slots)):
        total += weights[k] * kept[slots[k]]


# A kernel, and the samples that it is asked about, without a model.


IMPUTE = " Impute or drop that sample."


def read_samples(kernel: Any, X: Any, owner: str) -> Any:
    """Return X as a float64 array or sparse array of shape (n, d), n, d >= 1, all finite."""
    if not isinstance(kernel, Kernel):
        raise InputError(f"{owner}: kernel must be one of convexml.kernels, got {kernel!r}.")
    if sparse.issparse(X):
        A = finite_sparse(X, owner, "X", IMPUTE)
    else:
        A = finite_array(X, owner, "X", IMPUTE)
    if A.ndim != 2 or 0 in A.shape:
        raise InputError(
            f"{owner}: X must be a matrix of shape (n, d) with n, d >= 1, got shape {A.shape}."
        )
    return A


# A factor of a kernel matrix: K = L L', by pivoted Cholesky.


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


class KernelMatrix(KernelRows):
    """K_ij = k(x_i, x_j), shape (n, n), of the training samples.

    All of K and its factor are made only for whoever asks. ``X`` is K itself for a precomputed
    kernel.

    Raises
    ------
    InputError
        For a kernel that overflows, and, where no theorem says that the kernel is semidefinite,
            for a matrix that is not. ``owner`` is named.

    Attributes
    ----------
    projected : bool
        Whether K has 0 for negative eigenvalues of the matrix that was given.
    """

    def __init__(self, owner: str, kernel: Kernel, X: Any, projected: bool = False) -> None:
        self.owner, self.kernel, self.X, self.projected = owner, kernel, X, projected
        with np.errstate(over="ignore", invalid="ignore"):
            self.diagonal = np.asarray(kernel.diagonal(X), dtype=float)
        if not np.all(np.isfinite(self.diagonal)):  # no entry is larger than those on the diagonal
            raise self.overflow()
        size = float(np.abs(self.diagonal).max(initial=0.0))
        super().__init__(kernel.rows_of(X), X.shape[0], size)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied as what it is made of: rows are made by functions, which are not pickled."""
        return type(self), (self.owner, self.kernel, self.X, self.projected)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self.n, self.n

    @cached_property
    def share(self) -> float:
        """A share of sqrt(k_ii k_jj) that entries may be off by; inf where none is known."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.kernel.rounding(self.X)

    @property
    def is_exact(self) -> bool:
        """Whether K is semidefinite by a theorem, and a bound on the rounding of rows is known."""
        return self.share < np.inf

    @cached_property
    def sizes(self) -> Array:
        """sqrt(k(x_i, x_i)), which bounds what f of norm 1 can be at x_i; shape (n,)."""
        return np.sqrt(np.maximum(self.diagonal, 0.0)) * (1.0 + 64.0 * EPS + self.share)

    def product_error(self, q: Array) -> Array:
        """What ``product(q)`` may be off by as values of sum_j q_j k(x_j, .), shape (n,)."""
        made = self._applied(q)
        share = self.share + gamma(made.count + 4.0) * (1.0 + self.share)
        return share * (1.0 + 1e-6) * float(made.sizes @ self.sizes) * self.sizes

    @cached_property
    def dense(self) -> Array:
        """All of K, symmetric."""
        K = self.as_given()
        return 0.5 * (K + K.T)

    def as_given(self) -> Array:
        """K as its kernel gives it; entries that are nothing beside the largest are 0."""
        with np.errstate(over="ignore", invalid="ignore"):
            K = np.asarray(self.kernel(self.X, self.X), dtype=float)
        if not np.all(np.isfinite(K)):
            raise self.overflow()
        return np.where(np.abs(K) < EPS**2 * np.abs(K).max(initial=0.0), 0.0, K)

    @cached_property
    def entry_errors(self) -> Array | None:
        """What entries of ``dense`` may be off by from the kernel's, (n, n); None if not known."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.kernel.with_errors(self.X)
        if found is None:
            return None
        K, errors = np.abs(found[0]), np.maximum(found[1], found[1].T)
        # ``dense`` is rounded as a mean, and what is nothing beside the largest entry is 0 there.
        return (errors + EPS * K + EPS**2 * K.max(initial=0.0)) * (1.0 + 1e-6)

    def error_of(self, q: Array, values: Array, inner: Array) -> Array:
        """What ``values``, made of L and |L| ``inner``, may be off by as those of q.

        Where ``entry_errors`` are not known, as K q.
        """
        K, L, size = self.dense, self.factor, np.abs(q)
        sizes = np.abs(K) @ size + np.abs(L) @ inner
        off = np.abs(K @ q - values) + gamma(len(K) + L.shape[1] + 8) * sizes
        return off if self.entry_errors is None else off + self.entry_errors @ size * (1.0 + 1e-6)

    @cached_property
    def is_semidefinite(self) -> bool:
        """Whether K itself, as it was given, is proved to be semidefinite."""
        return not self.projected and is_semidefinite(self.as_given())

    @cached_property
    def exact_factor(self) -> Array | None:
        """L with K = L L' without rounding; None where none is known."""
        return self.kernel.exact_factor(self.X)

    @cached_property
    def factor(self) -> Array:
        """L with K = L L', shape (n, r), r the rank, or the width of the exact one."""
        if self.exact_factor is not None:
            return self.exact_factor
        try:
            L = factor(self.as_given())
        except InputError as error:
            raise InputError(f"{self.owner}: {error}") from None
        return L if L.shape[1] else np.zeros((self.n, 1))

    def overflow(self) -> InputError:
        """What is said where the kernel overflows."""
        message = f"{self.owner}: {self.kernel!r} overflows on these samples; scale X down."
        return InputError(message)
