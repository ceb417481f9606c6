"""Solve the linear systems of the optimality conditions for what is still unknown of u* and w*."""

from __future__ import annotations

import numpy as np

from ...numerics import ROUNDING, Array
from ...penalties import L2
from .enclosure import Enclosure
from .interval import Intervals, around
from .linear_enclosure import EnclosedSolution, enclose_solutions
from .spheres import Sphere, sphere

MOST_WORK = 1e10
"""Linear systems that take more operations are not solved: their unknowns stay as they are."""
WIDE = 1e-3
"""An interval wider than this share of its box counts as not yet known."""


def solve_dual(known: Enclosure) -> None:
    """X'u* = -v* and 1'u* = 0 for the samples whose u_i* is not known yet."""
    objective = known.objective
    box = np.subtract(*objective.dual_bounds()[::-1])
    box = np.where(np.isfinite(box), box, np.abs(known.dual.u).max(initial=0.0))
    open_ = known.u.half > 0.5 * WIDE * box
    spot = isinstance(objective.penalty, L2) and known.w_sphere is not None
    rows = np.ones(objective.d, dtype=bool)
    if not spot:
        size = np.abs(known.dual.v).max(initial=0.0)
        rows = known.v.half <= WIDE * size
    work = float(open_.sum()) ** 2 * max(rows.sum(), open_.sum())
    if not open_.any() or not rows.any() or work > MOST_WORK:
        return
    part = objective.design.columns(np.flatnonzero(rows))
    M = part.rows(np.flatnonzero(open_)).dense().T
    middle, half = np.where(open_, 0.0, known.u.middle), np.where(open_, 0.0, known.u.half)
    rhs, error, ball = -part.rmatvec(middle), part.abs_rmatvec(half), 0.0
    error = error + ROUNDING * part.abs_rmatvec(np.abs(middle) + np.abs(known.dual.u))
    if spot:
        assert isinstance(objective.penalty, L2)
        assert known.w_sphere is not None
        rhs = rhs - objective.penalty.gradient(known.w_sphere.center)
        ball = objective.penalty.curvature_bound * known.w_sphere.radius
    else:
        rhs, error = rhs - known.v.middle[rows], error + known.v.half[rows]
    marks = np.ones(len(rhs), dtype=bool)
    if objective.fit_intercept:
        M = np.vstack([M, np.ones(open_.sum())])
        rhs, marks = np.append(rhs, -middle.sum()), np.append(marks, False)
        error = np.append(error, half.sum() + ROUNDING * np.abs(known.dual.u).sum())
    found = enclose_solutions(
        M, rhs, error, ball, marks, known.u.middle[open_], known.u.half[open_]
    )
    _accept(known, known.u, found, open_)


def solve_primal(known: Enclosure) -> None:
    """X w* + b*1 = z* for the coefficients that may be nonzero, where z* is known."""
    if known.blocks is None and known.w_sphere is not None:
        return
    maybe = np.flatnonzero(~known.zero)
    if not maybe.size:
        known.unique_w = True
    found = _coefficients(known, maybe, known.w.middle[maybe], known.w.half[maybe])
    if found is None:
        return
    _accept(known, known.w, found, ~known.zero)
    if known.objective.fit_intercept:
        known.b.meet(*around(found.center[-1:], found.radius[-1:]))
    known.unique_w = known.unique_w or found.unique


def shared(known: Enclosure, i: int, j: int, sign: float) -> bool:
    """Whether w_i* + sign w_j* is certainly not 0, for columns with x_i = sign x_j."""
    maybe = np.flatnonzero(~known.zero)
    maybe = maybe[maybe != j]
    middle, reach = known.w.middle[maybe], known.w.half[maybe]
    merged = maybe == i
    middle[merged] += sign * known.w.middle[j]
    reach[merged] += known.w.half[j]
    found = _coefficients(known, maybe, middle, reach)
    if found is None:
        return False
    k = int(np.flatnonzero(merged)[0])
    return bool(np.abs(found.center[k]) > found.radius[k])


def _coefficients(
    known: Enclosure, maybe: Array, center: Array, reach: Array
) -> EnclosedSolution | None:
    """Enclose (w*, b*) on the coordinates ``maybe``, known to lie within ``reach``."""
    objective = known.objective
    near = _prediction_sphere(known)
    if near is not None:
        weights = np.broadcast_to(near.weights, (objective.n,))
        rows = np.flatnonzero(weights)
    else:
        rows = np.flatnonzero(known.pinned)
    columns = maybe.size + int(objective.fit_intercept)
    if not rows.size or not columns or rows.size * columns**2 > MOST_WORK:
        return None
    M = objective.design.columns(maybe).rows(rows).dense()
    if objective.fit_intercept:
        M = np.hstack([M, np.ones((rows.size, 1))])
        middle, half = _intercept_reach(known, rows)
        center, reach = np.append(center, middle), np.append(reach, half)
    rounding = objective.prediction_slack(known.point.w, known.point.b)[rows]
    everywhere = np.ones(rows.size, dtype=bool)
    if near is None:
        error = known.z.half[rows] + rounding
        return enclose_solutions(M, known.z.middle[rows], error, 0.0, everywhere, center, reach)
    root = np.sqrt(weights[rows])
    rhs = near.center[rows] * root
    return enclose_solutions(
        M * root[:, None], rhs, rounding * root, near.radius, everywhere, center, reach
    )


def _accept(known: Enclosure, target: Intervals, found: EnclosedSolution, where: Array) -> None:
    k = int(where.sum())
    target.meet(*around(found.center[:k], found.radius[:k]), where)


def _intercept_reach(known: Enclosure, rows: Array) -> tuple[float, float]:
    """A bound on b* from one prediction: b* = z_i* - x_i.w*."""
    lo, hi = known.scores
    low = (known.z.lo[rows] - hi[rows]).max(initial=-np.inf)
    high = (known.z.hi[rows] - lo[rows]).min(initial=np.inf)
    both = Intervals(np.array([low]), np.array([high]))
    both.meet(known.b.lo, known.b.hi)
    return float(both.middle[0]), float(both.half[0])


def _prediction_sphere(known: Enclosure) -> Sphere | None:
    """Where z* lies when the loss is curved from z and from grad F*(u) all the way to z*."""
    objective = known.objective
    if not objective.loss.is_smooth:
        return None
    other = np.where(np.abs(known.nearest) < 1e14, known.nearest, known.point.z)
    trusted = np.abs(known.nearest) < 1e14
    ends = np.minimum(known.point.z, other), np.maximum(known.point.z, other)
    lo, hi = np.minimum(ends[0], known.z.lo), np.maximum(ends[1], known.z.hi)
    floor = np.where(trusted, objective.loss.curvature_floor(objective.y, lo, hi), 0.0)
    if not np.any(floor > 0.0):
        return None
    near = sphere(known.point.z, other, objective.c * floor, known.gap)
    with np.errstate(divide="ignore"):
        reach = near.radius / np.sqrt(near.weights)
    slack = ROUNDING * (np.abs(near.center) + np.abs(objective.y))
    known.z.meet(near.center - reach - slack, near.center + reach + slack)
    return near
