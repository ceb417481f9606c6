"""The optimality conditions of the dual QP of a learning problem, and Newton steps for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from ...blocks import joined, parted
from ...design import ahead
from ...numerics import Array
from ...objective import Objective
from ..box_dual import BoxDual

BACK_OFF = 0.995
"""Share of the way to the boundary that a step goes."""
SIDES = np.array([1.0, -1.0])[:, None, None]
"""Slacks s and multipliers z have shape (2, k, m): those of p >= lo, and those of p <= hi."""


@dataclass(frozen=True)
class InteriorPoint:
    """The unknowns p (k, m), (w, b), the slacks s > 0 of the box and their multipliers z > 0."""

    p: Array
    w: Array
    b: float
    s: Array
    z: Array

    def plus(self, t: float, d: InteriorPoint) -> InteriorPoint:
        """Return the point t along the direction d."""
        s, z = self.s + t * d.s, self.z + t * d.z
        return InteriorPoint(self.p + t * d.p, self.w + t * d.w, self.b + t * d.b, s, z)


class KinkedRows:
    """The predictions (X w + b, w_j for j in ``kinked``): rows of the samples and of kinks."""

    def __init__(self, objective: Objective, kinked: Array) -> None:
        self.objective, self.kinked = objective, kinked

    def forth(self, w: Array, b: float) -> Array:
        """The predictions at (w, b)."""
        scores = self.objective.predict(w, b)
        return joined(scores, w[self.kinked]) if self.kinked.size else scores

    def back(self, u: Array) -> tuple[Array, float]:
        """The transpose: (X'u + u of the kinks, 1'u), 1'u of samples and 0 without an intercept."""
        u, v = self.split(u)
        pull = self.objective.design.rmatvec(u)
        if v.size:
            pull[self.kinked] += v
        return pull, float(u.sum()) if self.objective.fit_intercept else 0.0

    def split(self, u: Array) -> tuple[Array, Array]:
        """Of the samples, and of the kinks."""
        return parted(u, self.objective.n) if self.kinked.size else (u, np.zeros(0))

    def ahead(self, back: Sequence[Array], h: Array | None = None, **numbers: Any) -> None:
        """Let blocks of rows compute in one visit what is asked next: see ``design.ahead``."""
        if not self.kinked.size:
            ahead(self.objective.design, back, h, self.objective.fit_intercept, **numbers)


class Aim:
    """What a step aims at: pull = finite (target / s - z), and what that is for the rows.

    Linear in the target, so that a step's centring may be known after X was read for it.
    """

    def __init__(self, rows: KinkedRows, pull: Array, g: Array, h: Array) -> None:
        self.rows, self.pull, self.g = rows, pull, g
        self.hg = np.sum(h * g, axis=0)

    @cached_property
    def right(self) -> tuple[Array, float]:
        return self.rows.back(self.hg)


