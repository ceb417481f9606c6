"""Certificates of Peng and Wei's relaxation, min <C, Z>: lower bounds of what any clustering costs.

For every alpha and every N >= 0, and every feasible Z, because tr Z = k and Z is semidefinite,

    <C, Z> >= 1'alpha + k lambda_min(C - N - (alpha 1' + 1 alpha') / 2)

and for given N the best alpha makes 1 an eigenvector of the least eigenvalue. That eigenvalue is
proved by a Cholesky, so that the bound holds for any multipliers with all rounding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..formulas import Condition, products, worst
from ..numerics import EPS, ROUNDING, Array, gamma, length, lengths
from ..penalties import L1, GroupL2
from ..problem.geometry import averaging, centred, nonnegative, splitting_steps
from ..problem.terms import Approximation, Pairs, Squares, Summand
from .algebra.definite import semidefinite_within
from .judge import ClosedForm, DualBound, Limit
from .scale import learning_scale, relative

STEPS = 4000
"""Of the splitting, at most."""
ROUND = 20
"""Steps between two looks at the bound."""


@dataclass(frozen=True)
class Partition(ClosedForm):
    """The problem in Z; each exact entry of C is within a share ``off`` of the one that is held.

    Attributes
    ----------
    C : array, shape (n, n)
        Half the squared distances.
    off : float
    k : int
    """

    duals = "alpha", "N"
    C: Array
    off: float
    k: int

    @property
    def n(self) -> int:
        """The number of samples."""
        return len(self.C)

    @cached_property
    def null(self) -> float:
        """What one cluster costs: 1'C 1 / n."""
        return float(self.C.sum()) / self.n

    # -- the primal ------------------------------------------------------------------------------

    def cost(self, Z: Array) -> float:
        """<C, Z>; C is symmetric."""
        return float((self.C * Z).sum(axis=1).sum())

    def value_rounding(self, Z: Array) -> float:
        share = self.off + gamma(2 * self.n + 4)
        return share * self.cost(np.abs(Z)) * (1.0 + gamma(2 * self.n + 8))

    def repaired(self, Z: Array) -> Array:
        return nonnegative(averaging(Z, self.k), self.k)

    def constraints(self, Z: Array) -> list[Limit]:
        half = 0.5 * (Z + Z.T)
        most = ROUNDING * self.n * max(1.0, float(np.max(np.abs(Z))))
        return [
            ("Z = Z'", Z - Z.T, 1.0, most),
            ("Z 1 = 1", half.sum(axis=1) - 1.0, 1.0, most),
            ("tr Z = k", float(np.trace(Z)) - self.k, float(self.k), most),
            ("Z >= 0", np.maximum(-half, 0.0), self.k / self.n, most),
            ("Z >> 0", max(-float(np.linalg.eigvalsh(half)[0]), 0.0), 1.0, most),
        ]

    # -- the dual --------------------------------------------------------------------------------

    def best_alpha(self, N: Array) -> Array:
        """The alpha that makes 1 an eigenvector of C - N - (alpha 1' + 1 alpha')/2, the least."""
        R, n = self.C - 0.5 * (N + N.T), self.n
        if n == 1:
            return R[0]
        inner = centred(R)
        beside = length(inner)
        least = float(np.linalg.eigvalsh(inner + beside / n)[0])
        sums = R.sum(axis=1) - least
        return (2.0 * sums - sums.sum() / n) / n

    def completed(
        self, Z: Array, alpha: Array | None = None, N: Array | None = None
    ) -> tuple[Array, Array]:
        """The N of a closed form, and the best alpha for N."""
        N = self._simple() if N is None else N
        return self.best_alpha(np.maximum(N, 0.0)) if alpha is None else alpha, N

    def reduced(self, alpha: Array, N: Array) -> tuple[Array, float]:
        """C - N - (alpha 1' + 1 alpha')/2, and its least eigenvalue."""
        M = self.C - 0.5 * (N + N.T) - 0.5 * (alpha[:, None] + alpha)
        return M, float(np.linalg.eigvalsh(M)[0])

    def bound(self, alpha: Array, N: Array) -> DualBound:
        """1'alpha + k lambda_min(...), N 0 where it is negative."""
        used = np.maximum(N, 0.0)
        M, least = self.reduced(alpha, used)
        sizes = self.C + used + np.abs(alpha)[:, None] + np.abs(alpha) + abs(least)
        entries = gamma(6) * length(sizes) * (1.0 + gamma(self.n**2 + 8))
        lacks = semidefinite_within(M - least * np.eye(self.n))
        value = float(alpha.sum()) + self.k * least
        terms = gamma(self.n + 4) * (float(np.abs(alpha).sum()) + self.k * abs(least))
        rounding = (self.k * (lacks + entries) + terms) * (1.0 + 8.0 * EPS)
        size = max(float(np.max(self.C)), float(np.max(np.abs(N))), np.finfo(float).tiny)
        row = worst("N >= 0", "dual_feasibility", np.maximum(-N, 0.0), size)
        return DualBound(
            value, rounding + self.off * (abs(value) + rounding), [row], (alpha, used), (M, least)
        )

    def beside(
        self, Z: Array, away: Sequence[Array], dual: Sequence[Array], found: DualBound
    ) -> tuple[float, list[Condition]]:
        N, (M, least) = dual[1], found.known
        left = float(np.sum(M * Z)) - self.k * least
        return 0.0, [
            products("N_ij Z_ij = 0", float(np.sum(N * Z))),
            products("<M, Z> = k lambda_min(M), M = D/2 - N - (alpha 1' + 1 alpha')/2", left),
        ]

    # -- judged ----------------------------------------------------------------------------------

    def rounds(self) -> Iterator[tuple[Array, Array, float]]:
        """A feasible Z, the best N so far and their relative gap, every ``ROUND`` steps."""
        kept, point = self._simple(), self.repaired(np.eye(self.n))
        best, least = self._spectral(kept), self.cost(point)
        yield point, kept, _share(least, best)
        for Z, N in islice(splitting_steps(self.C, self.k), ROUND - 1, STEPS, ROUND):
            bound = self._spectral(N)
            if bound > best:
                best, kept = bound, N
            near = nonnegative(Z, self.k)
            value = self.cost(near)
            if value < least:
                least, point = value, near
            yield point, kept, _share(least, best)

    def _spectral(self, N: Array) -> float:
        alpha = self.best_alpha(N)
        return float(alpha.sum()) + self.k * self.reduced(alpha, N)[1]

    def _simple(self) -> Array:
        """N = 0, which is exact for k = 1, or N = C, whose bound is 0."""
        none = np.zeros_like(self.C)
        return none if self._spectral(none) > 0.0 else self.C


