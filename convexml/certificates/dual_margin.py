"""A dual point that meets the bounds on v = -X'u with all that v may be off by."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..numerics import EPS, Array, gamma
from ..objective import Objective
from .dual_repair import DualPoint, column_reach, scaled
from .rounding import compensated_error, compensated_rmatvec

SMALL = 100_000
"""Entries of X up to which X'u is evaluated in twice the digits where its rounding costs much."""
TAKEN = 1e-12


def with_margin(objective: Objective, point: DualPoint, precise: bool = False) -> DualPoint:
    """Shrink u until bounds such as |v_j| <= lam hold for certain; ``precise`` evaluates v anew.

    Rows of v that must vanish or have a sign are left as they are: no shrinking restores them.
    """
    penalty = objective.penalty
    u, v, error = point.u, point.v, np.broadcast_to(point.error, point.v.shape)
    precise = precise or _costs(objective, v, error)
    if precise:
        v, error = _precisely(objective, u)
        point = replace(point, v=v, error=error, value=objective.dual(u, v))
    if penalty.conjugate_bound(v, error) < np.inf:
        return point
    scale = penalty.domain_scale(_outermost(v, error)) or 1.0  # 0 where a sign is missed
    for power in range(4, 53, 2):
        t = scale * (1.0 - EPS * 2.0**power)
        found = scaled(objective, u, v, error, t)
        if precise:  # what v is at the rounded t u, not what it may be
            found = found[0], *_precisely(objective, found[0])
            scale *= penalty.domain_scale(_outermost(found[1], found[2])) or 1.0
        if penalty.conjugate_bound(found[1], found[2]) < np.inf:
            break
    else:
        found = scaled(objective, u, v, error, 0.0)
    value, moved = objective.dual(found[0], found[1]), float(np.max(np.abs(found[0] - u)))
    return DualPoint(found[0], value, found[1], point.moved + moved, point.source, found[2])


def _precisely(objective: Objective, u: Array) -> tuple[Array, Array]:
    """-X'u in twice the digits, and what it may be off by."""
    v = -compensated_rmatvec(objective.design, u)
    return v, compensated_error(v, objective.n, column_reach(objective, u))


def _costs(objective: Objective, v: Array, error: Array) -> bool:
    """Whether the rounding of a small product takes digits of the room below a bound on v."""
    scale = objective.penalty.domain_scale
    small = 0 < objective.n * objective.d <= SMALL
    return small and scale(v) - scale(_outermost(v, error)) > TAKEN


def _outermost(v: Array, error: Array) -> Array:
    """The largest that v may be, with what norms of it are rounded by."""
    return np.copysign((np.abs(v) + error) * (1.0 + gamma(len(v) + 32)), v)
