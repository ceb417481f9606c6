"""The Fenchel-Young certificate of a learning problem: the gap is the KKT violation."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..numerics import ROUNDING, Array
from ..objective import Objective
from .certificate import Certificate, Verdict
from .conditions import Textbook, conditions_at
from .dual_point import SMALL_ENOUGH, construct_dual, plain_dual
from .dual_repair import DualPoint, repair_dual
from .passed_point import PassedPoint
from .primal_repair import PrimalPoint, interpolation_excess, primal_scale, repair_primal
from .scale import learning_scale, relative
from .witness import better_point

MET = 1e-9
"""Row-relative residual at which an equality counts as met while an algorithm runs."""


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
    if b is None:
        b = objective.best_intercept(objective.predict(w)) if objective.fit_intercept else 0.0
    point = repair_primal(objective, w, b)
    dual = _dual_point(objective, point, u, solver_dual, tol)
    passed = dual.u if u is None else u
    # The products with X are shared with the repairs wherever nothing was moved.
    z = point.z if point.moved == 0.0 else objective.predict(w, b)
    v = dual.v if u is None or dual.moved == 0.0 else -objective.design.rmatvec(u)
    # What a repair gains is not credited: the worse of the passed and the repaired value counts.
    if point.moved > 0.0 and np.isfinite(point.value):
        point = replace(point, value=max(point.value, objective.primal_formula(w, z)))
    if u is not None and dual.moved > 0.0:
        dual = replace(dual, value=min(dual.value, objective.dual_formula(u, v)))
    gap, reason = _gap(objective, point, dual)
    scale = learning_scale(point.value, dual.value, objective.null_value)
    conditions = conditions_at(PassedPoint(objective, w, b, passed, z, v, scale), textbook)
    certificate = Certificate(
        claim="optimal",
        primal_objective=point.value,
        dual_objective=dual.value,
        gap=gap,
        relative_gap=relative(gap, scale),
        scale=scale,
        conditions=tuple(conditions),
        verdict=Verdict.UNDECIDED,
        tol=tol,
        reason=reason,
        repaired=max(point.moved, dual.moved if u is not None else 0.0),
        dual_source=dual.source,
        dual={"u": dual.u},
    )
    return _judge(objective, point, certificate, refute)


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


def _gap(objective: Objective, point: PrimalPoint, dual: DualPoint) -> tuple[float, str]:
    if not np.isfinite(point.value):
        return np.inf, "No bound: the point is infeasible, so that P is infinite."
    if not np.isfinite(dual.value):
        return np.inf, "No bound: no dual feasible point is known."
    gap = point.value - dual.value
    excess = interpolation_excess(objective, point, dual.u)
    if excess:
        gap = max(gap, float(objective.feature_terms(point.w, dual.v).sum()) + excess)
    # Both values carry rounding: a gap within it is zero.
    rounding = ROUNDING * (abs(point.value) + abs(dual.value))
    return (0.0 if -rounding <= gap < 0.0 else gap), ""


def _judge(
    objective: Objective, point: PrimalPoint, certificate: Certificate, refute: bool
) -> Certificate:
    tol = certificate.tol
    primal = [row for row in certificate.conditions if row.kind == "primal_feasibility"]
    broken = max(primal, key=lambda row: row.relative, default=None)
    if broken is not None and broken.relative > tol:
        reason = f"The constraint {broken.name!r} is violated by {broken.residual:.3g}"
        reason += "" if broken.index is None else f" at {broken.index}"
        return replace(certificate, verdict=Verdict.REFUTED, reason=f"{reason}.")
    if certificate.holds(tol):
        return replace(certificate, verdict=Verdict.CERTIFIED)
    reason = certificate.reason or _why(certificate)
    undecided = replace(certificate, verdict=Verdict.UNDECIDED, reason=reason)
    return try_to_refute(objective, point, undecided) if refute else undecided


def try_to_refute(
    objective: Objective, point: PrimalPoint, certificate: Certificate
) -> Certificate:
    """Look for a feasible point that is better by more than tol; REFUTED where one is found."""
    null = objective.null_value
    room = certificate.tol * learning_scale(point.value, certificate.dual_objective, null)
    if not certificate.gap > room:  # no point is better by more than tol
        return certificate
    witness = better_point(objective, point, point.value - room)
    if witness is None:
        reason = f"{certificate.reason} No better feasible point was found."
        return replace(certificate, reason=reason)
    reason = f"A feasible point with objective {witness['objective']:.10g} is better."
    return replace(certificate, verdict=Verdict.REFUTED, reason=reason, witness=witness)


def _why(certificate: Certificate) -> str:
    if certificate.relative_gap > certificate.tol:
        return f"The relative gap {certificate.relative_gap:.3g} exceeds tol {certificate.tol:g}."
    row = max(
        (row for row in certificate.conditions if row.kind == "dual_feasibility"),
        key=lambda row: row.relative,
    )
    return f"The dual point is infeasible: {row.name!r} is off by {row.residual:.3g}."


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
