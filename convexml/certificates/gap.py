"""The Fenchel-Young certificate of a learning problem: the gap is the KKT violation."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..numerics import EPS, ROUNDING, Array
from ..objective import Frame, Objective, frame_of
from .account import dual_rounding, is_proved, primal_rounding, refine_primal
from .certificate import Certificate, Verdict
from .conditions import Textbook, conditions_at
from .dual_margin import with_margin
from .dual_point import SMALL_ENOUGH, construct_dual, plain_dual
from .dual_repair import DualPoint, repair_dual
from .judge import bounded, judge, refuted
from .passed_point import PassedPoint
from .primal_repair import PrimalPoint, interpolation_excess, primal_scale, repair_primal
from .scale import learning_scale
from .witness import better_point

MET = 1e-9
"""Row-relative residual at which an equality counts as met while an algorithm runs."""

SEEN = 1e-3
"""The share of what tol allows from which on rounding is worth twice the digits, for small X."""
AFFORDABLE = 20_000_000
"""Entries of X up to which it is done where it decides."""


@np.errstate(over="ignore", invalid="ignore")
def certify_objective(
    objective: Objective,
    w: Array,
    b: float | None = None,
    u: Array | None = None,
    *,
    tol: float = 1e-6,
    textbook: Textbook | None = None,
    solver_dual: Array | None = None,
    refute: bool = True,
) -> Certificate:
    """Certify (w, b), with the dual point u judged as it is or constructed where it is None.

    Parameters
    ----------
    objective : Objective
    w : array, shape (d,)
    b : float, optional
        The intercept; None takes the best one for this w.
    u : array, shape (n,), optional
        Dual point to judge; repaired where almost feasible, never replaced.
    tol : float
        Tolerance of the verdict, on the relative gap and on row-relative feasibility.
    textbook : callable, optional
        The model's own conditions, added to the generic ones.
    solver_dual : array, optional
        A solver's dual point, which competes with the constructed one; ignored if u is passed.
    refute : bool
        Whether to look for a better point when the claim is not certified.

    Returns
    -------
    Certificate
        With the conditions at the points as passed; P and D at the repaired points, or by the
        formulas at the passed ones where these are worse.
    """
    frame = frame_of(objective)
    inner, f = frame.objective, frame.factor
    if b is None:
        b = _best_intercept(frame, w)
    own, shift, error = frame.inside(w, b)
    theirs, solvers = (None if x is None else frame.dual_inside(x) for x in (u, solver_dual))
    found = evaluate(inner, own, shift, theirs, tol=tol, solver_dual=solvers, shift_error=error)
    point, dual = found.point, found.dual
    passed = dual.u if theirs is None else theirs
    # The products with X are shared with the repairs wherever nothing was moved but by rounding.
    z = point.z if point.moved == 0.0 else inner.predict(own, shift)
    v = dual.v if theirs is None or found.same_dual else -inner.design.rmatvec(theirs)
    primal, bound = point.value, dual.value
    # What a repair gains is not credited: the worse of the passed and the repaired value counts.
    if point.moved > 0.0 and np.isfinite(primal):
        primal = max(primal, inner.primal_formula(own, z))
    if theirs is not None and not found.same_dual:
        bound = min(bound, inner.dual_formula(theirs, v))
    scale = f * learning_scale(primal, bound, inner.null_value)
    seen = frame.seen(w, b, passed, z, v)
    certificate = bounded(
        f * primal,
        f * bound,
        conditions_at(PassedPoint(objective, *seen, scale), textbook),
        tol,
        scale=scale,
        rounding=f * found.rounding,
        gap=f * _gap(inner, point, dual, primal, bound),
        reason=found.reason,
        within=None if found.within is None else frame.radius(found.within),
        repaired=frame.distance(point.w - own, 0.0 if theirs is None else dual.moved),
        dual_source=dual.source,
        dual={"u": frame.dual_outside(found.repaired.u)},
    )
    if is_proved(objective) and found.within is None:
        certificate = replace(certificate, proved_gap=certificate.gap)
    certificate = judge(certificate)
    return try_to_refute(frame, point, certificate) if refute else certificate


def _best_intercept(frame: Frame, w: Array) -> Any:
    """The best b for this w, rounded as a number of the problem itself."""
    inner = frame.objective
    if not inner.fit_intercept:
        return 0.0
    own = w / frame.unit
    return frame.outside(own, inner.best_intercept(inner.predict(own)))[1]


@dataclass(frozen=True)
class Evaluated:
    """A point and a dual point, repaired, with what their values may be off by.

    Attributes
    ----------
    point, dual : PrimalPoint, DualPoint
    repaired : DualPoint
        The dual point before it was given a margin.
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
    repaired: DualPoint
    b: float
    primal_rounding: float
    dual_rounding: float
    same_dual: bool
    reason: str
    within: float | None

    @property
    def rounding(self) -> float:
        """The account: of P and of D together, and of their difference."""
        values = [abs(x) for x in (self.point.value, self.dual.value) if np.isfinite(x)]
        return self.primal_rounding + self.dual_rounding + 4.0 * EPS * sum(values)


