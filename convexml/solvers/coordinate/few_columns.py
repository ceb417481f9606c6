"""A small quadratic plus weighted absolute values, minimised in one compiled loop."""

from __future__ import annotations

import numpy as np

from ...compiled import compiled
from ...numerics import Array
from .cycles import descend

SWEEPS, GAIN = 8, 1e-6
"""Of coordinate descent before each Newton step; it ends early where a sweep gains less than this
share of the best one."""
ROUNDS, HASTY = 100, 4
"""Supports that are tried, at most; rounds in which descent goes on after one Newton step, whether
it was cut off or not."""
SINGULAR = 1e-12
"""A pivot below this share of its diagonal entry is none."""


@compiled
def is_met(g: Array, x: Array, level: Array, tol: Array) -> bool:
    """Whether -g_j is within tol_j of level_j d|x_j| for all j."""
    for j in range(len(x)):
        if x[j] != 0.0:
            missed = abs(g[j] + (level[j] if x[j] > 0.0 else -level[j]))
        else:
            missed = abs(g[j]) - level[j]
        if not missed <= tol[j]:
            return False
    return True


@compiled
def solve_on(
    gram: Array, mu: float, support: Array, right: Array, lower: Array, found: Array
) -> bool:
    """Write (G_SS + mu I)^-1 right to ``found``; whether that is positive definite."""
    for i in range(len(support)):
        for j in range(i + 1):
            entry = gram[support[i], support[j]]
            if i == j:
                entry += mu
            left = entry
            for k in range(j):
                left -= lower[i, k] * lower[j, k]
            if j < i:
                lower[i, j] = left / lower[j, j]
            elif left > SINGULAR * entry:
                lower[i, i] = np.sqrt(left)
            else:
                return False
        left = right[i]
        for k in range(i):
            left -= lower[i, k] * found[k]
        found[i] = left / lower[i, i]
    for i in range(len(support) - 1, -1, -1):
        for k in range(i + 1, len(support)):
            found[i] -= lower[k, i] * found[k]
        found[i] /= lower[i, i]
    return True


@compiled
def bend(
    gram: Array,
    mu: float,
    g: Array,
    x: Array,
    level: Array,
    support: Array,
    found: Array,
    bends: Array,
    step: Array,
) -> bool:
    """Go along ``found`` as far as the value falls; coordinates that reach 0 stay there.

    x and its gradient g are moved; whether a coordinate stayed at 0.
    """
    size, crossing = len(support), 0
    for i in range(size):
        j = support[i]
        bends[i] = np.inf
        if level[j] > 0.0 and (x[j] > 0.0) != (x[j] + found[i] > 0.0):
            bends[i] = -x[j] / found[i]
            crossing += 1
    order = np.sort(bends)
    last = crossing
    while True:
        t = 1.0 if last == crossing else order[last]
        change = 0.0
        for i in range(size):
            j = support[i]
            step[i] = -x[j] if bends[i] <= t else t * found[i]
            change += g[j] * step[i] + level[j] * (abs(x[j] + step[i]) - abs(x[j]))
        for i in range(size):
            bent = mu * step[i]
            for k in range(size):
                bent += gram[support[i], support[k]] * step[k]
            change += 0.5 * bent * step[i]
        if change < 0.0 or last == 0:
            break
        last //= 2
    for i in range(size):
        j = support[i]
        x[j] = 0.0 if bends[i] <= t else x[j] + step[i]
        g[j] += mu * step[i]
        for k in range(len(x)):
            g[k] += gram[j, k] * step[i]
    return crossing > 0


@compiled(work=lambda *given: 200.0)  # more than by ``support_newton``
def settle(
    gram: Array, mu: float, slope: Array, start: Array, level: Array, tol: Array, x: Array
) -> bool:
    """Move x to the minimum that ``support_newton.minimise`` looks for, by its steps.

    Whether it was found: False where the matrix of a support is singular.
    """
    size, g = len(x), slope.copy()
    support, lower = np.empty(size, dtype=np.int64), np.empty((size, size))
    right, found, bends, step = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    for turn in range(ROUNDS):
        descend(gram, mu, g, x, level, SWEEPS, GAIN)
        if is_met(g, x, level, tol):
            for j in range(size):
                g[j] = slope[j] + mu * (x[j] - start[j])
                for k in range(size):
                    g[j] += gram[j, k] * (x[k] - start[k])
            if is_met(g, x, level, tol):
                return True
        dropped = True
        while dropped:
            count = 0
            for j in range(size):
                if (x[j] != 0.0 or level[j] == 0.0) and gram[j, j] + mu > 0.0:
                    support[count] = j
                    right[count] = -g[j]
                    if x[j] != 0.0:
                        right[count] -= level[j] if x[j] > 0.0 else -level[j]
                    count += 1
            own = support[:count]
            if not solve_on(gram, mu, own, right, lower, found):
                return False
            dropped = bend(gram, mu, g, x, level, own, found[:count], bends[:count], step)
            dropped = dropped and turn >= HASTY
    return False
