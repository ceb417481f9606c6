"""The one account of rounding: what P and D of a learning problem may be off by.

A sum of k terms is off by gamma_k sum |terms| in any order, an elementary function by
``ELEMENTARY`` of its result, and a convex loss is as steep as at the ends of where z may be. The
bounds are rigorous for the losses and penalties of the library, the data taken as exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from math import isfinite

import numpy as np

from ...numerics import EPS, ROUNDING, Array, all_finite, gamma, length
from ...problem import Objective
from ...problem.classes import MulticlassObjective
from ..rounding import compensated_error, compensated_matvec
from ..scale import learning_scale
from .dual import SMALL_ENOUGH, TIGHT, construct_dual
from .margin import closer, with_margin
from .repair import DualPoint, PrimalPoint, held_rows, repair_dual, repair_primal, scales, stretches
from .unpenalised import EXACTLY, ColumnPrice, price_of_columns

LOOSE = 1.0 + 1e-6
"""Covers the rounding of the account itself."""


def unproved(objective: Objective) -> str:
    """Why the account is not rigorous, of first order or a rule of thumb somewhere; "" if it is."""
    loss, penalty = objective.loss, objective.penalty
    if isinstance(objective, MulticlassObjective) and held_rows(objective).any():
        return "Not proved: X'u = 0 on the rows of W without a penalty is met only nearly."
    if loss.is_indicator and not scales(objective):
        return "Not proved: the constraint on the predictions is met only down to rounding."
    pairs = [(loss, "conjugate", "conjugate_rounding"), (penalty, "conjugate", "conjugate_bound")]
    if not loss.is_indicator:
        pairs.append((loss, "value", "value_rounding"))
    bare = ("violation", "shrinkage") if penalty.is_constraint else ("value", "value_rounding")
    for part, formula, bound in [*pairs, (penalty, *bare)]:
        if not _states(type(part), formula, bound):
            return f"Not proved: {part!r} does not state its rounding in {bound}."
    return ""


@cache
def _states(kind: type, formula: str, bound: str) -> bool:
    """Whether the class that has the formula, or one derived from it, has the bound."""
    owners = [next(k for k in kind.__mro__ if name in vars(k)) for name in (bound, formula)]
    return issubclass(owners[0], owners[1])


def primal_rounding(
    objective: Objective, point: PrimalPoint, u: Array, shift_error: float = 0.0
) -> float:
    """What P may be off by at the point, where the intercept may be off by ``shift_error``.

    Where a margin is missed, (w, b) / (min y_i z_i - error) is the point that counts, with what the
    division rounded in the error: it moves predictions, which columns of large entries magnify;
    what X w + b = y is missed by is weighed with u.
    """
    w, penalty, loss = point.w, objective.penalty, objective.loss
    if not math.isfinite(point.value):
        return np.inf
    omega = penalty.value(w)
    rounding = penalty.value_rounding(w, omega) + 4.0 * EPS * abs(point.value)
    if loss.is_indicator:
        reach = _reach(point, _terms(objective, point)) + shift_error
        if not scales(objective):
            return LOOSE * (rounding + float(np.sum(np.abs(u) * reach)))
        margin = float(np.min(objective.y * point.z - reach))
        if not stretches(objective, w, margin):
            return np.inf
        margin = min(1.0, margin)
        return LOOSE * (rounding + max(penalty.value(w / margin) - omega, 0.0))
    value = loss.value(objective.y, point.z) if point.losses is None else point.losses
    rounding += float(sum_rounding(objective, value, loss.value_rounding, point.z))
    terms = _terms(objective, point) if point.error is None else (0.0, 0.0)
    reach = _reach(point, terms)
    reach = (reach if isinstance(reach, float) else float(reach.max(initial=0.0))) + shift_error
    slopes = objective.coefficients * loss.slope_bound(objective.y, point.z, reach)
    rounding += _weighed(point, slopes, terms)
    rounding += shift_error * float(slopes.sum())
    return LOOSE * rounding if math.isfinite(rounding) else np.inf


def sum_rounding(objective: Objective, terms: Array, own: Callable[..., Array], at: Array) -> Array:
    """What sum_i c_i terms_i may be off by, for terms off by ``own(y, at, terms)``.

    ``terms`` of several points have one row each.
    """
    errors = own(objective.y, at, terms) @ objective.c
    found: Array = errors + gamma(objective.n + 8) * (np.abs(terms) @ objective.c)
    return found


def _terms(objective: Objective, point: PrimalPoint) -> tuple[float, float]:
    """The share of its terms that a prediction may be off by, and sum_j |X_j|_2 |w_j|."""
    count = objective.d // max(1, np.size(point.b)) + 4
    share = gamma(count) + objective.penalty.shrinkage(point.w) + point.divided
    return share, float(objective.column_norms @ np.abs(point.w)) * LOOSE


def _reach(point: PrimalPoint, terms: tuple[float, float]) -> Array | float:
    """What predictions may be off by: entry by entry, or all of them."""
    if point.error is not None:
        return point.error
    share, size = terms
    # With w = 0 the prediction is b itself.
    return share * (size + float(np.abs(point.b).max())) if size > 0.0 else 0.0


def _weighed(point: PrimalPoint, slopes: Array, terms: tuple[float, float]) -> float:
    """sum_i slopes_i |error of z_i|."""
    if point.error is not None:
        return float(np.sum(slopes * point.error))
    share, size = terms
    if size == 0.0:
        return 0.0
    shifts = float((slopes * np.abs(point.b)).sum())
    return share * (size * length(slopes) + shifts)


def dual_rounding(
    objective: Objective, point: PrimalPoint, dual: DualPoint, room: float = 0.0
) -> ColumnPrice:
    """By how much D may be below ``dual.value`` at an exactly feasible point near ``dual.u``.

    Where unpenalised columns cost more than ``room``, the bound with that much charged to them
    holds ``within`` a distance.
    """
    y, c, u, loss = objective.y, objective.c, dual.u, objective.loss
    if not math.isfinite(dual.value):
        return ColumnPrice(np.inf)
    slopes = objective.slopes_inside(u)
    terms = loss.conjugate(y, slopes) if dual.conjugates is None else dual.conjugates
    columns = _columns(objective, point, dual, room)
    rounding = float(sum_rounding(objective, terms, loss.conjugate_rounding, slopes))
    rounding += 8.0 * EPS * abs(dual.value)
    above = objective.penalty.conjugate_bound(dual.v, dual.error)
    loose = dual.value + float(c @ terms) + above  # D as it was evaluated, less a lower bound of it
    charged = columns.price if columns.within is None else room
    found = LOOSE * (rounding + charged) + max(loose, 0.0)
    return ColumnPrice(found if math.isfinite(found) else np.inf, *columns[1:])


def _columns(objective: Objective, point: PrimalPoint, dual: DualPoint, room: float) -> ColumnPrice:
    """The price of rows of v that must vanish, or have a sign that v may just miss."""
    if not held_rows(objective).any():
        return ColumnPrice(0.0)
    if isinstance(objective, MulticlassObjective):
        ends = [objective.penalty.outside(dual.v + far) for far in (dual.error, -dual.error)]
        return ColumnPrice(float(np.maximum(*np.abs(ends)) @ np.abs(point.w)))
    return price_of_columns(objective, dual, point, room)


def refine_primal(objective: Objective, point: PrimalPoint) -> PrimalPoint:
    """The point with predictions from products in twice the digits."""
    product = compensated_matvec(objective.design, point.w)
    z = product + point.b
    _, size = _terms(objective, point)
    error = compensated_error(product, objective.d, size)
    error = error + (EPS * np.abs(z) if size > 0.0 else 0.0)
    error = error + objective.penalty.shrinkage(point.w) * size
    error = error + point.divided * (size + float(np.abs(point.b).max()))
    value, losses = objective.penalty.value(point.w), None
    if not objective.loss.is_indicator:
        losses = objective.loss.value(objective.y, z)
        value += float(objective.c @ losses)
    return replace(point, z=z, value=value, error=error, losses=losses)


# A point and a dual point, repaired, with what both of their values may be off by.


SEEN = 1e-3
"""The share of what tol allows from which on rounding is worth twice the digits, for small X."""
AFFORDABLE = 20_000_000
"""Entries of X up to which it is done where it decides."""


@dataclass(frozen=True)
class Evaluated:
    """A point and a dual point, repaired, with what their values may be off by.

    Attributes
    ----------
    point, dual : PrimalPoint, DualPoint
    primal_rounding, dual_rounding : float
        Bounds on the errors of P and D, prices of residuals included.
    same_dual : bool
        Whether the dual point passed was moved by rounding only.
    reason : str
        Why there is no bound over all points, where there is none.
    within : float or None
        The distance within which alone the bound holds.
    """

    point: PrimalPoint
    dual: DualPoint
    primal_rounding: float
    dual_rounding: float
    same_dual: bool
    reason: str
    within: float | None

    @property
    def rounding(self) -> float:
        """The account: of P and of D together, and of their difference."""
        values = [abs(x) for x in (self.point.value, self.dual.value) if isfinite(x)]
        return self.primal_rounding + self.dual_rounding + 4.0 * EPS * sum(values)


def evaluate(
    objective: Objective,
    w: Array,
    b: float,
    u: Array | None = None,
    *,
    tol: float = 1e-6,
    solver_dual: Array | None = None,
    shift_error: float = 0.0,
) -> Evaluated:
    """Repair (w, b) and u, evaluate P and D there, and account for every rounding.

    Products are done again in twice the digits where their rounding stands between the gap and
    ``tol``, and for small X wherever it could be seen.

    Parameters
    ----------
    objective, w, b, u, tol, solver_dual
        As for ``certify_objective``.
    shift_error : float
        What b may be off by.
    """
    point = repair_primal(objective, w, b)
    repaired = _dual_point(objective, point, u, solver_dual, tol)
    dual = with_margin(objective, repaired, tol=tol)
    entries = objective.n * objective.d
    room = tol * learning_scale(point.value, dual.value, objective.null_value)
    above = primal_rounding(objective, point, dual.u, shift_error)
    under = dual_rounding(objective, point, dual, 0.5 * room)
    lost, gap = above + under.price, max(point.value - dual.value, 0.0)
    seen = lost > SEEN * room and entries <= SMALL_ENOUGH
    decides = not gap + lost <= room and lost > 0.1 * room
    if isfinite(point.value) and (seen or (decides and entries <= AFFORDABLE)):
        finer = refine_primal(objective, point)
        exact = with_margin(objective, repaired, precise=True)
        less = primal_rounding(objective, finer, exact.u, shift_error)
        if less <= above:
            point, above = finer, less
        others: list[DualPoint] = [exact]
        if decides and entries <= EXACTLY and u is None:
            others += [] if solver_dual is None else [_given(objective, solver_dual)]
            others += closer(objective, exact)
        for each in others:
            lower = dual_rounding(objective, point, each, 0.5 * room)
            less = max(point.value - each.value, 0.0) + lower.price
            if lower.within is None and less <= max(point.value - dual.value, 0.0) + under.price:
                dual, under = each, lower
    same = u is None or repaired.moved <= ROUNDING * float(np.max(np.abs(u), initial=0.0))
    reason = ""
    if not isfinite(point.value):
        reason = "No bound: the point is infeasible, so that P is infinite."
    elif not isfinite(dual.value):
        reason = "No bound: no dual feasible point is known."
    elif under.reason:
        reason = under.reason
    return Evaluated(point, dual, above, under.price, same, reason, under.within)


def _dual_point(
    objective: Objective,
    point: PrimalPoint,
    u: Array | None,
    solver_dual: Array | None,
    tol: float,
) -> DualPoint:
    if u is not None:
        return repair_dual(objective, u, source="passed")
    if not isfinite(point.value):
        return repair_dual(objective, objective.zero_scores)
    if solver_dual is None or not all_finite(solver_dual):
        return construct_dual(objective, point, tol)
    given = _given(objective, solver_dual)
    room = tol * learning_scale(point.value, given.value, objective.null_value)
    gap = point.value - given.value
    if objective.n * objective.d > SMALL_ENOUGH and gap <= room:
        return given  # where X is large, what a solver proved at no cost is enough
    tight = gap <= TIGHT * max(abs(point.value), abs(given.value))
    if tight and not held_rows(objective).any():
        return given  # rows that must vanish may cost less at another u
    best = construct_dual(objective, point, tol)
    return max(best, given, key=lambda p: p.value)


def _given(objective: Objective, solver_dual: Array) -> DualPoint:
    return repair_dual(objective, solver_dual, source="solver")
