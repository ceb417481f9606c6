"""Sequential minimal optimisation of kernels: working sets climbed in pairs, solved exactly."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count
from math import isfinite, sqrt

import numpy as np
from scipy.linalg import lapack

from ...compiled import compiled
from ...errors import InputError
from ...kernels.matrix import KernelRows
from ...losses import Loss
from ...numerics import EPS, Array
from ...problem.kernel import KernelObjective
from ..composite import curvatures
from ..coordinate.dual_coordinate_descent import ascend_pairs, ascend_singles, most_violating
from ..coordinate.support import solve_on
from ..driver import Iterate

# Exact steps on the samples that are inside their box, in a working set of the dual.
#
# Of a few free samples the loops are compiled, of more the systems are LAPACK's.


EXACT, FEW, FREE = 10, 200, 3000
"""Steps, if so few samples are free; one, up to how many of them."""
BY_HAND = 48
"""Up to so many free samples the calls of a step take longer than its arithmetic."""
SHIFT = 1e-13
"""Added to the diagonal of what is factored, relative to it, where it is singular."""


def settle(
    Q: Array, g: Array, u: Array, lo: Array, hi: Array, epsilon: float, paired: bool
) -> None:
    """Newton's steps on the free u_i, each as far as the first end that it meets, in place."""
    for _ in range(EXACT):
        inside = (u > lo) & (u < hi)
        free = (inside if epsilon == 0.0 else inside & (u != 0.0)).nonzero()[0]
        if not int(paired) < free.size <= FREE:
            return
        there = u[free]
        slope = g[free] if epsilon == 0.0 else g[free] + epsilon * np.sign(there)
        step = newton_step(Q[free[:, None], free], slope, paired)
        if step is None:
            return
        pull = step @ Q[free]
        curve, fall = float(step @ pull[free]), -float(slope @ step)
        if not (fall > 0.0 and curve > 0.0):
            return
        end = np.where(step > 0.0, hi[free], lo[free])
        if epsilon > 0.0:  # and no further than the kink at 0
            end = np.where(step * there < 0.0, 0.0, end)
        reach = np.divide(end - there, step, out=np.full(free.size, np.inf), where=step != 0.0)
        first, full = int(reach.argmin()), fall / curve
        t = min(full, float(reach[first]))
        u[free] = np.minimum(np.maximum(there + t * step, lo[free]), hi[free])
        g += t * pull
        if reach[first] <= full:
            u[free[first]] = end[first]
        elif abs(full - 1.0) < 1e-6:
            return
        if free.size > FEW:
            return


def newton_step(Q: Array, slope: Array, paired: bool) -> Array | None:
    """The step to the minimum of slope'd + d'Q d / 2, with 1'd = 0 if paired."""
    size = len(Q)
    mean = float(Q.trace()) / size
    if not mean > 0.0:
        return None
    right = np.ones((size, 2))
    right[:, 0] = -slope
    matrix = Q + mean if paired else Q  # where 1'd = 0 both are the same
    for shift in (0.0, SHIFT * mean * size, 1e-8 * mean):
        shifted = matrix + shift * np.eye(size) if shift else matrix
        _, found, info = lapack.dposv(shifted, right, lower=1)
        if info == 0:
            step, ones = found[:, 0], found[:, 1]
            if paired:
                step = step - ones * (step.sum() / ones.sum())
                step[0] -= step.sum()
            return step
    return None


@compiled(work=lambda Q, *others: 50.0 + 0.3 * min(len(Q), BY_HAND) ** 2)
def settle_few(
    Q: Array, g: Array, u: Array, lo: Array, hi: Array, epsilon: float, paired: bool
) -> bool:
    """As ``settle`` while at most ``BY_HAND`` samples are free; whether there are more."""
    for _ in range(EXACT):
        inside = (u > lo) & (u < hi)
        if epsilon > 0.0:
            inside &= u != 0.0
        free = np.flatnonzero(inside)
        size = len(free)
        if size > BY_HAND or size <= int(paired):
            return size > BY_HAND
        there, slope = u[free], g[free]
        if epsilon > 0.0:
            slope = slope + epsilon * np.sign(there)
        block = np.empty((size, size))
        for i in range(size):
            block[i] = Q[free[i]][free]
        step = few_step(block, slope, paired)
        pull = np.zeros(len(u))
        for i in range(size):
            pull += step[i] * Q[free[i]]
        fall, curve = -np.dot(slope, step), np.dot(step, pull[free])
        if not (fall > 0.0 and curve > 0.0):
            return False
        first, full, nearest = -1, fall / curve, np.inf
        for i in range(size):
            end = hi[free[i]] if step[i] > 0.0 else lo[free[i]]
            if epsilon > 0.0 and step[i] * there[i] < 0.0:  # and no further than the kink at 0
                end = 0.0
            if step[i] != 0.0 and (end - there[i]) / step[i] < nearest:
                first, nearest, goal = i, (end - there[i]) / step[i], end
        t = min(full, nearest)
        u[free] = np.minimum(np.maximum(there + t * step, lo[free]), hi[free])
        g += t * pull
        if nearest <= full:
            u[free[first]] = goal
        elif abs(full - 1.0) < 1e-6:
            return False
    return False


