"""Factorisations of definite matrices, and the lower bounds on eigenvalues that they prove."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.sparse.csgraph import connected_components

from ...numerics import ELEMENTARY, EPS, ROUNDING, UNIT, Array, gamma, length

DENSE = 1000
"""Up to this order a matrix is factored as a dense one."""
LAST = 1000
"""So many unknowns of the highest degrees may go last, whatever they fill."""
FILL = 1_000_000
"""Entries that a factor may have if no better order is looked for."""
SMALL, LARGE, CROWDED = 200, 2000, 0.05
"""Up to the first order, and to the second from this share of entries on, a matrix is dense."""
THIN = 10
"""With so few entries a column, minimum degree takes no longer than what it saves."""
GUESSES = 30
"""Inverse iterations towards the least eigenvalue."""
FEW = 24
"""Up to this order a matrix is eliminated in rationals."""


def eigenvalue_bound(G: Any) -> float:
    """A lower bound <= 0 on the eigenvalues of a symmetric matrix; -inf where none is proved."""
    if G.shape[0] == 0:
        return 0.0
    factor = factored(G)
    return -np.inf if factor is None else factor.bound


def negative_eigenvalue(P: Any) -> float:
    """0 where a matrix is positive semidefinite up to rounding, else its least eigenvalue.

    Rounding is n 64 eps of the entries of the matrix that is scaled to a diagonal of ones: as
    much as the rounding of a Gram matrix can take away.
    """
    P = _used(P)
    diagonal, n = P.diagonal(), P.shape[0]
    if _is_diagonal(P):
        return min(float(np.min(diagonal, initial=0.0)), 0.0)
    if np.all(diagonal > 0.0):
        more = shifted(_of_ones(P), ROUNDING * n)
        if eigenvalue_bound(more) > -np.inf:
            return 0.0
        few = sparse.issparse(more) and n <= 3 * DENSE
        if few and eigenvalue_bound(more.toarray()) > -np.inf:  # where a sparse order lost it
            return 0.0
    return min(_least(P), -np.finfo(float).tiny)


def is_semidefinite(P: Any) -> bool:
    """Whether a symmetric matrix is proved to have no negative eigenvalue.

    By Cholesky's method for the matrix of a diagonal of ones less what it may be rounded by, or,
    where the matrix is small, by elimination in rationals.
    """
    P = _used(P)
    diagonal, n = P.diagonal(), P.shape[0]
    if not np.all((diagonal > 0.0) & np.isfinite(diagonal)):
        return False
    if _is_diagonal(P):
        return True
    scaled = _of_ones(P)
    size = float(scaled.diagonal().max())
    shift = 4.0 * EPS * (n + 3) ** 2 * size
    if eigenvalue_bound(shifted(scaled, -shift)) + shift >= EPS * size:
        return True
    return n <= FEW and eliminates([[Fraction(entry) for entry in row] for row in P.tolist()])


def eliminates(rows: list[list[Fraction]]) -> bool:
    """Whether no pivot of a symmetric matrix is negative, and where one is 0, so is its row."""
    while rows:
        (pivot, *top), *rest = rows
        if pivot < 0 or (pivot == 0 and any(top)):
            return False
        rows = [row[1:] for row in rest]
        if pivot:
            for i in filter(top.__getitem__, range(len(top))):
                rows[i] = [a - top[i] * t / pivot for a, t in zip(rows[i], top, strict=True)]
    return True


def _used(P: Any) -> Any:
    """The rows and columns with entries of a symmetric matrix; dense where it is crowded."""
    if not sparse.issparse(P) or _is_crowded(P):
        P = P.toarray() if sparse.issparse(P) else np.asarray(P)
        used = np.flatnonzero(P.any(axis=1))
        return P[np.ix_(used, used)]
    P = sparse.csr_array(P)
    used = np.flatnonzero(np.diff(P.indptr))
    return P if used.size == P.shape[0] else P[used][:, used]


def _is_crowded(G: Any) -> bool:
    """Whether a sparse matrix is better factored as a dense one."""
    n = G.shape[0]
    return bool(n <= SMALL or (n <= LARGE and G.nnz > CROWDED * n * n))


def _is_diagonal(P: Any) -> bool:
    count = P.count_nonzero() if sparse.issparse(P) else np.count_nonzero(P)
    return bool(count == np.count_nonzero(P.diagonal()))


def _of_ones(P: Any) -> Any:
    """The matrix in units, powers of two, in which its positive diagonal is about 1."""
    units = powers_of_two(1.0 / np.sqrt(P.diagonal()))
    if not sparse.issparse(P):
        return units[:, None] * P * units
    data = np.repeat(units, np.diff(P.indptr)) * P.data * units[P.indices]
    return sparse.csr_array((data, P.indices, P.indptr), shape=P.shape)


def shifted(P: Any, by: float) -> Any:
    """P + by I."""
    eye = sparse.eye_array if sparse.issparse(P) else np.eye
    return P + by * eye(P.shape[0])


def powers_of_two(sizes: Any) -> Any:
    """The powers of two next to positive numbers."""
    return np.exp2(np.round(np.log2(sizes)))


def _least(P: Any) -> float:
    from scipy.sparse.linalg import ArpackError, eigsh

    if P.shape[0] <= DENSE:
        return float(np.linalg.eigvalsh(P.toarray() if sparse.issparse(P) else P)[0])
    try:
        return float(eigsh(P, k=1, which="SA", return_eigenvectors=False, tol=1e-6)[0])
    except ArpackError:
        return float(np.min(P.diagonal()))


@dataclass(frozen=True)
class Factored:
    """P G P' = L U with pivots on the diagonal, as SuperLU has it; P takes entries ``order``."""

    G: Any
    lu: Any
    order: Array

    def solve(self, r: Array) -> Array:
        """About G^-1 r; r may have several columns."""
        found = np.empty_like(r)
        found[self.order] = self.lu.solve(r[self.order])
        return found

    @cached_property
    def bound(self) -> float:
        """At most the least eigenvalue of G, <= 0: by the difference P G P' - L D L'."""
        pivots = self.lu.U.diagonal()
        if not np.all(pivots > 0.0) or not np.array_equal(self.lu.perm_r, self.lu.perm_c):
            return -np.inf
        order, ones = self.order[np.argsort(self.lu.perm_c)], np.ones(pivots.size)
        L = sparse.csc_array(self.lu.L)
        scaled = L @ sparse.diags_array(pivots)
        terms = int(np.max(np.diff(sparse.csr_array(L).indptr), initial=0)) + 4
        lost = abs(self.G[order][:, order] - scaled @ L.T) @ ones
        lost += 2.0 * terms * EPS * (abs(scaled) @ (abs(L).T @ ones))
        return -float(np.max(lost)) if np.all(np.isfinite(lost)) else -np.inf


