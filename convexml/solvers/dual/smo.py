"""Sequential minimal optimisation: working sets of the dual, climbed in pairs, solved exactly."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import count
from math import isfinite, sqrt

import numpy as np

from ...errors import InputError
from ...numerics import EPS, Array
from ...objective import Objective
from ...objective.kernel import KernelObjective
from ..box_dual import curvatures
from ..coordinate.dual_steps import most_violating
from ..driver import Iterate
from .box_problem import BoxProblem
from .free_steps import FREE, settle
from .gram_rows import coefficients, gram_of
from .set_steps import climb_set

WHOLE = 250
"""Up to so many samples the working set is all of them."""
COARSER = 4
"""A start comes from every fourth sample, counted four times, and so on down to ``WHOLE``."""
VISITS = 100
"""Working sets of an iteration, at most;"""
FALL = 1e-2
"""it ends earlier where the violation has fallen to this share."""
BLIND = 10
"""So many iterations may tell from their own slopes that an evaluation is too early."""
STILL = 1e-4
"""Pairs of a working set that violate by this share of its worst are left to exact steps."""
ROUNDS = 3
"""Updates of a working set by pairs, in multiples of its size."""
MISLED = 30.0
"""Slopes are made anew where the violation is no more than so many times their rounding."""
FINE = 0.01
"""Up to this share of the violation a step may misjudge it."""
MOST = 0.8
"""Where so large a share of the nonzero u_i has moved a product costs no more than their rows."""
NEAR = 0.01
"""Free u_i that are more than a working set takes join it once the violation has so fallen."""


def smo(
    objective: Objective | KernelObjective, w: Array, b: float, *, size: int = 64
) -> Iterator[Iterate]:
    """Maximise D(u) over working sets of ``size`` samples that violate optimality most.

    Each is climbed along the pairs that promise most by second order (Fan, Chen and Lin, 2005), or
    one by one without an intercept, and then solved exactly on the u_i that are free, as long as
    none leaves its box. Of the matrix of the dual the rows of working sets and of nonzero u_i are
    made. A large problem starts from the slopes at the solution for a share of the samples. D
    never decreases.
    """
    if not (isinstance(size, int | np.integer) and size >= 2):
        raise InputError(f"smo: size must be a whole number >= 2, got {size!r}.")
    bare = objective.bare if isinstance(objective, KernelObjective) else objective
    box = BoxProblem(
        gram_of(objective),
        objective.loss,
        objective.y,
        objective.c,
        *bare.dual_bounds(),
        curvatures(bare),
        objective.fit_intercept,
    )
    u = np.zeros(box.n)
    yield Iterate(w, b, u, promise=np.inf)
    if isinstance(objective, KernelObjective) and w.any():
        u = box.balanced(np.clip(-objective.lam * w, box.lo, box.hi), np.zeros(box.n))
    climb = Climb(box, size, u if u.any() else coarse_start(box, size))
    for k in count():
        if not climb.visit():
            return
        u, promise = climb.u.copy(), climb.gap if k < BLIND else -np.inf
        w = coefficients(objective, u)
        yield Iterate(w, climb.shift, u, climb.passes, promise=promise)


def coarse_start(box: BoxProblem, size: int) -> Array:
    """The slopes at the solution for some of the samples, which tell most of the others' u_i."""
    if box.n <= WHOLE:
        return np.zeros(box.n)
    index = np.arange(0, box.n, COARSER)
    times = float(box.c.sum() / box.c[index].sum())
    coarse = box.part(index, times)
    climb = Climb(coarse, size, coarse_start(coarse, size))
    climb.visit()
    spread = np.zeros(box.n)
    spread[index] = climb.u
    z = climb.shift - box.gram.product(spread)
    u = np.clip(box.c * box.loss.derivative(box.y, z), box.lo, box.hi)
    derived = box.balanced(u, box.y + box.K * u - z)
    kept = np.clip(spread, box.lo, box.hi)
    if not 2 * np.count_nonzero(kept != spread) <= np.count_nonzero(spread):
        return derived
    return min(derived, box.balanced(kept, box.y - z), key=box.cost)


