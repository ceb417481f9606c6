"""Exact steps on the samples that are inside their box, in a working set of the dual.

Of a few free samples the loops are compiled, of more the systems are LAPACK's.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from ...compiled import compiled
from ...numerics import Array

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
    L, step, ones = np.empty((size, size)), np.empty(size), np.empty(size)
    for shift in (0.0, SHIFT * mean * size, 1e-8 * mean):
        regular = mean > 0.0
        for i in range(size):
            for j in range(i + 1):
                left = Q[i, j] + (mean if paired else 0.0) + (shift if i == j else 0.0)
                for k in range(j):
                    left -= L[i, k] * L[j, k]
                if j < i:
                    L[i, j] = left / L[j, j]
                else:
                    regular = regular and left > 0.0
                    L[i, i] = np.sqrt(left) if regular else 1.0
        if not regular:
            continue
        for i in range(size):
            one, other = -slope[i], 1.0
            for k in range(i):
                one -= L[i, k] * step[k]
                other -= L[i, k] * ones[k]
            step[i], ones[i] = one / L[i, i], other / L[i, i]
        for i in range(size - 1, -1, -1):
            one, other = step[i], ones[i]
            for k in range(i + 1, size):
                one -= L[k, i] * step[k]
                other -= L[k, i] * ones[k]
            step[i], ones[i] = one / L[i, i], other / L[i, i]
        if paired:
            step -= ones * (step.sum() / ones.sum())
            step[0] -= step.sum()
        return step
    return np.zeros(size)
