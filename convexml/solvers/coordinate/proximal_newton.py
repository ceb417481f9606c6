"""Proximal Newton steps on chosen columns, whose models keep their curvatures where they can."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from ...numerics import EPS, Array
from ...objective import Objective
from ..driver import Iterate
from ..line_search import ARMIJO, SHORTEST
from ..second_order.sampled_gram import from_sampled_gram
from .chosen_columns import FULL, ChosenColumns
from .norms import Norms
from .sampled_support import SampledSupport

FLOOR, RAISED = 1e-6, 100.0
"""Curvatures of the model are at least this share of the largest one, at first; the share rises by
this factor where a step is cut short, and falls by it where none is."""
MODELS = 30
"""Quadratic models in a row on one working set, at most."""
EXACTNESS = 1e-3
"""A model that is not the loss itself is minimised to this share of what its start violates."""
NEAR = 1e-7
"""A step that gains less of P may have met the caller's tol: it is the last on its working set."""
SLOW, SAME = 0.3, 1e-4
"""Curvatures of a model are kept as long as a step leaves at most this share of the violation, and
they differ by at most as much; where a Gram matrix costs next to nothing, by at most the second."""
DOUBTED = 0.05
"""A rough Gram matrix is to blame for a slow step that changed curvatures by no more than this."""
JOINING, WORTH = 0.9, 0.95
"""Before a new Gram matrix columns are let go whose w_g is 0 and |X_g'u| at most this share of its
level, if at most the second share of all remains."""
FASTER = 1.1
"""A step is doubled where P falls by more than so many times what its model says, while it pays."""
MET = 1e-12
"""Share of its level within which a condition counts as met."""
LEAST = float(np.finfo(float).tiny)
BALANCED, BALANCES = 8.0 * EPS, 4
"""Of sum |u_i|: what 1'u may be where b is the best one; steps that look for it, at most."""


