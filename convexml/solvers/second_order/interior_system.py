"""The optimality conditions of the dual QP of a learning problem, and Newton steps for them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from scipy import linalg

from ...blocks import joined, parted
from ...numerics import Array
from ...objective import Objective
from ..box_dual import BoxDual

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


class NewtonSystem:
    """Lam w + A'u = 0, 1'u = 0, K p + q - A (w, b) = z_lo - z_hi, u = sum_k p_k; s z = target.

    A are the ``KinkedRows``. Eliminating p and z leaves one weighted ridge regression for (dw, db),
    with weights H = sum_k 1 / (K + z_lo/s_lo + z_hi/s_hi): a (d, d) matrix, factored once.
    """

    def __init__(
        self, rows: KinkedRows, box: BoxDual, level: Array, finite: Array, at: InteriorPoint
    ) -> None:
        self.rows, self.finite, self.at = rows, finite, at
        pull, self.r_b = rows.back(at.p.sum(axis=0))
        self.r_w = level * at.w + pull
        slope = box.K * at.p + box.q - rows.forth(at.w, at.b)
        self.r_p = slope - np.sum(SIDES * at.z, axis=0)
        self.size = max(float(np.abs(part).max(initial=0.0)) for part in (slope, box.q, at.z, at.w))
        with np.errstate(divide="ignore", over="ignore"):
            self.h = 1.0 / (box.K + np.sum(at.z / at.s, axis=0))
        self.level = level

    @property
    def residual(self) -> float:
        """The largest violation of the linear conditions."""
        parts = (self.r_w, self.r_p, np.array([self.r_b]))
        return max(float(np.abs(part).max(initial=0.0)) for part in parts)

    def factor(self) -> None:
        """Form the matrix of the weighted ridge regression and factor it."""
        h, kinks = self.rows.split(self.h.sum(axis=0))
        level = self.level.copy()
        level[self.rows.kinked] += kinks
        self.solve = normal_equations(self.rows.objective, level, h)

    def direction(self, target: Array | float) -> InteriorPoint:
        """The Newton step towards s z = target."""
        rows, at = self.rows, self.at
        pull = self.finite * (target / at.s - at.z)  # dz, but for -(z/s) ds
        g = np.sum(SIDES * pull, axis=0) - self.r_p
        hg = np.sum(self.h * g, axis=0)
        right, last = rows.back(hg)
        dw, db = self.solve(-self.r_w - right, -self.r_b - last)
        dp = self.h * (rows.forth(dw, db) + g)
        ds = self.finite * SIDES * dp
        return InteriorPoint(dp, dw, db, ds, pull - at.z / at.s * ds)


def normal_equations(
    objective: Objective, level: Array, h: Array
) -> Callable[[Array, float], tuple[Array, float]]:
    """Factor [Lam + X'HX, X'H1; 1'HX, 1'H1] once; returns its solver."""
    k = objective.d + int(objective.fit_intercept)
    matrix = np.zeros((k, k))
    matrix[: objective.d, : objective.d] = objective.design.gram(h) + np.diag(level)
    if objective.fit_intercept:
        matrix[-1, :-1] = matrix[:-1, -1] = objective.design.rmatvec(h)
        matrix[-1, -1] = h.sum()
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
