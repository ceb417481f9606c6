"""Exact steps on the samples that are inside their box, in a working set of the dual."""

from __future__ import annotations

import numpy as np
from scipy.linalg import lapack

from ...numerics import Array

EXACT, FEW, FREE = 10, 200, 1000
"""Steps, if so few samples are free; one, up to how many of them."""
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
