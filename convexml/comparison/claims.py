"""Plain CVXPY problems: solved by CVXPY's own interfaces, judged by the audit."""

from __future__ import annotations

import time
from math import isfinite
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from ..audit import certify, solve
from ..errors import ConvexmlError
from ..solvers.reference import STOPPED, run_reference
from .measure import blank, check_facts, judged_fields, said_of, violation

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
    if run.claimed in ("error", STOPPED):  # nothing was left to judge
        return blank(entry, solver, tol, run.message, claimed=run.claimed, max_seconds=max_seconds)
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
    return _row(entry, solver, tol, certificate, timing)


def measure_solved(entry: Entry, tol: float) -> Outcome:
    """Let `convexml.solve` try: rescaled, and with the other solvers, until one is verified."""
    start = time.perf_counter()
    certificate = solve(entry.problem, tol=tol)
    timing = {"claimed": certificate.claim, "seconds": time.perf_counter() - start}
    return _row(entry, "auto", tol, certificate, timing)


def _row(
    entry: Entry, solver: str, tol: float, certificate: Certificate, timing: dict[str, Any]
) -> Outcome:
    certified = str(certificate.verdict) == "certified"
    wrong = certificate.multipliers == "do not hold"
    return blank(
        entry,
        solver,
        tol,
        said_of(certificate) if not certified or wrong else "",
        **judged_fields(entry, certificate, _status(certificate, certified)),
        violation=violation(certificate.conditions),
        facts=check_facts(entry, SimpleNamespace(objective=certificate.primal_objective)),
        objective=certificate.primal_objective,
        dual_objective=certificate.dual_objective,
        gap=certificate.gap,
        relative_gap=certificate.relative_gap,
        **_answer(entry.problem),
        **timing,
    )


def _answer(problem: Any) -> dict[str, Any]:
    """What CVXPY left: variables by name, and the multipliers of constraints that have a label."""
    point = {each.name(): each.value for each in problem.variables()}
    duals = {
        each.label: each.dual_value
        for each in problem.constraints
        if each.label and each.dual_value is not None
    }
    return {"point": duals | point, "duals": tuple(name for name in duals if name not in point)}


def _status(certificate: Certificate, certified: bool) -> str:
    if certified:
        return certificate.claim
    return "inaccurate" if isfinite(certificate.primal_objective) else "failed"
