"""Verified evidence that a cone program is infeasible: Farkas multipliers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from ...errors import SolverError
from ...formulas import Condition, worst
from ...numerics import Array, gamma
from ...problem.cones import ConeProgram
from ..algebra.dual_points import Priced, bounded_prices, rational_prices
from ..algebra.sums import exact_dot, exact_residual
from ..certificate import Certificate, Verdict
from ..judge import absent, judge
from ..linear.absence import find_infeasibility
from ..scale import ProgramUnits
from .bounds import bound_of, priced_candidates
from .margin import nudged
from .prices import Budget, carried, priced
from .program import conic_units, distances, fitted, linear_rows, row_sizes, share
from .search import Completed, Relaxation, relax, relax_by_vertex

# Farkas multipliers of a cone program that a search finds, those of its linear rows ahead.


def multipliers_of_linear_rows(program: ConeProgram) -> Array | None:
    """Verified by the linear engine, and 0 on other rows; None where it finds none."""
    data, rows = linear_rows(program)
    found = find_infeasibility(data) if rows.size else None
    if found is None:
        return None
    y = np.zeros(program.b.size)
    y[rows] = np.concatenate([found.evidence["lambda_ub"], found.evidence["nu"]])
    return y


def farkas_candidates(
    program: ConeProgram, relaxation: Relaxation | None, passed: Array | None
) -> Iterator[Array | None]:
    """Multipliers to try; linear constraints have a search of their own, which is exact."""
    if program.is_polyhedral:
        yield multipliers_of_linear_rows(program)
    yield None if relaxation is None else relaxation.y
    yield passed
    if not program.is_polyhedral:
        yield multipliers_of_linear_rows(program)


Fitted = Callable[[], ProgramUnits]
"""The units of the data, fitted where they are asked for: exact multipliers need none."""
NOTHING, TINY = 1e-100, 1e-250
"""A b'y below this share of its terms, or this number, is what underflow can leave."""
LEAST = 1e-6
"""How far, relatively, a relaxation may be from its bound before another solver is asked."""


def certify_infeasible(
    program: ConeProgram,
    units: Fitted,
    soft: Array,
    passed: Array | None,
    tol: float,
) -> Certificate:
    """Farkas multipliers, and the smallest relaxation that restores feasibility.

    Parameters
    ----------
    program : ConeProgram
        Its objective plays no part.
    units : callable
        Returns those of its data.
    soft : mask, shape (m,)
        The rows that may be relaxed.
    passed : array, shape (m,), optional
        Multipliers to try.
    tol : float
        For the conditions on the multipliers.

    Returns
    -------
    Certificate
        Claim "infeasible". ``dual["y"]``: the multipliers, scaled so that b'y = -1. ``evidence``:
        "radius": no feasible point has all coordinates below it; "relaxation": how far each row
        must move (in total the least); "relaxation_total", and "relaxation_bound", which no
        relaxation can be below.
    """
    found = _by_vertex(program, units, soft, tol)
    return _by_search(program, units, soft, passed, tol) if found is None else found


def _by_vertex(program: ConeProgram, units: Fitted, soft: Array, tol: float) -> Certificate | None:
    """One linear program has both, multipliers and relaxation; None where that is not verified."""
    relaxation = relax_by_vertex(program, soft)
    if relaxation is None or not relaxation.total > 0.0:
        return None
    found = verify_farkas(program, units, relaxation.y, tol)
    if found.verdict is not Verdict.CERTIFIED:
        return None
    evidence = relaxation.evidence(found.dual["y"])
    least = relaxation.total <= (1.0 + LEAST) * evidence["relaxation_bound"]
    return found.but(evidence=found.evidence | evidence) if least else None


def _by_search(
    program: ConeProgram, units: Fitted, soft: Array, passed: Array | None, tol: float
) -> Certificate:
    """``certify_infeasible`` by every way to multipliers."""
    relaxation, why = None, ""
    try:
        relaxation = relax(program, soft)
    except SolverError as error:
        why = str(error)
    best = absent("infeasible", (), tol, reason=why)
    for y in farkas_candidates(program, relaxation, passed):
        if y is None:
            continue
        found = verify_farkas(program, units, y, tol)
        if found.evidence.get("radius", 0.0) > best.evidence.get("radius", 0.0) or not best.reason:
            best = found
        if best.verdict is Verdict.CERTIFIED:
            break
    if relaxation is not None and best.verdict is not Verdict.CERTIFIED:
        best = _from_phase(program, units, relaxation, best, tol)
    if relaxation is not None and best.verdict is Verdict.CERTIFIED:
        best = best.but(evidence=best.evidence | relaxation.evidence(best.dual["y"]))
    return best


def verify_farkas(program: ConeProgram, units: Fitted, y: Array, tol: float) -> Certificate:
    """Price y in K* with A'y about 0, and say what b'y < 0 proves then."""
    program = program.without_objective()
    level = float(np.max(np.abs(y), initial=0.0))
    passed = np.where(np.abs(y) <= 1e-9 * level, 0.0, y) / (level or 1.0)
    tried, terms = [passed], float(exact_dot(np.abs(program.b), np.abs(passed)))
    if not _finite(program) or not np.all(np.isfinite(passed)) or not np.isfinite(terms):
        return _overflow(tol)
    for pair in _dual_points(program, units, passed, terms):
        if proves(program, pair.y, pair.bound):
            return _certified(program, units, pair.y, passed, np.inf, tol)
        tried.append(pair.y)
    best = max(tried, key=lambda z: _radius(program, z))
    return _certified(program, units, best, passed, _radius(program, best), tol)