class Climb:
    """u on its way up: its slopes, its shift b, and the rows of G that it has cost."""

    def __init__(self, box: BoxProblem, size: int, u: Array) -> None:
        self.box, self.size, self.u = box, min(size, box.n), u.copy()
        self.pull = box.gram.product(u).copy() if u.any() else np.zeros(box.n)  # G u
        self.shift, self.passes = 0.0, int(np.count_nonzero(u)) / box.n
        self.first = self.now = np.inf  # violations
        self.drift = 0.0  # what ``pull`` may be off by, about

    def visit(self) -> bool:
        """Working sets until the violation has fallen; False where there was none to begin with."""
        if self.drift > 0.0 and not self.now > MISLED * self.drift:
            self._begin_anew()
        slack = 8.0 * EPS * float(np.abs(self.box.y).max() + np.abs(self.pull).max())
        first, moved = np.inf, False
        for _ in range(VISITS):
            chosen, violation = self._choose()
            if not violation > max(slack, self.drift, FALL * first if first < np.inf else 0.0):
                break
            first = violation if first == np.inf else first
            if not self._improve(chosen, violation):
                self._choose()
                break
            moved = True
        return moved

    def _begin_anew(self) -> None:
        """G u by a product, which an evaluation asks for too."""
        self.pull, self.drift = self.box.gram.product(self.u).copy(), 0.0

    @property
    def gap(self) -> float:
        """The relative gap by these slopes: no promise, but an evaluation costs a product."""
        box, u = self.box, self.u
        kinks = box.epsilon * np.where(u != 0.0, np.sign(u), 0.0)
        push = self.slope + kinks - self.shift
        room = np.where(push > 0.0, u - box.lo, box.hi - u)
        part = np.where(room > 0.0, np.minimum(room, np.abs(u) + box.c) * np.abs(push), 0.0)
        if box.epsilon > 0.0:  # within the kink nothing pushes
            part = np.where((u == 0.0) & (np.abs(push) <= box.epsilon), 0.0, part)
        value = abs(0.5 * float(u @ (box.y + self.slope))) + box.epsilon * float(np.abs(u).sum())
        return float(part.sum()) / value if value > 0.0 else np.inf

    def _choose(self) -> tuple[Array, float]:
        """The free samples and those that violate most, and by how much; b between the ends."""
        box, u = self.box, self.u
        self.slope = box.y + self.pull if box.is_linear else box.y + box.K * u + self.pull
        given = self.slope, u, box.lo, box.hi, box.epsilon, box.paired
        free = FREE if self.now <= NEAR * self.first else self.size
        chosen, up, down = most_violating(*given, self.size, free)
        if box.paired and isfinite(up - down):
            self.shift = 0.5 * (down - up)
        self.now = up + down if box.paired else max(up, down)
        self.first = self.now if self.first == np.inf else self.first
        return (self._everybody if box.n <= WHOLE else chosen), self.now

    def _improve(self, chosen: Array, violation: float) -> bool:
        """Climb on the chosen samples; False where nothing moved."""
        box, whole = self.box, len(chosen) == self.box.n
        Q = self._whole if whole else self._block(chosen)
        self.passes += len(chosen) / box.n
        given = self.slope, self.u, box.lo, box.hi, chosen, box.epsilon, box.paired
        g, u, crowded = climb_set(Q, *given, ROUNDS * len(chosen), STILL * violation)
        if crowded:
            settle(Q, g, u, box.lo[chosen], box.hi[chosen], box.epsilon, box.paired)
        step = u - self.u[chosen]
        moved = step.nonzero()[0]
        self.u[chosen] = u
        if whole:
            self.pull = g - box.y if box.is_linear else g - box.y - box.K * u
        elif moved.size >= MOST * np.count_nonzero(self.u):
            self._begin_anew()
        elif moved.size:
            size = float(Q.diagonal().max()) * sqrt(np.vdot(step, step))
            rounding = box.gram.rounding * size
            exactly = not rounding <= FINE * violation
            box.gram.add(chosen[moved], step[moved], self.pull, exactly)
            self.drift += 0.0 if exactly else rounding
        return bool(moved.size)

    @cached_property
    def _everybody(self) -> Array:
        return np.arange(self.box.n)

    @cached_property
    def _whole(self) -> Array:
        return self._block(self._everybody)

    def _block(self, chosen: Array) -> Array:
        """The chosen rows and columns of diag(K) + G."""
        Q = np.ascontiguousarray(self.box.gram.block(chosen))  # one kind to compile for
        if not self.box.is_linear:
            Q[np.diag_indices(len(chosen))] += self.box.K[chosen]
        return Q