@compiled
def few_step(Q: Array, slope: Array, paired: bool) -> Array:
    """As ``newton_step`` by Cholesky's method; 0 where it fails."""
    size = len(Q)
    mean = np.trace(Q) / size
    every, lower, step, ones = np.arange(size), np.empty_like(Q), np.empty(size), np.ones(size)
    matrix = Q + mean if paired else Q
    for shift in (0.0, SHIFT * mean * size, 1e-8 * mean):
        if mean > 0.0 and solve_on(matrix, shift, every, -slope, lower, step):
            if paired:
                solve_on(matrix, shift, every, ones.copy(), lower, ones)
                step -= ones * (step.sum() / ones.sum())
                step[0] -= step.sum()
            return step
    return np.zeros(size)


# A working set of the dual, climbed in pairs or one by one and solved where it is free.


def climb_set(
    Q: Array,
    slope: Array,
    u: Array,
    lo: Array,
    hi: Array,
    chosen: Array,
    epsilon: float,
    paired: bool,
    updates: int,
    enough: float,
) -> tuple[Array, Array, bool]:
    """The slopes and u_i of the chosen samples afterwards.

    With them comes whether ``settle`` is to follow: more samples are free than ``settle_few``
    takes, or that is not compiled, so that LAPACK's systems are quicker.
    """
    g, there, low, high = slope[chosen], u[chosen], lo[chosen], hi[chosen]
    if paired:
        ascend_pairs(Q, g, there, low, high, epsilon, updates, enough)
    else:
        ascend_singles(Q, g, there, low, high, epsilon, updates)
    given = Q, g, there, low, high, epsilon, paired
    return g, there, not settle_few.pays(*given) or bool(settle_few(*given))


# The matrix of the dual, block by block.


class KernelGram:
    """G = K / lam, (n, n); ``add`` knows some rows of it in single precision."""

    rounding = 2.0**-25
    """What ``add`` may be off by, relative to its terms, if not by rounding in double precision."""

    def __init__(self, matrix: KernelRows, lam: float) -> None:
        self.matrix, self.lam, self.n = matrix, lam, matrix.n

    def block(self, index: Array) -> Array:
        """G[index, index]."""
        made = self.matrix.block(index)
        return made if self.lam == 1.0 else made / self.lam

    def add(self, index: Array, step: Array, total: Array, exactly: bool) -> None:
        """Add G[:, index] step to ``total``, shape (n,); where need be in double precision."""
        add = self.matrix.add_anew if exactly else self.matrix.add
        add(index, step / self.lam, total)

    def product(self, u: Array) -> Array:
        """G u, shape (n,)."""
        return -self.matrix.product(-u / self.lam)  # a certificate asks for the same

    def part(self, index: Array) -> KernelGram:
        """G[index, index], as its own matrix."""
        return KernelGram(self.matrix.part(index), self.lam)


# The dual as a quadratic program in a box, its matrix seen by rows.


@dataclass(frozen=True, eq=False)
class BoxProblem:
    """Minimise y'u + epsilon |u|_1 + u'(diag(K) + G) u / 2 over lo <= u <= hi, 1'u = 0 if paired.

    F* is the first part, for a loss with these conjugates.
    """

    gram: KernelGram
    loss: Loss
    y: Array
    c: Array
    lo: Array
    hi: Array
    K: Array
    paired: bool

    @cached_property
    def n(self) -> int:
        return len(self.y)

    @cached_property
    def is_linear(self) -> bool:
        """Whether K = 0."""
        return not self.K.any()

    @cached_property
    def epsilon(self) -> float:
        return float(getattr(self.loss, "epsilon", 0.0))

    def part(self, index: Array, times: float) -> BoxProblem:
        """The problem of some samples, each counted so many times."""
        c, lo, hi = (times * each[index] for each in (self.c, self.lo, self.hi))
        y, K = self.y[index], self.K[index] / times
        return BoxProblem(self.gram.part(index), self.loss, y, c, lo, hi, K, self.paired)

    def cost(self, u: Array) -> float:
        """What is minimised."""
        slope = self.y + 0.5 * (self.K * u + self.gram.product(u))
        return float(slope @ u) + self.epsilon * float(np.abs(u).sum())

    def balanced(self, u: Array, slope: Array) -> Array:
        """U with 1'u = 0: moved are those that lose least by it, each as far as it may."""
        total = float(u.sum()) if self.paired else 0.0
        if total == 0.0:
            return u
        room = np.minimum(u - self.lo if total > 0.0 else self.hi - u, abs(total))
        order = np.argsort(-slope if total > 0.0 else slope, kind="stable")
        reach = np.cumsum(room[order])
        step = np.clip(abs(total) - (reach - room[order]), 0.0, room[order])
        moved = u.copy()
        moved[order] -= np.sign(total) * step
        return moved


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


