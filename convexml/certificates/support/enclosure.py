"""What a gap says of every optimal (w, b) and every dual optimal u: intervals and spheres."""

from __future__ import annotations

import numpy as np

from ...numerics import ROUNDING, Array
from ...objective import Objective
from ..learning.points.dual_repair import DualPoint
from ..learning.points.primal_repair import PrimalPoint
from .interval import Intervals, around, crossing, product, sublevel
from .spheres import dual_sphere, primal_sphere, reach, rounded_gap


class Enclosure:
    """Intervals for w*, b*, z* = Xw* + b*1, u* and v* = -X'u*, as the gap alone gives them.

    Each holds for every minimiser and every dual maximiser; ``shrink`` tightens them by turns.

    Parameters
    ----------
    objective : Objective
    point, dual : PrimalPoint, DualPoint
        Feasible, with a finite gap.

    Attributes
    ----------
    w, z, u, v : Intervals
        Shapes (d,), (n,), (n,), (d,).
    b : Intervals
        Shape (1,); the single point 0 without intercept.
    zero : array, shape (d,)
        Mask of the coefficients that are 0 at every minimiser.
    pinned : array, shape (n,)
        Mask of the samples that lie on one kink of their loss at every minimiser.
    unique_w : bool
        Whether the linear system for w* has full rank, so that there is only one.
    level : (float, float) or None
        An interval of b that are all optimal, with any w*.
    blocks, levels : arrays
        Of ``Penalty.zero_blocks``; None and () where there are none.
    slopes, nearest : arrays, shape (n,)
        u_i / c_i, and a z_i where it is a slope of the loss.
    gap : float
        P - D, enlarged by rounding.
    """

    def __init__(self, objective: Objective, point: PrimalPoint, dual: DualPoint) -> None:
        self.objective, self.point, self.dual = objective, point, dual
        n, d, loss, y, c = objective.n, objective.d, objective.loss, objective.y, objective.c
        self.gap = rounded_gap(objective, point, dual)
        self.w, self.z, self.u, self.v = map(Intervals.everywhere, (d, n, n, d))
        self.b = Intervals.everywhere(1)
        if not objective.fit_intercept:
            self.b.meet(0.0, 0.0)
        self.zero, self.pinned = np.zeros(d, dtype=bool), np.zeros(n, dtype=bool)
        self.unique_w = False
        self.level: tuple[float, float] | None = None
        self.slopes = np.clip(dual.u / c, *loss.domain(y))
        self.nearest = kink(objective) if loss.is_indicator else crossing(loss, y, self.slopes)
        self._conjugate = loss.conjugate(y, self.slopes)
        blocks = objective.penalty.zero_blocks(d)
        self.blocks: Array | None = None if blocks is None else blocks[0]
        self.levels: Array = np.zeros(0) if blocks is None else blocks[1]
        self.w_sphere = primal_sphere(objective, point, dual, self.gap)
        self.u_sphere = dual_sphere(objective, point, dual, self.gap)
        self._start()

    def _start(self) -> None:
        objective, gap = self.objective, self.gap
        self.u.meet(*objective.dual_bounds())
        if self.w_sphere is not None:
            self.w.meet(*around(self.w_sphere.center, self.w_sphere.radius))
        if self.u_sphere is not None:
            self.u.meet(*around(self.u_sphere.center, reach(objective, self.u_sphere)))
        self.z.meet(*sublevel(self.terms_of_predictions, self.point.z, gap))
        self.u.meet(*sublevel(self.terms_of_dual, objective.loss_derivative(self.point.z), gap))
        if objective.loss.is_indicator:
            # sum_i alpha_i* <= P(2w, 2b) - D: margins of 2 leave each FY_i(2z_i, u_i*) >= alpha_i*
            most = objective.penalty.value(2.0 * self.point.w) - self.dual.value
            self.u.meet(*around(0.0, most * (1.0 + ROUNDING) + gap))
        if self.blocks is not None:  # Omega(w*) <= P - inf F, and inf F >= -sum_i c_i l*(0)
            least = objective.loss.conjugate(objective.y, np.zeros(objective.n))
            room = self.point.value + float(objective.c @ np.maximum(least, 0.0))
            level = self.levels[self.blocks]
            self.w.meet(*around(0.0, np.where(level > 0.0, room * (1 + ROUNDING) / level, np.inf)))

    def terms_of_predictions(self, z: Array) -> Array:
        """FY_i(z_i, u_i), less its rounding."""
        value = self.objective.loss.value(self.objective.y, z)
        terms = np.abs(value) + np.abs(self._conjugate) + np.abs(self.slopes * z)
        excess = value + self._conjugate - self.slopes * z
        return self.objective.c * (excess - ROUNDING * terms)

    def terms_of_dual(self, u: Array) -> Array:
        """FY_i(z_i, u_i) at the point's own z, less its rounding."""
        loss, y, z = self.objective.loss, self.objective.y, self.point.z
        value = 0.0 if loss.is_indicator else loss.value(y, z)
        v = u / self.objective.c
        conjugate = loss.conjugate(y, v)
        terms = np.abs(value) + np.abs(conjugate) + np.abs(v * z)
        return self.objective.c * (value + conjugate - v * z - ROUNDING * terms)

    @property
    def scores(self) -> tuple[Array, Array]:
        """Ends of x_i.w*, from the box of w and from its sphere."""
        design = self.objective.design
        scores = Intervals(*product(design.matvec, design.abs_matvec, self.w, self.objective.n))
        if self.w_sphere is not None:
            reach = self.w_sphere.radius * np.sqrt(design.row_squares())
            center = self.w_sphere.center
            reach = reach * (1.0 + ROUNDING) + ROUNDING * design.abs_matvec(center)
            scores.meet(*around(design.matvec(center), reach))
        return scores.lo, scores.hi

    @property
    def width(self) -> float:
        """How much is left to know, for the stopping rule: falls with every interval."""
        known = sum(float(x.half[x.bounded].sum()) for x in (self.w, self.z, self.u))
        unknown = sum(int(np.sum(~x.bounded)) for x in (self.w, self.z, self.u))
        return known + 1e6 * unknown - float(self.zero.sum())


def kink(objective: Objective) -> Array:
    """The kink of an indicator loss: the edge of its domain, (n,)."""
    return objective.loss.kinks(objective.y)[0]
