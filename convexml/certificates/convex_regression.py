"""Certificates of min (1/2n) |y - theta|^2 s.t. theta_j >= theta_i + g_i'(x_j - x_i).

For lambda_ij >= 0 with sum_j lambda_ij (x_j - x_i) = 0 for every i and t_k = sum_i lambda_ik -
sum_j lambda_kj the dual maximises -sum n t_k^2 / 2 + y_k t_k. Multipliers that balance exactly are
known to be near the repaired ones: how near is what the sum of terms asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg

from ..formulas import worst
from ..numerics import ROUNDING, UNIT, Array, gamma, length, two_sum
from ..penalties import Nonnegative
from ..problem.terms import Pair, Squares, Summand, SumOfTerms
from .algebra.definite import least_singular_value, unit_columns
from .algebra.rationals import dependence
from .certificate import Certificate, Verdict
from .sums import certify_sum

# Multipliers of a convex fit that are to balance at every point: repaired, and priced.
#
# sum_j lambda_ij (x_j - x_i) = 0 for lambda_i >= 0 says that x_i is a mean of other points: at an
# extreme point only 0 does it. What is changed is chosen in floating point; that multipliers which
# balance exactly are near what was chosen is proved by the directions of as many of them as there
# are features.


ROUNDS = 30
"""How often multipliers that would become negative are dropped."""
NOTHING = 1e-280
"""Multipliers up to this are 0: directions times smaller ones leave float64."""
INDEPENDENT = 1e-9
"""Share of the longest that a direction has beside the others if it counts."""


class Balanced(NamedTuple):
    """Multipliers, and by how much those that balance exactly are away from them.

    Attributes
    ----------
    multipliers : array, shape (n, n)
    change : array, shape (n,)
        At most that much each entry of ``moved`` changes, by rows.
    moved : array of bool, shape (n, n)
    doubtful : int
        Points whose multipliers were dropped because they balance up to rounding only.
    """

    multipliers: Array
    change: Array
    moved: Array
    doubtful: int


def balanced_multipliers(X: Array, given: Array, least: float) -> Balanced:
    """Multipliers near those given, of at least ``least``, that balance up to ``change``.

    A row that cannot be balanced is 0.
    """
    n, doubtful = len(X), 0
    found, change, moved = np.zeros((n, n)), np.zeros(n), np.zeros((n, n), dtype=bool)
    for i in range(n):
        support = np.flatnonzero(given[i] > max(least, NOTHING))
        support = support[support != i]
        same = np.all(X[support] == X[i], axis=1)
        found[i, support[same]] = given[i, support[same]]  # no direction, nothing to balance
        support = support[~same]
        V = X[support] - X[i]
        row = _balanced(V, given[i, support])
        used = row > 0.0
        if not np.any(used):
            continue
        exact = not np.any(two_sum(X[support[used]], -X[i])[1])
        proved = _nearby(V[used], row[used], exact)
        doubtful += proved is None
        if proved is not None:
            found[i, support], change[i] = row, proved[0]
            moved[i, support[used][proved[1]]] = True
    return Balanced(found, change, moved, doubtful)


def _balanced(V: Array, start: Array) -> Array:
    """The least relative change of ``start`` with V'l = 0; what would be negative becomes 0."""
    row, used = start.copy(), start > 0.0
    for _ in range(ROUNDS):
        if not np.any(used):
            break
        part = start[used]
        directions = V[used] * part[:, None]  # changes relative to the multipliers
        _, units = unit_columns(directions)
        shares = np.linalg.lstsq((directions * units).T, -units * (part @ V[used]), rcond=1e-13)[0]
        row = np.zeros_like(start)
        row[used] = part * (1.0 + shares)
        if np.all(shares > -1.0):
            return row
        used = used.copy()
        used[np.flatnonzero(used)[shares <= -1.0]] = False
    return np.zeros_like(start)


def _nearby(V: Array, row: Array, exact: bool) -> tuple[float, Array] | None:
    """(bound, which): multipliers that balance are within the bound, on those alone; or None.

    ``exact`` says that the directions V are not rounded.
    """
    V = V[:, np.any(V != 0.0, axis=0)]  # 0 is exact: of a face along the axes
    d = V.shape[1]
    scaled, _ = unit_columns(V)
    weighted = (scaled * row[:, None]).T
    R, order = linalg.qr(weighted, mode="r", pivoting=True, check_finite=False)
    diagonal = np.abs(np.diag(R))
    rank = int(np.sum(diagonal > INDEPENDENT * diagonal[0]))
    which = order[:rank]
    if rank < d:
        # The residual is a combination of all directions: of these too, if they span the others.
        split = dependence(scaled.T) if exact else None
        if split is None or split.doubtful.size or split.independent.size != rank:
            return None
        which = split.independent
    rest = np.abs(row @ scaled) + gamma(len(row) + 8) * (row @ np.abs(scaled))
    sigma = least_singular_value(scaled[which].T) - 4.0 * UNIT * length(scaled[which])
    if not sigma > 0.0:
        return None
    bound = length(rest) / sigma * (1.0 + gamma(d + 8))
    return (bound, which) if bound <= float(np.min(row[which])) else None


LEAST = (1e-8, 1e-4)
"""Shares of the largest multiplier below which others are taken for 0, one after the other."""


