"""Verified evidence that a CVXPY problem is infeasible, by the names of its constraints."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...certificates.algebra.exact_feasibility import exact_farkas
from ...certificates.algebra.sums import exact_dot, exact_residual
from ...certificates.certificate import Certificate, Verdict
from ...certificates.conic.bounds import bound_of, priced_candidates
from ...certificates.conic.prices.margin import nudged
from ...certificates.conic.search.relaxation import Relaxation, moves, relax
from ...certificates.conic.units import conic_units
from ...certificates.judge import absent, judge
from ...conditions import Condition, worst
from ...errors import SolverError
from ...numerics import Array, gamma
from ...objective.conic.program import ConeProgram
from .reading.feasible import polyhedral
from .reading.labels import moves_by_label, multipliers_by_label, soft_rows
from .reading.point import Posed
from .reading.rows import read_duals

NOTHING, TINY = 1e-100, 1e-250
"""A b'y below this share of its terms, or this number, is what underflow can leave."""


def infeasibility(posed: Posed, tol: float = 1e-6) -> Certificate:
    """Farkas multipliers by label, and the smallest relaxation that restores feasibility.

    Parameters
    ----------
    posed : Posed
    tol : float
        For the conditions on the multipliers.

    Returns
    -------
    Certificate
        Claim "infeasible". ``evidence``: an array for each constraint and attribute by label,
        scaled so that b'y = -1; "radius": no feasible point has all coordinates below it;
        "relaxation": by label, how far each row must move (in total the least);
        "relaxation_total", and "relaxation_bound", which no relaxation can be below.
    """
    given = read_duals(posed)
    try:
        relaxation = relax(posed.program, soft_rows(posed))
    except SolverError as error:
        return absent("infeasible", (), tol, objective=_value(posed), reason=str(error))
    candidates = [relaxation.y]
    if np.any(given.mask) and not given.broken:
        candidates.append(given.y)
    rational = _in_rationals(posed.program)
    candidates += [] if rational is None else [rational]
    best: Certificate | None = None
    for y in candidates:
        found = verify_farkas(posed, y, tol)
        radius = found.evidence.get("radius", 0.0)
        if best is None or radius > best.evidence.get("radius", 0.0):
            best = found
        if best.verdict is Verdict.CERTIFIED:
            break
    assert best is not None
    if best.verdict is not Verdict.CERTIFIED:
        best = _from_phase(posed, relaxation, best, tol)
    if best.verdict is Verdict.CERTIFIED:
        best = replace(best, evidence=best.evidence | _relaxation_by_label(posed, relaxation, best))
    return best


def _in_rationals(program: ConeProgram) -> Array | None:
    """Multipliers of the linear rows alone, where these are few."""
    data, rows = polyhedral(program)
    found = exact_farkas(data)
    if found is None:
        return None
    y = np.zeros(program.b.size)
    y[rows] = found
    return y


def verify_farkas(posed: Posed, y: Array, tol: float) -> Certificate:
    """Price y in K* with A'y about 0, and say what b'y < 0 proves then."""
    program = _without_objective(posed.program)
    level = float(np.max(np.abs(y), initial=0.0))
    passed = np.where(np.abs(y) <= 1e-9 * level, 0.0, y) / (level or 1.0)
    none, best = np.zeros(program.q.size), passed
    terms = float(exact_dot(np.abs(program.b), np.abs(passed)))
    if not _finite(program) or not np.all(np.isfinite(passed)) or not np.isfinite(terms):
        return _overflow(posed, tol)
    units = replace(posed.units, size=terms)
    for pair in priced_candidates(program, none, none, passed, units, mixed=False):
        if proves(program, pair.y, pair.bound):
            return _certified(posed, pair.y, passed, np.inf, tol)
        best = max(best, pair.y, key=lambda z: _radius(program, z))
    return _certified(posed, best, passed, _radius(program, best), tol)


def _from_phase(
    posed: Posed, relaxation: Relaxation, other: Certificate, tol: float
) -> Certificate:
    """The smallest relaxation is certainly positive where its own dual says so."""
    phase = relaxation.phase
    everything = np.ones(phase.q.size, dtype=bool)
    x, y = relaxation.primal, relaxation.dual
    bound = bound_of(phase, x, everything, x, y, conic_units(phase), 0.5 * relaxation.total)
    rows = bound.y[: posed.program.b.size]
    if not proves(posed.program, rows, bound.everywhere):
        return other
    return _certified(posed, rows, relaxation.y, np.inf, tol)


def proves(program: ConeProgram, y: Array, bound: float) -> bool:
    """Whether a bound on the least -b'y of an exact y nearby is > 0, and not by underflow."""
    if not (0.0 < bound < np.inf and np.all(np.isfinite(y)) and _finite(program)):
        return False
    value, terms = -exact_dot(program.b, y), exact_dot(np.abs(program.b), np.abs(y))
    return bool(terms < np.inf and min(value, bound) > max(NOTHING * terms, TINY))


