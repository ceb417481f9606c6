"""Solve a linear program in other units, and certify the answer in its own."""

from __future__ import annotations

from ...certificates.algebra.highs import highs
from ...certificates.certificate import Certificate, Verdict
from ...certificates.linear.bound import equilibrated
from ...certificates.linear.multipliers import split_reduced_cost
from ...certificates.linear.program import certify_linear
from .judged import JudgedProgram


def solve_equilibrated(problem: JudgedProgram, tol: float) -> Certificate | None:
    """HiGHS on the equilibrated program; None where it gives nothing that can be verified."""
    scaled = equilibrated(problem.data)
    if scaled is None:
        return None
    found = highs(scaled.data)
    if found.x is None or found.lambda_ub is None or found.nu is None:
        return problem.find_evidence(tol=tol)
    point = split_reduced_cost(scaled.data, found.lambda_ub, found.nu)
    x, duals = scaled.point(found.x), scaled.multipliers(point.as_dict())
    plain = certify_linear(problem.data, x, duals, tol=tol, owner=problem.name)
    if plain.verdict is Verdict.CERTIFIED:
        return plain
    x, duals = problem.polish(x, duals, tol=tol)
    return certify_linear(problem.data, x, duals, tol=tol, owner=problem.name)