class ProximalNewton:
    """A point (w, b) with its predictions and value, and the columns that it moves on.

    Columns that were chosen before on the same design, with their Gram matrix, may be handed on.
    """

    def __init__(
        self, objective: Objective, w: Array, b: float, columns: ChosenColumns | None = None
    ) -> None:
        blocks = objective.penalty.zero_blocks(objective.d)
        assert blocks is not None  # a need of this solver
        self.objective, self.w, self.b = objective, w, b
        self.own = self.norms = Norms.of(*blocks)
        self.mu, self.times = objective.penalty.strong_convexity, 1.0
        self.z = objective.predict(w, b)
        self.value = objective.primal(w, b, self.z)
        self.passes = 1.0
        self.columns = columns or ChosenColumns(objective.design, objective.fit_intercept)
        self.floor = FLOOR
        loss = objective.loss
        self.is_quadratic = loss.strong_convexity == loss.curvature_bound  # one model says all
        self.is_newton, self.may_be_rough = True, not self.is_quadratic
        self.u = self.slope = self.h = np.zeros(0)

    def on_all_columns(self, sample: int, seed: int) -> Iterator[Iterate]:
        """Steps on all columns, where these are few; the start is evaluated if somebody asks.

        The matrix of a quadratic is first that of a ``sample``, if there is one.
        """
        yield Iterate(self.w, self.b, None, self.passes, promise=np.inf)
        if 0 < sample < self.objective.n and self.is_quadratic:
            start = self.objective, self.w, self.b, sample, seed
            step = SampledSupport(self.objective, self.norms, self.mu)
            self.w, self.b, more = yield from from_sampled_gram(*start, step)
            self.z, self.passes = self.objective.predict(self.w, self.b), self.passes + more
            self.value = self.value_at(self.w, self.b, self.z)
        while True:
            before = self.value
            self.u = self.objective.loss_derivative(self.z)
            self.slope = self.columns.products(self.u) + self.mu * self.w
            self.passes += 1.0
            self.solve(1.0, False)
            yield Iterate(self.w, self.b, None, self.passes)
            if not before - self.value > MET * abs(self.value):
                return
            self.z = self.objective.predict(self.w, self.b)

    def put(self, times: float) -> None:
        """Let the levels be so many times the problem's own: that lam is ``times`` as large."""
        self.times, self.norms = times, Norms(self.own.block, times * self.own.level)
        self.value = self.value_at(self.w, self.b, self.z)

    def value_at(self, w: Array, b: float, z: Array) -> float:
        """P for these levels."""
        more = (self.times - 1.0) * self.own.value(w) if self.times > 1.0 else 0.0
        return self.objective.primal(w, b, z) + more

    @property
    def is_exact(self) -> bool:
        """Whether the last step was Newton's, but for rounding in double precision."""
        return self.is_newton and self.columns.is_exact

    def tolerance(self, u: Array) -> Array:
        """What counts as rounding in each condition, (d,)."""
        reach = 4.0 * EPS * math.sqrt(np.vdot(u, u)) * self.objective.column_norms
        return MET * self.norms.level + self.norms.sizes(reach) + LEAST

    def solve(self, share: float, slow: bool) -> None:
        """Solve the problem on the working set, to ``share`` of the tolerances.

        The steps so far were ``slow``: the curvatures that they took are not kept.
        """
        objective, columns, index = self.objective, self.columns, self.columns.index
        norms, slope, u = self.norms.at(index), self.slope[index], self.u
        tol, least, before = share * self.tolerance(u)[index], np.inf, np.inf
        for _ in range(1 if self.is_quadratic else MODELS):
            total = float(u.sum()) if objective.fit_intercept else 0.0
            missed = float(np.max(norms.distance(self.w[index], slope) / tol, initial=0.0))
            if missed <= 1.0 and abs(total) <= share * BALANCED * float(np.abs(u).sum()):
                break
            if missed >= least and self.value >= before and columns.is_exact:
                break  # all that is left is rounding
            slow = slow or missed > SLOW * least
            if not (slow or columns.whole) and before - self.value <= NEAR * abs(self.value):
                break
            self.look_at_curvatures(slow)
            if self.is_newton and not (self.is_quadratic or columns.whole):
                held = self.let_go(norms, slope)
                index, slope, tol = columns.index, slope[held], tol[held]
                norms = self.norms.at(index)
            least, before, slow = missed, self.value, False
            room = max(0.1, 0.0 if self.is_quadratic else EXACTNESS * missed) * tol
            if not self.step(norms, slope, total, room):
                if columns.is_exact:
                    break
                self.may_be_rough, slow, least = False, True, np.inf
            u = objective.loss_derivative(self.z)
            if not self.is_quadratic:
                slope = columns.products(u) + self.mu * self.w[index]
        if objective.fit_intercept and not self.is_quadratic:
            self.balance()

    def look_at_curvatures(self, slow: bool) -> None:
        """Take the h of the model at z, (n,), unless those of before are still good enough.

        Where the loss is flat at all samples, h is as curved as it gets.
        """
        if self.is_quadratic and self.h.size:
            return
        h, bound = self.objective.loss_curvature(self.z), self.objective.loss.curvature_bound
        top = float(np.max(h))
        if not top > 0.0:
            h = self.objective.c * (bound if np.isfinite(bound) else 1.0)
        else:
            h = np.maximum(h, self.floor * top)
        share = SLOW if self.columns.index.size > FULL else SAME
        moved = float(np.abs(h - self.h).sum()) / float(h.sum()) if self.h.size else np.inf
        if slow and self.is_newton and moved <= DOUBTED:
            self.may_be_rough = False
        self.is_newton = slow or moved > share
        if self.is_newton:
            self.h = h

    def let_go(self, norms: Norms, slope: Array) -> Array:
        """Which columns stay where a new Gram matrix is due."""
        sizes = norms.sizes(self.w[self.columns.index])
        held: Array = (sizes > 0.0) | (norms.sizes(slope) > JOINING * norms.level)
        if held.sum() > WORTH * held.size:
            return np.ones_like(held)
        self.columns.keep(held)
        return held

    def step(self, norms: Norms, slope: Array, total: float, room: Array) -> bool:
        """Go to the minimum of the model on the working set; whether P fell."""
        index, h = self.columns.index, self.h
        gram, q = self.columns.gram(h, self.may_be_rough)
        x, curve = self.w[index], float(h.sum())
        mean = total / curve
        reached = norms.minimise(gram, self.mu, slope - q * mean, x, room, self.columns.factor)
        step = reached - x
        shift = -mean - float(q @ step) / curve if self.objective.fit_intercept else 0.0
        return self.move(norms, step, shift, float(slope @ step) + total * shift)

    def move(self, norms: Norms, step: Array, shift: float, descent: float) -> bool:
        """Go along a step as far as P falls enough, or falls faster than its model; whether at all.

        That is so where the loss ends in an exponential, far from the solution.
        """
        index = self.columns.index
        ahead = self.columns.predictions(step) + shift
        here = self.w[index]
        change = norms.value(here + step) - norms.value(here)
        change += 0.5 * self.mu * float(step @ step)
        fall = min(descent + change, 0.0)

        def at(t: float) -> tuple[Array, Array, float]:
            w, z = self.w.copy(), self.z + t * ahead
            w[index] = here + t * step
            with np.errstate(over="ignore", invalid="ignore"):
                return w, z, self.value_at(w, self.b, z)

        t = 1.0
        while t >= SHORTEST:
            reached = at(t)
            if reached[2] <= self.value + ARMIJO * t * fall + EPS * abs(reached[2]):
                break
            t *= 0.5
        else:
            return False
        share = self.floor * (RAISED if t < 0.5 else 1.0 / RAISED if t == 1.0 else 1.0)
        self.floor = min(max(share, FLOOR), 1.0)
        model = fall + 0.5 * float(self.h @ (ahead * ahead))
        gained = reached[2] - self.value
        while t >= 1.0 and gained < FASTER * model - NEAR * abs(self.value):
            further = at(2.0 * t)
            if not further[2] < reached[2]:
                break
            t, reached = 2.0 * t, further
        (self.w, self.z, self.value), self.b = reached, self.b + t * shift
        return True

    def balance(self) -> None:
        """Newton steps on b to 1'u = 0: then the repair of u moves nothing."""
        for _ in range(BALANCES):
            u = self.objective.loss_derivative(self.z)
            total, curve = float(u.sum()), float(self.objective.loss_curvature(self.z).sum())
            if not (curve > 0.0 and abs(total) > BALANCED * float(np.abs(u).sum())):
                return
            z = self.z - total / curve
            value = self.value_at(self.w, self.b, z)
            if not value <= self.value + EPS * abs(self.value):
                return
            self.b, self.z, self.value = self.b - total / curve, z, value
