"""Verified factorisations of G = B'B + P, for bounds on sqrt(r'G^-1 r)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg.blas import dtrmm
from scipy.linalg.lapack import dtrtri

from ....numerics import EPS, Array
from ...algebra.definite import definite_solver, eigenvalue_bound, factored
from .bordered import bordered_factor, normal_matrix

DENSE_SIZE = 6_000_000
"""Entries of the largest matrices."""
DENSE_ORDER = 1500
REFINED, LITTLE = 2, 1e-7
"""Steps of refinement, while what is left is more than this share of a norm's bound."""
PLAIN, GOOD = 1e-6, 1e-2
"""The least pivot of a Cholesky of B'B, and how far from I it may leave X'GX."""
SHIFT = 1e-10
"""Eigenvalues of matrices with diagonals of about 1 are seldom smaller."""
CROWDED = 0.1
"""From this share of entries on, a normal matrix of up to this order is factored as a dense one."""


@dataclass(frozen=True)
class Dense:
    """X with |I - X'GX| <= short < 1, |G| <= size."""

    X: Array
    short: float
    size: float

    def solve(self, r: Array) -> Array:
        """About G^-1 r."""
        return self.X @ (self.X.T @ r)

    def norm(self, r: Array, noise: float) -> float:
        """A bound on sqrt(e'G^-1 e) for every e within ``noise`` of r."""
        size = float(np.linalg.norm(self.X))
        error = size * (noise + (r.size + 2) * EPS * float(np.linalg.norm(r)))
        return (float(np.linalg.norm(self.X.T @ r)) + error) / np.sqrt(1.0 - self.short)

    def across(self, c: Array, blur: float) -> Across:
        """What bounds |d'G^-1 e| for every d within ``blur`` of c.

        With p about X'c and h about X p: X'(c - G X p) = (X'c - p) + (I - X'GX) p.
        """
        p = self.X.T @ c
        h, reach, terms = self.X @ p, float(np.linalg.norm(self.X)), (c.size + 4) * EPS
        along, length = terms * reach * float(np.linalg.norm(p)), float(np.linalg.norm(c))
        rest = reach * (blur + terms * length) + 2.0 * self.short * float(np.linalg.norm(p))
        rest = rest / np.sqrt(1.0 - self.short) + np.sqrt(self.size) * along
        return Across(h, float(rest))


def dense_factor(part: Any, bent: Any, quick: bool = False) -> Dense | None:
    """R^-1 = X of a QR of [MA; P^(1/2)], and how far X'GX is from I, rounding included.

    ``quick``: by a Cholesky alone, of what is well conditioned.
    """
    B, P = (each.toarray() if sparse.issparse(each) else each for each in (part, bent))
    filled, n = B.any(axis=1), P.shape[0]
    B = B if filled.all() else B[filled]
    used = np.flatnonzero(np.any(P != 0.0, axis=0))
    roots = np.zeros((used.size, n))
    inner = P[np.ix_(used, used)]
    diagonal = bool(np.count_nonzero(inner) == used.size and np.all(np.diag(inner) > 0.0))
    if diagonal:
        roots[np.arange(used.size), used] = np.sqrt(np.diag(inner))
    elif used.size:
        values, vectors = np.linalg.eigh(inner)
        roots[:, used] = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    stacked = np.vstack([B, roots]) if used.size else B
    if stacked.shape[0] < n:
        return None
    if diagonal:  # squares of its roots are its entries, but for their last digits
        B, used, inner = stacked, used[:0], inner[:0, :0]
    for triangle in (_cholesky,) if quick else (_cholesky, _qr):
        try:
            R = triangle(stacked)
            X, failed = dtrtri(R, lower=0) if n else (R, 0)
        except np.linalg.LinAlgError:
            continue
        if failed:  # R is singular
            continue
        short = _short(B, inner, X, used)
        if short < (GOOD if triangle is _cholesky else 0.5):
            size = float(np.linalg.norm(B)) ** 2 + float(np.linalg.norm(inner))
            return Dense(X, short, size * (1.0 + GOOD))
    return None


def _cholesky(stacked: Array) -> Array:
    """R with R'R = B'B, in a quarter of the time of a QR of B, where that is well conditioned."""
    R = np.linalg.cholesky(stacked.T @ stacked).T
    sizes = np.diag(R)
    if np.any(sizes <= PLAIN * np.max(sizes, initial=0.0)):
        raise np.linalg.LinAlgError("ill conditioned")
    return R


def _qr(stacked: Array) -> Array:
    return np.asarray(np.linalg.qr(stacked, mode="r"))


