"""Make an almost feasible dual point exactly feasible, moving it as little as it takes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize

from ....numerics import EPS, ROUNDING, UNIT, Array, gamma
from ....objective import Objective
from ....objective.multiclass import MulticlassObjective
from ....penalties import Penalty
from ...rounding import balanced
from .column_gram import ColumnGram
from .multiclass import balanced_rows, restore_probabilities

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
    start: Array | None = None
    """-X'u of the u that was repaired, where it is known."""
    gram: ColumnGram | None = None
    """The Gram matrix that the rows of dom Omega* were restored with."""


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
    passed = u
    u = np.clip(np.where(np.isfinite(u), u, 0.0), lo, hi)
    as_passed = np.array_equal(u, passed)
    if isinstance(objective, MulticlassObjective):
        found = _Restored(restore_probabilities(objective, u))
    else:
        found = _restore_rows(objective, u, lo, hi, metric)
    u = np.where(np.abs(found.u) < TINY, 0.0, found.u)  # subnormal numbers carry no digits
    u = balance(objective, u, lo, hi)
    v, error = _product(objective, u, found)
    scale, slack = objective.penalty.domain_scale(v), None
    if scale < 1.0:
        slack = ROUNDING * objective.product_sizes(u)
        scale = objective.penalty.domain_scale(v, slack)
        u, v, error = scaled(objective, u, v, error, scale)
        slack = scale * slack
    value, conjugates = dual_value(objective, u, v, slack)
    if not value > -np.inf:  # nan after an overflow
        u, v, error = np.zeros_like(u), np.zeros_like(v), np.zeros_like(v)
        value, conjugates = dual_value(objective, u, v)
    with np.errstate(invalid="ignore"):
        moved = float(np.max(np.abs(u - passed), initial=0.0))
    start = found.start if as_passed else None
    return DualPoint(u, value, v, moved, source, error, conjugates, start, found.gram)


def dual_value(
    objective: Objective, u: Array, v: Array, slack: Array | None = None
) -> tuple[float, Array]:
    """D(u) for a u in the box of F* with 1'u = 0, and the l*(y_i, u_i / c_i)."""
    slopes = u / objective.coefficients
    if isinstance(objective, MulticlassObjective):
        return objective.dual(u, v), objective.loss.conjugate(objective.y, slopes)
    slopes = np.clip(slopes, *objective.loss.domain(objective.y))
    terms = objective.loss.conjugate(objective.y, slopes)
    return -float(objective.c @ terms) - objective.penalty_conjugate(u, v, slack), terms


def product_error(objective: Objective, u: Array) -> Array:
    """What X'u may be off by: gamma |X_j|_2 |u|_2, shape (d,)."""
    if not np.any(u):
        return np.zeros(objective.d)
    return gamma(getattr(objective.design, "chain", objective.n)) * objective.column_reach(u)


def scaled(
    objective: Objective, u: Array, v: Array, error: Array, t: float
) -> tuple[Array, Array, Array]:
    """t (u, v), with 1'u = 0 exact again, and what the new v may be off by."""
    if t == 0.0:
        return np.zeros_like(u), np.zeros_like(v), np.zeros_like(v)
    whole = t * u
    new = balance(objective, whole, *box_inside(objective))
    drift = objective.column_reach(np.abs(new - whole) + UNIT * np.abs(whole))
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
    if not rounded.any():
        return end
    return np.where(rounded, np.nextafter(np.nextafter(end, side), side), end)


def held_rows(penalty: Penalty, d: int) -> Array:
    """Mask of the rows of dom Omega* that ask for v_j = 0 or for a sign, (d,)."""
    ones = np.ones(d)
    return (penalty.outside(ones) != 0.0) | (penalty.outside(-ones) != 0.0)


@dataclass(frozen=True)
class _Restored:
    """A u with 1'u = 0 and the rows of dom Omega* restored, and what was found on the way."""

    u: Array
    v: Array | None = None
    start: Array | None = None
    gram: ColumnGram | None = None


def _restore_rows(
    objective: Objective, u: Array, lo: Array, hi: Array, metric: Array | None
) -> _Restored:
    """Restore 1'u = 0 and the rows of dom Omega* that no shrinking can restore, within the box."""
    penalty, d = objective.penalty, objective.d
    rows = np.flatnonzero(held_rows(penalty, d))
    if not rows.size and not objective.fit_intercept:
        return _Restored(u)
    columns = objective.design if rows.size == d else objective.design.columns(rows)
    equalities = penalty.free(d)[rows]
    v, start, gram, h = None, None, None, None
    for _ in range(ROUNDS):
        total = u.sum() if objective.fit_intercept else 0.0
        done = abs(total) <= 0.5 * ROUNDING * np.abs(u).sum()
        if rows.size:
            v = np.zeros(d)
            v[rows] = -columns.rmatvec(u)
            start = v if start is None else start
            outside = np.abs(penalty.outside(v)[rows])
            if np.any(outside):
                broken = outside > 0.5 * ROUNDING * objective.product_sizes(u)[rows]
                done, more = done and not np.any(broken), equalities | broken
                gram, equalities = gram if np.array_equal(more, equalities) else None, more
        if done:
            break
        if gram is None:
            room = np.minimum(u - lo, hi - u)
            h = np.where(np.isfinite(room), room, objective.c) if metric is None else metric
        assert h is not None
        if equalities.any():
            assert v is not None
            if gram is None:
                mask = np.isin(np.arange(d), rows[equalities])
                part = columns if equalities.all() else columns.columns(equalities)
                gram = ColumnGram(part, h, objective.fit_intercept, mask)
            shift = gram.combination(-v[rows[equalities]], total)
        elif h.sum() > 0.0:
            shift = total / h.sum()
        else:
            break
        there = u - h * shift
        u, v = np.clip(there, lo, hi), None
        if metric is None and not np.array_equal(u, there):
            gram = None  # other samples are to carry what is left
        # A row of which a single term is left holds only where that term is exactly 0.
        share = np.abs(u) / objective.c
        u = np.where(share <= EPS * share.max(), 0.0, u)
    known = rows.size == d
    return _Restored(u, v if known else None, start if known else None, gram)


def _product(objective: Objective, u: Array, found: _Restored) -> tuple[Array, Array]:
    """-X'u and what it may be off by: that of ``found``, or the last one, where u hardly moved."""
    error = product_error(objective, u)
    known: list[tuple[Array, Array]] = objective.design.__dict__.setdefault("_last_product", [])
    pairs = known if found.v is None else [(found.u, found.v)]
    for before, v in pairs:
        drift = objective.column_reach(u - before)
        if np.all(drift <= error):
            return v, (product_error(objective, before) + drift) * (1.0 + 4.0 * EPS)
    known[:] = [(u, -objective.design.rmatvec(u))]
    return known[0][1], error


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
