"""Verified evidence that a cone program is infeasible: Farkas multipliers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from itertools import chain, repeat, tee
from typing import Any

import numpy as np

from ...errors import SolverError
from ...formulas import Condition, worst
from ...numerics import Array, gamma
from ...problem.cones import ConeProgram
from ...problem.linear_program import LinearData
from ...validation import positive_number
from ..algebra.dual_points import Priced, bounded_prices, rational_prices, unpriced
from ..algebra.sums import exact_dot, exact_residual
from ..certificate import Certificate, Verdict
from ..judge import absent, judge, violated
from ..scale import ProgramUnits
from .bounds import bound_of, priced_candidates
from .linear_absence import farkas_multipliers
from .linear_bound import Named, by_row, completed, dual_rows, dual_sum, read_multipliers
from .margin import nudged
from .prices import Budget, priced
from .program import conic_units, distances, fitted, linear_rows, row_sizes, share, shared
from .search import Completed, Relaxation, relax

Fitted = Callable[[], ProgramUnits]
"""The units of the data, fitted where they are asked for: exact multipliers need none."""
NOTHING, TINY = 1e-100, 1e-250
"""A b'y below this share of its terms, or this number, is what underflow can leave."""
MANY = 300
"""Above so many rows and columns a simplex method takes longer to the smallest relaxation than an
interior point method, up to a hundred times as long."""
LARGE = 100_000
"""Entries, zeros included, above which repairs take longer than a search."""
NOISE = 1e-9
"""A multiplier below this share of the largest one is a solver's rounding."""


def certify_infeasible(
    program: ConeProgram,
    units: Fitted,
    soft: Array,
    passed: Array | None,
    tol: float,
) -> Certificate:
    """Farkas multipliers, and the smallest relaxation that restores feasibility.

    Of a large linear program, whatever search finds them, multipliers that prove it as they are
    come before any repair.

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
    program, known = program.without_objective(), list[Relaxation]()
    quick, again = tee(_candidates(program, soft, passed, known))
    large = program.is_polyhedral and program.b.size * program.q.size > LARGE
    early = zip(quick, repeat(False)) if large else ()
    best = absent("infeasible", (), tol, reason="no multipliers were found")
    for y, thorough in chain(early, zip(again, repeat(True))):
        falls = exact_dot(program.b, y) < 0.0  # or the search found that there is a point
        if falls or not (thorough and large):
            found = verify_farkas(program, units, y, tol, thorough and falls)
            best = found if _excludes(found) >= _excludes(best) else best
        if best.verdict is Verdict.CERTIFIED:
            break
    if known and best.verdict is not Verdict.CERTIFIED:
        best = _from_phase(program, units, known[-1], best, tol)
    if known and best.verdict is Verdict.CERTIFIED:
        best = best.but(evidence=best.evidence | known[-1].evidence(best.dual["y"]))
    return best


def _excludes(found: Certificate) -> tuple[bool, float]:
    """Whether it proves the claim, or else how many points it excludes."""
    return found.verdict is Verdict.CERTIFIED, found.evidence.get("radius", 0.0)


def _candidates(
    program: ConeProgram, soft: Array, passed: Array | None, relaxations: list[Relaxation]
) -> Iterator[Array]:
    """Multipliers to try: of the smallest relaxation, those passed, and of linear rows alone."""
    small, least = min(program.A.shape) <= MANY, np.inf
    for vertex in (small, not small):
        with suppress(SolverError):
            if least > 0.0:
                relaxations.append(relax(program, soft, vertex))
                least = relaxations[-1].total
                yield relaxations[-1].y
    if passed is not None:
        yield passed
    data, rows = linear_rows(program)
    for part in farkas_multipliers(data) if rows.size else ():
        y = np.zeros(program.b.size)
        y[rows] = part
        yield y


def verify_farkas(
    program: ConeProgram, units: Fitted, y: Array, tol: float, thorough: bool = True
) -> Certificate:
    """Price y in K* with A'y about 0, and say what b'y < 0 proves then.

    Not ``thorough``, only by exact multipliers and by bounds of variables: that takes little.
    """
    if np.any(program.q) or program.P.nnz:
        program = program.without_objective()
    passed = y / (float(np.max(np.abs(y), initial=0.0)) or 1.0)
    tried, terms = [passed], float(exact_dot(np.abs(program.b), np.abs(passed)))
    if not _finite(program) or not np.all(np.isfinite(passed)) or not np.isfinite(terms):
        return _overflow(tol)
    for pair in _dual_points(program, units, passed, terms, thorough):
        if proves(program, pair.y, pair.bound):
            return _certified(program, units, pair.y, passed, np.inf, tol)
        tried.append(pair.y)
    best = max(tried, key=lambda z: _radius(program, z))
    return _certified(program, units, best, passed, _radius(program, best), tol)


def _dual_points(
    program: ConeProgram, units: Fitted, y: Array, terms: float, thorough: bool
) -> Iterator[Priced]:
    """Points that are priced without units, then others near (0, y); ``terms`` sizes b'y."""
    none = np.zeros(program.q.size)
    pair = unpriced(program, none, nudged(program, y))
    yield pair
    # Of whole numbers multipliers are often multiples of the least of them.
    least = np.min(np.abs(y), where=np.abs(y) > NOISE, initial=1.0)
    yield unpriced(program, none, np.round(y / least))
    yield from rational_prices(program, none, y)
    if not thorough:
        yield from bounded_prices(program, none, y, pair)
    if thorough:
        own = replace(units(), size=terms)
        sizes = row_sizes(program, own)
        weight = np.abs(y) * np.where(sizes > 0.0, sizes, 1.0)
        y = np.where(weight <= NOISE * np.max(weight, initial=0.0), 0.0, y)
        yield from priced_candidates(program, none, none, y, own, Budget(), mixed=False)