class NewtonSystem:
    """Lam w + A'u = 0, 1'u = 0, K p + q - A (w, b) = z_lo - z_hi, u = sum_k p_k; s z = target.

    A are the ``KinkedRows``. Eliminating p and z leaves one weighted ridge regression for (dw, db),
    with weights H = sum_k 1 / (K + z_lo/s_lo + z_hi/s_hi): a (d, d) matrix, factored once.
    """

    def __init__(
        self, rows: KinkedRows, box: BoxDual, level: Array, finite: Array, at: InteriorPoint
    ) -> None:
        self.rows, self.finite, self.at = rows, finite, at
        self.u, products = at.p.sum(axis=0), at.s * at.z
        self.size = np.abs(box.q * at.p) + 0.5 * box.K * at.p**2
        with np.errstate(divide="ignore", over="ignore"):
            self.h = 1.0 / (box.K + np.sum(at.z / at.s, axis=0))
        self.weights = self.h.sum(axis=0)
        slope = box.K * at.p + box.q - rows.forth(at.w, at.b)
        self.r_p = slope - np.sum(SIDES * at.z, axis=0)
        self.level = level
        self.affine = self._aim(-(finite * at.z))
        numbers = [self.u, self.affine.hg, self.weights, products, self.size]
        rows.ahead([self.u, self.affine.hg], self.weights, sums=numbers)
        self.product = float(np.sum(products))
        pull, self.r_b = rows.back(self.u)
        self.r_w = level * at.w + pull

    def _aim(self, pull: Array, linear: bool = False) -> Aim:
        """Aim with this pull; ``linear`` leaves out what no target changes."""
        g = np.sum(SIDES * pull, axis=0)
        return Aim(self.rows, pull, g if linear else g - self.r_p, self.h)

    def factor(self) -> None:
        """Form the matrix of the weighted ridge regression and factor it."""
        h, kinks = self.rows.split(self.weights)
        level = self.level.copy()
        level[self.rows.kinked] += kinks
        self.solve = normal_equations(self.rows.objective, level, h)

    def predicted(self) -> tuple[float, Callable[[float], float]]:
        """How far one can go along the step towards s z = 0, and s'z after a share of it.

        What the corrector needs of X is asked in the same visit.
        """
        at, finite = self.at, self.finite
        step = self._towards(self.affine.pull, self.affine.g, *self.affine.right)
        both = step.s * step.z
        self.central = self._aim(finite / at.s, linear=True)
        self.second = self._aim(-(finite * (both / at.s + at.z)))
        cross, ends = at.s * step.z + at.z * step.s, [reach(at.s, step.s), reach(at.z, step.z)]
        back = [self.central.hg, self.second.hg]
        self.rows.ahead(back, sums=[both, cross, *back], least=ends)
        change, last = float(np.sum(cross)), float(np.sum(both))
        return longest(*ends), lambda t: self.product + t * change + t * t * last

    def corrected(self, mu: float) -> tuple[InteriorPoint, float]:
        """The step towards s z = mu - ds dz of the one that was predicted, and how far to go."""
        one, other = self.central, self.second
        (central, on_b), (right, last) = one.right, other.right
        sums = mu * central + right, mu * on_b + last
        step = self._towards(mu * one.pull + other.pull, mu * one.g + other.g, *sums)
        ends = [reach(self.at.s, step.s), reach(self.at.z, step.z)]
        self.rows.ahead([], least=ends)
        return step, longest(*ends)

    def _towards(self, pull: Array, g: Array, right: Array, last: float) -> InteriorPoint:
        """The Newton step with this dz, but for -(z/s) ds."""
        at = self.at
        dw, db = self.solve(-self.r_w - right, -self.r_b - last)
        dp = self.h * (self.rows.forth(dw, db) + g)
        ds = self.finite * SIDES * dp
        return InteriorPoint(dp, dw, db, ds, pull - at.z / at.s * ds)


def reach(x: Array, dx: Array) -> Array:
    """How far each entry of x > 0 may go along dx until it is 0."""
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        found: Array = np.where(dx < 0.0, -x / dx, np.inf)
    return found


def longest(*reaches: Array) -> float:
    """The largest step <= 1/BACK_OFF that leaves nothing negative."""
    return float(min(1.0 / BACK_OFF, *(each.min(initial=np.inf) for each in reaches)))


def normal_equations(
    objective: Objective, level: Array, h: Array
) -> Callable[[Array, float], tuple[Array, float]]:
    """Factor [Lam + X'HX, X'H1; 1'HX, 1'H1] once; returns its solver."""
    k = objective.d + int(objective.fit_intercept)
    design = objective.design
    matrix = design.bordered_gram(h) if objective.fit_intercept else design.gram(h)
    matrix.flat[: objective.d * k : k + 1] += level
    unit = 1.0 / np.sqrt(np.maximum(np.diag(matrix), 1e-300))
    scaled = matrix * unit[:, None] * unit
    for jitter in (0.0, 1e-14, 1e-11, 1e-8):  # a singular matrix: unpenalised, dependent columns
        with suppress(linalg.LinAlgError):
            factor = linalg.cho_factor(scaled + jitter * np.eye(k), check_finite=False)
            break

    def solve(right: Array, last: float) -> tuple[Array, float]:
        r = unit * (np.append(right, last) if k > objective.d else right)
        x = linalg.cho_solve(factor, r, check_finite=False)
        x += linalg.cho_solve(factor, r - scaled @ x, check_finite=False)
        x *= unit
        return x[: objective.d], float(x[-1]) if k > objective.d else 0.0

    return solve
