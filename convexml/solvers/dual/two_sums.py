"""Pairs of one class at a time: the dual of a machine with nu, whose classes have a sum each."""

from __future__ import annotations

import numpy as np

from ...compiled import compiled
from ...numerics import Array


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
