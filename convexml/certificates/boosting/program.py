"""The program min -rho + c'xi s.t. A w >= rho - xi, w in the simplex, xi >= 0: LPBoost.

A_ij = y_i H_ij, c_i = s_i / (nu sum s). D = -max_j (A'd)_j for sum d = 1, 0 <= d <= c.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...numerics import ROUNDING, UNIT, Array, gamma
from ..algebra.sums import exact_dot, exact_residual
from .units import margin_sizes

MANY = 200
"""Learners that enter the restricted linear program at once."""
CAPS = 8.0 * UNIT
"""What a c_i may be off by, relative: a sum that is rounded once, a product and a quotient."""


class MarginPoint(NamedTuple):
    """Weights of learners, the margin, and the slacks (n,)."""

    w: Array
    rho: float
    xi: Array


@dataclass(frozen=True, eq=False)
class MarginProgram:
    """The linear program of margins: values of points and of distributions.

    Attributes
    ----------
    A : array or csc_array, shape (n, m)
        y_i H_ij.
    c : array, shape (n,)
        s_i / (nu sum s) > 0; their sum is 1 / nu >= 1.
    """

    A: Any
    c: Array

    def cost(self, point: MarginPoint) -> float:
        """-rho + c'xi, rounded once."""
        return exact_dot(np.append(self.c, -1.0), np.append(point.xi, point.rho))

    def value(self, point: MarginPoint) -> float:
        """The objective; inf where the point is infeasible by more than rounding."""
        slack, sizes = self.slack(point), self.sizes(point)
        wrong = np.any(slack < -ROUNDING * sizes) or np.any(point.w < 0.0) or np.any(point.xi < 0.0)
        off = abs(math.fsum([*point.w.tolist(), -1.0])) > ROUNDING
        return np.inf if wrong or off else self.cost(point)

    def margins(self, w: Array) -> Array:
        """A w, each rounded once, (n,)."""
        used = np.flatnonzero(w)
        return exact_residual(self.A[:, used], w[used]) if used.size else np.zeros(self.c.size)

    def slack(self, point: MarginPoint) -> Array:
        """A w - rho + xi, (n,)."""
        return self.margins(point.w) - point.rho + point.xi

    def sizes(self, point: MarginPoint) -> Array:
        """|A||w| + |rho| + |xi|, (n,)."""
        return abs(self.A) @ np.abs(point.w) + abs(point.rho) + np.abs(point.xi)

    def completed(self, w: Array, rho: float | None = None) -> MarginPoint:
        """The best rho for w, where none is passed, and the least slacks."""
        margins = self.margins(w)
        if rho is None:
            order = np.argsort(margins, kind="stable")
            below = np.cumsum(self.c[order])
            at = min(int(np.searchsorted(below, 1.0 - 1e-12)), len(order) - 1)
            rho = float(margins[order[at]])
        return MarginPoint(w, rho, np.maximum(rho - margins, 0.0))

    # -- the dual: a hard distribution -----------------------------------------------------------

    def edges(self, d: Array) -> Array:
        """A'd, (m,)."""
        return np.asarray(self.A.T @ d)

    @cached_property
    def largest(self) -> float:
        """max |A_ij|."""
        return float(abs(self.A).max())

    def edge(self, d: Array) -> float:
        """max_j (A'd)_j: the candidates are summed anew, and rounded once."""
        edges = self.edges(d)
        lost = 2.0 * gamma(d.size + 2) * self.largest * float(np.abs(d).sum())
        close = np.flatnonzero(edges >= edges.max() - lost)[:MANY]
        left = np.delete(edges, close).max(initial=-np.inf) + 0.5 * lost
        return max(float(exact_residual(self.A[:, close].T, d).max()), float(left))

    def dual_value(self, d: Array) -> float:
        """-max_j (A'd)_j; -inf where d is not in the capped simplex, but for rounding."""
        off = abs(math.fsum([*d.tolist(), -1.0])) > ROUNDING
        wrong = np.any(d < 0.0) or np.any(d > self.c * (1.0 + ROUNDING))
        return -np.inf if off or wrong else -self.edge(d)

    def feasible(self, d: Array) -> Array:
        """The d nearby whose entries are between 0 and c and add up to 1, but for rounding."""
        d = np.clip(d, 0.0, self.c)
        total = float(d.sum())
        if total >= 1.0:
            return d / total
        room = np.where(d > 0.0, self.c - d, 0.0)  # what is 0 stays 0 where it can
        if room.sum() < 1.0 - total:
            room = self.c - d
        left = float(room.sum())
        return d + room * min((1.0 - total) / left, 1.0) if left > 0.0 else d

    def price(self, d: Array) -> float:
        """How much less D may be at a d that is exactly feasible; d is so but for rounding.

        d / (1 + e) is below c, and then what its sum lacks fits into c - d, or is divided away.
        """
        over = float(np.max((d - self.c) / self.c, initial=0.0))
        e = max(over, 0.0) * (1.0 + 4.0 * UNIT) + 2.0 * CAPS
        off = abs(math.fsum([*d.tolist(), -1.0]))
        return (2.0 * e + off) * (1.0 + 4.0 * e + off) * self.largest

    def of_margins(self, w: Array) -> Array:
        """As much d as may be on the least margins; what is left is shared by those that tie."""
        margins = self.margins(w)
        order = np.argsort(margins, kind="stable")
        before = np.concatenate([[0.0], np.cumsum(self.c[order])[:-1]])
        d = np.zeros(self.c.size)
        d[order] = np.clip(1.0 - before, 0.0, self.c[order])
        rho = margins[order[int(np.flatnonzero(d[order])[-1])]]
        ties = np.abs(margins - rho) <= 1e-12 * self.largest
        d[ties] = self.c[ties] * (d[ties].sum() / self.c[ties].sum())
        return self.feasible(d)

    @cached_property
    def units(self) -> tuple[float, float]:
        """The sizes of margins and of the objective, from the data."""
        return margin_sizes(self.A, self.c)
