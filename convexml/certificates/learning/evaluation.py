"""A point and a dual point, repaired, with what both of their values may be off by."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np

from ...numerics import EPS, ROUNDING, Array, all_finite
from ...objective import Objective
from ..scale import learning_scale
from .account import dual_rounding, primal_rounding, refine_primal
from .points.column_rows import EXACTLY
from .points.dual_margin import closer, with_margin
from .points.dual_point import SMALL_ENOUGH, TIGHT, construct_dual
from .points.dual_repair import DualPoint, repair_dual
from .points.dual_rows import held_rows
from .points.primal_repair import PrimalPoint, repair_primal

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
    b : float
        The intercept as passed, or the best one.
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
    b: float
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
    b: float | None = None,
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
    if b is None:
        b = objective.best_intercept(objective.predict(w)) if objective.fit_intercept else 0.0
    point = repair_primal(objective, w, b)
    repaired = _dual_point(objective, point, u, solver_dual, tol)
    dual = with_margin(objective, repaired, tol=tol)
    entries = objective.n * objective.d
    room = tol * learning_scale(point.value, dual.value, objective.null_value)
    above = primal_rounding(objective, point, dual.u, shift_error)
    under = dual_rounding(objective, point, dual, 0.5 * room)
    below = under.price
    seen = above + below > SEEN * room and entries <= SMALL_ENOUGH
    gap = max(point.value - dual.value, 0.0)
    decides = not gap + above + below <= room and above + below > 0.1 * room
    if isfinite(point.value) and (seen or (decides and entries <= AFFORDABLE)):
        finer = refine_primal(objective, point)
        exact = with_margin(objective, repaired, precise=True)
        less = primal_rounding(objective, finer, exact.u, shift_error)
        lower = dual_rounding(objective, finer, exact, 0.5 * room)
        if less <= above:
            point, above = finer, less
        if lower.within is None and exact.value - lower.price >= dual.value - below:
            dual, under = exact, lower
        if decides and entries <= EXACTLY and u is None:
            given = () if solver_dual is None else (_given(objective, solver_dual),)
            for each in (*given, *closer(objective, dual)):
                lower = dual_rounding(objective, point, each, 0.5 * room)
                less = max(point.value - each.value, 0.0) + lower.price
                if lower.within is None and less < max(point.value - dual.value, 0.0) + under.price:
                    dual, under = each, lower
    same = u is None or repaired.moved <= ROUNDING * float(np.max(np.abs(u), initial=0.0))
    reason = ""
    if not isfinite(point.value):
        reason = "No bound: the point is infeasible, so that P is infinite."
    elif not isfinite(dual.value):
        reason = "No bound: no dual feasible point is known."
    elif under.reason:
        reason = under.reason
    return Evaluated(point, dual, b, above, under.price, same, reason, under.within)


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
