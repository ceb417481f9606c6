"""The generalized lasso by interior points of its dual, ended on the combinations that are 0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve
from scipy.linalg.lapack import dpbsv
from scipy.optimize import linprog

from ...certificates.generalized_lasso import Generalized
from ...certificates.projection import Projection
from ...numerics import Array
from ..exact import smallest_box, without_combinations

# Interior points of a quadratic over a box, the dual of a penalty |A w|_1.


CENTRING = 0.1
"""The complementarity aimed at, as a share of what there is."""
SHORT = 0.99
"""The share of the way to the boundary that a step goes."""


def inner_points(system: BandedBox | CoupledBox, count: int, level: float) -> Iterator[Array]:
    """Yield s, strictly inside of |s| <= level, that lower the quadratic.

    It ends where float64 does: where the system of a step is no longer positive definite.

    Source: Kim, Koh, Boyd and Gorinevsky (2009, https://doi.org/10.1137/070690274).
    """
    s = np.zeros(count)
    unit = max(float(np.max(np.abs(system.slopes(s)))), np.finfo(float).tiny)
    room, force = np.full((2, count), level), np.full((2, count), unit)  # above and below s
    while True:
        yield s
        pull = CENTRING * float(np.vdot(force, room)) / (2 * count) / room
        weights = force / room
        side = system.slopes(s) - pull[0] + pull[1]
        try:
            step = system.step(weights[0] + weights[1], side)
        except (ValueError, np.linalg.LinAlgError):
            return
        change = np.stack((-step, step))
        to_force = pull - weights * change - force
        reach = min(_reach(room, change), _reach(force, to_force))
        s, room, force = s + reach * step, room + reach * change, force + reach * to_force
        system.move(reach)


def _reach(size: Array, change: Array) -> float:
    """The step for which size + step * change stays positive, at most 1."""
    fastest = float(np.max(-change / size))
    return min(1.0, SHORT / fastest) if fastest > 0.0 else 1.0


# The banded quadratic of a trend filter's dual.


@dataclass(frozen=True, eq=False)
class BandedBox:
    """(1/2) s'Qs - b's for ``inner_points``.

    Attributes
    ----------
    bands : array, shape (k, m)
        The lower diagonals of Q, as LAPACK's ``dpbsv`` takes them.
    b : array, shape (m,)
    """

    bands: Array
    b: Array

    def slopes(self, s: Array) -> Array:
        """B - Q s."""
        total = self.bands[0] * s
        for k, band in enumerate(self.bands[1:], start=1):
            if k < s.size:
                total[k:] += band[:-k] * s[:-k]
                total[:-k] += band[:-k] * s[k:]
        return np.asarray(self.b - total)

    def step(self, weights: Array, side: Array) -> Array:
        """The t with Q t + weights * t = side."""
        matrix = self.bands.copy()
        matrix[0] += weights
        _, found, failed = dpbsv(matrix, side, lower=1)
        if failed or not np.isfinite(np.vdot(found, found)):
            raise np.linalg.LinAlgError("no longer positive definite")
        return np.asarray(found)

    def move(self, reach: float) -> None:
        """S alone moves."""


# The dual of a generalized lasso over its box, with the w that belongs to each s.


class CoupledBox:
    """min (1/2) w'Mw - q'w + s'Aw over w, for ``inner_points``; M may be singular.

    Newton's system in s alone has A M^-1 A' + H in it; in w it is M + A' H^-1 A, which is definite
    where no direction of w is free of both. M w - q + A's = 0 is kept by each step, and what is
    left of it corrected by the next.

    Parameters
    ----------
    M, A : arrays or sparse arrays, shapes (k, k) and (m, k)
    q, w : array, shape (k,)
        The start w, where A's is 0, has M w about q.
    metric : callable
        Of the roots of weights (m,): the projection with the factor of M + A' diag(weights) A.
    """

    def __init__(
        self,
        M: Array,
        q: Array,
        A: Array,
        w: Array,
        metric: Callable[[Array], Projection],
    ) -> None:
        self._M, self._q, self._A, self._metric = M, q, A, metric
        self.w = w
        self._left = self._step = np.zeros_like(w)

    def slopes(self, s: Array) -> Array:
        """A w; what s leaves of the equation in w is kept for the next step."""
        self._left = self._M @ self.w - self._q + self._A.T @ s
        return np.asarray(self._A @ self.w)

    def step(self, weights: Array, side: Array) -> Array:
        """The t with A dw - weights * t = -side, where M dw + A't removes what is left."""
        factor = self._metric(np.sqrt(1.0 / weights)).solver
        if factor is None:
            raise np.linalg.LinAlgError("the system of a step is singular.")
        self._step = -factor.solve(self._left + self._A.T @ (side / weights))
        found = (side + self._A @ self._step) / weights
        if not np.all(np.isfinite(found)):
            raise np.linalg.LinAlgError("a step is not finite.")
        return np.asarray(found)

    def move(self, reach: float) -> None:
        """Go that share of the last step of w."""
        self.w = self.w + reach * self._step


EDGE = 1.0 - 1e-9
"""Share of the smallest lam for which A w = 0 from which on it is taken for 0."""
CLOSE = 1e-4
"""Relative gap from which on the combinations that are 0 are guessed."""

Step = tuple[Array, Array, float]
"""w with the intercept, s, and the relative gap that is expected of them."""


def combination_steps(program: Generalized) -> Iterator[Step]:
    """Yield points of a generalized lasso; the first is the last where it is the best A w = 0."""
    stack, q, lam = program.stack, program.side, program.lam
    m = stack.A.shape[0]
    if lam == 0.0 or not np.any(q):
        yield program.told(_least_squares(program)), np.zeros(m), 0.0
        return
    flat = without_combinations(stack, q)
    if flat is not None and lam >= EDGE * np.linalg.norm(flat[1]) / np.sqrt(m):
        v, s = flat
        if np.max(np.abs(s)) > lam:
            s = smallest_box(stack.A, s)
        if EDGE * np.max(np.abs(s)) <= lam:
            yield program.told(v), s, 0.0
            return
    start = (stack.regular or stack.whole).solve(q)
    if start is None:
        return
    box = CoupledBox(stack.gram, q, stack.A, start, stack.metric)
    promise = np.inf
    for s in inner_points(box, m, lam):
        before, promise = promise, program.promise(box.w, s)
        if not promise < before:
            promise = 0.0  # rounding is reached: each point is judged from here on
        settled = _settled(program, box.w, s) if promise < CLOSE else None
        if settled is not None:
            yield program.told(settled), s, promise
        yield program.told(box.w), s, promise


def _least_squares(program: Generalized) -> Array:
    B = program.stack.B
    B = B.toarray() if sparse.issparse(B) else B
    side = np.sqrt(program.c) * (program.y - program.centre)
    return np.asarray(np.linalg.lstsq(B, side, rcond=None)[0])


def _settled(program: Generalized, v: Array, s: Array) -> Array | None:
    """The best point whose combinations are 0 where s is far from its ends, else of their signs."""
    stack, lam = program.stack, program.lam
    z = stack.A @ v
    room, size = 1.0 - np.abs(s) / lam, np.abs(z) / (float(np.max(np.abs(z))) or 1.0)
    zero = room > size
    q = program.side - lam * (stack.A[~zero].T @ np.sign(z[~zero]))
    if not np.any(zero):
        return None if stack.regular is None else stack.regular.solve(q)
    found = without_combinations(replace(stack, A=stack.A[zero]), q)
    return None if found is None else found[0]


# Least squares over convex functions by interior points, one n x n system a step.


RANK = 1e-10
"""Directions of X this much shorter than the longest are no directions."""
EXACT: dict[str, Any] = {
    "method": "highs",
    "options": dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), 1e-10),
}
"""The least tolerances that HiGHS takes."""

