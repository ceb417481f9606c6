"""Solve a linear program by a reference solver; the status is what the certificate allows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...certificates.certificate import Certificate, Verdict
from ...certificates.linear.program import certify_linear
from ...errors import InputError, UnsuitableSolverError
from ...numerics import Array
from ...solvers import supports
from ...solvers.linear.run import run_linear
from ...solvers.reference import ReferenceRun, iteration_limits, run_reference
from ...solvers.registry import LINEAR, check_name
from ..portfolio import Limits, available, first_verified
from ..rates.program import RecordedProgram
from ..solution import Solution
from .equilibrated import solve_equilibrated
from .judged import JudgedProgram

EQUILIBRATED = "highs, equilibrated"
AUTO = ("highs", "clarabel", EQUILIBRATED, "ecos", "interior_point", "piqp", "scs", "osqp")
"""Each is tried where those before it gave nothing that could be verified."""


def solve_linear(
    problem: JudgedProgram,
    solver: str,
    *,
    tol: float,
    max_seconds: float | None = None,
    max_iter: int | None = None,
    polish: bool = True,
    **options: Any,
) -> Solution:
    """Run one solver, or for "auto" one after the other until a claim is verified."""
    limits = Limits.read(tol, max_seconds, max_iter, polish=polish)
    if solver == "auto":
        why = f"auto chose {AUTO[0]}: the problem is a linear program."
        return first_verified(_in_turn(problem, limits, options), why)
    solver = check_name(solver)
    if available(solver):
        suited, reason = supports(solver, problem)
        if not suited:
            raise UnsuitableSolverError(reason)
    return _attempt(problem, solver, limits, dict(options))


def _in_turn(problem: JudgedProgram, limits: Limits, options: dict[str, Any]) -> Iterator[Solution]:
    for name in AUTO:
        if available(name):
            yield _attempt(problem, name, limits, dict(options) if name == AUTO[0] else {})


def _attempt(
    problem: JudgedProgram, name: str, limits: Limits, settings: dict[str, Any]
) -> Solution:
    tol, polish = limits.tol, limits.polish
    if name == EQUILIBRATED:
        return _equilibrated(problem, tol)
    if name in LINEAR:
        return _by_hand(problem, name, limits, settings)
    if not available(name):
        message = f"{name} is not installed; pip install {name} makes it available."
        run = ReferenceRun("not installed", 0.0, 0.0, 0, message)
        return _conclude(problem, name, run, "failed", None, tol)
    if limits.max_iter is not None:
        settings |= iteration_limits(name, limits.max_iter)
    run = run_reference(problem.primal, name, tol=tol, max_seconds=limits.max_seconds, **settings)
    run = replace(run, compile_seconds=run.compile_seconds + problem.posing_seconds())
    x = problem.variables["x"].value if run.has_point else None
    if x is None or not np.all(np.isfinite(x)):
        return _without_point(problem, name, run, tol)
    certificate = certify_solution(problem, np.asarray(x, dtype=float), tol, polish)
    return _judged(problem, name, run, certificate, tol)


def _judged(
    problem: JudgedProgram, name: str, run: ReferenceRun, certificate: Certificate, tol: float
) -> Solution:
    if certificate.verdict is Verdict.CERTIFIED:
        return _conclude(problem, name, run, "optimal", certificate, tol)
    evidence = problem.find_evidence(tol=tol)
    if evidence is not None:
        return _conclude(problem, name, run, evidence.claim, evidence, tol)
    return _conclude(problem, name, run, "inaccurate", certificate, tol)


def _by_hand(
    problem: JudgedProgram, name: str, limits: Limits, settings: dict[str, Any]
) -> Solution:
    tol = limits.tol
    if settings:
        raise InputError(f"{name}: a linear program takes no option {next(iter(settings))!r}.")
    run, last = run_linear(
        problem.data, tol=tol, max_seconds=limits.max_seconds, max_iter=limits.max_iter
    )
    if last is None:
        return _without_point(problem, name, run, tol)
    certificate = certify_solution(problem, last.x, tol, limits.polish, last.multipliers)
    solution = _judged(problem, name, run, certificate, tol)
    solution.recorded = RecordedProgram(problem.data)
    return solution


def certify_solution(
    problem: JudgedProgram,
    x: Array,
    tol: float,
    polish: bool = True,
    duals: dict[str, Array] | None = None,
) -> Certificate:
    """Certify a point, polished if asked, with the multipliers that stand in the CVXPY problem."""
    duals = problem.constraint_duals() if duals is None else duals
    if not all(np.all(np.isfinite(value)) for value in duals.values()):
        duals = {}
    if polish:
        x, duals = problem.polish(x, duals, tol=tol)
    certificate = certify_linear(problem.data, x, duals, tol=tol, owner=problem.name)
    if certificate.verdict is not Verdict.UNDECIDED:
        return certificate
    again = certify_linear(problem.data, x, None, tol=tol, owner=problem.name)
    return again if again.verdict is Verdict.CERTIFIED else certificate


def _equilibrated(problem: JudgedProgram, tol: float) -> Solution:
    """HiGHS in units that make rows and columns of size 1; judged in the units of the problem."""
    start = time.perf_counter()
    found = solve_equilibrated(problem, tol)
    seconds = time.perf_counter() - start
    if found is None:
        run = ReferenceRun("no point", seconds, 0.0, 0, "equilibrated: nothing was verified")
        return _conclude(problem, "highs", run, "failed", None, tol)
    status = found.claim if found.claim != "optimal" else "inaccurate"
    status = (
        "optimal" if found.verdict is Verdict.CERTIFIED and found.claim == "optimal" else status
    )
    run = ReferenceRun(found.claim, seconds, 0.0, 0, "rows and columns equilibrated")
    return _conclude(problem, "highs", run, status, found, tol)


def _without_point(problem: JudgedProgram, name: str, run: ReferenceRun, tol: float) -> Solution:
    evidence = problem.find_evidence(tol=tol) if run.claimed != "error" else None
    if evidence is None:
        return _conclude(problem, name, run, "failed", None, tol)
    return _conclude(problem, name, run, evidence.claim, evidence, tol)


def _conclude(
    problem: JudgedProgram,
    name: str,
    run: ReferenceRun,
    status: str,
    certificate: Certificate | None,
    tol: float,
) -> Solution:
    message = run.message
    if certificate is None:
        message = message or f"{name} claims {run.claimed!r}, of which no evidence was verified."
        certificate = Certificate(
            "optimal", np.inf, -np.inf, np.inf, np.inf, (), Verdict.UNDECIDED, tol, message
        )
    solution = build_solution(problem, certificate, status, name)
    solution.claimed_status = run.claimed
    solution.message = message
    solution.iterations = run.iterations
    solution.seconds, solution.compile_seconds = run.seconds, run.compile_seconds
    return solution


def build_solution(
    problem: JudgedProgram, certificate: Certificate, status: str, solver: str
) -> Solution:
    """The Solution of a certificate: its point and multipliers, or its evidence."""
    names = ("lambda_ub", "nu", "lambda_lower", "lambda_upper")
    found = certificate.dual if status in ("optimal", "inaccurate") else {}
    dual = {name: found[name] for name in names if name in found}
    return Solution(
        status=status,
        problem=problem,
        primal={"x": found["x"] + 0.0} if found else {},  # -0.0 reads badly
        dual=dual,
        certificate=certificate,
        solver=solver,
        evidence=dict(certificate.evidence),
        shadow_prices=problem.shadow_prices(dual) if dual else {},
    )


def judge_stored(
    problem: JudgedProgram,
    primal: Mapping[str, Array],
    dual: Mapping[str, Array],
    document: Mapping[str, Any],
) -> Solution:
    """Certify a stored point, or look again for the evidence that there is none."""
    tol, solver = float(document.get("tol", 1e-6)), document.get("solver", "")
    if "x" not in primal:
        evidence = problem.find_evidence(tol=tol)
        if evidence is None:
            raise InputError(f"{problem.name}: the stored solution has no point x.")
        return build_solution(problem, evidence, evidence.claim, solver)
    certificate = problem.certify(primal["x"], dual, tol=tol)
    status = "optimal" if certificate.verdict is Verdict.CERTIFIED else "inaccurate"
    return build_solution(problem, certificate, status, solver)
