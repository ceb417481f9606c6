"""The Fenchel-Young certificate of a learning problem: the gap is the KKT violation."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import Any

import numpy as np

from ...numerics import EPS, Array
from ...objective import Frame, Objective, frame_of
from ...objective.kernel import KernelObjective
from ..certificate import Certificate, Verdict
from ..judge import bounded, judge, refuted
from ..rounding import compensated_matvec
from ..scale import learning_scale
from .account import primal_rounding, unproved
from .conditions import conditions_at, conditions_later, is_feasible
from .evaluation import evaluate
from .existence.attainable import met_exactly, met_within, not_met_near, price_of_meeting
from .function import quick_gap_of_function
from .passed_point import PassedPoint
from .points.dual_margin import SEEN
from .points.dual_point import SMALL_ENOUGH, plain_dual
from .points.dual_repair import DualPoint, repair_dual
from .points.primal_repair import PrimalPoint, interpolation_excess, primal_scale, repair_primal
from .rows import prediction_size
from .without_penalty import bounded_without_penalty
from .witness import better_point

MET = 1e-9
"""Row-relative residual at which an equality counts as met while an algorithm runs."""
NEAR = 1e-3
"""A relative gap for which an algorithm's own dual point needs no other beside it."""


@np.errstate(over="ignore", invalid="ignore")
def certify_objective(
    objective: Objective,
    w: Array,
    b: float | None = None,
    u: Array | None = None,
    *,
    tol: float = 1e-6,
    solver_dual: Array | None = None,
    refute: bool = True,
    stationary: bool = True,
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
    solver_dual : array, optional
        A solver's dual point, which competes with the constructed one; ignored if u is passed.
    refute : bool
        Whether to look for a better point when the claim is not certified.
    stationary : bool
        Whether stationarity in w is among the conditions.

    Returns
    -------
    Certificate
        With the conditions at the points as passed; P and D at the repaired points, or by the
        formulas at the passed ones where these are worse.
    """
    frame = frame_of(objective, always=True)
    inner, f = frame.objective, frame.factor
    chosen = 0.0  # a b that is looked for here may be any number between two floats
    if b is None:
        b = best_intercept(frame, w)
        chosen = EPS * float(np.max(np.abs(b)))
    own, shift, error = frame.inside(w, b)
    theirs, solvers = (None if x is None else frame.dual_inside(x) for x in (u, solver_dual))
    found = evaluate(inner, own, shift, theirs, tol=tol, solver_dual=solvers, shift_error=error)
    point, dual = found.point, found.dual
    passed = dual.u if theirs is None else theirs
    # The products with X are shared with the repairs wherever nothing was moved but by rounding.
    z = point.z if point.moved == 0.0 else inner.predict(own, shift)
    v = dual.v
    if theirs is not None and not found.same_dual:
        v = -inner.design.rmatvec(theirs) if dual.start is None else dual.start
    primal, bound, rounding = point.value, dual.value, found.rounding
    # What a repair gains is not credited: the worse of the passed and the repaired value counts.
    if point.moved > 0.0 and isfinite(primal):
        plain = PrimalPoint(own, shift, z, inner.primal_formula(own, z), 0.0)
        if plain.value > primal:
            primal = plain.value
            rounding += primal_rounding(inner, plain, dual.u, error)
    if theirs is not None and not found.same_dual:
        bound = min(bound, inner.dual_formula(theirs, v))
    scale = f * learning_scale(primal, bound, inner.null_value)
    seen = frame.seen(w.copy(), b, passed, z, v)
    bare = inner.loss.is_indicator
    unsolved = _unsolved(inner, point, found.primal_rounding) if bare else ""
    if unsolved and met_exactly(objective, w, b):
        unsolved = ""
        if inner.penalty.is_constraint:  # P is 0 there
            rounding = found.dual_rounding
    slack = frame.target_unit * inner.prediction_slack(own, shift) if bare else np.zeros(1)
    exact = met_within(objective, w, b, tol * prediction_size(objective)) if bare else None
    if exact is not None:
        seen, slack = (*seen[:3], exact[0], seen[4]), exact[1]
    doubt = unproved(objective)
    seen_at = PassedPoint(objective, *seen, scale, slack + chosen)
    met = theirs is None and is_feasible(seen_at, tol)
    certificate = bounded(
        f * primal,
        f * bound,
        () if met else conditions_at(seen_at, stationary=stationary),
        tol,
        scale=scale,
        rounding=frame.bound(rounding),
        gap=np.inf if unsolved else frame.bound(_gap(inner, point, dual, primal, bound)),
        reason=unsolved or found.reason,
        within=None if found.within is None else frame.radius(found.within),
        repaired=frame.distance(point.w - own, 0.0 if theirs is None else dual.moved),
        dual_source=dual.source,
        dual={"u": frame.dual_outside(dual.u).copy()},  # known ones are not to be written to
        is_proved=found.within is None and not doubt,
        unproved=doubt,
    )
    certificate = _judged(certificate, seen_at, met, stationary)
    if u is None:
        certificate = bounded_without_penalty(seen_at, certificate, stationary, certify_objective)
    return try_to_refute(frame, point, certificate) if refute else certificate


def _judged(
    certificate: Certificate, point: PassedPoint, met: bool, stationary: bool
) -> Certificate:
    """The certificate with its verdict; conditions known to be ``met`` are not measured for it."""
    found = judge(certificate)
    if not met:
        return found
    if found.verdict is Verdict.UNDECIDED:
        rows = conditions_at(point, stationary=stationary)
        return judge(certificate.but(conditions=tuple(rows)))
    found.put_off(conditions_later(point, stationary))
    return found


def best_intercept(frame: Frame, w: Array) -> Any:
    """The best b for this w, rounded as a number of the problem itself."""
    inner = frame.objective
    if not inner.fit_intercept:
        return 0.0
    own = w / frame.unit
    small = inner.n * inner.d <= SMALL_ENOUGH  # where it costs nothing, in twice the digits
    z = compensated_matvec(inner.design, own) if small else inner.predict(own)
    b = frame.outside(own, inner.best_intercept(z))[1]
    if inner.loss.is_smooth or np.ndim(b):
        return b
    # Next to a kink the nearest number may lie on the steep side.
    near = [b, *(float(np.nextafter(b, end)) for end in (-np.inf, np.inf))]
    values = [inner.primal_formula(own, z + frame.inside(w, each)[1]) for each in near]
    return near[int(np.argmin(values))]


def _unsolved(inner: Objective, point: PrimalPoint, rounding: float) -> str:
    """Why the constraint on the predictions may not hold exactly near to the point."""
    missed = inner.loss.violation(inner.y, point.z) + inner.prediction_slack(point.w, point.b)
    return not_met_near(inner, point.w, missed, rounding)


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
    if certificate.verdict is not Verdict.UNDECIDED:
        return certificate
    rounding = frame.bound(primal_rounding(inner, point, inner.zero_scores))
    room = certificate.tol * certificate.scale + rounding
    if not certificate.gap > room:
        return certificate  # no point is better by more than tol
    better = better_point(inner, point, (certificate.primal_objective - room) / f)
    if better is None:
        reason = f"{certificate.reason} No better feasible point was found."
        return certificate.but(reason=reason)
    w, b = frame.nearest(better.w, better.b)
    own, shift, error = frame.inside(w, b)
    found = repair_primal(inner, own, shift)
    value = f * inner.primal(found.w, found.b)
    rounding += frame.bound(primal_rounding(inner, found, inner.zero_scores, error))
    rounding += frame.bound(price_of_meeting(inner, found))
    witness = {"w": w.reshape(frame.objective.w_shape), "b": b, "objective": value}
    return refuted(certificate, value, witness, rounding)


def quick_gap(
    objective: Objective | KernelObjective,
    w: Array,
    b: float,
    u: Array | None = None,
    tol: float = 0.0,
) -> tuple[float, DualPoint]:
    """Return P(w, b) and a dual point, for stopping rules: a pass each way, nothing solved.

    The algorithm's own u, where it has one, competes with the derivative of the loss as long as
    its gap is not small. P is inf where X w + b = y is not met to ``MET``: no stopping rule may
    take that for solved. Of D a margin may take a share of ``tol``.
    """
    if isinstance(objective, KernelObjective):
        return quick_gap_of_function(objective, w, b, u)
    point = repair_primal(objective, w, b)
    if objective.loss.is_indicator:
        violation = objective.loss.violation(objective.y, point.z)
        if np.any(violation > MET * primal_scale(objective, point.w, point.b)):
            point = replace(point, value=np.inf)
    if u is None:
        return point.value, plain_dual(objective, point.z, SEEN * tol)
    own = repair_dual(objective, u, source="solver", room=SEEN * tol)
    if point.value - own.value <= NEAR * max(abs(point.value), abs(own.value)):
        return point.value, own
    return point.value, max(plain_dual(objective, point.z, SEEN * tol), own, key=lambda p: p.value)