PieceStep = tuple[Array, Array, Array]
"""Values (n,), slopes (n, d), multipliers (n, n)."""


def piece_steps(X: Array, y: Array) -> Iterator[PieceStep]:
    """Yield (theta, g, lambda) towards the convex fit of y, of samples in rows of X.

    Points that are there several times become one, directions are made orthogonal and of one
    length, and y gets the length 1. Of repeated points the first has the multipliers of all, and
    hands on to each other what it is to have.
    """
    _, first, owner = np.unique(X, axis=0, return_index=True, return_inverse=True)
    owner = owner.ravel()
    count = np.bincount(owner).astype(float)
    means = np.bincount(owner, weights=y) / count
    level, size = float(y.mean()), float(np.std(y)) or 1.0
    away = X[first] - X.mean(axis=0)
    ranges = np.max(np.abs(away), axis=0)
    ranges[ranges == 0.0] = 1.0
    away = away / ranges
    _, lengths, axes = np.linalg.svd(away, full_matrices=False)
    kept = lengths > RANK * float(np.max(lengths, initial=0.0))
    units = lengths[kept] / np.sqrt(len(y))
    points = away @ axes[kept].T / units
    for theta, slopes, lam in _steps(points, (means - level) / size, count / len(y)):
        values, n = level + size * theta[owner], len(y)
        g = (size * slopes / units @ axes[kept] / ranges)[owner]
        whole = np.zeros((n, n))
        whole[np.ix_(first, first)] = size * lam
        others = np.setdiff1d(np.arange(n), first)
        pull = (values[others] - y[others]) / n
        to, away_from = np.maximum(pull, 0.0), np.maximum(-pull, 0.0)
        whole[first[owner[others]], others] += to
        whole[others, first[owner[others]]] += away_from
        yield values, g, whole