def _share(value: float, bound: float) -> float:
    """Their relative gap, up to rounding."""
    return relative(max(value - bound, 0.0), learning_scale(value, bound))


# Points that may merge, (1/2) sum_i |x_i - U_i|^2 + sum_p r_p |(A U)_p|, A the differences of
# pairs.
#
# The dual maximises <V, A X> - |A'V|^2 / 2 over |V_p| <= r_p, and U = X - A'V. For all pairs of n
# points |A A'| = n, so that 1/n is a step of the accelerated projected gradient (Beck and Teboulle,
# 2009, https://doi.org/10.1137/080716542), which starts again where it no longer climbs.


FUSION_STEPS = 4000
FUSION_ROUND = 10
"""Steps between two looks at the gap."""
NEAR = 10.0 ** np.arange(-12.0, 0.0)
"""Shares of the spread within which points are tried as one."""


@dataclass(frozen=True, eq=False)
class Fusion(Approximation):
    """The problem in U.

    Attributes
    ----------
    X : array, shape (n, d)
    lam : float
    weights : array, shape (m,)
        Of the pairs.
    """

    X: Array
    lam: float
    weights: Array

    @cached_property
    def A(self) -> Any:
        """The differences of pairs, rows e_i - e_j in the order of ``numpy.triu_indices``."""
        (i, j), eye = np.triu_indices(len(self.X), 1), sparse.eye_array(len(self.X), format="csr")
        return eye[i] - eye[j]

    @cached_property
    def spread(self) -> float:
        """How far a point is from the mean, at most."""
        return float(np.max(np.abs(self.X - self.level), initial=0.0))

    @cached_property
    def squares(self) -> Squares:
        return Squares(self.X, np.ones_like(self.X))

    @cached_property
    def norms(self) -> GroupL2 | L1:
        """Lam w_p times the length of the row of each pair."""
        pairs = np.repeat(np.arange(self.weights.size), self.X.shape[1])
        return GroupL2(self.lam, pairs, self.weights) if pairs.size else L1()

    @cached_property
    def terms(self) -> tuple[Summand, ...]:
        largest = max(self.lam * np.max(self.weights, initial=0.0), np.finfo(float).tiny)
        slope = "U_i = x_i - sum_{j>i} V_ij + sum_{j<i} V_ji", self.spread
        return (
            Summand(self.squares, slope=slope, variable="U"),
            Summand(
                self.norms,
                Pairs(self.A),
                "V",
                domain=("|V_ij| <= lam w_ij", largest),
                slack="lam w_ij |U_i - U_j| = <V_ij, U_i - U_j>",
                variable="Z",
                constraint="differences",
                limit="balls",
            ),
        )

    def multipliers(self, x: Array) -> dict[str, Array]:
        """The V of points that are apart: r_p along their difference, 0 where they are one."""
        D = self.A @ x
        return {"V": self.norms.subgradient(D.ravel()).reshape(D.shape)}

    def rounds(self, start: Array) -> Iterator[tuple[Array, Array, float]]:
        """U with near points made one, V, and their relative gap, every ``FUSION_ROUND`` steps."""
        for V in islice(self.climbs(start), 0, FUSION_STEPS, FUSION_ROUND):
            U = self.merged(self.X - self.A.T @ V)
            images, cost = self.images(U), self.cost(U)
            own = self.dual_point([V], self.completed([V]))
            yield U, V, _share(cost, cost - self.excess(images, own))

    def climbs(self, V: Array) -> Iterator[Array]:
        """Feasible V, step by step; the first is the start."""
        ahead = V = self.inside(V)
        t = 1.0
        while True:
            yield V
            before, V = V, self.inside(ahead + self.A @ (self.X - self.A.T @ ahead) / len(self.X))
            falls, faster = np.vdot(ahead - V, V - before) > 0.0, 0.5 + np.sqrt(0.25 + t * t)
            t, ahead = (1.0, V) if falls else (faster, V + (t - 1.0) / faster * (V - before))

    def inside(self, V: Array) -> Array:
        """The nearest rows with |V_p| <= r_p."""
        return self.norms.clip(V.ravel()).reshape(V.shape)

    def merged(self, U: Array) -> Array:
        """U with points that are near made one, at their mean, where that lowers P most."""
        sizes, best, least = lengths(self.A @ U, 1), U, self.cost(U)
        for reach in sorted({np.max(sizes[sizes <= r], initial=0.0) for r in NEAR * self.spread}):
            near = self.A[sizes <= reach]
            count, label = connected_components(near.T @ near, directed=False)
            sums = np.zeros((count, U.shape[1]))
            np.add.at(sums, label, U)
            trial = (sums / np.bincount(label)[:, None])[label]
            if (found := self.cost(trial)) <= least:
                best, least = trial, found
        return best
