"""Solve a linear program by a reference solver; the status is what the certificate allows."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Protocol

import numpy as np

from ...certificates.algebra.highs import highs
from ...certificates.certificate import Certificate, Verdict
from ...certificates.linear.bound import equilibrated
from ...certificates.linear.multipliers import NAMES, complete_multipliers, split_reduced_cost
from ...certificates.linear.program import certify_linear
from ...errors import InputError, UnsuitableSolverError
from ...numerics import Array
from ...objective.linear.data import LinearData
from ...progress import at
from ...solvers import supports
from ...solvers.linear.run import run_linear
from ...solvers.reference import ReferenceRun, run_reference
from ...solvers.registry import check_name, suitable_instead
from ..base import PosedProblem
from ..portfolio import Limits, available, first_verified, in_time
from ..rates.program import RecordedProgram
from ..solution import Solution
from .judging import find_evidence, polish, shadow_prices
from .statement import linear_duals

EQUILIBRATED = "highs, equilibrated"
AUTO = ("highs", "clarabel", EQUILIBRATED, "ecos", "interior_point", "piqp", "scs", "osqp")
"""Each is tried where those before it gave nothing that could be verified."""

POLISHED = "the equations of its active rows"


class PosedProgram(PosedProblem, Protocol):
    """What solving asks of a linear program."""

    data: LinearData
    methods: ClassVar[tuple[str, ...]]


def solve_linear(
    problem: PosedProgram, solver: str, limits: Limits, options: dict[str, Any]
) -> Solution:
    """Run one solver, or for "auto" one after the other until a claim is verified."""
    if solver == "auto":
        why = f"auto chose {AUTO[0]}: the problem is a linear program."
        return first_verified(_in_turn(problem, limits, options), why)
    solver = check_name(solver)
    if available(solver):
        suited, reason = supports(solver, problem)
        if not suited:
            raise UnsuitableSolverError(f"{reason}{suitable_instead(problem)}")
    return _attempt(problem, solver, limits, options)


def _in_turn(problem: PosedProgram, limits: Limits, options: dict[str, Any]) -> Iterator[Solution]:
    for name, left in in_time(limits, (name for name in AUTO if available(name))):
        yield _attempt(problem, name, left, options if name == AUTO[0] else {})


def _attempt(
    problem: PosedProgram, name: str, limits: Limits, settings: dict[str, Any]
) -> Solution:
    tol = limits.tol
    if name == EQUILIBRATED:
        return _equilibrated(problem, tol)
    if name in problem.methods:
        return _by_hand(problem, name, limits, settings)
    if not available(name):
        message = f"{name} is not installed; pip install {name} makes it available."
        run = ReferenceRun("not installed", 0.0, 0.0, 0, message)
        return _conclude(problem, name, run, None, tol)
    posed = problem.statement
    seconds, steps = limits.max_seconds, limits.max_iter
    run = run_reference(
        posed.problem, name, tol=tol, max_seconds=seconds, max_steps=steps, **settings
    )
    run = replace(run, compile_seconds=run.compile_seconds + problem.posing_seconds())
    x = posed.variables["x"].value if run.has_point else None
    if x is None or not np.all(np.isfinite(x)):
        return _without_point(problem, name, run, tol)
    duals = linear_duals(problem.data, posed.constraints)
    return _judged(problem, name, run, np.asarray(x, dtype=float), duals, limits)


def _by_hand(
    problem: PosedProgram, name: str, limits: Limits, settings: dict[str, Any]
) -> Solution:
    if settings:
        raise InputError(f"{name}: a linear program takes no option {next(iter(settings))!r}.")
    run, last = run_linear(
        problem.data, tol=limits.tol, max_seconds=limits.max_seconds, max_iter=limits.max_iter
    )
    if last is None:
        return _without_point(problem, name, run, limits.tol)
    solution = _judged(problem, name, run, last.x, last.multipliers, limits)
    solution.recorded = RecordedProgram(problem.data)
    return solution


def _judged(
    problem: PosedProgram,
    name: str,
    run: ReferenceRun,
    x: Array,
    duals: dict[str, Array],
    limits: Limits,
) -> Solution:
    """Certify a point, polished if asked; without success, look for evidence that there is none."""
    data, tol, owner = problem.data, limits.tol, problem.name
    at(f"{name}: certifying")
    duals, polished = _finite(duals), ""
    if limits.polish:
        better, finished = polish(data, x, duals, tol, owner)
        if np.all(np.isfinite(better)):
            polished = "" if np.array_equal(better, x) else POLISHED
            x, duals = better, _finite(finished)
    certificate = certify_linear(data, x, duals, tol=tol, owner=owner)
    if certificate.verdict is Verdict.UNDECIDED:
        again = certify_linear(data, x, None, tol=tol, owner=owner)
        certificate = again if again.verdict is Verdict.CERTIFIED else certificate
    if certificate.verdict is not Verdict.CERTIFIED:
        evidence = find_evidence(data, tol, owner)
        certificate = certificate if evidence is None else evidence
    solution = _conclude(problem, name, run, certificate, tol)
    solution.polished = polished if solution.primal else ""
    return solution


def _finite(duals: dict[str, Array]) -> dict[str, Array]:
    """The multipliers, none of them where one overflowed."""
    return duals if all(np.all(np.isfinite(value)) for value in duals.values()) else {}


def _equilibrated(problem: PosedProgram, tol: float) -> Solution:
    """HiGHS in units that make rows and columns of size 1; judged in the units of the problem."""
    start = time.perf_counter()
    at(EQUILIBRATED)
    certificate = solve_equilibrated(problem.data, tol, problem.name)
    seconds = time.perf_counter() - start
    found = "no point", "equilibrated: nothing was verified"
    if certificate is not None:
        found = certificate.claim, "rows and columns equilibrated"
    run = ReferenceRun(found[0], seconds, 0.0, 0, found[1])
    return _conclude(problem, "highs", run, certificate, tol)


def solve_equilibrated(data: LinearData, tol: float, owner: str) -> Certificate | None:
    """The certificate of what HiGHS finds; None where it gives nothing that can be verified."""
    scaled = equilibrated(data)
    if scaled is None:
        return None
    found = highs(scaled.data)
    if found.x is None or found.lambda_ub is None or found.nu is None:
        return find_evidence(data, tol, owner)
    point = split_reduced_cost(scaled.data, found.lambda_ub, found.nu)
    x, duals = scaled.point(found.x), _finite(scaled.multipliers(point.as_dict()))
    if not np.all(np.isfinite(x)):  # of entries whose units leave float64
        return find_evidence(data, tol, owner)
    plain = certify_linear(data, x, duals, tol=tol, owner=owner)
    if plain.verdict is Verdict.CERTIFIED:
        return plain
    better, finished = polish(data, x, duals, tol, owner)
    if not np.all(np.isfinite(better)):
        return plain
    return certify_linear(data, better, _finite(finished), tol=tol, owner=owner)


def _without_point(problem: PosedProgram, name: str, run: ReferenceRun, tol: float) -> Solution:
    evidence = find_evidence(problem.data, tol, problem.name) if run.claimed != "error" else None
    return _conclude(problem, name, run, evidence, tol)


def _conclude(
    problem: PosedProgram,
    name: str,
    run: ReferenceRun,
    certificate: Certificate | None,
    tol: float,
) -> Solution:
    message, failed = run.message, certificate is None
    if certificate is None:
        message = message or f"{name} claims {run.claimed!r}, of which no evidence was verified."
        certificate = Certificate(
            "optimal", np.inf, -np.inf, np.inf, np.inf, (), Verdict.UNDECIDED, tol, message
        )
    solution = build_solution(problem, certificate, name)
    solution.status = "failed" if failed else solution.status
    solution.claimed_status = run.claimed
    solution.message = message
    solution.iterations = run.iterations
    solution.seconds, solution.compile_seconds = run.seconds, run.compile_seconds
    return solution


def build_solution(problem: PosedProgram, certificate: Certificate, solver: str) -> Solution:
    """The Solution of a certificate: its point and multipliers, or its evidence."""
    status, found = certificate.claim, {}
    if status == "optimal":
        found = certificate.dual
        status = "optimal" if certificate.verdict is Verdict.CERTIFIED else "inaccurate"
    dual = _finite({name: found[name] for name in NAMES if name in found})
    prices = shadow_prices(complete_multipliers(problem.data, dual, problem.name)) if dual else {}
    return Solution(
        status=status,
        problem=problem,
        primal={"x": found["x"] + 0.0} if found else {},  # -0.0 reads badly
        dual=dual,
        certificate=certificate,
        solver=solver,
        evidence=dict(certificate.evidence),
        shadow_prices=prices,
    )


def judge_stored(
    problem: PosedProgram,
    primal: Mapping[str, Array],
    dual: Mapping[str, Array],
    document: Mapping[str, Any],
) -> Solution:
    """Certify a stored point, or look again for the evidence that there is none."""
    tol, solver = float(document.get("tol", 1e-6)), document.get("solver", "")
    if "x" in primal:
        certificate = certify_linear(problem.data, primal["x"], dual, tol=tol, owner=problem.name)
        return build_solution(problem, certificate, solver)
    evidence = find_evidence(problem.data, tol, problem.name)
    if evidence is None:
        raise InputError(f"{problem.name}: the stored solution has no point x.")
    return build_solution(problem, evidence, solver)