@dataclass(frozen=True)
class Cholesky:
    """G = L L' of a dense matrix."""

    L: Array
    trace: float

    def solve(self, r: Array) -> Array:
        """About G^-1 r; r may have several columns."""
        return np.asarray(dpotrs(self.L, r, lower=1)[0]) if r.size else r

    @property
    def bound(self) -> float:
        """At most the least eigenvalue of G, <= 0: gamma_(n+1) tr G below it (Demmel)."""
        lost = 2.0 * (len(self.L) + 2) * EPS * self.trace
        # A NaN of G reaches the diagonal of L.
        return -lost if np.isfinite(lost) and np.isfinite(np.trace(self.L)) else -np.inf


def least_eigenvalue(G: Any, solver: Factored | Cholesky) -> float:
    """A lower bound: half of what inverse iteration finds, where a second factorisation proves it.

    The iteration is by a ``solver`` of G.
    """
    x = 1.0 + 0.5 * np.cos(np.arange(G.shape[0]))  # far from the vectors of a symmetry
    for _ in range(GUESSES):
        x = solver.solve(x / length(x))
        if not 0.0 < length(x) < np.inf:
            return eigenvalue_bound(G)
    half = 0.5 / length(x)
    return half * (1.0 - 4.0 * UNIT) + eigenvalue_bound(shifted(G, -half))


def definite_solver(G: Any, shift: float = 0.0) -> Factored | Cholesky | None:
    """A factorisation of G + shift, symmetric and about definite; None where it has none.

    A crowded sparse matrix is factored as a dense one, which is faster there.
    """
    if not sparse.issparse(G) or _is_crowded(G):
        dense = G.toarray() if sparse.issparse(G) else np.array(G)
        dense.flat[:: G.shape[0] + 1] += shift
        L, failed = dpotrf(dense, lower=1)
        if not failed:
            return Cholesky(L, float(np.trace(dense)))
        if not sparse.issparse(G):
            return None  # else rounding took a small pivot below 0: SuperLU goes on
    return definite_factor(shifted(G, shift) if shift else G)


def factored(G: Any) -> Factored | Cholesky | None:
    """As ``definite_solver``, to be proved by its ``bound``: a matrix of few zeros is dense then.

    SuperLU would go on behind a pivot below 0, which proves nothing.
    """
    return definite_solver(G.toarray() if sparse.issparse(G) and _is_crowded(G) else G)


