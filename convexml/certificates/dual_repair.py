"""Make an almost feasible dual point exactly feasible, moving it as little as it takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg, optimize

from ..design import Design
from ..numerics import EPS, ROUNDING, UNIT, Array, gamma
from ..objective import Objective
from ..objective.multiclass import MulticlassObjective
from ..penalties import Penalty
from .multiclass import balanced_rows, restore_probabilities
from .rounding import balanced

TINY = 1e-300
ROUNDS = 25
"""Alternations of clipping to the box and restoring the equalities before giving up."""


@dataclass(frozen=True)
class DualPoint:
    """A dual feasible u, its value D(u), v = -X'u, and how far it was moved to become feasible.

    1'u = 0 holds exactly, the rows of dom Omega* down to rounding: see ``dual_margin``.
    """

    u: Array
    value: float
    v: Array
    moved: float
    source: str = "constructed"
    error: Array | float = np.inf
    """What v may be off by, (d,)."""
    conjugates: Array | None = None
    """l*(y_i, u_i / c_i), where they are known."""


def repair_dual(
    objective: Objective,
    u: Array,
    metric: Array | None = None,
    source: str = "constructed",
) -> DualPoint:
    """Clip u to dom F*, restore 1'u = 0 and (X'u)_j = 0, shrink it into dom Omega*.

    Residuals are removed by u <- u - H E (E'HE)^-1 E'u, where the columns E are 1, the unpenalised
    features, and those that break the sign which a one-sided bound asks for. The default metric H
    is the distance to the ends of dom F*, so that the samples in the interior carry the correction.
    Where that fails the answer is u = 0, which is always dual feasible.
    """
    lo, hi = box_inside(objective)
    start = u
    u = np.clip(np.where(np.isfinite(u), u, 0.0), lo, hi)
    if isinstance(objective, MulticlassObjective):
        u = restore_probabilities(objective, u)
    else:
        u = _restore_rows(objective, u, lo, hi, metric)
    u = np.where(np.abs(u) < TINY, 0.0, u)  # subnormal numbers carry no digits
    u = balance(objective, u, lo, hi)
    v, error = -objective.design.rmatvec(u), product_error(objective, u)
    scale = objective.penalty.domain_scale(v)
    if scale < 1.0:
        slack = ROUNDING * objective.design.abs_rmatvec(u)
        scale = objective.penalty.domain_scale(v, slack)
        u, v, error = scaled(objective, u, v, error, scale)
    value, conjugates = dual_value(objective, u, v)
    if not value > -np.inf:  # nan after an overflow
        u, v, error = np.zeros_like(u), np.zeros_like(v), np.zeros_like(v)
        value, conjugates = dual_value(objective, u, v)
    with np.errstate(invalid="ignore"):
        moved = float(np.max(np.abs(u - start), initial=0.0))
    return DualPoint(u, value, v, moved, source, error, conjugates)


def dual_value(objective: Objective, u: Array, v: Array) -> tuple[float, Array]:
    """D(u) for a u in the box of F* with 1'u = 0, and the l*(y_i, u_i / c_i)."""
    slopes = u / objective.coefficients
    if isinstance(objective, MulticlassObjective):
        return objective.dual(u, v), objective.loss.conjugate(objective.y, slopes)
    slopes = np.clip(slopes, *objective.loss.domain(objective.y))
    terms = objective.loss.conjugate(objective.y, slopes)
    return -float(objective.c @ terms) - objective.penalty_conjugate(u, v), terms


def column_reach(objective: Objective, x: Array) -> Array:
    """|X_j|_2 |x|_2, which bounds |X_j'x|, shape (d,)."""
    norms = objective.column_norms
    with np.errstate(invalid="ignore", over="ignore"):
        if x.ndim == 2:
            size = np.linalg.norm(x, axis=0)
            reach = (norms.reshape(-1, len(size)) * size).ravel()
        else:
            size = np.linalg.norm(x)
            reach = norms * size
    return np.where(np.isnan(reach), np.inf, reach) * (1.0 + gamma(objective.n + 16))


def product_error(objective: Objective, u: Array) -> Array:
    """What X'u may be off by: gamma |X_j|_2 |u|_2, shape (d,)."""
    if not np.any(u):
        return np.zeros(objective.d)
    return gamma(getattr(objective.design, "chain", objective.n)) * column_reach(objective, u)


def scaled(
    objective: Objective, u: Array, v: Array, error: Array, t: float
) -> tuple[Array, Array, Array]:
    """t (u, v), with 1'u = 0 exact again, and what the new v may be off by."""
    if t == 0.0:
        return np.zeros_like(u), np.zeros_like(v), np.zeros_like(v)
    whole = t * u
    new = balance(objective, whole, *box_inside(objective))
    drift = column_reach(objective, np.abs(new - whole) + UNIT * np.abs(whole))
    return new, t * v, (t * error + drift + 2.0 * EPS * np.abs(t * v)) * (1.0 + 4.0 * EPS)


def balance(objective: Objective, u: Array, lo: Array, hi: Array) -> Array:
    """U with 1'u = 0 exactly, where there is an intercept; 0 where that cannot be."""
    if isinstance(objective, MulticlassObjective):
        found = balanced_rows(objective, u)
    elif not objective.fit_intercept:
        return np.clip(u, lo, hi)
    else:
        found = balanced(u, lo, hi)
    return np.zeros_like(u) if found is None else found


def box_inside(objective: Objective) -> tuple[Array, Array]:
    """dom F* as floats inside of it: products c_i l that were rounded outward are taken back."""
    lo, hi = objective.dual_bounds()
    if objective.loss.labels not in ("real", "count"):
        return lo, hi  # ends at 0 or +-c_i
    return _inward(lo, np.inf), _inward(hi, -np.inf)


def _inward(end: Array, side: float) -> Array:
    """Two digits inward: an end such as 1 - tau is rounded, and so is its product with c_i."""
    rounded = (end != 0.0) & np.isfinite(end)
    return np.where(rounded, np.nextafter(np.nextafter(end, side), side), end)


def held_rows(penalty: Penalty, d: int) -> Array:
    """Mask of the rows of dom Omega* that ask for v_j = 0 or for a sign, (d,)."""
    ones = np.ones(d)
    return (penalty.outside(ones) != 0.0) | (penalty.outside(-ones) != 0.0)


def _restore_rows(
    objective: Objective, u: Array, lo: Array, hi: Array, metric: Array | None
) -> Array:
    """Restore 1'u = 0 and the rows of dom Omega* that no shrinking can restore, within the box."""
    penalty = objective.penalty
    rows = np.flatnonzero(held_rows(penalty, objective.d))
    if not rows.size and not objective.fit_intercept:
        return u
    columns = objective.design if rows.size == objective.d else objective.design.columns(rows)
    held = penalty.free(objective.d)[rows]
    v = np.zeros(objective.d)
    for _ in range(ROUNDS):
        total = u.sum() if objective.fit_intercept else 0.0
        done = abs(total) <= 0.5 * ROUNDING * np.abs(u).sum()
        if rows.size:
            v[rows] = -columns.rmatvec(u)
            outside = np.abs(penalty.outside(v)[rows])
            if np.any(outside):
                broken = outside > 0.5 * ROUNDING * columns.abs_rmatvec(u)
                done, held = done and not np.any(broken), held | broken
        if done:
            break
        room = np.minimum(u - lo, hi - u)
        h = np.where(np.isfinite(room), room, objective.c) if metric is None else metric
        h = np.where(room > 0.0, h, 0.0)
        if held.any():
            part = columns if held.all() else columns.columns(held)
            shift = correction(part, h, -v[rows[held]], total, objective.fit_intercept)
        elif h.sum() > 0.0:
            shift = total / h.sum()
        else:
            break
        u = np.clip(u - h * shift, lo, hi)
        # A row of which a single term is left holds only where that term is exactly 0.
        share = np.abs(u) / objective.c
        u = np.where(share <= EPS * share.max(), 0.0, u)
    return u


def correction(columns: Design, h: Array, residual: Array, total: float, with_ones: bool) -> Array:
    """Solve (E'HE) t = E'u and return E t, in units that make the columns of E equal."""
    gram = columns.gram(h)
    if with_ones:
        edge = columns.rmatvec(h)
        gram = np.block([[gram, edge[:, None]], [edge[None, :], np.array([[h.sum()]])]])
        residual = np.append(residual, total)
    if not (np.all(np.isfinite(gram)) and np.all(np.isfinite(residual))):
        return np.zeros(len(h))  # overflow: nothing is corrected
    size = np.sqrt(np.maximum(np.diag(gram), 0.0))
    unit = 1.0 / np.where(size > 0.0, size, 1.0)
    t = unit * linalg.lstsq(gram * unit[:, None] * unit, residual * unit, cond=1e-14)[0]
    return columns.matvec(t[:-1]) + t[-1] if with_ones else columns.matvec(t)


def best_multiple(objective: Objective, point: DualPoint) -> DualPoint:
    """Maximise D over the ray t u, t >= 0: the dual point scaled as well as it can be."""
    u, v = point.u, point.v
    if not np.any(u):
        return point
    lo, hi = objective.dual_bounds()
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        reach = np.where(u > 0.0, hi / u, np.where(u < 0.0, lo / u, np.inf))
    top = min(1e3, float(np.nanmin(reach)))
    top *= objective.penalty.domain_scale(top * v)
    if top <= 0.0:
        return point

    def loss_of(t: float) -> float:
        return -objective.dual(t * u, t * v)

    found = optimize.minimize_scalar(loss_of, bounds=(0.0, top), method="bounded")
    best = max((float(found.x), top), key=lambda t: -loss_of(t))
    value = -loss_of(best)
    if not value > point.value:
        return point
    u, v, error = scaled(objective, u, v, np.asarray(point.error), best)
    value = objective.dual(u, v)
    if not value > point.value:
        return point
    return DualPoint(u, value, v, point.moved, point.source, error)
