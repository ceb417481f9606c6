"""Projection: dual points that are exactly feasible lie near computed ones, at a known distance.

Where sum_k A_k'u_k = g, the changes -M_k A_k G^-1 g of u_k, G = sum_k A_k'M_k A_k, leave nothing,
for diagonal M_k >= 0. In the metric of M^-1 their length is sqrt(g'G^-1 g) <= |g| / sigma, sigma
the least singular value of the rows sqrt(M_k) A_k: no entry of u_k changes by more than sqrt(M_k)
|g| / sigma. Columns that depend on others exactly need no condition of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..numerics import UNIT, Array, gamma, length
from .algebra.definite import (
    Cholesky,
    Factored,
    definite_solver,
    factored,
    inverse_iteration,
    least_singular_value,
    powers,
)
from .algebra.rationals import dependence

STEPS = 4
"""Corrections of a dual point: each leaves rounding, and what its domain takes off."""
SHARE = 0.5
"""Of the least eigenvalue, as iterations find it, to be proved."""
REGULAR = 1e-5
"""Above this least singular value columns of about unit length are far from dependent."""


class Nearly(NamedTuple):
    """A dual point, what it leaves of its equation, and what that may be off by, in norm."""

    parts: Sequence[Array]
    left: Array
    error: float


@dataclass(frozen=True, eq=False)
class Projection:
    """The least change of dual points onto sum_k A_k'u_k = 0, in the metric of M.

    Parts u_k behind those that it has rows for stay as they are.

    Attributes
    ----------
    rows : sequence of arrays or sparse arrays, shapes (n_k, d)
        sqrt(M_k) A_k, rounded: each entry by up to 8 units of its last place.
    roots : sequence of arrays or floats
        sqrt(M_k).
    gram : array or sparse array, shape (d, d)
        G, as computed from the rows.
    """

    rows: Sequence[Any]
    roots: Sequence[Any]
    gram: Any

    @cached_property
    def solver(self) -> Cholesky | Factored | None:
        """A factorisation of G; None where it has none."""
        return definite_solver(self.gram)

    @cached_property
    def sigma(self) -> float:
        """At most the least singular value of the exact rows; 0 where nothing better is proved."""
        if sparse.issparse(self.gram):
            K = sparse.csc_array(sparse.vstack(self.rows))
            found = self._sparse_sigma(K)
        else:
            K = self.rows[0] if len(self.rows) == 1 else np.vstack(self.rows)
            found = least_singular_value(K, self.gram)
        lost = 8.0 * UNIT * float(np.sqrt(np.sum(K * K))) * (1.0 + 1e-6)
        return max(found - lost, 0.0)

    def _sparse_sigma(self, K: Any) -> float:
        """By a verified factorisation of G - theta I."""
        d = K.shape[1]
        theta = SHARE * inverse_iteration(self.solver, d) if self.solver is not None else 0.0
        found = factored(self.gram - theta * sparse.eye_array(d, format="csc"))
        if found is None:
            return 0.0
        count = int(np.max(np.diff(K.indptr), initial=0)) + len(self.rows)
        sizes = abs(K).T @ (abs(K) @ np.ones(d))
        error = 2.0 * gamma(count + 8) * float(np.max(sizes, initial=0.0))
        least = theta * (1.0 - 4.0 * UNIT) + found[0] - error
        return float(np.sqrt(least)) * (1.0 - 4.0 * UNIT) if least > 0.0 else 0.0

    def corrected(self, start: Nearly, judged: Callable[[list[Array]], Nearly]) -> Nearly:
        """The dual point moved as long as that takes off half of what is left.

        ``judged`` moves one into its domain, and measures it.
        """
        best = now = start
        for _ in range(STEPS):
            parts = self.moved(now) if length(now.left) > now.error else None
            if parts is None:
                break
            now = judged(parts)
            if not length(now.left) < 0.5 * length(best.left):
                break
            best = now
        return best

    def solve(self, r: Array) -> Array | None:
        """About G^-1 r; None where it is not found."""
        found = None if self.solver is None else self.solver.solve(r)
        return found if found is not None and np.all(np.isfinite(found)) else None

    def moved(self, near: Nearly) -> list[Array] | None:
        """The parts after one correction; None where it is not found."""
        step = self.solve(near.left)
        if step is None:
            return None
        pairs = zip(near.parts, self.rows, self.roots, strict=False)
        found = [u - root * (K @ step) for u, K, root in pairs]
        return [*found, *near.parts[len(found) :]]

    def distance(self, near: Nearly) -> float:
        """N: some exactly feasible point has each entry of u_k within sqrt(M_k) N."""
        left = length(near.left) + near.error
        if left == 0.0:
            return 0.0
        return left / self.sigma * (1.0 + gamma(near.left.size + 16)) if self.sigma else np.inf


# Two matrices above one another: a loss of X w, and combinations A w.


SMALL = 400_000
"""Entries up to which a sparse stack becomes a dense matrix."""
EXAMINED = 4_000_000
"""Entries up to which columns are asked for exact dependences."""


@dataclass(frozen=True, eq=False)
class Stacked:
    """K = [B; kappa A] in units in which its columns have norms in [1, 2), or are 0.

    Attributes
    ----------
    B, A : array or sparse array, shapes (n, k) and (m, k)
        ``roots`` times the columns of X less ``shift``, and those of A, all times ``units``.
    roots : array, shape (n,)
    kappa : float
        Weight of A.
    shift, units : array, shape (k,)
        What is taken off each column of X, and powers of two.
    columns : array of int
        Which columns of the caller these are; the others depend on them, exactly.
    """

    B: Any
    A: Any
    roots: Array
    kappa: float
    shift: Array
    units: Array
    columns: Array

    @cached_property
    def gram(self) -> Any:
        """B'B."""
        return self.B.T @ self.B

    def metric(self, roots: Array | float) -> Projection:
        """The projection by changes of both; those of A are weighed by squares of ``roots``."""
        column = np.reshape(roots, (-1, 1))
        scaled = sparse.csr_array(self.A * column) if sparse.issparse(self.A) else self.A * column
        return Projection((self.B, scaled), (self.roots, roots), self.gram + scaled.T @ scaled)

    @cached_property
    def whole(self) -> Projection:
        """The one with equal weights."""
        return self.metric(self.kappa)

    @cached_property
    def regular(self) -> Projection | None:
        """The one that leaves s as it is, where B'B is far from singular, else None."""
        alone = Projection((self.B,), (self.roots,), self.gram)
        return alone if alone.sigma > REGULAR else None

    @cached_property
    def measure(self) -> Projection:
        """The one that tells how far an exact dual point is."""
        return self.regular or self.whole


