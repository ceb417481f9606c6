"""Dual coordinate ascent: single coordinates without an intercept, pairs with one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...errors import InputError
from ...numerics import EPS, Array
from ...objective import Objective
from ..box_dual import curvatures
from ..driver import Iterate
from .dual_steps import ascend_pairs, ascend_singles, by_violation

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
    level = objective.penalty.manifold(w, np.zeros_like(w), np.ones_like(w)).hessian
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