def _dual_points(program: ConeProgram, units: Fitted, y: Array, terms: float) -> Iterator[Priced]:
    """Points that are priced without units, then others near (0, y); ``terms`` sizes b'y."""
    none = np.zeros(program.q.size)
    pair = carried(program, none, y)
    yield pair
    yield from rational_prices(program, none, y)
    yield from bounded_prices(program, none, y, pair)
    own = replace(units(), size=terms)
    yield from priced_candidates(program, none, none, y, own, Budget(), mixed=False)


def _from_phase(
    program: ConeProgram,
    units: Fitted,
    relaxation: Relaxation,
    other: Certificate,
    tol: float,
) -> Certificate:
    """The smallest relaxation is certainly positive where its own dual says so."""
    phase = relaxation.phase
    everything = np.ones(phase.q.size, dtype=bool)
    x, pair = relaxation.primal, Completed(relaxation.primal, relaxation.dual)
    fit = fitted(phase, conic_units(phase))
    bound = bound_of(phase, fit, x, everything, pair, None, 0.5 * relaxation.total)
    y = bound.y[: program.b.size]
    if not proves(program, y, bound.everywhere):
        return other
    return _certified(program, units, y, relaxation.y, np.inf, tol)


def proves(program: ConeProgram, y: Array, bound: float) -> bool:
    """Whether a bound on the least -b'y of an exact y nearby is > 0, and not by underflow."""
    if not (0.0 < bound < np.inf and np.all(np.isfinite(y)) and _finite(program)):
        return False
    value, terms = -exact_dot(program.b, y), exact_dot(np.abs(program.b), np.abs(y))
    return bool(terms < np.inf and min(value, bound) > max(NOTHING * terms, TINY))


def _finite(program: ConeProgram) -> bool:
    """Whether sums of the data's sizes stay below the largest float."""
    with np.errstate(over="ignore"):
        return bool(np.isfinite(np.sum(np.abs(program.b)) + np.sum(np.abs(program.A.data))))


def _overflow(tol: float) -> Certificate:
    reason = "the multipliers prove nothing: sums of the data or of b'y overflow"
    return absent("infeasible", (), tol, reason=reason)


def _certified(
    program: ConeProgram, units: Fitted, y: Array, passed: Array, radius: float, tol: float
) -> Certificate:
    """What y proves: that no point is feasible, or none with all coordinates below ``radius``."""
    if np.isinf(radius):
        radius = _despite_rounding(program, units, y)
    if not radius > 0.0:
        reason = f"the multipliers prove nothing: b'y = {float(program.b @ passed):.3g}"
        return absent("infeasible", (), tol, reason=reason)
    moved, size = float(np.max(np.abs(y - passed))), -exact_dot(program.b, y)
    if not (size > 0.0 and np.all(np.isfinite(y := y / size))):
        return _overflow(tol)
    apart = _apart(program, units, y)
    if apart <= tol:
        reason = (
            f"the constraints contradict each other by {apart:.3g} of the size of a complex "
            f"equation, at most tol {tol:g}: that may be rounding, so nothing is concluded"
        )
    elif np.isinf(radius):
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
        _rows(program, units, y),
        tol,
        reason=reason,
        repaired=moved,
        dual_source="passed",
        dual={"y": y},
        evidence={"radius": radius, "value": exact_dot(program.b, y)},
        within=None if np.isinf(radius) else radius,
    )
    return judge(certificate, proven=bool(np.isinf(radius)) and apart > tol)


def _apart(program: ConeProgram, units: Fitted, y: Array) -> float:
    """What complex equations must move by, relatively, for y to prove nothing; b'y = -1."""
    if program.pairs is None or not np.any(y[program.pairs]):
        return np.inf
    rows = np.unique(program.pairs)
    return 1.0 / max(float(row_sizes(program, units())[rows] @ np.abs(y[rows])), TINY)


def _despite_rounding(program: ConeProgram, units: Fitted, y: Array) -> float:
    """``_certified``'s radius: inf where nearby multipliers suit all data that may be meant."""
    if program.rounded is None or not np.any(off := program.rounded.rows.T @ np.abs(y)):
        return np.inf
    own = replace(units(), size=float(exact_dot(np.abs(program.b), np.abs(y))))
    none = program.without_objective()
    pair, total = priced(none, none.q, y, own), float(np.sum(off[:-1]))
    left = max(-exact_dot(program.b, y) - 2.0 * float(off[-1]), 0.0)
    if proves(program, pair.y, pair.bound - 4.0 * off[-1]) or 0.0 == total < left:
        return np.inf
    return left / (2.0 * max(total, TINY))


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


def _rows(program: ConeProgram, units: Fitted, y: Array) -> list[Condition]:
    """On multipliers with b'y = -1: those of a row count against 1 / (its size)."""
    sizes = np.zeros(y.size)
    if not np.array_equal(program.project_dual(y), y):
        sizes = share(1.0, row_sizes(program, units()))
    outside = distances(program, y, sizes, dual=True)
    level = np.abs(y)  # the entries of one cone share a unit
    for cone, run in program.runs:
        if not cone.is_polyhedral:
            level[run] = np.linalg.norm(y[run], axis=1)[:, None]
    left, terms = program.A.T @ y, program.A_sizes.T @ level
    return [
        worst("y in K*", "dual_feasibility", *outside),
        worst("A'y = 0", "dual_feasibility", left, terms),
        worst("b'y < 0", "dual_feasibility", max(float(program.b @ y), 0.0)),
    ]