@np.errstate(over="ignore", invalid="ignore")
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
    dual = with_margin(objective, repaired)
    entries = objective.n * objective.d
    room = tol * learning_scale(point.value, dual.value, objective.null_value)
    above = primal_rounding(objective, point, dual.u, shift_error)
    under = dual_rounding(objective, point, dual, 0.5 * room)
    below = under.price
    seen = above + below > SEEN * room and entries <= SMALL_ENOUGH
    decides = not point.value - dual.value + above + below <= room and above + below > 0.1 * room
    if np.isfinite(point.value) and (seen or (decides and entries <= AFFORDABLE)):
        finer = refine_primal(objective, point)
        exact = with_margin(objective, repaired, precise=True)
        less = primal_rounding(objective, finer, exact.u, shift_error)
        lower = dual_rounding(objective, finer, exact, 0.5 * room)
        if less <= above:
            point, above = finer, less
        if lower.within is None and exact.value - lower.price >= dual.value - below:
            dual, under = exact, lower
    same = u is None or repaired.moved <= ROUNDING * float(np.max(np.abs(u), initial=0.0))
    reason = ""
    if not np.isfinite(point.value):
        reason = "No bound: the point is infeasible, so that P is infinite."
    elif not np.isfinite(dual.value):
        reason = "No bound: no dual feasible point is known."
    elif under.reason:
        reason = under.reason
    return Evaluated(point, dual, repaired, b, above, under.price, same, reason, under.within)


def _dual_point(
    objective: Objective,
    point: PrimalPoint,
    u: Array | None,
    solver_dual: Array | None,
    tol: float,
) -> DualPoint:
    if u is not None:
        return repair_dual(objective, u, source="passed")
    if not np.isfinite(point.value):
        return repair_dual(objective, objective.zero_scores)
    if solver_dual is None or not np.all(np.isfinite(solver_dual)):
        return construct_dual(objective, point.w, point.b)
    given = repair_dual(objective, solver_dual, source="solver")
    room = tol * learning_scale(point.value, given.value, objective.null_value)
    if objective.n * objective.d > SMALL_ENOUGH and point.value - given.value <= room:
        return given  # where X is large, what a solver proved at no cost is enough
    best = construct_dual(objective, point.w, point.b)
    return max(best, given, key=lambda p: p.value)


def _gap(
    objective: Objective, point: PrimalPoint, dual: DualPoint, primal: float, bound: float
) -> float:
    """P - D; where X w + b = y is missed, also the sum of the Fenchel-Young terms and |u|'|r|."""
    gap = primal - bound
    excess = interpolation_excess(objective, point, dual.u)
    if excess:
        gap = max(gap, float(objective.feature_terms(point.w, dual.v).sum()) + excess)
    return gap


def try_to_refute(frame: Frame, point: PrimalPoint, certificate: Certificate) -> Certificate:
    """Look for a feasible point that is better by more than tol; REFUTED where one is found.

    Parameters
    ----------
    frame : Frame
        The coordinates that ``point`` is in.
    point : PrimalPoint
    certificate : Certificate
        In the problem's own units.
    """
    inner, f = frame.objective, frame.factor
    rounding = f * primal_rounding(inner, point, inner.zero_scores)
    room = certificate.tol * certificate.scale + rounding
    if certificate.verdict is not Verdict.UNDECIDED or not certificate.gap > room:
        return certificate  # no point is better by more than tol
    better = better_point(inner, point, (certificate.primal_objective - room) / f)
    if better is None:
        reason = f"{certificate.reason} No better feasible point was found."
        return replace(certificate, reason=reason)
    w, b = frame.nearest(better.w, better.b)
    own, shift, error = frame.inside(w, b)
    found = repair_primal(inner, own, shift)
    value = f * inner.primal(found.w, found.b)
    rounding += f * primal_rounding(inner, found, inner.zero_scores, error)
    witness = {"w": w.reshape(frame.objective.w_shape), "b": b, "objective": value}
    return refuted(certificate, value, witness, rounding)


def quick_gap(
    objective: Objective, w: Array, b: float, u: Array | None = None
) -> tuple[float, DualPoint]:
    """Return P(w, b) and a dual point, for stopping rules: a pass each way, nothing solved.

    The algorithm's own u, where it has one, competes with the derivative of the loss. P is inf
    where X w + b = y is not met to ``MET``: no stopping rule may take that for solved.
    """
    point = repair_primal(objective, w, b)
    if objective.loss.is_indicator:
        violation = objective.loss.violation(objective.y, point.z)
        if np.any(violation > MET * primal_scale(objective, point.w, point.b)):
            point = replace(point, value=np.inf)
    dual = plain_dual(objective, point.z)
    if u is not None:
        dual = max(dual, repair_dual(objective, u, source="solver"), key=lambda p: p.value)
    return point.value, dual
