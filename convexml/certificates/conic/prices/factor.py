"""Verified factorisations of G = B'B + P, for bounds on sqrt(r'G^-1 r)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve, solve_triangular

from ....numerics import EPS, Array
from ...algebra.definite import eigenvalue_bound, factored

DENSE_SIZE = 6_000_000
"""Entries of the largest matrices."""
DENSE_ORDER = 1500
REFINED = 2
SHIFT = 1e-10
"""Eigenvalues of matrices with diagonals of about 1 are seldom smaller."""
CROWDED = 0.1
"""From this share of entries on, a normal matrix of up to this order is factored as a dense one."""


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

    def between(self, c: Array, blur: float, r: Array, noise: float, norm: float) -> float:
        """See ``Sparse``."""
        return np.inf


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
    """A factorisation of G, and a lower bound on its eigenvalues."""

    G: Any
    inverse: Callable[[Array], Array]
    least: float

    def solve(self, r: Array) -> Array:
        """About G^-1 r."""
        g = self.inverse(r)
        for _ in range(REFINED):
            g = g + self.inverse(r - self.G @ g)
        return np.asarray(g)

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

    def between(self, c: Array, blur: float, r: Array, noise: float, norm: float) -> float:
        """A bound on |d'G^-1 e| for d within ``blur`` of c, e within ``noise`` of r.

        ``norm`` is a bound on sqrt(e'G^-1 e): what h = G^-1 c leaves counts that much.
        """
        h = self.solve(c)
        terms = int(np.max(np.diff(self.G.indptr), initial=0)) + 4
        rest = float(np.linalg.norm(c - self.G @ h)) + blur
        rest += terms * EPS * float(np.linalg.norm(abs(self.G) @ np.abs(h) + np.abs(c)))
        found = abs(float(h @ r)) + (r.size + 4) * EPS * float(np.abs(h) @ np.abs(r))
        return found + float(np.linalg.norm(h)) * noise + rest / np.sqrt(self.least) * norm


def sparse_factor(part: Any, bent: Any, proved: bool = True) -> Sparse | None:
    """A factorisation of G, or of G less a little that proves it definite.

    Where it does not, half of the least eigenvalue is proved by a second one, of the rest. Not
    ``proved``, the bound is 0: it is there to solve with.
    """
    G = sparse.csc_array(part.T @ part + bent)
    if G.nnz > DENSE_SIZE:
        return None
    n = G.shape[0]
    dense = n <= DENSE_ORDER and G.nnz > CROWDED * n * n
    if not proved:
        inverse = _inverse(G, dense)
        return None if inverse is None else Sparse(G, inverse, 0.0)
    terms = int(np.max(np.diff(part.indptr), initial=0)) + 4
    blur = (
        2.0
        * terms
        * EPS
        * float(np.max(abs(part).T @ (abs(part) @ np.ones(n)) + abs(bent) @ np.ones(n)))
    )
    shift = SHIFT + 4.0 * (blur + 2.0 * n * EPS * G.trace())
    found = factored(_less(G, shift, dense))
    if found is not None and shift + found[0] > 2.0 * blur:
        return Sparse(G, found[1], shift + found[0] - blur)
    inverse = _inverse(G, dense)
    if inverse is None:
        return None
    probe = np.cos(np.arange(n))
    least = 0.0
    for _ in range(12):
        probe = inverse(probe / np.linalg.norm(probe))
        least = 1.0 / float(np.linalg.norm(probe))
    if not least > 0.0:
        return None
    bound = 0.5 * least + eigenvalue_bound(_less(G, 0.5 * least, dense)) - blur
    return Sparse(G, inverse, bound) if bound > 0.0 else None


def _less(G: Any, shift: float, dense: bool) -> Any:
    found = G - shift * sparse.eye_array(G.shape[0], format="csc")
    return found.toarray() if dense else found


def _inverse(G: Any, dense: bool) -> Callable[[Array], Array] | None:
    return (_dense_inverse if dense else _sparse_inverse)(G)


def _dense_inverse(G: Any) -> Callable[[Array], Array] | None:
    try:
        factor = cho_factor(G.toarray(), check_finite=False)
    except np.linalg.LinAlgError:
        return None
    return lambda r: np.asarray(cho_solve(factor, r, check_finite=False))


def _sparse_inverse(G: Any) -> Callable[[Array], Array] | None:
    from scipy.sparse.linalg import splu

    try:
        lu = splu(
            sparse.csc_matrix(G),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:
        return None
    return lambda r: np.asarray(lu.solve(r))
