"""Verified evidence that a CVXPY problem has no optimum: infeasible, or unbounded."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..certificates.certificate import Certificate, Condition, Verdict, worst
from ..certificates.conic_repair import repair_conic_dual
from ..certificates.farkas import FAR, without_optimum
from ..errors import SolverError
from ..numerics import EPS, ROUNDING, Array
from ..objective.cone_program import ConeProgram
from ..objective.cones import Semidefinite
from .point import Posed, primal_rows, substituted
from .recession import find_ray, ray_rows
from .relaxation import Relaxation, moves, relax
from .rows import attribute_rows, read_duals


def certify_absence(posed: Posed, claim: str, *, tol: float = 1e-6) -> Certificate:
    """Look for evidence of "infeasible" or "unbounded", the claim first, and verify it.

    Returns
    -------
    Certificate
        CERTIFIED with ``evidence``, or UNDECIDED: a solver's word is never repeated unchecked.
    """
    order = (infeasibility, unboundedness)
    first, second = order if claim == "infeasible" else order[::-1]
    certificate = first(posed, tol)
    if certificate.verdict is Verdict.CERTIFIED:
        return certificate
    other = second(posed, tol)
    return other if other.verdict is Verdict.CERTIFIED else certificate


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
        relaxation = relax(posed.program, _soft(posed))
    except SolverError as error:
        empty = without_optimum("infeasible", np.inf, (), tol, 0.0)
        return replace(empty, reason=str(error))
    candidates = [relaxation.y]
    if np.any(given.mask) and not given.broken:
        candidates.append(given.y)
    found = [_farkas(posed, y, tol) for y in candidates]
    best = max(found, key=lambda c: (c.verdict is Verdict.CERTIFIED, c.evidence.get("radius", 0.0)))
    if best.verdict is Verdict.CERTIFIED:
        best = replace(best, evidence=best.evidence | _relaxation_by_label(posed, relaxation, best))
    return best


def _soft(posed: Posed) -> Array:
    """Rows of the user's constraints and attributes; what defines an atom is never relaxed."""
    mask = np.zeros(posed.program.b.size, dtype=bool)
    for rows in _named_rows(posed).values():
        mask[rows] = True
    return mask


def _named_rows(posed: Posed) -> dict[str, Array]:
    own = {
        posed.labels[c.id]: posed.maps[c.id].rows
        for c in posed.problem.constraints
        if c.id in posed.maps and posed.maps[c.id].rows.size
    }
    return own | attribute_rows(posed)


def _farkas(posed: Posed, y: Array, tol: float) -> Certificate:
    program = posed.program
    level = float(np.max(np.abs(y), initial=0.0))
    passed = np.where(np.abs(y) <= 1e-9 * level, 0.0, y) / (level or 1.0)
    repaired = repair_conic_dual(_without_objective(program), np.zeros(program.q.size), passed).y
    # A repair that has to go far may end at 0, which proves nothing.
    y = max((repaired, program.project_dual(passed)), key=lambda z: _radius(program, z))
    if _radius(program, y) == 0.0:
        empty = without_optimum("infeasible", np.inf, (), tol, 0.0)
        value = float(program.b @ passed)
        return replace(empty, reason=f"the multipliers prove nothing: b'y = {value:.3g}")
    moved, size = float(np.max(np.abs(y - passed))), -float(program.b @ y)
    y, passed = y / size, passed / size
    total, radius = float(np.abs(program.A.T @ y).sum()), _radius(program, y)
    rows = _farkas_rows(program, passed)
    certificate = without_optimum("infeasible", np.inf, tuple(rows), tol, moved)
    sense = posed.canonical.sign
    certificate = replace(
        certificate, primal_objective=sense * np.inf, dual_objective=sense * np.inf, dual={"y": y}
    )
    evidence = {"radius": radius, "value": -1.0, **_by_label(posed, y)}
    if radius >= FAR * max(1.0, float(np.max(np.abs(program.b), initial=0.0))):
        reason = (
            "these multipliers combine the constraints into 0 <= -1, so no point satisfies them "
            f"all (rounding allows none with norm below {radius:.2g})"
        )
        verdict = Verdict.CERTIFIED
    else:
        reason = (
            f"the multipliers leave a residual of {total:.3g}: no feasible point has norm below "
            f"{radius:.3g}, larger ones are not excluded"
        )
        verdict = Verdict.UNDECIDED
    return replace(certificate, verdict=verdict, reason=reason, evidence=evidence)


def _radius(program: ConeProgram, y: Array) -> float:
    """No feasible point has all coordinates below this: -b'y / |A'y|_1, 0 where b'y is not < 0."""
    value, terms = float(program.b @ y), float(np.abs(program.b) @ np.abs(y))
    if not value < -max(ROUNDING, EPS * y.size) * terms:
        return 0.0
    total = float(np.abs(program.A.T @ y).sum())
    return -value / total if total > 0.0 else np.inf


def _without_objective(program: ConeProgram) -> ConeProgram:
    return replace(program, P=0.0 * program.P, q=np.zeros(program.q.size), offset=0.0)