def _steps(X: Array, y: Array, c: Array) -> Iterator[PieceStep]:
    """Predictors and correctors on c/2 (theta - y)^2 + mu (|g|^2 / 2 - sum log s), s the slacks.

    s_ij = theta_j - theta_i - g_i'(x_j - x_i). The slopes of extreme points are bounded by nothing
    but the term in g. Source of the steps: Mehrotra (1992, https://doi.org/10.1137/0802028).
    """
    n = len(X)
    between, apart = X[None, :, :] - X[:, None, :], ~np.eye(n, dtype=bool)
    theta, g = np.square(X).sum(axis=1), 2.0 * X
    theta += float(c @ (y - theta))
    lam = np.zeros((n, n))
    lam[apart] = 1.0 / (n**2 * _slacks(between, theta, g)[apart])
    while True:
        yield theta, g, lam
        s = _slacks(between, theta, g)
        s[~apart] = 1.0
        mu = float(np.sum(lam * s)) / max(n * (n - 1), 1)
        if not (np.all(s > 0.0) and mu > 0.0):
            return  # rounding has been reached
        try:
            newton = _Newton(between, lam / s, CENTRING * mu, c)
            ahead = newton.step(theta - y, g, np.zeros((n, n)), lam)
            _, _, opening, rise = ahead
            r = min(_way(lam, rise), _way(s, opening))
            left = float(np.sum((lam + r * rise) * (s + r * opening))) / (mu * n * (n - 1))
            aim = mu * max(left**3, CENTRING**3)
            bent = np.where(apart, (aim - r * opening * rise) / s, 0.0)
            step, turn, opening, rise = newton.step(theta - y, g, bent, lam)
        except np.linalg.LinAlgError:
            return
        if not (np.all(np.isfinite(opening)) and np.all(np.isfinite(rise))):
            return
        reach = SHORT * min(_way(s, opening), _way(lam, rise))
        theta, g, lam = theta + reach * step, g + reach * turn, lam + reach * rise


def _slacks(between: Array, theta: Array, g: Array) -> Array:
    """theta_j - theta_i - g_i'(x_j - x_i) at (i, j)."""
    return np.asarray(theta[None, :] - theta[:, None] - np.einsum("ijk,ik->ij", between, g))


class _Newton:
    """The linear system of a point: what it asks of g_i is solved for each i.

    A d x d system for each i leaves one n x n system in theta. w holds lambda_ij / s_ij.
    """

    def __init__(self, between: Array, w: Array, ridge: float, c: Array) -> None:
        n, _, d = between.shape
        self._between, self._w, self._ridge, self._c = between, w, ridge, c
        pulls = w[:, :, None] * between
        grams = np.einsum("ijk,ijl->ikl", pulls, between) + ridge * np.eye(d)
        self._roots = np.linalg.cholesky(grams)
        self._rows = np.linalg.solve(self._roots, np.swapaxes(pulls, 1, 2))  # (i, k, j)
        self._sums = np.linalg.solve(self._roots, pulls.sum(axis=1)[:, :, None])[:, :, 0]
        flat = self._rows.reshape(n * d, n)
        kept = w - np.einsum("ikj,ik->ij", self._rows, self._sums)  # what of w_i is left beside g_i
        diagonal = np.diag(c + w.sum(axis=0) + kept.sum(axis=1))
        self._factor = cho_factor(diagonal - flat.T @ flat - kept - kept.T, lower=True)

    def step(self, away: Array, g: Array, aim: Array, lam: Array) -> tuple[Array, ...]:
        """The steps of theta, g, s and lambda towards lambda_ij = ``aim`` - w_ij ds_ij."""
        n, _, d = self._between.shape
        asked = np.einsum("ij,ijk->ik", aim, self._between) + self._ridge * g
        sides = np.linalg.solve(self._roots, asked[:, :, None])[:, :, 0]
        told = np.einsum("ikj,ik->ij", self._rows, sides)
        side = aim.sum(axis=0) - aim.sum(axis=1) - self._c * away
        side -= told.sum(axis=0) - told.sum(axis=1)
        step = cho_solve(self._factor, side)
        left = self._rows.reshape(n, d, n) @ step - self._sums * step[:, None] - sides
        turn = np.linalg.solve(np.swapaxes(self._roots, 1, 2), left[:, :, None])[:, :, 0]
        opening = _slacks(self._between, step, turn)
        return step, turn, opening, aim - lam - self._w * opening


def _way(size: Array, change: Array) -> float:
    """The step for which size + step * change stays at least 0, at most 1."""
    falls = change < 0.0
    return min(1.0, float(np.min(-size[falls] / change[falls], initial=np.inf)))


def slopes_of(X: Array, theta: Array) -> Array:
    """Slopes g_i with g_i'(x_j - x_i) <= theta_j - theta_i, or the least excess where none has it.

    A linear program for each point: the smallest t >= 0 with g_i'(x_j - x_i) - t <= theta_j -
    theta_i.
    """
    n, d = X.shape
    slopes, cost = np.zeros((n, d)), np.append(np.zeros(d), 1.0)
    units = np.maximum(np.max(np.abs(X - X.mean(axis=0)), axis=0), np.finfo(float).tiny)
    size = float(np.ptp(theta)) or 1.0
    bounds = [(None, None)] * d + [(0.0, None)]
    for i in range(n):
        rows = np.column_stack([(X - X[i]) / units, -np.ones(n)])
        others = np.arange(n) != i
        side = (theta - theta[i]) / size
        if not np.any(others):
            break
        found = linprog(cost, A_ub=rows[others], b_ub=side[others], bounds=bounds, **EXACT)
        if found.x is not None:
            slopes[i] = size * found.x[:d] / units
    return slopes