@dataclass(frozen=True, eq=False)
class Convex(SumOfTerms):
    """The problem of the convex fit, of points (theta, g).

    Attributes
    ----------
    X : array, shape (n, d)
        Distinct points or not.
    y : array, shape (n,)
    """

    X: Array
    y: Array

    @property
    def n(self) -> int:
        """The number of samples."""
        return len(self.y)

    @cached_property
    def between(self) -> Array:
        """x_j - x_i at (i, j), shape (n, n, d)."""
        return self.X[None, :, :] - self.X[:, None, :]

    @cached_property
    def _apart(self) -> Array:
        """The columns of X that others do not follow from, exactly, by a constant and factors."""
        split = dependence(self.X, ones=True)
        if split.doubtful.size:
            return self.X
        return np.asarray(self.X[:, split.independent[:-1]])

    @cached_property
    def null(self) -> float:
        """P of the mean."""
        return 0.5 * float(np.mean(np.square(self.y - self.y.mean())))

    @cached_property
    def terms(self) -> tuple[Summand, ...]:
        spread, n = float(np.sqrt(2.0 * self.null)), self.n
        slope, domain = ("(theta_k - y_k)/n = t_k", spread / n), ("lambda_ij >= 0", spread / n)
        pieces = Summand(
            Nonnegative(),
            dual="lambda",
            domain=domain,
            feasible=("theta_j >= theta_i + g_i'(x_j - x_i)", spread),
            slack="lambda_ij (theta_j - theta_i - g_i'(x_j - x_i)) = 0",
            sign=-1.0,
        )
        return Summand(Squares(self.y, np.full(n, 1.0 / n)), slope=slope), pieces

    def cost(self, x: tuple[Array, Array]) -> float:
        return float(self.terms[0].function.value(x[0]))

    def slacks(self, theta: Array, g: Array) -> tuple[Array, Array]:
        """theta_j - theta_i - g_i'(x_j - x_i) at (i, j), and the sizes of their terms."""
        slack = theta[None, :] - theta[:, None] - np.einsum("ijk,ik->ij", self.between, g)
        values = np.abs(theta)[None, :] + np.abs(theta)[:, None]
        sizes = values + np.einsum("ijk,ik->ij", np.abs(self.between), np.abs(g))
        return slack, sizes

    def images(self, x: tuple[Array, Array]) -> list[Pair]:
        slack, sizes = self.slacks(*x)
        noise = gamma(self.X.shape[1] + 4) * sizes
        return [(x[0], np.zeros_like(x[0])), (slack.ravel(), noise.ravel())]

    def value(self, x: tuple[Array, Array]) -> float:
        """The objective; inf where the pieces are not below the values by more than rounding."""
        slack, sizes = self.slacks(*x)
        return self.cost(x) if np.all(slack >= -ROUNDING * sizes) else np.inf

    def drift(self, lam: Array) -> tuple[Array, Array]:
        """sum_j lambda_ij (x_j - x_i), and the sizes of its terms, shape (n, d)."""
        sizes = np.einsum("ij,ijk->ik", np.abs(lam), np.abs(self.between))
        return np.einsum("ij,ijk->ik", lam, self.between), sizes

    def dual_value(self, lam: Array) -> float:
        """D; -inf where a multiplier is negative, or a row does not balance up to rounding."""
        (drift, sizes), (t, _) = self.drift(lam), self.completed([lam])[0]
        if np.any(lam < 0.0) or np.any(np.abs(drift) > ROUNDING * sizes):
            return -np.inf
        return -float(0.5 * self.n * (t @ t) + (self.y - self.y.mean()) @ t)

    def completed(self, given: Sequence[Array], steps: Array | float = 0.0) -> list[Pair]:
        """With t_k = sum_i lambda_ik - sum_j lambda_kj; ``steps`` bound what moves the lambda."""
        lam, n = given[0], self.n
        off = np.broadcast_to(steps, lam.shape)
        share = gamma(n + 8)
        moved = share * np.abs(lam) + off * (1.0 + 2.0 * share)
        error = (moved.sum(axis=0) + moved.sum(axis=1)) * (1.0 + 2.0 * share)
        return [(lam.sum(axis=0) - lam.sum(axis=1), error), (-lam.ravel(), off.ravel())]

    def nearest(self, images: Sequence[Pair], given: Array) -> tuple[list[Pair], int]:
        """The best for these images of the dual points near, and how many rows have none."""
        lam = np.maximum(given, 0.0)
        np.fill_diagonal(lam, 0.0)
        top, doubtful = float(np.max(lam, initial=0.0)), 0
        known = [self.completed([np.zeros_like(lam)])]
        for share in LEAST if top > 0.0 else ():
            found = balanced_multipliers(self._apart, lam, share * top)
            doubtful = max(doubtful, found.doubtful)
            known.append(self.completed([found.multipliers], found.moved * found.change[:, None]))
        return self.best_of(known, images), doubtful

    def certify(
        self, x: tuple[Array, Array], given: Array | None, tol: float, *, passed: bool
    ) -> Certificate:
        """Judge a fit by multipliers, repaired, or by none: D = 0 at lambda = 0."""
        lam = np.zeros((self.n, self.n)) if given is None else given
        images = self.images(x)
        near, doubtful = self.nearest(images, lam)
        lam = lam if passed else -near[1][0].reshape(lam.shape)
        drift, sizes = self.drift(lam)
        sizes = np.broadcast_to(np.max(sizes, axis=0), drift.shape)
        balance = worst("sum_j lambda_ij (x_j - x_i) = 0", "stationarity", drift, sizes)
        own = {"lambda": lam}
        known: dict[str, Any] = {"images": images, "near": near, "equations": [balance]}
        found = certify_sum(self, x, own, tol, passed=passed, **known)
        if not doubtful or found.verdict is not Verdict.UNDECIDED or found.relative_gap <= tol:
            return found
        why = f"multipliers of {doubtful} points balance up to rounding only, and are left out."
        return found.but(reason=why)
