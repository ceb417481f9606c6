"""Verified factorisations of G = B'B + P, for bounds on sqrt(r'G^-1 r)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import solve_triangular

from ....numerics import EPS, Array
from ...algebra.definite import eigenvalue_bound

DENSE_SIZE = 6_000_000
"""Entries of the largest matrices."""


@dataclass(frozen=True)
class Dense:
    """X with |I - X'GX| <= short < 1."""

    X: Array
    short: float

    def solve(self, r: Array) -> Array:
        """About G^-1 r."""
        return self.X @ (self.X.T @ r)

    def norm(self, r: Array, noise: float) -> float:
        """A bound on sqrt(e'G^-1 e) for every e within ``noise`` of r."""
        size = float(np.linalg.norm(self.X))
        error = size * (noise + (r.size + 2) * EPS * float(np.linalg.norm(r)))
        return (float(np.linalg.norm(self.X.T @ r)) + error) / np.sqrt(1.0 - self.short)


def dense_factor(part: Any, bent: Any) -> Dense | None:
    """R^-1 = X of a QR of [MA; P^(1/2)], and how far X'GX is from I, rounding included."""
    B = sparse.csr_array(part)
    B = B[np.flatnonzero(np.diff(B.indptr))].toarray()
    P, n = bent.toarray(), bent.shape[0]
    used = np.flatnonzero(np.any(P != 0.0, axis=0))
    roots = np.zeros((used.size, n))
    inner = P[np.ix_(used, used)]
    if np.count_nonzero(inner) == used.size:  # a diagonal
        roots[np.arange(used.size), used] = np.sqrt(np.maximum(np.diag(inner), 0.0))
    elif used.size:
        values, vectors = np.linalg.eigh(inner)
        roots[:, used] = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    stacked = np.vstack([B, roots])
    if stacked.shape[0] < n:
        return None
    try:
        R = np.linalg.qr(stacked, mode="r")
        X = solve_triangular(R, np.eye(n), check_finite=False)
    except np.linalg.LinAlgError:
        return None
    Q, bending = B @ X, X[used].T @ (inner @ X[used])
    size, length = float(np.linalg.norm(X)), float(np.linalg.norm(Q))
    off = (n + 4) * EPS * float(np.linalg.norm(B)) * size
    room = 2.0 * length * off + off**2 + (B.shape[0] + 2) * EPS * length**2
    room += 3.0 * (n + 4) * EPS * float(np.linalg.norm(P)) * size**2
    short = float(np.linalg.norm(np.eye(n) - Q.T @ Q - bending)) + room
    return Dense(X, short) if short < 0.5 else None


@dataclass(frozen=True)
class Sparse:
    """An LU of G, and a lower bound on its eigenvalues."""

    G: Any
    lu: Any
    least: float

    def solve(self, r: Array) -> Array:
        """About G^-1 r."""
        g = self.lu.solve(r)
        return np.asarray(g + self.lu.solve(r - self.G @ g))

    def norm(self, r: Array, noise: float) -> float:
        """A bound on sqrt(e'G^-1 e) for every e within ``noise`` of r."""
        g = self.solve(r)
        product = self.G @ g
        terms = int(np.max(np.diff(self.G.indptr), initial=0)) + 4
        blur = terms * EPS * float(np.linalg.norm(abs(self.G) @ np.abs(g) + np.abs(r)))
        rest = float(np.linalg.norm(r - product)) + blur + noise
        inner = max(float(g @ product), 0.0) + (r.size + 4) * EPS * float(
            np.abs(g) @ np.abs(product)
        )
        return float(np.sqrt(inner + float(np.linalg.norm(g)) * blur) + rest / np.sqrt(self.least))


def sparse_factor(part: Any, bent: Any) -> Sparse | None:
    """An LU of G; half of its least eigenvalue is proved by a second one, of the rest."""
    from scipy.sparse.linalg import splu

    G = sparse.csc_array(part.T @ part + bent)
    if G.nnz > DENSE_SIZE:
        return None
    n = G.shape[0]
    terms = int(np.max(np.diff(part.indptr), initial=0)) + 4
    blur = (
        2.0
        * terms
        * EPS
        * float(np.max(abs(part).T @ (abs(part) @ np.ones(n)) + abs(bent) @ np.ones(n)))
    )
    try:
        lu = splu(
            sparse.csc_matrix(G),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:
        return None
    probe = np.cos(np.arange(n))
    least = 0.0
    for _ in range(12):
        probe = lu.solve(probe / np.linalg.norm(probe))
        least = 1.0 / float(np.linalg.norm(probe))
    if not least > 0.0:
        return None
    found = (
        0.5 * least + eigenvalue_bound(G - 0.5 * least * sparse.eye_array(n, format="csc")) - blur
    )
    return Sparse(G, lu, found) if found > 0.0 else None
