"""Plain CVXPY problems: solved by CVXPY's own interfaces, judged by the audit."""

from __future__ import annotations

from math import isfinite, nan
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ..audit import certify
from ..errors import ConvexmlError
from ..solvers.reference import run_reference
from .measure import blank, check_facts, said_of, violation

if TYPE_CHECKING:
    from ..certificates import Certificate
    from .entries import Entry
    from .record import Outcome


def measure_claim(
    entry: Entry, solver: str, tol: float, *, max_seconds: float | None = None
) -> Outcome:
    """Let CVXPY solve its own problem with a named solver, and certify what it leaves.

    The answer is judged as it is: no rescaling, no other solver. Known facts of the problem file
    are checked as well.
    """
    problem = entry.problem
    run = run_reference(problem, solver, tol=tol, max_seconds=max_seconds)
    if run.claimed == "error":
        return blank(entry, solver, tol, run.message, claimed="error", max_seconds=max_seconds)
    timing: dict[str, Any] = {
        "claimed": run.claimed,
        "seconds": run.seconds,
        "compile_seconds": run.compile_seconds,
        "iterations": run.iterations,
        "max_seconds": max_seconds,
    }
    try:
        certificate = certify(problem, tol=tol)
    except ConvexmlError as error:
        return blank(entry, solver, tol, str(error), certifiable=False, **timing)
    certified = str(certificate.verdict) == "certified"
    status = _status(certificate, certified)
    found = SimpleNamespace(objective=certificate.primal_objective)
    worst = max(certificate.conditions, key=lambda row: row.relative, default=None)
    return blank(
        entry,
        solver,
        tol,
        "" if certified else said_of(certificate),
        verdict=str(certificate.verdict),
        status=status,
        claim=certificate.claim,
        verified=certified and entry.expected_status in (None, status),
        objective=certificate.primal_objective,
        dual_objective=certificate.dual_objective,
        gap=certificate.gap,
        relative_gap=certificate.relative_gap,
        rounding=certificate.rounding,
        within=certificate.within,
        violation=violation(certificate.conditions),
        kkt=certificate.kkt,
        worst_condition="" if worst is None else worst.name,
        worst_residual=nan if worst is None else worst.relative,
        facts=check_facts(entry, found),
        **timing,
    )


def _status(certificate: Certificate, certified: bool) -> str:
    if certified:
        return certificate.claim
    return "inaccurate" if isfinite(certificate.primal_objective) else "failed"
