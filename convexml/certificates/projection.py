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
)

STEPS = 4
"""Corrections of a dual point: each leaves rounding, and what its domain takes off."""
SHARE = 0.5
"""Of the least eigenvalue, as iterations find it, to be proved."""


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