def _from_phase(
    program: ConeProgram, units: Fitted, relaxation: Relaxation, other: Certificate, tol: float
) -> Certificate:
    """The smallest relaxation is certainly positive where its own dual says so."""
    phase, x = relaxation.phase, relaxation.primal
    everything, pair = np.ones(x.size, dtype=bool), Completed(x, relaxation.dual)
    fit = fitted(phase, conic_units(phase))
    bound = bound_of(phase, fit, x, everything, pair, None, 0.5 * relaxation.total)
    y = bound.pair.y[: program.b.size]
    if not (_finite(program) and proves(program, y, bound.pair.bound)):
        return other
    return _certified(program, units, y, relaxation.y, np.inf, tol)


def proves(program: ConeProgram, y: Array, bound: float) -> bool:
    """Whether a bound on the least -b'y of an exact y nearby is > 0, and not by underflow."""
    if not (0.0 < bound < np.inf and np.all(np.isfinite(y))):
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
    # The entries of one cone share a unit.
    left, terms = program.A.T @ y, program.A_sizes.T @ shared(program, np.abs(y))
    return [
        worst("y in K*", "dual_feasibility", *outside),
        worst("A'y = 0", "dual_feasibility", left, terms),
        worst("b'y < 0", "dual_feasibility", max(float(program.b @ y), 0.0)),
    ]


# Farkas multipliers of a linear program: one whose cones are orthants, its bounds their last rows.


def certify_linear_infeasible(
    data: LinearData,
    multipliers: Mapping[str, Any],
    *,
    tol: float = 1e-6,
    owner: str = "LinearProgram",
) -> Certificate:
    """Verify Farkas multipliers of a linear program.

    Parameters
    ----------
    data : LinearData
        The program; its cost plays no part.
    multipliers : dict
        "lambda_ub", "nu", "lambda_lower", "lambda_upper" with A_ub'lambda_ub + A_eq'nu
        - lambda_lower + lambda_upper = 0 and b_ub'lambda_ub + b_eq'nu - lower'lambda_lower
        + upper'lambda_upper < 0. Missing ones of rows are 0; missing ones of bounds come from
        the others.
    tol : float
        Of the rows; the value is below 0 by more than every residual costs, or proves nothing.
    owner : str
        Who asks, for the messages.

    Returns
    -------
    Certificate
        Claim "infeasible". ``evidence`` holds the repaired multipliers, scaled so that their
        ``value`` is -1, and a ``radius``: where it is finite, no point whose entries are all below
        it is feasible, and nothing is proved of others.
    """
    tol = positive_number(tol, owner, "tol")
    data = data.with_cost(np.zeros(data.n))
    given, program = completed(data, read_multipliers(data, multipliers, owner)), data.as_cones
    found = verify_farkas(program, lambda: conic_units(program), by_row(data, given), tol)
    return _named(data, given, found)


VALUE = ("+ b_ub' lambda_ub", "+ b_eq' nu", "- lower' lambda_lower", "+ upper' lambda_upper")


def _named(data: LinearData, given: Named, found: Certificate) -> Certificate:
    """What was found of these multipliers, with their conditions and by their names."""
    # The same conditions without the cost.
    rows = [replace(row, name=row.name.removeprefix("c + ")) for row in dual_rows(data, given)]
    y = by_row(data, given)
    terms = np.abs(data.constraints[1]) @ np.abs(y)
    rows.append(worst(_value(data), "dual_feasibility", max(-dual_sum(data, y), 0.0), terms))
    broken = [row for row in rows if not row.meets(found.tol)]
    reason = violated(broken[0]) if broken else found.reason
    evidence = {name: found.evidence[name] for name in ("value", "radius") if found.evidence}
    if evidence:
        evidence |= data.by_name(found.dual["y"])
    proven = found.verdict is Verdict.CERTIFIED
    found = found.but(conditions=tuple(rows), reason=reason, evidence=evidence, dual={})
    return judge(found, proven=proven)


def _value(data: LinearData) -> str:
    """The condition on b'y, in the terms that the program has."""
    there = data.by_name(np.ones(data.constraints[1].size, dtype=bool)).values()
    told = " ".join(term for term, each in zip(VALUE, there, strict=True) if each.any())
    return f"{told.removeprefix('+ ') or '0'} < 0"


def find_linear_infeasibility(data: LinearData, tol: float = 1e-6) -> Certificate | None:
    """Search for Farkas multipliers of a linear program, and verify them."""
    data = data.with_cost(np.zeros(data.n))
    program = data.as_cones
    soft = np.ones(program.b.size, dtype=bool)
    found = certify_infeasible(program, lambda: conic_units(program), soft, None, tol)
    if found.verdict is not Verdict.CERTIFIED:
        return None
    found = _named(data, data.by_name(found.dual["y"]), found)
    return found if found.verdict is Verdict.CERTIFIED else None