def _short(B: Array, inner: Array, X: Array, used: Array) -> float:
    """A bound on |I - X'GX|, G = B'B + P, with rounding, which rows of B may be off by, too."""
    n, P = X.shape[0], inner
    Q = dtrmm(1.0, X, B.T, trans_a=1).T if n else B  # B X, X a triangle
    size, length = float(np.linalg.norm(X)), float(np.linalg.norm(Q))
    off = (n + 4) * EPS * float(np.linalg.norm(B)) * size
    room = 2.0 * length * off + off**2 + (B.shape[0] + 8) * EPS * (length + off) ** 2
    room += 3.0 * (n + 4) * EPS * float(np.linalg.norm(P)) * size**2
    left = Q.T @ Q
    if used.size:
        left += X[used].T @ (inner @ X[used])
    left.flat[:: n + 1] -= 1.0
    return float(np.linalg.norm(left)) + room


@dataclass(frozen=True)
class Sparse:
    """A factorisation of G, and a lower bound on its eigenvalues."""

    G: Any
    inverse: Callable[[Array], Array]
    least: float
    kept: list[Any] = field(default_factory=list)
    """The last right-hand side, its solution and G times that."""

    @cached_property
    def _sizes(self) -> Any:
        return abs(self.G)

    def solve(self, r: Array) -> Array:
        """About G^-1 r."""
        return self._solved(r)[0]

    def _solved(self, r: Array) -> tuple[Array, Array]:
        """g, about G^-1 r, and G g: refined while what is left may have a say in ``norm``."""
        if self.kept and self.kept[0] is r:
            return self.kept[1], self.kept[2]
        g = self.inverse(r)
        product = self.G @ g
        for _ in range(REFINED):
            left = r - product
            if left @ left <= LITTLE**2 * self.least * (g @ product):
                break
            g = g + self.inverse(left)
            product = self.G @ g
        self.kept[:] = [r, g, product]
        return g, product

    def norm(self, r: Array, noise: float) -> float:
        """A bound on sqrt(e'G^-1 e) for every e within ``noise`` of r."""
        g, product = self._solved(r)
        terms = int(np.max(np.diff(self.G.indptr), initial=0)) + 4
        blur = terms * EPS * float(np.linalg.norm(self._sizes @ np.abs(g) + np.abs(r)))
        rest = float(np.linalg.norm(r - product)) + blur + noise
        inner = max(float(g @ product), 0.0) + (r.size + 4) * EPS * float(
            np.abs(g) @ np.abs(product)
        )
        return float(np.sqrt(inner + float(np.linalg.norm(g)) * blur) + rest / np.sqrt(self.least))

    def across(self, c: Array, blur: float) -> Across:
        """What bounds |d'G^-1 e| for every d within ``blur`` of c."""
        h, product = self._solved(c)
        terms = int(np.max(np.diff(self.G.indptr), initial=0)) + 4
        rest = float(np.linalg.norm(c - product)) + blur
        rest += terms * EPS * float(np.linalg.norm(self._sizes @ np.abs(h) + np.abs(c)))
        return Across(h, rest / np.sqrt(self.least))


class Across(NamedTuple):
    """h, about G^-1 c, and a bound on sqrt(f'G^-1 f) of what it leaves, f = d - G h."""

    h: Array
    rest: float

    def between(self, r: Array, noise: float, norm: float) -> float:
        """A bound on |d'G^-1 e| for e within ``noise`` of r; norm bounds sqrt(e'G^-1 e)."""
        h = self.h
        found = abs(float(h @ r)) + (r.size + 4) * EPS * float(np.abs(h) @ np.abs(r))
        return found + float(np.linalg.norm(h)) * noise + self.rest * norm


def sparse_factor(part: Any, bent: Any, proved: bool = True) -> Sparse | None:
    """A factorisation of G, or of G less a little that proves it definite.

    Where it does not, half of the least eigenvalue is proved by a second one, of the rest. Not
    ``proved``, the bound is 0: it is there to solve with.
    """
    G = normal_matrix(part, bent)
    if G.nnz > DENSE_SIZE:
        return None
    n = G.shape[0]
    dense = n <= DENSE_ORDER and G.nnz > CROWDED * n * n
    if not proved:
        solver = definite_solver(G)
        return None if solver is None else Sparse(G, solver.solve, 0.0)
    terms = int(np.max(np.diff(part.indptr), initial=0)) + 4
    blur = (
        2.0
        * terms
        * EPS
        * float(np.max(abs(part).T @ (abs(part) @ np.ones(n)) + abs(bent) @ np.ones(n)))
    )
    shift = SHIFT + 4.0 * (blur + 2.0 * n * EPS * G.trace())
    found = bordered_factor(_less(G, shift, False)) if dense else None
    found = factored(_less(G, shift, dense)) if found is None else found
    if found is not None and shift + found[0] > 2.0 * blur:
        return Sparse(G, found[1], shift + found[0] - blur)
    solver = definite_solver(G)
    if solver is None:
        return None
    inverse = solver.solve
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
    if not dense:
        return G - shift * sparse.eye_array(G.shape[0], format="csc")
    found = G.toarray()
    np.einsum("ii->i", found)[:] -= shift
    return found
