"""Verified evidence that a CVXPY problem is infeasible, by the names of its constraints."""

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
from .labels import moves_by_label, multipliers_by_label, soft_rows
from .point import Posed
from .relaxation import Relaxation, moves, relax
from .rows import read_duals


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
        empty = without_optimum("infeasible", np.inf, (), tol, 0.0)
        return replace(empty, reason=str(error))
    candidates = [relaxation.y]
    if np.any(given.mask) and not given.broken:
        candidates.append(given.y)
    found = [verify_farkas(posed, y, tol) for y in candidates]
    best = max(found, key=lambda c: (c.verdict is Verdict.CERTIFIED, c.evidence.get("radius", 0.0)))
    if best.verdict is Verdict.CERTIFIED:
        best = replace(best, evidence=best.evidence | _relaxation_by_label(posed, relaxation, best))
    return best


def verify_farkas(posed: Posed, y: Array, tol: float) -> Certificate:
    """Repair y to be in K* with A'y = 0, and say what b'y < 0 proves then."""
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
    rows = _rows(program, passed)
    certificate = without_optimum("infeasible", np.inf, tuple(rows), tol, moved)
    sense = posed.canonical.sign
    certificate = replace(
        certificate, primal_objective=sense * np.inf, dual_objective=sense * np.inf, dual={"y": y}
    )
    evidence = {"radius": radius, "value": -1.0, **multipliers_by_label(posed, y)}
    if radius >= FAR * max(1.0, float(np.max(np.abs(program.b), initial=0.0))):
        near = "" if np.isinf(radius) else f" with norm below {radius:.2g}"
        reason = (
            "these multipliers combine the constraints into 0 <= -1, so no point"
            f"{near} satisfies them all"
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


def _rows(program: ConeProgram, y: Array) -> list[Condition]:
    size = float(np.max(np.abs(y), initial=0.0)) or 1.0
    distances = [np.zeros(0), *(cone.distance_dual(y[part]) for cone, part in program.blocks)]
    left = program.A.T @ y
    terms = np.maximum(abs(program.A).T @ np.abs(y), 1.0)
    return [
        worst("y in K*", "dual_feasibility", np.concatenate(distances), size),
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
