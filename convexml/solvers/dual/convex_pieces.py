"""Least squares over convex functions by interior points, one n x n system a step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import linprog

from ...numerics import Array

CENTRING = 0.1
"""The complementarity aimed at, as a share of what there is."""
SHORT = 0.99
"""The share of the way to the boundary that a step goes."""
RANK = 1e-10
"""Directions of X this much shorter than the longest are no directions."""
EXACT: dict[str, Any] = {
    "method": "highs",
    "options": dict.fromkeys(("primal_feasibility_tolerance", "dual_feasibility_tolerance"), 1e-10),
}
"""The least tolerances that HiGHS takes."""

Step = tuple[Array, Array, Array]
"""Values (n,), slopes (n, d), multipliers (n, n)."""


def piece_steps(X: Array, y: Array) -> Iterator[Step]:
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


def _steps(X: Array, y: Array, c: Array) -> Iterator[Step]:
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
            r = min(_reach(lam, rise), _reach(s, opening))
            left = float(np.sum((lam + r * rise) * (s + r * opening))) / (mu * n * (n - 1))
            aim = mu * max(left**3, CENTRING**3)
            bent = np.where(apart, (aim - r * opening * rise) / s, 0.0)
            step, turn, opening, rise = newton.step(theta - y, g, bent, lam)
        except np.linalg.LinAlgError:
            return
        if not (np.all(np.isfinite(opening)) and np.all(np.isfinite(rise))):
            return
        reach = SHORT * min(_reach(s, opening), _reach(lam, rise))
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


def _reach(size: Array, change: Array) -> float:
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
