"""Make an almost feasible dual point exactly feasible, moving it as little as it takes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....design import unscaled
from ....numerics import EPS, ROUNDING, UNIT, Array, all_finite, gamma, power_between
from ....objective import Objective, once
from ....objective.outputs.multiclass import MulticlassObjective
from ...rounding import balanced
from .column_gram import ColumnGram
from .dual_rows import Restored, restore_rows
from .multiclass import balanced_rows, restore_probabilities

TINY = 1e-300


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

    @property
    def errors(self) -> Array:
        """What v may be off by, entry by entry."""
        error = self.error
        return error if isinstance(error, np.ndarray) else np.full_like(self.v, error)


def repair_dual(
    objective: Objective,
    u: Array,
    metric: Array | None = None,
    source: str = "constructed",
    room: float = 0.0,
) -> DualPoint:
    """Clip u to dom F*, restore 1'u = 0 and (X'u)_j = 0, shrink it into dom Omega*.

    Residuals are removed by u <- u - H E (E'HE)^-1 E'u, where the columns E are 1, the unpenalised
    features, and those that break the sign which a one-sided bound asks for. The default metric H
    is the distance to the ends of dom F*, so that the samples in the interior carry the correction.
    Where that fails the answer is u = 0, which is always dual feasible. The last answer is its own.
    A margin for the rounding of X'u that shrinks u by a share of at most ``room`` is left at once.
    """
    known: list[DualPoint] = objective.__dict__.setdefault("_last_repaired", [])
    if known and np.array_equal(known[0].u, u):
        return replace(known[0], moved=0.0, source=source, start=known[0].v)
    known[:] = [_repaired(objective, u, metric, source, room)]
    return known[0]


def _repaired(
    objective: Objective, u: Array, metric: Array | None, source: str, room: float
) -> DualPoint:
    lo, hi = box_inside(objective)
    passed = u
    if not all_finite(u):
        u = np.where(np.isfinite(u), u, 0.0)
    u = u if objective.is_unbounded else np.clip(u, lo, hi)
    as_passed = u is passed or bool((u == passed).all())
    if isinstance(objective, MulticlassObjective):
        found = Restored(restore_probabilities(objective, u))
    else:
        found = restore_rows(objective, u, lo, hi, metric)
    traces = (found.u != 0.0) & (np.abs(found.u) < TINY)  # subnormal numbers carry no digits
    u = np.where(traces, 0.0, found.u) if traces.any() else found.u
    inside, slack = _with_margin(objective, u, found, room), None
    if inside is not None:
        u, v, error = inside
    else:
        u = balance(objective, u, lo, hi)
        v, error = _product(objective, u, found)
        scale = objective.penalty.domain_scale(v)
        if scale < 1.0:
            slack = ROUNDING * objective.product_sizes(u)
            scale = objective.penalty.domain_scale(v, slack)
            if scale < 1.0:
                u, v, error = scaled(objective, u, v, error, scale)
                slack = scale * slack
    value, conjugates = dual_value(objective, u, v, slack)
    if not value > -np.inf:  # nan after an overflow
        u, v, error = np.zeros_like(u), np.zeros_like(v), np.zeros_like(v)
        value, conjugates = dual_value(objective, u, v)
    with np.errstate(invalid="ignore"):
        moved = float(np.abs(u - passed).max(initial=0.0))
    start = found.start if as_passed else None
    return DualPoint(u, value, v, moved, source, error, conjugates, start, found.gram)


def _with_margin(
    objective: Objective, u: Array, found: Restored, room: float
) -> tuple[Array, Array, Array] | None:
    """T (u, v) that meets bounds such as |v_j| <= lam with all that t v may be off by, and that.

    None where t = 1 does, or none in [1 - room, 1).
    """
    penalty = objective.penalty
    if not room > 0.0 or penalty.is_smooth:
        return None
    v, error = _product(objective, u, found)
    t = penalty.domain_scale(outermost(v, error + drift_of_multiples(objective, u)))
    if not 1.0 - room <= t < 1.0:
        return None
    return scaled(objective, u, v, error, t * (1.0 - 16.0 * EPS))


def drift_of_multiples(objective: Objective, u: Array) -> Array:
    """What t u is rounded by moves v, (d,): room for it is left at once."""
    return (3.0 * UNIT) * math.sqrt(len(u)) * float(np.abs(u).max()) * objective.column_norms


def outermost(v: Array, error: Array) -> Array:
    """The largest that v may be, with what norms of it are rounded by."""
    return np.copysign((np.abs(v) + error) * (1.0 + gamma(len(v) + 32)), v)


def dual_value(
    objective: Objective, u: Array, v: Array, slack: Array | None = None
) -> tuple[float, Array]:
    """D(u) for a u in the box of F* with 1'u = 0, and the l*(y_i, u_i / c_i)."""
    if isinstance(objective, MulticlassObjective):
        slopes = u / objective.coefficients
        return objective.dual(u, v), objective.loss.conjugate(objective.y, slopes)
    terms = objective.loss.conjugate(objective.y, objective.slopes_inside(u))
    return -float(objective.c @ terms) - objective.penalty_conjugate(u, v, slack), terms


def product_error(objective: Objective, u: Array) -> Array:
    """What X'u may be off by: gamma |X_j|_2 |u|_2, shape (d,)."""
    if not u.any():
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


def balance(objective: Objective, u: Array, lo: Array | float, hi: Array | float) -> Array:
    """U with 1'u = 0 exactly, where there is an intercept; 0 where that cannot be."""
    if isinstance(objective, MulticlassObjective):
        found = balanced_rows(objective, u)
    elif not objective.fit_intercept:
        return u if objective.is_unbounded else np.clip(u, lo, hi)
    else:
        found = balanced(u, lo, hi)
    return np.zeros_like(u) if found is None else found


@once
def box_inside(objective: Objective) -> tuple[Any, Any]:
    """dom F* as floats inside of it: products c_i l that were rounded outward are taken back.

    Two numbers where it is the whole space.
    """
    if objective.is_unbounded:
        return -np.inf, np.inf
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


def _product(objective: Objective, u: Array, found: Restored) -> tuple[Array, Array]:
    """-X'u and what it may be off by: that of ``found``, or of the last one, where u is near it.

    Or a multiple of that: another frame has another unit of u, and u was scaled into the domain.
    """
    error = product_error(objective, u)
    if found.v is not None:
        drift = objective.column_reach(u - found.u)
        if (drift <= error).all():
            return found.v, (product_error(objective, found.u) + drift) * (1.0 + 4.0 * EPS)
    base, units = unscaled(objective.design)
    known: list[tuple[Array, Array]] = base.__dict__.setdefault("_last_product", [])
    for before, v in known:
        square = float(np.vdot(before, before))
        ratio = float(np.vdot(before, u)) / square if square > TINY else 0.0
        for times, rounded in ((power_between(before, u), 0.0), (ratio, UNIT)):
            there = times * before
            away = u - there
            np.abs(away, out=away)
            if rounded:
                away += rounded * np.abs(there)
            found_v = units * (times * v)
            if not away.any():
                return found_v, error
            drift = objective.column_reach(away)
            if (drift <= error).all():
                drift = product_error(objective, there) + drift + 4.0 * rounded * np.abs(found_v)
                return found_v, drift * (1.0 + 4.0 * EPS)
    v = -base.rmatvec(u)
    known[:] = [(u.copy(), v)] if all_finite(v) else []  # u may be written to
    return units * v, error