def stacked(X: Any, c: Array, A: Any, kappa: float, intercept: bool) -> Stacked:
    """The stack, of columns that are independent where others depend on them exactly.

    Parameters
    ----------
    X, A : array or sparse array, shapes (n, k) and (m, k)
        With ``intercept`` their last columns are ones and zeros.
    c : array, shape (n,)
        Weights of the rows of X.
    kappa : float
        Weight of A.
    intercept : bool
        A dense X is shifted to columns of mean 0.
    """
    k, count = X.shape[1], X.shape[0] + A.shape[0]
    is_dense = count * k <= SMALL or not (sparse.issparse(X) and sparse.issparse(A))
    if is_dense:
        X, A = (each.toarray() if sparse.issparse(each) else each for each in (X, A))
    shift = np.zeros(k)
    if intercept and is_dense:
        shift[:-1] = c @ X[:, :-1]
    found = _in_units(X, c, A, kappa, shift, np.arange(k))
    if found.measure.sigma == 0.0 and count * k <= EXAMINED:
        dense = [each.toarray() if sparse.issparse(each) else each for each in (X, A)]
        split = dependence(np.vstack(dense) if kappa > 0.0 else dense[0])
        if split.exact.size and not split.doubtful.size:
            kept = split.independent
            return _in_units(X[:, kept], c, A[:, kept], kappa, np.zeros(kept.size), kept)
    return found


def _in_units(X: Any, c: Array, A: Any, kappa: float, shift: Array, columns: Array) -> Stacked:
    roots = np.sqrt(c)
    if sparse.issparse(X):
        B, A = sparse.csr_array(sparse.diags_array(roots) @ X), sparse.csr_array(A)
    else:
        B = roots[:, None] * (X - shift)
    units = powers(np.maximum(_largest(B), kappa * _largest(A)))
    sizes = np.hypot(_norms(_scaled(B, units)), kappa * _norms(_scaled(A, units)))
    units = units * powers(sizes)
    return Stacked(_scaled(B, units), _scaled(A, units), roots, kappa, shift, units, columns)


def _scaled(matrix: Any, units: Array) -> Any:
    return sparse.csr_array(matrix * units) if sparse.issparse(matrix) else matrix * units


def _largest(matrix: Any) -> Array:
    found: Any = abs(matrix).max(axis=0) if matrix.shape[0] else np.zeros(matrix.shape[1])
    return found.toarray().ravel() if sparse.issparse(found) else found


def _norms(matrix: Any) -> Array:
    return np.sqrt(np.asarray((matrix * matrix).sum(axis=0)))
