"""Working sets: coordinate descent finds the support, Newton steps on it end the search."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...certificates.learning.points.dual_point import plain_dual
from ...certificates.learning.points.dual_repair import DualPoint
from ...errors import InputError
from ...numerics import EPS, ROUNDING, Array
from ...objective import Objective
from ..driver import Iterate
from ..line_search import ARMIJO, SHORTEST
from .chosen_columns import ChosenColumns
from .norms import Norms

FLOOR, RAISED = 1e-6, 100.0
"""Curvatures of the model are at least this share of the largest one, at first; the share rises by
this factor where a step is cut short, and falls by it where none is."""
MODELS = 30
"""Quadratic models in a row on one working set, at most."""
SHARE = 0.1
"""The conditions on a working set are solved to this share of the largest violation; to the end
where it holds all columns."""
EXACTNESS = 1e-3
"""A model that is not the loss itself is minimised to this share of what its start violates."""
MET = 1e-12
"""Share of its level within which a condition counts as met."""


def working_set(
    objective: Objective, w: Array, b: float, *, growth: float = 1.0
) -> Iterator[Iterate]:
    """Minimise F + sum_g level_g |w_g|_2 + (mu/2) |w|^2 on a growing set of columns.

    An outer step is one pass for X'u. It drops the columns that the gap proves to have w_g = 0 at
    every minimiser, takes in those that violate |X_g'u|_2 <= level_g most, ``growth`` times as
    many as there are nonzero coefficients, and solves the problem on what it has by proximal
    Newton steps. Each minimises the quadratic model of F, which is F itself for the squared loss,
    by coordinate descent in covariances (Friedman, Hastie and Tibshirani, 2010,
    https://doi.org/10.18637/jss.v033.i01) that finds the support, and Newton steps on the support
    that end in rounding. Steps are halved until P falls enough, so that P never increases.
    """
    if not growth > 0.0:
        raise InputError(f"working_set: growth must be > 0, got {growth!r}.")
    search = Search(objective, w, b)
    least = np.inf
    while True:
        yield Iterate(search.w, search.b, None, search.passes)
        search.look()
        violation = search.violation()
        outside = np.where(search.columns.contains, 0.0, violation)
        worst = float(np.max(violation, initial=0.0))
        done = not np.any(outside > 1.0)
        if not worst > 1.0 or (done and not worst < 0.5 * least):
            return
        least, before = min(worst, least), search.value
        search.grow(outside, growth)
        search.solve(1.0 if search.columns.whole else max(1.0, SHARE * worst))
        if done and not search.value < before:
            return


class Search:
    """A point (w, b) with its predictions and value, and the working set that it moves on."""

    def __init__(self, objective: Objective, w: Array, b: float) -> None:
        blocks = objective.penalty.zero_blocks(objective.d)
        assert blocks is not None  # a need of this solver
        self.objective, self.w, self.b = objective, w, b
        self.norms, self.mu = Norms.of(*blocks), objective.penalty.strong_convexity
        self.z = objective.predict(w, b)
        self.value = objective.primal(w, b, self.z)
        self.passes = 1.0
        self.columns = ChosenColumns(objective)
        self.floor = FLOOR
        self.u = self.slope = np.zeros(0)
        self.is_zero = np.zeros(objective.d, dtype=bool)

    def look(self) -> None:
        """Take the slope at (w, b) from its dual point, and what their gap proves."""
        dual = plain_dual(self.objective, self.z)
        self.passes += 1.0
        self.u = self.objective.loss_derivative(self.z)
        self.slope = self.mu * self.w - self._scaled_back(dual)
        gap = max(self.value - dual.value, 0.0) + ROUNDING * abs(self.value)
        bound = self.objective.loss.curvature_bound
        if np.isfinite(gap) and np.isfinite(bound):  # |u* - u| in the norm of 1 / (c K)
            reach = np.sqrt(2.0 * gap * bound) * self.objective.column_sizes
            most = self.norms.sizes(dual.v) + self.norms.sizes(reach) * (1.0 + 1e-9)
            self.is_zero |= most < self.norms.level

    def _scaled_back(self, dual: DualPoint) -> Array:
        """-X'u at u = c l'(z), from the dual point that u was scaled to, where that was all."""
        square = float(self.u @ self.u)
        scale = float(dual.u @ self.u) / square if square > 0.0 else 0.0
        off = float(np.max(np.abs(dual.u - scale * self.u), initial=0.0))
        if scale > 0.0 and off <= ROUNDING * np.sqrt(square):
            return dual.v / scale
        self.passes += 1.0
        return -self.objective.design.rmatvec(self.u)

    def violation(self) -> Array:
        """What each condition is missed by, in units of its tolerance, (d,)."""
        missed = self.norms.distance(self.w, self.slope)
        missed[self.is_zero & (self.norms.sizes(self.w) == 0.0)] = 0.0
        return missed / self.tolerance(self.u)

    def tolerance(self, u: Array) -> Array:
        """What counts as rounding in each condition, (d,)."""
        reach = 4.0 * EPS * float(np.linalg.norm(u)) * self.objective.column_norms
        return MET * self.norms.level + self.norms.sizes(reach) + np.finfo(float).tiny

    def grow(self, outside: Array, growth: float) -> None:
        """Take in the coordinates of the largest violations, and all nonzero ones."""
        nonzero = int(np.count_nonzero(self.w))
        wanted = max(int(2.0 * np.sqrt(self.objective.d)), int(growth * nonzero))
        held = (self.w != 0.0) & ~self.columns.contains
        rank = np.where(held, np.inf, outside)
        found = np.flatnonzero(rank > 1.0)
        if found.size > wanted:
            found = found[np.argsort(-rank[found], kind="stable")[: wanted + int(held.sum())]]
        if found.size:
            self.columns.add(self.norms.whole(found))

    def solve(self, share: float) -> None:
        """Solve the problem on the working set, to ``share`` of the tolerances."""
        objective, columns = self.objective, self.columns
        index = columns.index
        norms, slope, u = self.norms.at(index), self.slope[index], self.u
        tol, reached = share * self.tolerance(u)[index], (np.inf, np.inf)
        for _ in range(1 if is_quadratic(objective) else MODELS):
            x = self.w[index]
            total = float(u.sum()) if objective.fit_intercept else 0.0
            missed = float(np.max(norms.distance(x, slope) / tol, initial=0.0))
            if missed <= 1.0 and abs(total) <= share * 8.0 * EPS * float(np.abs(u).sum()):
                return
            if missed >= reached[0] and self.value >= reached[1]:
                return  # all that is left is rounding
            reached = missed, self.value
            h = self.curvatures()
            gram, q = columns.gram(h)
            if self.mu > 0.0:
                gram = gram + self.mu * np.eye(len(gram))
            mean = total / float(h.sum())
            room = max(0.1, 0.0 if is_quadratic(objective) else EXACTNESS * missed) * tol
            step = norms.minimise(gram, slope - q * mean, x, room) - x
            shift = -mean - float(q @ step) / float(h.sum()) if objective.fit_intercept else 0.0
            if not self.move(norms, step, shift, float(slope @ step) + total * shift):
                return
            u = objective.loss_derivative(self.z)
            if not is_quadratic(objective):
                slope = columns.products(u) + self.mu * self.w[index]

    def curvatures(self) -> Array:
        """The h of the model, (n,); where the loss is flat at all samples, as curved as it gets."""
        h, bound = self.objective.loss_curvature(self.z), self.objective.loss.curvature_bound
        top = float(np.max(h))
        if not top > 0.0:
            return self.objective.c * (bound if np.isfinite(bound) else 1.0)
        return np.maximum(h, self.floor * top)

    def move(self, norms: Norms, step: Array, shift: float, descent: float) -> bool:
        """Go along a step as far as P falls enough; whether it was gone at all."""
        objective, index = self.objective, self.columns.index
        ahead = self.columns.predictions(step) + shift
        here = self.w[index]
        change = norms.value(here + step) - norms.value(here)
        change += 0.5 * self.mu * float(step @ step)
        t = 1.0
        while t >= SHORTEST:
            w, z = self.w.copy(), self.z + t * ahead
            w[index] = here + t * step
            with np.errstate(over="ignore", invalid="ignore"):
                value = objective.primal(w, self.b, z)
            if value <= self.value + ARMIJO * t * min(descent + change, 0.0) + EPS * abs(value):
                self.w, self.b, self.z, self.value = w, self.b + t * shift, z, value
                share = self.floor * (RAISED if t < 0.5 else 1.0 / RAISED if t == 1.0 else 1.0)
                self.floor = min(max(share, FLOOR), 1.0)
                return True
            t *= 0.5
        return False


def is_quadratic(objective: Objective) -> bool:
    """Whether the loss is a quadratic: one model says all."""
    return objective.loss.strong_convexity == objective.loss.curvature_bound
