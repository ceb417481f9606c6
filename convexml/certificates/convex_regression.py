"""Certificates of min (1/2n) |y - theta|^2 s.t. theta_j >= theta_i + g_i'(x_j - x_i).

For lambda_ij >= 0 with sum_j lambda_ij (x_j - x_i) = 0 for every i and t_k = sum_i lambda_ik -
sum_j lambda_kj the dual maximises -sum n t_k^2 / 2 + y_k t_k. Multipliers that balance exactly are
known to be near the repaired ones: how near is what the sum of terms asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..formulas import Condition, worst
from ..numerics import ROUNDING, Array, gamma, length
from ..penalties import Nonnegative
from ..problem.terms import Approximation, Pair, Squares, Summand
from .algebra.definite import unit_columns
from .algebra.rationals import dependence
from .certificate import Certificate, Verdict
from .projection import Nearly, Projection
from .sums import certify_sum

# Multipliers of a convex fit that are to balance at every point: repaired, and priced.
#
# sum_j lambda_ij (x_j - x_i) = 0 for lambda_i >= 0 says that x_i is a mean of other points: at an
# extreme point only 0 does it. What is changed is chosen in floating point; that multipliers which
# balance exactly are near what was chosen is what their projection tells.


ROUNDS = 30
"""How often multipliers that would become negative are dropped."""
NOTHING = 1e-280
"""Multipliers up to this are 0: directions times smaller ones leave float64."""
INDEPENDENT = 1e-9
"""Singular values that columns of norm 1 need if they count as independent."""


def balanced_multipliers(X: Array, given: Array, least: float) -> tuple[Array, Array, int]:
    """Multipliers near some of those above ``least``, and how far exact ones are from each, (n, n).

    Then the number of points whose multipliers balance up to rounding only, and become 0.
    """
    n, doubtful = len(X), 0
    found, off = np.zeros((2, n, n))
    for i in range(n):
        support = np.flatnonzero(given[i] > least)
        if not support.size:
            continue
        V, start = X[support] - X[i], given[i, support]
        row, apart = _balanced(V, start), V.any(axis=1)  # no direction, nothing to balance
        moved = apart & (row > least)
        most = _distance(V, row, moved) if np.any(row[apart]) else 0.0
        if not most <= least:  # what follows from other columns needs no balance of its own
            exact = dependence(X[[i, *support[row > 0.0]]], ones=True).exact
            most = _distance(np.delete(V, exact, axis=1), row, moved)
        if most <= least:
            found[i, support], off[i, support] = row, most * moved
        else:
            found[i, support] = np.where(apart, 0.0, start)
            doubtful += 1
    return found, off, doubtful


def _balanced(V: Array, row: Array) -> Array:
    """The least relative change of a row with V'l = 0; what would be negative becomes 0."""
    for _ in range(ROUNDS):
        directions, units = unit_columns(V * row[:, None])  # changes relative to the multipliers
        shares = np.linalg.lstsq(directions.T, -units * (row @ V), rcond=1e-13)[0]
        if np.all(shares > -1.0):
            return row * (1.0 + shares)
        row = np.where(shares > -1.0, row, 0.0)
    return np.zeros_like(row)


def _distance(V: Array, row: Array, moved: Array) -> float:
    """Some l with V'l = 0 is within this of a row, and the same but where it is ``moved``."""
    V = V[:, V[row > 0.0].any(axis=0)]  # 0 is exact: of a face along the axes
    _, units = unit_columns(V[moved])
    scaled = V * units
    left, sizes = row @ scaled, row @ np.abs(scaled)
    K = scaled[moved]
    if not np.all(np.linalg.svd(K, compute_uv=False) > INDEPENDENT):
        return np.inf
    error = length(gamma(len(row) + 8) * sizes) * (1.0 + gamma(left.size + 8))
    return Projection([K], [1.0], K.T @ K).distance(Nearly([row], left, error))


LEAST = (1e-8, 1e-4)
"""Shares of the largest multiplier below which others are taken for 0, one after the other."""


@dataclass(frozen=True, eq=False)
class Convex(Approximation):
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
    def squares(self) -> Squares:
        return Squares(self.y, np.full(self.n, 1.0 / self.n))

    @property
    def origin(self) -> tuple[Array, Array]:
        return super().origin, np.zeros_like(self.X)

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
        return Summand(self.squares, slope=slope), pieces

    def cost(self, x: tuple[Array, Array]) -> float:
        return self.squares.value(x[0])

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

    def equations(self, given: Sequence[Array]) -> list[Condition]:
        sizes = np.max(np.einsum("ij,ijk->ik", np.abs(given[0]), np.abs(self.between)), axis=0)
        drift = np.einsum("ij,ijk->ik", given[0], self.between)
        name = "sum_j lambda_ij (x_j - x_i) = 0"
        return [worst(name, "stationarity", drift, np.broadcast_to(sizes, drift.shape))]

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
            found, off, some = balanced_multipliers(self.X, lam, max(share * top, NOTHING))
            doubtful = max(doubtful, some)
            known.append(self.completed([found], off))
        return self.best_of(known, images), doubtful

    def certify(
        self, x: tuple[Array, Array], given: Array | None, tol: float, *, passed: bool
    ) -> Certificate:
        """Judge a fit by multipliers, repaired, or by none: D = 0 at lambda = 0."""
        lam = np.zeros((self.n, self.n)) if given is None else given
        images = self.images(x)
        near, doubtful = self.nearest(images, lam)
        lam = lam if passed else -near[1][0].reshape(lam.shape)
        known: dict[str, Any] = {"images": images, "near": near}
        found = certify_sum(self, x, {"lambda": lam}, tol, passed=passed, **known)
        if not doubtful or found.verdict is not Verdict.UNDECIDED or found.relative_gap <= tol:
            return found
        why = f"multipliers of {doubtful} points balance up to rounding only, and are left out."
        return found.but(reason=why)
