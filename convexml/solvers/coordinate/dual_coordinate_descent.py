"""Dual coordinate ascent: single coordinates without an intercept, pairs with one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...compiled import compiled
from ...errors import InputError
from ...numerics import EPS, Array
from ...problem import Objective
from ..composite import curvature, curvatures
from ..driver import Iterate

# Exact steps along single coordinates of a box-constrained QP, and along pairs of them.
#
# Q is symmetric: its rows stand for its columns.


def by_violation(
    u: Array, g: Array, lo: Array, hi: Array, epsilon: float, pairs: bool
) -> tuple[Array, Array]:
    """The samples, the best first, and the rate at which the cost falls if each of them moves.

    For pairs, those that gain most by rising alternate with those that gain most by falling.
    """
    up = np.where(u < hi, -(g + np.where(u >= 0.0, epsilon, -epsilon)), -np.inf)
    down = np.where(u > lo, g + np.where(u > 0.0, epsilon, -epsilon), -np.inf)
    if not pairs:
        gain = np.maximum(up, down)
        return np.argsort(-gain, kind="stable"), gain
    both = np.stack([np.argsort(-side, kind="stable") for side in (up, down)], axis=1).ravel()
    first = np.unique(both, return_index=True)[1]
    return both[np.sort(first)], np.maximum(up + down.max(), down + up.max())


def most_violating(
    g: Array,
    u: Array,
    lo: Array,
    hi: Array,
    epsilon: float,
    paired: bool,
    size: int,
    free: int,
) -> tuple[Array, float, float]:
    """The u_i strictly inside, if at most ``free``, and of the others those that gain most.

    For pairs as many of those that gain by rising as by falling, beside the best of the other
    side, up to ``size`` in all. With them come the largest gains by rising and by falling.
    """
    n = len(u)
    rise, fall, inside = np.full(n, -np.inf), np.full(n, -np.inf), np.zeros(n, dtype=np.bool_)
    for i in range(n):
        if u[i] < hi[i]:
            rise[i] = -(g[i] + (epsilon if u[i] >= 0.0 else -epsilon))
        if u[i] > lo[i]:
            fall[i] = g[i] + (epsilon if u[i] > 0.0 else -epsilon)
            inside[i] = u[i] < hi[i] and (epsilon == 0.0 or u[i] != 0.0)
    up, down = rise.max(), fall.max()
    count = inside.sum()
    if count > free:
        inside[:], count = False, 0
    room = max(size - count, size // 2)
    if not paired:
        rise, fall = np.maximum(rise, fall), np.full(n, -np.inf)
    for side, least in ((rise, -down if paired else 0.0), (fall, -up if paired else 0.0)):
        fit = np.flatnonzero((side > least) & ~inside)
        most = max(room // 2, 1) if paired else room
        if len(fit) > most:
            gain = side[fit]
            bound = np.partition(gain, len(fit) - most)[len(fit) - most]
            inside[fit[gain > bound]] = True
            left, fit = most - np.sum(gain > bound), fit[gain == bound]
            fit = fit[np.arange(left) * len(fit) // left]  # of equals, from all over
        inside[fit] = True
    return np.flatnonzero(inside), up, down


@compiled(work=lambda *given: given[6] * (2.0 + 0.2 * len(given[2])))
def ascend_singles(
    Q: Array, g: Array, u: Array, lo: Array, hi: Array, epsilon: float, updates: int
) -> None:
    """Minimise u'Q u / 2 + ... + epsilon |u|_1 over each u_i in turn; g is the gradient at u."""
    size = len(u)
    for update in range(updates):
        i = update % size
        if Q[i, i] <= 0.0:
            continue
        goal, kink = u[i] - g[i] / Q[i, i], epsilon / Q[i, i]
        if goal > kink:
            goal -= kink
        elif goal < -kink:
            goal += kink
        else:
            goal = 0.0
        step = min(max(goal, lo[i]), hi[i]) - u[i]
        if step != 0.0:
            u[i] = min(max(goal, lo[i]), hi[i])
            for k in range(size):
                g[k] += step * Q[i, k]