def _farkas_rows(program: ConeProgram, y: Array) -> list[Condition]:
    size = float(np.max(np.abs(y), initial=0.0)) or 1.0
    distances = [np.zeros(0), *(cone.distance_dual(y[part]) for cone, part in program.blocks)]
    left = program.A.T @ y
    terms = np.maximum(abs(program.A).T @ np.abs(y), 1.0)
    return [
        worst("y in K*", "dual_feasibility", np.concatenate(distances), size),
        worst("A'y = 0", "dual_feasibility", left, terms),
        worst("b'y < 0", "dual_feasibility", max(float(program.b @ y), 0.0)),
    ]


def _by_label(posed: Posed, y: Array) -> dict[str, Any]:
    return posed.named(y) | _attributes(posed, y)


def _attributes(posed: Posed, values: Array) -> dict[str, Array]:
    """Rows of attributes by name; a semidefinite block as its matrix."""
    found = {}
    for name, rows in attribute_rows(posed).items():
        found[name] = values[rows]
        for cone, part in posed.program.blocks:
            if isinstance(cone, Semidefinite) and rows.size == cone.dim and rows[0] == part.start:
                found[name] = cone.matrix(values[part])
    return found


def _shaped(posed: Posed, shift: Array) -> dict[str, Array]:
    """How far each constraint moves, in the shape of its dual value where that is one array."""
    found = {}
    for constraint in posed.problem.constraints:
        multipliers = posed.maps.get(constraint.id)
        if multipliers is not None and multipliers.rows.size:
            moved, variables = abs(multipliers.matrix) @ shift, constraint.dual_variables
            alone = len(variables) == 1 and variables[0].size == moved.size
            found[posed.labels[constraint.id]] = (
                moved.reshape(variables[0].shape) if alone else moved
            )
    return found | _attributes(posed, shift)


def _relaxation_by_label(
    posed: Posed, relaxation: Relaxation, certificate: Certificate
) -> dict[str, Any]:
    # y / max(y) is dual feasible for the relaxed program, whose value is at least -b'y of it.
    y = certificate.dual["y"]
    pull = _largest_pull(posed, y)
    noise = 1e-7 * max(1.0, float(np.max(np.abs(relaxation.shift), initial=0.0)))
    shift = np.where(np.abs(relaxation.shift) <= noise, 0.0, relaxation.shift)
    return {
        "relaxation": _shaped(posed, shift),
        "relaxation_total": relaxation.total,
        "relaxation_bound": 1.0 / pull if pull > 0.0 else np.inf,
    }


def _largest_pull(posed: Posed, y: Array) -> float:
    return float(np.max(moves(posed.program, _soft(posed)).T @ y, initial=0.0))


def unboundedness(posed: Posed, tol: float = 1e-6) -> Certificate:
    """A feasible point and a ray along which the objective falls (rises, under Maximize) for ever.

    Parameters
    ----------
    posed : Posed
    tol : float
        For the feasibility of the point, relative to its rows.

    Returns
    -------
    Certificate
        Claim "unbounded". ``evidence``: "ray" and "point", {variable name: array}.
    """
    program = posed.program
    sense = posed.canonical.sign
    empty = without_optimum("unbounded", -np.inf, (), tol, 0.0)
    empty = replace(empty, primal_objective=-sense * np.inf, dual_objective=-sense * np.inf)
    ray = find_ray(program)
    if ray is None:
        return replace(empty, reason="no ray of descent was found")
    try:
        x = relax(program, _soft(posed)).x
    except SolverError as error:
        return replace(empty, reason=str(error))
    values = posed.values(x)
    with substituted(values):
        rows = primal_rows(posed, x)
    certificate = replace(empty, conditions=(*rows, *ray_rows(program, ray)))
    broken = [row for row in rows if row.relative > tol]
    slope = float(program.q @ ray)
    if broken:
        reason = f"no feasible point was found: {broken[0].name} of {broken[0].residual:.3g}"
    elif any(row.relative > ROUNDING * max(1, program.q.size) for row in ray_rows(program, ray)):
        reason = "the ray leaves the feasible set"
    elif not slope < -ROUNDING * float(np.abs(program.q) @ np.abs(ray)):
        reason = f"the objective does not fall along the ray: slope {slope:.3g}"
    else:
        verb = "falls" if sense > 0.0 else "rises"
        reason = f"the point is feasible, and the objective {verb} by {-slope:.3g} per unit of ray"
        point = {posed.names[v.id]: value for v, value in values.items()}
        direction = {posed.names[v.id]: value for v, value in _direction(posed, ray).items()}
        evidence = {"ray": direction, "point": point}
        return replace(certificate, verdict=Verdict.CERTIFIED, reason=reason, evidence=evidence)
    return replace(certificate, reason=reason)


def _direction(posed: Posed, ray: Array) -> dict[Any, Array]:
    """The ray in the user's variables: values are linear in x where attributes do not cut."""
    return {variable: posed.expand(variable, ray) for variable in posed.problem.variables()}