def definite_factor(G: Any) -> Factored | None:
    """The sparse factorisation alone; None where a pivot is 0."""
    from scipy.sparse.linalg import splu

    G = sparse.csc_array(G)
    order, spec = by_degree(G), "NATURAL"
    if order is None:
        order, spec = np.arange(G.shape[0]), "MMD_AT_PLUS_A"
    ordered = G[order][:, order] if spec == "NATURAL" else G
    options = {"SymmetricMode": True}
    try:
        lu = splu(
            sparse.csc_matrix(ordered), permc_spec=spec, diag_pivot_thresh=0.0, options=options
        )
    except RuntimeError:  # exactly singular
        return None
    return Factored(G, lu, order)


def by_degree(G: Any) -> Array | None:
    """Unknowns by degree, where the factor has then at most ``FILL`` entries for certain; or None.

    A few dense rows make minimum degree take longer than the factorisation. What is eliminated
    before the last unknowns fills its own connected component, and their columns where it has
    entries: s (s / 2 + e) entries for s unknowns and e entries.
    """
    n = G.shape[0]
    degree = np.diff(G.indptr)
    order = np.argsort(degree, kind="stable")
    first = order[: max(n - LAST, 0)]
    if first.size == 0:
        return None if G.nnz <= THIN * n else order
    count, part = connected_components(G[first][:, first], directed=False)
    size = np.bincount(part, minlength=count)
    entries = np.minimum(np.bincount(part, weights=degree[first], minlength=count), LAST)
    return order if LAST**2 / 2 + size @ (size / 2 + entries) <= FILL else None


# How far a symmetric matrix can be from positive semidefinite, proved.


TRIALS = 12
"""Shifts, each four times the last, until a Cholesky runs to its end."""


def semidefinite_within(M: Array, values: Array | None = None) -> float:
    """A t >= 0 with M + t I positive semidefinite, proved by a Cholesky; inf where none is.

    The entries of the symmetric M are taken as exact; ``values`` are about its eigenvalues, the
    smallest first. Where M is semidefinite t is a few times the rounding of its trace.
    """
    d = len(M)
    if not np.all(np.isfinite(M)):
        return np.inf
    largest = float(np.max(np.abs(M), initial=0.0))
    if largest == 0.0:
        return 0.0
    values = np.linalg.eigvalsh(M) if values is None else values
    shift = max(0.0, -float(values[0])) * (1.0 + 4.0 * EPS)
    more = 2.0 * EPS * (d + 2) * max(float(np.abs(values).max()), largest)
    for _ in range(TRIALS):
        total = shift + more
        lower = eigenvalue_bound(M + total * np.eye(d))
        if lower > -np.inf:
            rounded = UNIT * (largest + total)  # of each entry of the diagonal
            return (total - lower + rounded) * (1.0 + 8.0 * EPS)
        more *= 4.0
    return np.inf


# Log-determinants of symmetric matrices, with a bound on all that rounding may have done.


def log_det(M: Array, error: Array | float = 0.0) -> tuple[float, float]:
    """(v, r) with |log det A - v| <= r for every symmetric A with |A - M| <= error.

    A Cholesky that runs to its end is the exact one of C + E, |E_ij| <= gamma_(d+1) / (1 -
    gamma_(d+1)) sqrt(C_ii C_jj) (Higham, 2002, chapter 10), where C is M in units of powers of two
    that make its diagonal about 1. With N >= |C^-1| from a verified inverse and K = N |E|,

        |log det(C + E) - log det C| <= sum_ij N_ij |E_ij| + f^2 / (2 (1 - f)),  f = |K|_F < 1,

    and then all these A are positive definite.

    Parameters
    ----------
    M : array, shape (d, d)
        Symmetric.
    error : array, shape (d, d), or float
        Of its entries.

    Returns
    -------
    tuple of float
        (-inf, inf) where M has no Cholesky, (v, inf) where nothing is proved.
    """
    diagonal = np.diag(M)
    if not (np.all(diagonal > 0.0) and np.all(np.isfinite(M))):
        return -np.inf, np.inf
    powers = np.rint(0.5 * np.log2(diagonal)).astype(int)
    units = np.ldexp(1.0, -powers)
    with np.errstate(over="ignore", under="ignore"):
        C = units[:, None] * M * units
        beside = units[:, None] * np.broadcast_to(error, M.shape) * units
    lost = np.finfo(float).tiny * bool(np.any((C == 0.0) != (M == 0.0)))
    try:
        L = linalg.cholesky(C, lower=True)
        inverse = np.linalg.inv(C)
    except linalg.LinAlgError:
        return -np.inf, np.inf
    logs = np.log(np.diag(L))
    shift = 2.0 * np.log(2.0) * float(powers.sum())
    value = 2.0 * float(np.sum(logs)) + shift
    d = len(M)
    size = 2.0 * float(np.abs(logs).sum()) + 2.0 * float(np.abs(powers).sum())
    evaluation = (ELEMENTARY + gamma(2 * d + 8)) * size
    N = _at_least(C, inverse)
    if N is None:
        return value, np.inf
    share = gamma(d + 1) / (1.0 - gamma(d + 1))
    roots = np.sqrt(np.diag(C))
    E = (share * np.outer(roots, roots) + beside + lost) * (1.0 + 8.0 * EPS)
    first, f = float(np.sum(N * E)), float(np.linalg.norm(N @ E)) * (1.0 + gamma(d * d + d))
    if not f < 0.5:
        return value, np.inf
    radius = first + f * f / (2.0 * (1.0 - f)) + evaluation
    return value, radius * (1.0 + gamma(d * d + 16))


