"""Sums of losses and penalties of affine maps, sum_k f_k(A_k x + a_k), any of each.

u_k in dom f_k* with sum_k A_k'u_k = 0 bound the infimum; those that are brought are projected on
these equations, each by the room that it has in its domain, and an exactly feasible dual point
lies at a known distance. Columns that depend on others exactly need no condition of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..formulas import Condition, worst
from ..numerics import EPS, UNIT, Array, gamma, length
from ..penalties import Zero
from ..problem.terms import Pair, Summand, SumOfTerms
from .algebra.definite import (
    Cholesky,
    Factored,
    definite_solver,
    least_eigenvalue,
    least_singular_value,
    powers,
)
from .algebra.rationals import dependence
from .algebra.sums import exact_residual
from .scale import ProgramUnits

EXACTLY = 1_000_000
"""Entries up to which products are rounded once."""
STEPS = 4
"""Corrections of a dual point: each leaves rounding, and what its domain takes off."""


class Nearly(NamedTuple):
    """A dual point, what it leaves of its equation, and what that may be off by, in norm."""

    parts: Sequence[Array]
    left: Array
    error: float


@dataclass(frozen=True, eq=False)
class Projection:
    """The least change of dual points onto sum_k A_k'u_k = 0, in the metric of M^-1, M_k >= 0.

    The changes -M_k A_k G^-1 g of u_k, G = sum_k A_k'M_k A_k, leave nothing of a g. Their length is
    sqrt(g'G^-1 g) <= |g| / sigma, sigma the least singular value of the rows sqrt(M_k) A_k: no
    entry of u_k changes by more than sqrt(M_k) |g| / sigma.

    Attributes
    ----------
    rows : sequence of arrays or sparse arrays, shapes (n_k, d)
        sqrt(M_k) A_k, rounded: each entry by up to 8 units of its last place.
    roots : sequence of arrays
        sqrt(M_k).
    """

    rows: Sequence[Any]
    roots: Sequence[Array]

    @cached_property
    def gram(self) -> Any:
        """G, as computed from the rows."""
        return sum(K.T @ K for K in self.rows)

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
            K = np.vstack(self.rows)
            found = least_singular_value(K, self.gram)
        lost = 8.0 * UNIT * float(np.sqrt(np.sum(K * K))) * (1.0 + 1e-6)
        return max(found - lost, 0.0)

    def _sparse_sigma(self, K: Any) -> float:
        """By a bound on the least eigenvalue of G."""
        if self.solver is None:
            return 0.0
        count = int(np.max(np.diff(K.indptr), initial=0)) + len(self.rows)
        sizes = abs(K).T @ (abs(K) @ np.ones(K.shape[1]))
        error = 2.0 * gamma(count + 8) * float(np.max(sizes, initial=0.0))
        least = least_eigenvalue(self.gram, self.solver) - error
        return float(np.sqrt(least)) * (1.0 - 4.0 * UNIT) if least > 0.0 else 0.0

    def corrected(self, start: Nearly, judged: Callable[[list[Array]], Nearly]) -> Nearly:
        """The dual point moved as long as that takes off half of what is left.

        ``judged`` moves one into its domain, and measures it.
        """
        best = now = start
        for _ in range(STEPS):
            if self.solver is None or not length(now.left) > now.error:
                break
            step = self.solver.solve(now.left)
            if not np.all(np.isfinite(step)):
                break
            triples = zip(now.parts, self.rows, self.roots, strict=True)
            now = judged([u - root * (K @ step) for u, K, root in triples])
            if not length(now.left) < 0.5 * length(best.left):
                break
            best = now
        return best

    def distance(self, near: Nearly) -> float:
        """N: some exactly feasible point has each entry of u_k within sqrt(M_k) N."""
        left = length(near.left) + near.error
        if left == 0.0:
            return 0.0
        return left / self.sigma * (1.0 + gamma(near.left.size + 16)) if self.sigma else np.inf


@dataclass(frozen=True, eq=False)
class AffineMap:
    """x -> A x + a.

    Attributes
    ----------
    A : array or sparse array, shape (n, d)
    a : array, shape (n,)
    """

    A: Any
    a: Array

    def forward(self, x: Array) -> Pair:
        return _product(self.A, x, -self.a)

    def adjoint(self, u: Array) -> Pair:
        return _product(self.A.T, u, np.zeros(self.A.shape[1]))


def _product(A: Any, x: Array, side: Array) -> Pair:
    """A x - side, and what each entry may be off by."""
    if A.shape[0] * A.shape[1] <= EXACTLY:
        z = exact_residual(A, x, side)
        return z, UNIT * np.abs(z)
    sizes = abs(A) @ np.abs(x) + np.abs(side)
    return A @ x - side, gamma(x.size + 4) * (1.0 + gamma(x.size + 4)) * sizes


@dataclass(frozen=True, eq=False)
class AffineSum(SumOfTerms):
    """min sum_k f_k(A_k x + a_k).

    Attributes
    ----------
    parts : sequence of Summand
        With affine maps; the sizes of constraints are taken from the units.
    units : ProgramUnits
        Sizes that the data suggest: those of x are its ``columns``.
    """

    parts: Sequence[Summand]
    units: ProgramUnits

    is_program = True
    no_bound = "No multipliers were found near these whose pushes add up to 0 exactly."

    @cached_property
    def null(self) -> float:
        return self.units.size

    @cached_property
    def terms(self) -> tuple[Summand, ...]:
        """With f_0 = 0: of its dual point, minus the sum of the others' pushes, 0 is asked."""
        found = [Summand(Zero())]
        for part in self.parts:
            size = abs(part.map.A) @ self.units.columns + np.abs(part.map.a)
            row = part.feasible and (part.feasible[0], size)
            found.append(replace(part, feasible=row))
        return tuple(found)

    @cached_property
    def columns(self) -> Array:
        """The columns that do not depend, exactly, on others; their equations are enough."""
        rows = [part.map.A for part in self.parts]
        every = np.arange(self.units.columns.size)
        if any(sparse.issparse(each) for each in rows):
            return every
        return np.setdiff1d(every, dependence(np.vstack(rows)).exact)

    def dual_point(self, given: Sequence[Array], before: Sequence[Pair]) -> list[Pair]:
        """All u_k, and how far exact ones may be from them."""
        functions, kept = [part.function for part in self.parts], self.columns
        start = [f.clip(u) for f, u in zip(functions, given, strict=True)]
        most = max(float(np.max(np.abs(u), initial=0.0)) for u in start) or 1.0
        roots = [np.minimum(f.leeway(u), most) for f, u in zip(functions, start, strict=True)]
        pairs = zip(roots, self.parts, strict=True)
        rows = [root[:, None] * part.map.A[:, kept] for root, part in pairs]
        squares = [np.asarray((K * K).sum(axis=0)) for K in rows]
        units = powers(np.sqrt(np.sum(squares, axis=0)))
        rows = [K * units for K in rows]
        metric = Projection(rows, roots)

        def measured(parts: Sequence[Array]) -> Nearly:
            own = [f.clip(u) for f, u in zip(functions, parts, strict=True)]
            left, off = self.completed(own)[0]
            error = length(off[kept] * units) * (1.0 + gamma(kept.size + 8))
            return Nearly(own, -left[kept] * units, error)

        found = metric.corrected(measured(start), measured)
        distance = metric.distance(found) * (1.0 + 4.0 * EPS)
        zero = np.full(self.units.columns.size, 0.0 if distance < np.inf else np.nan)
        near = [(u, np.zeros_like(u)) for u in found.parts]
        for (_, h), root in zip(near, roots, strict=True):
            h[root > 0.0] = root[root > 0.0] * distance
        return [(zero, zero), *near]

    def conditions(
        self, images: Sequence[Pair], near: Sequence[Pair], given: Sequence[Array]
    ) -> list[Condition]:
        """First how far the pushes are from adding up to 0."""
        pairs = zip(self.parts, given, strict=True)
        sizes = np.sum([abs(part.map.A.T) @ np.abs(u) for part, u in pairs], axis=0)
        sizes = np.maximum(sizes, self.units.objective / self.units.columns)
        left = self.completed(given)[0][0]
        first = worst("sum_k A_k'u_k = 0", "dual_feasibility", left, sizes)
        return [first, *super().conditions(images, near, given)]
