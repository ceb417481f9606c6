"""The minimum of a quadratic of d unknowns and a penalty: no products with X are needed for it."""

from __future__ import annotations

import numpy as np
from scipy import linalg

from ...numerics import EPS, Array
from ...objective.symmetric import solve_symmetric
from ...penalties import Penalty
from ..first_order.accelerated_gradient import next_weight

MOST, EVERY = 4000, 40
"""Accelerated steps at most, and after how many of them the surface that they are on is tried."""
ROUNDS = 6
"""Newton steps on one surface: on a flat one the first is the last."""
EXACT, SHARE = 64.0 * EPS, 1e-8
"""What a residual may be beside the terms that it is the difference of, or beside the first one."""


class Penalised:
    """The function v'M v / 2 - r'v + Omega(v), M positive semidefinite.

    Parameters
    ----------
    M : array, shape (d, d)
    r : array, shape (d,)
    penalty : Penalty
    """

    def __init__(self, M: Array, r: Array, penalty: Penalty) -> None:
        self.M, self.r, self.penalty = M, r, penalty
        unit = self._units(M.diagonal())
        root = np.sqrt(unit)
        largest = _largest(M * root * root[:, None])
        self.step = unit / largest if largest > 0.0 else unit

    def _units(self, diagonal: Array) -> Array:
        """1 / M_jj where the prox takes a step for each w_j, 1 / max M_jj over a group, or of all.

        The prox of a penalty that is neither a sum over j nor over groups takes one step for all.
        """
        d, zero = len(diagonal), np.zeros(len(diagonal))
        blocks = self.penalty.zero_blocks(d)
        if self.penalty.terms(zero, zero).shape == zero.shape:
            sizes = diagonal
        elif blocks is not None:
            sizes = np.zeros(len(blocks[1]))
            np.maximum.at(sizes, blocks[0], diagonal)
            sizes = sizes[blocks[0]]
        else:
            sizes = zero + diagonal.max(initial=0.0)
        largest = float(sizes.max(initial=0.0)) or 1.0
        return 1.0 / np.maximum(sizes, EPS * largest)

    def value(self, v: Array) -> float:
        """The function at a feasible v."""
        return 0.5 * float(v @ (self.M @ v)) - float(self.r @ v) + self.penalty.value(v)

    def moved(self, v: Array) -> Array:
        """The proximal gradient step from v."""
        return self._prox(v + self.step * (self.r - self.M @ v))

    def _prox(self, v: Array) -> Array:
        alike = self.step[0] == self.step[-1] and np.all(self.step == self.step[0])
        return self.penalty.prox(v, float(self.step[0]) if alike else self.step)

    def residual(self, v: Array) -> float:
        """The length of that step in its own units; 0 at the minimum alone."""
        return float(np.linalg.norm((self.moved(v) - v) / np.sqrt(self.step)))

    def rounding(self, v: Array) -> float:
        """What the residual is made of at rounding."""
        terms = np.abs(self.r) + np.abs(self.M) @ np.abs(v)
        return EXACT * float(np.linalg.norm(np.sqrt(self.step) * terms))

    def on_its_surface(self, v: Array, missed: float) -> tuple[Array, float]:
        """Newton steps on the surface that v is on, as long as they pay: the end, its residual."""
        for _ in range(ROUNDS):
            there = self._newton(v)
            left = self.residual(there) if np.all(np.isfinite(there)) else np.inf
            if not (left < missed and self._is_no_worse(there, v)):
                break
            v, missed = there, left
        return v, missed

    def _is_no_worse(self, there: Array, v: Array) -> bool:
        value = self.value(v)
        return self.value(there) <= value + EXACT * (abs(value) + float(np.abs(self.r) @ np.abs(v)))

    def _newton(self, v: Array) -> Array:
        surface = self.penalty.manifold(v, self.r - self.M @ v, self.step)
        free, hessian = surface.active, surface.hessian
        there = np.where(free, v, surface.fixed)
        rows = np.zeros((0, int(free.sum()))) if surface.normal is None else surface.normal
        k, m = rows.shape[1], rows.shape[0]
        system, right = np.zeros((k + m, k + m)), np.zeros(k + m)
        system[:k, :k] = self.M[np.ix_(free, free)]
        system[:k, :k] += np.diag(hessian) if hessian.ndim == 1 else hessian
        system[k:, :k], system[:k, k:] = rows, rows.T
        right[:k] = (self.r - self.M @ there)[free] - surface.gradient
        if surface.residual is not None:
            right[k:] = -surface.residual
        there[free] += solve_symmetric(system, right)[:k]
        return self.penalty.project(there)

    def minimum(self, start: Array) -> Array:
        """Its minimiser, from a start that may be on the right surface already.

        Accelerated proximal gradient steps find the surface, Newton steps the point on it.
        """
        first = self.residual(start)
        best, least = self.on_its_surface(start, first)
        x = y = best
        t = 1.0
        for k in range(1, MOST + 1):
            if least <= max(self.rounding(best), SHARE * first):
                break
            ahead = self.moved(y)
            if float(((y - ahead) / self.step) @ (ahead - x)) > 0.0:
                y, t = ahead, 1.0
            else:
                weight, t = next_weight(t)
                y = ahead + weight * (ahead - x)
            x = ahead
            if k % EVERY == 0:
                found, left = self.on_its_surface(x, self.residual(x))
                if left < least:
                    best, least = found, left
        return best


def _largest(M: Array) -> float:
    """The largest eigenvalue."""
    d = len(M)
    return float(linalg.eigh(M, eigvals_only=True, subset_by_index=[d - 1, d - 1])[0]) if d else 0.0