def _finite(program: ConeProgram) -> bool:
    """Whether sums of the data's sizes stay below the largest float."""
    with np.errstate(over="ignore"):
        sums = (np.sum(np.abs(program.b)), np.sum(np.abs(program.A.data)))
    return bool(np.all(np.isfinite(sums)))


def _overflow(posed: Posed, tol: float) -> Certificate:
    reason = "the multipliers prove nothing: sums of the data or of b'y overflow"
    return absent("infeasible", (), tol, objective=_value(posed), reason=reason)


def _certified(posed: Posed, y: Array, passed: Array, radius: float, tol: float) -> Certificate:
    """What y proves: that no point is feasible, or none with all coordinates below ``radius``."""
    program, objective = posed.program, _value(posed)
    if not radius > 0.0:
        value = float(program.b @ passed)
        reason = f"the multipliers prove nothing: b'y = {value:.3g}"
        return absent("infeasible", (), tol, objective=objective, reason=reason)
    moved, size = float(np.max(np.abs(y - passed))), -exact_dot(program.b, y)
    y = y / size if size > 0.0 else np.full(y.size, np.nan)
    if not np.all(np.isfinite(y)):
        return _overflow(posed, tol)
    if np.isinf(radius):
        reason = (
            "these multipliers combine the constraints into 0 <= -1, so no point satisfies them all"
        )
    else:
        reason = (
            f"the multipliers leave a residual of {1.0 / radius:.3g}: no feasible point has norm "
            f"below {radius:.3g}, larger ones are not excluded"
        )
    certificate = absent(
        "infeasible",
        _rows(posed, y),
        tol,
        objective=objective,
        reason=reason,
        repaired=moved,
        dual_source="passed",
        dual={"y": y},
        evidence={"radius": radius, "value": -1.0, **multipliers_by_label(posed, y)},
        within=None if np.isinf(radius) else radius,
    )
    return judge(certificate, proven=bool(np.isinf(radius)))


def _value(posed: Posed) -> float:
    return posed.canonical.sign * np.inf


def _radius(program: ConeProgram, y: Array) -> float:
    """No feasible point has all coordinates below this: -b'y / |A'y|_1, 0 where b'y is not < 0."""
    y = nudged(program, y)
    value = exact_dot(program.b, y)
    if not value < 0.0:
        return 0.0
    total = float(np.abs(exact_residual(program.A.T, y)).sum()) * (1.0 + gamma(y.size + 4.0))
    if not (np.isfinite(value) and np.isfinite(total)):
        return 0.0
    largest = float(np.finfo(float).max)
    return -value / total if total > -value / largest else largest


def _without_objective(program: ConeProgram) -> ConeProgram:
    return replace(program, P=0.0 * program.P, q=np.zeros(program.q.size), offset=0.0)


def _rows(posed: Posed, y: Array) -> list[Condition]:
    """On multipliers with b'y = -1: those of a row count against 1 / (its size)."""
    program = posed.program
    size = np.maximum(np.abs(program.b), posed.units.rows)
    unit = np.divide(1.0, size, out=np.zeros(size.size), where=size > 0.0)
    distances, units = [np.zeros(0)], [np.zeros(0)]
    for cone, part in program.blocks:
        distances.append(cone.distance_dual(y[part]))
        alone = cone.is_polyhedral
        units.append(unit[part] if alone else np.array([np.linalg.norm(unit[part])]))
    left, terms = program.A.T @ y, abs(program.A).T @ np.abs(y)
    return [
        worst("y in K*", "dual_feasibility", np.concatenate(distances), np.concatenate(units)),
        worst("A'y = 0", "dual_feasibility", left, terms),
        worst("b'y < 0", "dual_feasibility", max(float(program.b @ y), 0.0)),
    ]


def _relaxation_by_label(
    posed: Posed, relaxation: Relaxation, certificate: Certificate
) -> dict[str, Any]:
    # y / max(y) is dual feasible for the relaxed program, whose value is at least -b'y of it.
    y = certificate.dual["y"]
    pull = _largest_pull(posed, y)
    noise = 1e-7 * max(1.0, float(np.max(np.abs(relaxation.shift), initial=0.0)))
    shift = np.where(np.abs(relaxation.shift) <= noise, 0.0, relaxation.shift)
    return {
        "relaxation": moves_by_label(posed, shift),
        "relaxation_total": relaxation.total,
        "relaxation_bound": 1.0 / pull if pull > 0.0 else np.inf,
    }


def _largest_pull(posed: Posed, y: Array) -> float:
    return float(np.max(moves(posed.program, soft_rows(posed)).T @ y, initial=0.0))
