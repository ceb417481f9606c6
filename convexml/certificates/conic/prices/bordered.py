"""Normal matrices of which a few rows are crowded, and their factors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cho_solve

from ....numerics import EPS, Array

CROWDED, WORTH = 50, 200_000
"""Rows with more entries than the first, where they take more products than the second."""
LOOSE = 8
"""An unknown of at most so many entries may go first."""
SHARE = 4
"""At least one unknown of so many has to."""


def normal_matrix(B: Any, P: Any) -> Any:
    """B'B + P of sparse matrices; the crowded rows of B as a dense block."""
    rows = sparse.csr_array(B)
    counts = np.diff(rows.indptr)
    crowded = counts > CROWDED
    products = float(np.sum(counts[crowded].astype(float) ** 2))
    if products > WORTH:
        few = rows[crowded]
        used = np.unique(few.indices)
        k = used.size
        if 2.0 * float(k) ** 2 <= products:
            W, others = few[:, used].toarray(), rows[~crowded]
            starts = np.zeros(B.shape[1] + 1, dtype=int)
            starts[used + 1] = k
            block = ((W.T @ W).ravel(), np.tile(used, k), np.cumsum(starts))
            P = sparse.csc_array(block, shape=P.shape) + P
            rows, B = others, sparse.csc_array(others)
    return sparse.csc_array(sparse.csc_array(rows.T @ B) + P)


def bordered_factor(G: Any) -> tuple[float, Callable[[Array], Array]] | None:
    """A bound on eigenvalues and r -> about G^-1 r (``factored``); None where it has none.

    G is sparse, and many of its unknowns share no entry with one another: these go first, one by
    one, and what they leave is dense. It is a Cholesky in another order: it runs to its end where
    the eigenvalues are above -gamma_(n+1) tr G (Demmel; Higham, Theorems 10.3 and 10.7).
    """
    n, first = G.shape[0], _apart(G)
    if SHARE * first.size < n:
        return None
    rest = np.setdiff1d(np.arange(n), first)
    diagonal = G.diagonal()
    bound = 2.0 * (n + 2) * EPS * float(np.sum(diagonal))
    if not np.isfinite(bound) or np.any(diagonal[first] <= 0.0):
        return None
    roots, beside = np.sqrt(diagonal[first]), G[:, rest]
    border = sparse.csr_array(beside[first].T)
    border.data = border.data / roots[border.indices]
    try:
        L = np.linalg.cholesky(beside[rest].toarray() - (border @ border.T).toarray())
    except np.linalg.LinAlgError:
        return None
    factor, turned = (np.asfortranarray(L), True), sparse.csr_array(border.T)

    def solve(r: Array) -> Array:
        found = np.empty(n)
        ahead = r[first] / roots
        found[rest] = cho_solve(factor, r[rest] - border @ ahead, check_finite=False)
        found[first] = (ahead - turned @ found[rest]) / roots
        return found

    return -bound, solve


def _apart(G: Any) -> Array:
    """Unknowns of few entries no two of which share one."""
    loose = np.flatnonzero(np.diff(G.indptr) <= LOOSE)
    among = sparse.coo_array(G[loose][:, loose])
    return np.delete(loose, among.row[among.col < among.row])
