"""Factorisations of definite matrices, and the lower bounds on eigenvalues that they prove."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import cho_solve
from scipy.sparse.csgraph import connected_components

from ...numerics import EPS, ROUNDING, Array

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
FEW = 24
"""Up to this order a matrix is eliminated in rationals."""


def eigenvalue_bound(G: Any) -> float:
    """A lower bound <= 0 on the eigenvalues of a symmetric matrix; -inf where it has no Cholesky.

    Dense: a Cholesky that runs to its end proves it up to gamma_(n+1) tr G (Demmel); sparse: the
    difference G - L D L' is measured.
    """
    if G.shape[0] == 0:
        return 0.0
    found = factored(G)
    return -np.inf if found is None else found[0]


def factored(G: Any) -> tuple[float, Callable[[Array], Array]] | None:
    """The bound of ``eigenvalue_bound`` and r -> about G^-1 r; None where there is no Cholesky."""
    n = G.shape[0]
    if n > DENSE and sparse.issparse(G):
        return _sparse_factored(sparse.csc_array(G))
    G = G.toarray() if sparse.issparse(G) else G
    try:
        L = np.linalg.cholesky(G)
    except np.linalg.LinAlgError:
        return None
    bound = 2.0 * (n + 2) * EPS * float(np.trace(G))
    if not np.isfinite(bound):
        return None
    factor = np.asfortranarray(L), True  # LAPACK's order: else every solution copies it
    return -bound, lambda r: np.asarray(cho_solve(factor, r, check_finite=False))


def _sparse_factored(G: Any) -> tuple[float, Callable[[Array], Array]] | None:
    found = definite_factor(G)
    if found is None:
        return None
    factor = found.lu
    pivots = factor.U.diagonal()
    if not np.all(pivots > 0.0) or not np.array_equal(factor.perm_r, factor.perm_c):
        return None
    order = found.order[np.argsort(factor.perm_c)]
    L = sparse.csc_array(factor.L)
    scaled = L @ sparse.diags_array(pivots)
    error = abs(G[order][:, order] - scaled @ L.T)
    terms = int(np.max(np.diff(sparse.csr_array(L).indptr), initial=0)) + 4
    sizes = abs(scaled) @ (abs(L).T @ np.ones(G.shape[0]))
    bound = float(np.max(error @ np.ones(G.shape[0]) + 2.0 * terms * EPS * sizes))
    return (-bound, found.solve) if np.isfinite(bound) else None


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
        shifted = _shifted(_of_ones(P), ROUNDING * n)
        if eigenvalue_bound(shifted) > -np.inf or _has_factor(shifted):
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
    if eigenvalue_bound(_shifted(scaled, -shift)) + shift >= EPS * size:
        return True
    return n <= FEW and _eliminates([[Fraction(entry) for entry in row] for row in P.tolist()])


def _eliminates(rows: list[list[Fraction]]) -> bool:
    """Whether no pivot of a symmetric matrix is negative, and where one is 0, so is its row."""
    while rows:
        (pivot, *top), *rest = rows
        if pivot < 0 or (pivot == 0 and any(top)):
            return False
        rows = [row[1:] for row in rest]
        if pivot:
            for i, times in enumerate(top):
                rows[i] = [a - times * t / pivot for a, t in zip(rows[i], top, strict=True)]
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


def _shifted(P: Any, by: float) -> Any:
    eye = sparse.eye_array if sparse.issparse(P) else np.eye
    return P + by * eye(P.shape[0])


def _has_factor(G: Any) -> bool:
    """Whether the dense matrix has a Cholesky where the sparse one found none."""
    if not sparse.issparse(G) or not DENSE < G.shape[0] <= 3 * DENSE:
        return False
    return eigenvalue_bound(G.toarray()) > -np.inf


def powers_of_two(sizes: Array) -> Array:
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


class Factored(NamedTuple):
    """P G P' = L U with pivots on the diagonal, as SuperLU has it; P takes entries ``order``."""

    lu: Any
    order: Array

    def solve(self, r: Array) -> Array:
        """About G^-1 r; r may have several columns."""
        found = np.empty_like(r)
        found[self.order] = self.lu.solve(r[self.order])
        return found


class Cholesky(NamedTuple):
    """G = L L' of a dense matrix."""

    L: Array

    def solve(self, r: Array) -> Array:
        """About G^-1 r; r may have several columns."""
        return np.asarray(cho_solve((self.L, True), r, check_finite=False))


def definite_solver(G: Any, shift: float = 0.0) -> Factored | Cholesky | None:
    """A factorisation of G + shift, symmetric and about definite; None where it has none.

    A crowded sparse matrix is factored as a dense one, which is faster there.
    """
    if not sparse.issparse(G) or _is_crowded(G):
        dense = G.toarray() if sparse.issparse(G) else np.array(G)
        dense.flat[:: G.shape[0] + 1] += shift
        try:
            return Cholesky(np.asfortranarray(np.linalg.cholesky(dense)))
        except np.linalg.LinAlgError:
            if not sparse.issparse(G):
                return None  # else rounding took a small pivot below 0: SuperLU goes on
    return definite_factor(G + shift * sparse.eye_array(G.shape[0]) if shift else G)


def definite_factor(G: Any) -> Factored | None:
    """The sparse factorisation alone; None where a pivot is 0."""
    from scipy.sparse.linalg import splu

    G = sparse.csc_array(G)
    order, spec = by_degree(G), "NATURAL"
    if order is None:
        order, spec = np.arange(G.shape[0]), "MMD_AT_PLUS_A"
    else:
        G = G[order][:, order]
    options = {"SymmetricMode": True}
    try:
        lu = splu(sparse.csc_matrix(G), permc_spec=spec, diag_pivot_thresh=0.0, options=options)
    except RuntimeError:  # exactly singular
        return None
    return Factored(lu, order)


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
