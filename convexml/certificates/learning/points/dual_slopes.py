"""How fast F* and Omega* can rise when a dual point is moved a little."""

from __future__ import annotations

import numpy as np

from ....numerics import EPS, Array
from ....objective import Objective
from .primal_repair import PrimalPoint

STEP = 2.0**-20
"""Share of |u| over which the slope of F* is taken."""


def slopes(
    objective: Objective,
    u: Array,
    samples: Array | slice,
    room: Array,
    step: Array,
    point: PrimalPoint | None,
    conjugates: Array | None = None,
) -> tuple[Array, Array]:
    """Bounds of |F*_i(u + t) - F*_i(u)| / |t|, and of (... - z_i t) / |t|, for |t| <= step, (k,).

    F*_i is convex, so that the secant to any farther point is a bound. ``room``, the distance to
    the ends of the box, is at least 2 step; ``conjugates`` are l*(y_i, u_i / c_i) where known.
    """
    u, y, c = u[samples], objective.y[samples], objective.c[samples]
    far = np.maximum(step, STEP * float(np.max(np.abs(u), initial=0.0)))
    t = np.minimum(far, 0.5 * room)
    lo, hi = (end[samples] for end in objective.loss.domain(objective.y))

    def at(x: Array) -> Array:
        return c * objective.loss.conjugate(y, np.clip(x / c, lo, hi))

    left, here, right = at(u - t), at(u) if conjugates is None else c * conjugates, at(u + t)
    below, above = left - here, right - here
    terms = np.abs(left) + np.abs(here) + np.abs(right)
    noise = 8.0 * EPS * (terms + (c + np.abs(u) + t) * (1.0 + np.abs(y)))
    plain = (np.maximum(np.maximum(below, above), 0.0) + noise) / t
    if point is None:
        return plain, plain
    shift = point.z[samples] * t
    excess = np.maximum(np.maximum(below + shift, above - shift), 0.0)
    return plain, (excess + noise + 4.0 * EPS * np.abs(shift)) / t


def rise(objective: Objective, v: Array, reach: Array) -> float:
    """A bound of Omega*(v + e) - Omega*(v) over |e| <= reach, both shrunk into the domain."""
    penalty = objective.penalty
    if not np.any(reach):
        return 0.0
    if penalty.depends_on_sizes or penalty.rises:
        v = penalty.domain_scale(v) * v
        ends = v + (reach if penalty.rises else np.copysign(reach, v))
        ends = ends * penalty.domain_scale(ends)
        before, after = penalty.conjugate(v, np.inf), penalty.conjugate(ends, np.inf)
        return max(after - before, 0.0) + 8.0 * EPS * abs(after)
    if penalty.is_constraint:  # Omega* is sublinear
        zero = np.zeros_like(v)
        both = np.maximum(penalty.terms(zero, reach), penalty.terms(zero, -reach))
        return float(np.sum(np.maximum(both, 0.0)))
    return np.inf


def shrinkage(objective: Objective, v: Array, reach: Array) -> float:
    """The share t with (1 - t)(v + e) in dom Omega* for all |e| <= reach.

    The domain of a constraint's Omega* is a cone, whose sign rows the caller holds.
    """
    size = float(np.max(reach, initial=0.0))
    if size == 0.0 or objective.penalty.is_constraint:
        return 0.0
    far = 2.0**200 / size
    scale = objective.penalty.domain_scale(far * reach)
    share = 0.0 if scale == 1.0 else 1.0 / (scale * far)
    return share + 1.0 / objective.penalty.domain_scale(v) - 1.0


def above_zero(objective: Objective, u: Array, v: Array) -> float:
    """max(D(u) - D(0), 0), D(u) by its formula: u = 0 is exactly feasible."""
    least = objective.loss_conjugate(objective.zero_scores) + objective.penalty.conjugate(
        np.zeros(objective.d)
    )
    return max(objective.dual_formula(u, v) + least, 0.0)
