"""Solve a linear program in other units, and certify the answer in its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..certificates.certificate import Certificate, Verdict
from ..certificates.highs import highs
from ..certificates.linear import certify_linear
from ..certificates.multipliers import split_reduced_cost
from ..objective.linear_scaling import ScaledProgram, equilibrate

if TYPE_CHECKING:
    from .linear_program import LinearProgram


def solve_equilibrated(problem: LinearProgram, tol: float) -> Certificate | None:
    """HiGHS on the equilibrated program; None where it gives nothing that can be verified."""
    scaled = equilibrate(problem.data)
    if not _representable(scaled):
        return None
    found = highs(scaled.data)
    if found.x is None or found.lambda_ub is None or found.nu is None:
        return _evidence(problem, scaled, tol)
    point = split_reduced_cost(scaled.data, found.lambda_ub, found.nu)
    x, duals = scaled.point(found.x), scaled.multipliers(point.as_dict())
    plain = certify_linear(problem.data, x, duals, tol=tol, owner=problem.name)
    if plain.holds():
        return plain
    x, duals = problem.polish(x, duals, tol=tol)
    return certify_linear(problem.data, x, duals, tol=tol, owner=problem.name)


def _evidence(problem: LinearProgram, scaled: ScaledProgram, tol: float) -> Certificate | None:
    """Farkas multipliers or a ray found in the scaled program, verified in the program itself."""
    data = scaled.data
    twin = type(problem)(
        data.c,
        data.A_ub if data.b_ub.size else None,
        data.b_ub if data.b_ub.size else None,
        data.A_eq if data.b_eq.size else None,
        data.b_eq if data.b_eq.size else None,
        np.column_stack([data.lower, data.upper]),
    )
    found = twin.find_evidence(tol=tol)
    if found is None:
        return None
    if found.claim == "infeasible":
        multipliers = scaled.multipliers(found.evidence)
        own = problem.certify_infeasible(multipliers, tol=tol)
    else:
        ray, point = scaled.ray(found.evidence["ray"]), scaled.point(found.evidence["point"])
        own = problem.certify_unbounded(ray, point, tol=tol)
    return own if own.verdict is Verdict.CERTIFIED else None


def _representable(scaled: ScaledProgram) -> bool:
    """Whether no factor or entry left the range of float64."""
    data = scaled.data
    entries = (data.c, data.b_ub, data.b_eq, scaled.column, 1.0 / scaled.column)
    return all(bool(np.all(np.isfinite(part))) for part in entries)