@compiled(work=lambda *given: 1.5 * given[6] * len(given[2]))
def ascend_pairs(
    Q: Array,
    g: Array,
    u: Array,
    lo: Array,
    hi: Array,
    epsilon: float,
    updates: int,
    enough: float,
) -> None:
    """The same with sum(u) fixed: lower the u_i that gains most, raise the u_j that fits it.

    It ends where no pair gains at a rate of more than ``enough``.
    """
    size = len(u)
    for _ in range(updates):
        i, gain = -1, 0.0
        for k in range(size):
            slope = g[k] + (epsilon if u[k] > 0.0 else -epsilon)
            if u[k] > lo[k] and (i < 0 or slope > gain):
                i, gain = k, slope
        j, best, drop, most = -1, 0.0, 0.0, 0.0
        for k in range(size):
            fall = gain - g[k] - (epsilon if u[k] >= 0.0 else -epsilon)
            if i >= 0 and u[k] < hi[k] and fall > 0.0:
                most = max(most, fall)
                curve = max(Q[i, i] + Q[k, k] - 2.0 * Q[i, k], 1e-14 * (Q[i, i] + Q[k, k]))
                if curve > 0.0 and fall * fall / curve > best:
                    j, best, drop = k, fall * fall / curve, fall / curve
        if j < 0 or most <= enough:
            return
        floor = max(lo[i], 0.0) if epsilon > 0.0 and u[i] > 0.0 else lo[i]
        ceiling = min(hi[j], 0.0) if epsilon > 0.0 and u[j] < 0.0 else hi[j]
        step = min(drop, u[i] - floor, ceiling - u[j])
        u[i] = floor if step == u[i] - floor else u[i] - step
        u[j] = ceiling if step == ceiling - u[j] else u[j] + step
        for k in range(size):
            g[k] += step * (Q[j, k] - Q[i, k])


ROUNDS = 3
"""Updates of a block in one visit, in multiples of its size."""
WORTH = 0.3
"""An iteration ends before the block in which nobody gains this share of the most."""


def dual_coordinate_descent(
    objective: Objective, w: Array, b: float, *, block: int = 200
) -> Iterator[Iterate]:
    """Maximise D(u) one coordinate at a time, or two with u_i + u_j fixed where 1'u = 0.

    Minimises F*(u) + |Lam^(-1/2) X'u|^2 / 2, exactly along each coordinate (Hsieh et al., 2008,
    https://doi.org/10.1145/1390156.1390208), or along the pair that promises most (Fan, Chen and
    Lin, 2005). An iteration visits the samples that gain most, in
    blocks whose matrix X_B Lam^-1 X_B' is at hand; w = -Lam^-1 X'u follows. D never decreases.
    """
    if not (isinstance(block, int | np.integer) and block >= 2):
        raise InputError(
            f"dual_coordinate_descent: block must be a whole number >= 2, got {block!r}."
        )
    design, y = objective.design, objective.y
    (lo, hi), free_b = objective.dual_bounds(), objective.fit_intercept
    epsilon = float(getattr(objective.loss, "epsilon", 0.0))
    K = curvatures(objective)
    level = curvature(objective)
    u, passes = np.zeros(objective.n), 1.0
    yield Iterate(w, b, u, passes)
    while True:
        w = -design.rmatvec(u) / level
        z = design.matvec(w)
        b = objective.best_intercept(z)
        passes += 2.0
        yield Iterate(w, b, u, passes)
        u = u.copy()
        order, gain = by_violation(u, K * u + y - z, lo, hi, epsilon, free_b)
        most = float(gain[order[0]])
        if not most > EPS * (np.abs(y).max() + np.abs(z).max()):
            return
        for first in range(0, objective.n, block):
            chosen = order[first : first + block]
            if gain[chosen].max() < WORTH * most:
                break
            rows = design.rows(chosen)
            X = rows.dense()
            Q = (X / level) @ X.T
            part = u[chosen]
            g = K[chosen] * part + y[chosen] - rows.matvec(w)
            Q[np.diag_indices(len(chosen))] += K[chosen]
            ends, updates = (lo[chosen], hi[chosen]), ROUNDS * len(chosen)
            if free_b:
                ascend_pairs(Q, g, part, *ends, epsilon, updates, 0.0)
            else:
                ascend_singles(Q, g, part, *ends, epsilon, updates)
            w = w - rows.rmatvec(part - u[chosen]) / level
            u[chosen] = part
        passes += 2.0