def smo(objective: KernelObjective, w: Array, b: float, *, size: int = 64) -> Iterator[Iterate]:
    """Maximise D(u) over working sets of ``size`` samples that violate optimality most.

    Each is climbed along the pairs that promise most by second order (Fan, Chen and Lin, 2005), or
    one by one without an intercept, and then solved exactly on the u_i that are free, as long as
    none leaves its box. Of the matrix of the dual the rows of working sets and of nonzero u_i are
    made. A large problem starts from the slopes at the solution for a share of the samples. D
    never decreases.
    """
    if not (isinstance(size, int | np.integer) and size >= 2):
        raise InputError(f"smo: size must be a whole number >= 2, got {size!r}.")
    box = BoxProblem(
        KernelGram(objective.matrix, objective.lam),
        objective.loss,
        objective.y,
        objective.c,
        *objective.bare.dual_bounds(),
        curvatures(objective.bare),
        objective.fit_intercept,
    )
    u = np.zeros(box.n)
    yield Iterate(w, b, u, promise=np.inf)
    if w.any():
        u = box.balanced(np.clip(-objective.lam * w, box.lo, box.hi), np.zeros(box.n))
    climb = Climb(box, size, u if u.any() else coarse_start(box, size))
    for k in count():
        if not climb.visit():
            return
        u, promise = climb.u.copy(), climb.gap if k < BLIND else -np.inf
        yield Iterate(-u / objective.lam, climb.shift, u, climb.passes, promise=promise)


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


# Pairs of one class at a time: the dual of a machine with nu, whose classes have a sum each.


@compiled(work=lambda K, g, alpha, limits, y, steps, slack: 1.0 * steps * len(g))
def climb(
    K: Array, g: Array, alpha: Array, limits: Array, y: Array, steps: int, slack: float
) -> float:
    """Minimise (1/2) sum_ij alpha_i alpha_j y_i y_j K_ij over 0 <= alpha <= limits, in place.

    g is its gradient. Each step moves weight from one sample to another of its class: to the one
    whose g is least, from the one that gains most by second order (Fan, Chen and Lin, 2005). The
    sums over the classes stay. Returns the violation, the largest difference of g within a class.
    """
    n, worst = len(alpha), np.inf
    for _ in range(steps):
        worst, best, into, out = 0.0, 0.0, -1, -1
        for sign in (1.0, -1.0):
            i, least, most = -1, np.inf, -np.inf
            for k in range(n):
                if y[k] == sign:
                    if alpha[k] < limits[k] and g[k] < least:
                        i, least = k, g[k]
                    if alpha[k] > 0.0 and g[k] > most:
                        most = g[k]
            worst = max(worst, most - least)
            if i < 0 or not most > least:
                continue
            for k in range(n):
                if y[k] == sign and alpha[k] > 0.0 and g[k] > least:
                    curve = max(K[i, i] + K[k, k] - 2.0 * K[i, k], 1e-12 * K[i, i] + 1e-300)
                    gain = (g[k] - least) ** 2 / curve
                    if gain > best:
                        best, into, out = gain, i, k
        if into < 0 or not worst > slack:
            return worst
        curve = max(
            K[into, into] + K[out, out] - 2.0 * K[into, out], 1e-12 * K[into, into] + 1e-300
        )
        room = min(limits[into] - alpha[into], alpha[out])
        step = min((g[out] - g[into]) / curve, room)
        alpha[into] = limits[into] if step == limits[into] - alpha[into] else alpha[into] + step
        alpha[out] = 0.0 if step == alpha[out] else alpha[out] - step
        for k in range(n):
            g[k] += step * y[k] * y[into] * (K[k, into] - K[k, out])
    return worst