def _at_least(C: Array, Y: Array) -> Array | None:
    """N >= |C^-1|, entry by entry, from Y about C^-1; None where Y is too far from it.

    C^-1 - Y = (I - Y C) C^-1.
    """
    d = len(C)
    if not np.all(np.isfinite(Y)):
        return None
    left = np.abs(np.eye(d) - Y @ C) + gamma(d + 2) * (np.abs(Y) @ np.abs(C) + np.eye(d))
    eta = float(np.max(left.sum(axis=1))) * (1.0 + gamma(d + 4))
    if not eta < 0.5:
        return None
    size = np.abs(Y)
    found: Array = (size + eta / (1.0 - eta) * size.max(axis=0)) * (1.0 + 8.0 * EPS)
    return found


# The least singular value of a matrix, bounded from below with all rounding accounted for.


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


def least_singular_value(B: Array, gram: Array | None = None) -> float:
    """Return a number that is at most sigma_min(B); 0 where nothing better can be proved.

    The Gram matrix G of B has sigma_min^2 as its least eigenvalue, and G - s I is positive definite
    where the Cholesky factorisation of a slightly smaller matrix runs to its end (Rump, 2006,
    https://doi.org/10.1007/s10543-006-0056-1). Where squaring loses too much, ``_from_inverse``.

    Parameters
    ----------
    B : array, shape (n, k)
        Best with columns of norm about 1; see ``unit_columns``.
    gram : array, shape (k, k), optional
        B'B as computed, where it is known.

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
        found = from_gram(B.T @ B if gram is None else gram, n)
    if found > 0.0:
        return found
    return _from_inverse(B)


def from_gram(gram: Array, n: int) -> float:
    """Bound sigma_min(B) from the computed Gram matrix of n rows; 0 where nothing is proved."""
    trace = float(np.trace(gram)) * (1.0 + 2.0 * gamma(n))
    if not (np.isfinite(trace) and np.all(np.isfinite(gram))):
        return 0.0
    least = float(np.linalg.eigvalsh(gram)[0])
    error = gamma(n + 2) * trace
    if not least > max(EASY * trace, 4.0 * error):
        return 0.0
    # What the factorisation and the shift of the diagonal may lose.
    shift = least - 4.0 * gamma(len(gram) + 3) * (trace + len(gram) * least)
    bound = shift + eigenvalue_bound(shifted(0.5 * (gram + gram.T), -shift)) - error
    return float(np.sqrt(max(bound, 0.0))) * (1.0 - 4.0 * EPS)


def _from_inverse(B: Array) -> float:
    """By an S about the inverse of the triangle of B: sigma_min(B) >= sigma_min(B S) / |S|."""
    n, k = B.shape
    R = linalg.qr(B, mode="r", check_finite=False)[0][:k]
    if not np.all(np.diag(R)):
        return 0.0
    with np.errstate(over="ignore", invalid="ignore"):
        S = linalg.solve_triangular(R, np.eye(k), check_finite=False)
        product = B @ S
        gram = product.T @ product
        lost = length(np.abs(B) @ np.abs(S))
        error = gamma(n + 3) * float(np.trace(gram)) * (1.0 + 2.0 * gamma(n))
        off = float(np.linalg.norm(gram - np.eye(k))) * (1.0 + 2.0 * gamma(k * k))
        square = 1.0 - off - 2.0 * error
        if not square > 0.0:
            return 0.0
        found = (np.sqrt(square) - 1.01 * gamma(k + 1) * lost) / length(S)
    return max(float(found), 0.0) * (1.0 - 1e-8)
