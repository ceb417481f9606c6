"""Solve a problem in named arrays: its own methods, then CVXPY; the judge has the last word."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar, Protocol

import numpy as np

from ...certificates import Certificate, Verdict
from ...errors import InputError, UnsuitableSolverError
from ...numerics import Array
from ...progress import at, evaluated
from ...solvers import Record, supports
from ...solvers.reference import REFERENCE, ReferenceRun, installed, run_reference, suits
from ...solvers.registry import check_name, suitable_instead
from ..base import PosedProblem
from ..portfolio import Limits, available, first_verified, in_time
from ..solution import Solution

MAX_ITER = 1000
"""Steps of a method, where no other limit is given."""
Arrays = dict[str, Array]


class PosedArrays(PosedProblem, Protocol):
    """What solving asks of a problem in named arrays; see ``ArrayProblem``."""

    methods: ClassVar[tuple[str, ...]]
    why: ClassVar[str]
    _promise: float

    def shapes(self) -> tuple[Mapping[str, tuple[int, ...]], Mapping[str, tuple[int, ...]]]: ...

    def _judge(self, point: Arrays, dual: Arrays, tol: float, *, search: bool) -> Certificate: ...

    def _iterates(self, solver: str) -> Iterator[tuple[Arrays, Arrays]]: ...

    def _absence(self, tol: float) -> Certificate | None: ...

    @property
    def _asks(self) -> bool: ...

    def _complete(self, point: Arrays) -> Arrays: ...

    def _read_point(self) -> dict[str, Any]: ...

    def _read_duals(self) -> Arrays: ...

    def snapshot(self) -> Any: ...


def solve_arrays(
    problem: PosedArrays, solver: str, limits: Limits, options: dict[str, Any]
) -> Solution:
    """Run one solver, or for "auto" one after the other until a claim is verified."""
    chosen = "auto" if solver == "auto" else check_name(solver)
    if chosen != "auto" and available(chosen):
        suited, reason = supports(chosen, problem)
        if not suited:
            raise UnsuitableSolverError(f"{reason}{suitable_instead(problem)}")
    known = problem._absence(limits.tol)
    if known is not None:
        solution = conclude(problem, known, chosen)
        solution.choice = "The data show that there is no optimal point: nothing was run."
        return solution
    if chosen != "auto":
        return _attempt(problem, chosen, limits, options)
    own = next(iter(problem.methods), "")
    why = f"auto chose {own}: {problem.why}." if own else "auto asks the reference solvers in turn."
    return first_verified(_in_turn(problem, limits, options), why)


def _in_turn(problem: PosedArrays, limits: Limits, options: dict[str, Any]) -> Iterator[Solution]:
    names = (*problem.methods, *(REFERENCE if problem._asks else ()))
    for name, left in in_time(limits, names):
        own = name in problem.methods
        if own or (installed(name) and suits(name, problem.statement.problem)[0]):
            yield _attempt(problem, name, left, options)
            options = {}


def _attempt(problem: PosedArrays, name: str, limits: Limits, options: dict[str, Any]) -> Solution:
    if name in problem.methods:
        if options:
            raise InputError(f"{name}: {problem.name} takes no option {next(iter(options))!r}.")
        return _by_hand(problem, name, limits)
    if not available(name):
        message = f"{name} is not installed; pip install {name} makes it available."
        return _failed(problem, name, ReferenceRun("not installed", 0.0, 0.0, 0, message), limits)
    posed = problem.statement
    tol, seconds, steps = limits.tol, limits.max_seconds, limits.max_iter
    run = run_reference(
        posed.problem, name, tol=tol, max_seconds=seconds, max_steps=steps, **options
    )
    run = replace(run, compile_seconds=run.compile_seconds + problem.posing_seconds())
    values = problem._read_point() if run.has_point else {}
    if not values or not all(v is not None and np.all(np.isfinite(v)) for v in values.values()):
        return _failed(problem, name, run, limits)
    point = problem._complete({key: np.array(value) for key, value in values.items()})
    dual = {key: v for key, v in problem._read_duals().items() if np.all(np.isfinite(v))}
    at(f"{name}: certifying")
    certificate = problem._judge(point, dual, limits.tol, search=False)
    if dual and certificate.verdict is not Verdict.CERTIFIED:
        other = problem._judge(point, {}, limits.tol, search=False)
        certificate = min(certificate, other, key=Certificate.standing)
    return _told(conclude(problem, certificate, name, point), run)


def _failed(problem: PosedArrays, name: str, run: ReferenceRun, limits: Limits) -> Solution:
    message = run.message or f"{name} returned no point ({run.claimed})."
    nothing = Certificate(
        "optimal", np.inf, -np.inf, np.inf, np.inf, (), Verdict.UNDECIDED, limits.tol, message
    )
    solution = _told(conclude(problem, nothing, name), run)
    solution.status, solution.message = "failed", message
    return solution


def _told(solution: Solution, run: ReferenceRun) -> Solution:
    solution.claimed_status, solution.message = run.claimed, run.message
    solution.iterations = run.iterations
    solution.seconds, solution.compile_seconds = run.seconds, run.compile_seconds
    return solution


def _by_hand(problem: PosedArrays, name: str, limits: Limits) -> Solution:
    """The iterates of a method, the promising ones judged, until one holds or a limit is met."""
    start = time.perf_counter()
    most = MAX_ITER if limits.max_iter is None else limits.max_iter
    seconds = np.inf if limits.max_seconds is None else limits.max_seconds
    best: tuple[Certificate, Arrays] | None = None
    pending: tuple[Arrays, Arrays] | None = None
    trace: list[Record] = []
    step, claimed, message = 0, "", ""
    at(name)

    def judged(point: Arrays, dual: Arrays) -> Certificate:
        nonlocal best
        found = problem._judge(point, dual, limits.tol, search=False)
        values = (found.primal_objective, found.dual_objective, found.gap)
        spent = time.perf_counter() - start
        trace.append(Record(step, float(step), spent, *values, found.relative_gap))
        evaluated(*trace[-1].told)
        if best is None or found.standing() < best[0].standing():
            best = found, point
        return found

    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            for step, (point, dual) in enumerate(problem._iterates(name)):
                spent = time.perf_counter() - start
                ends = "max_iter" * (step >= most) or "max_seconds" * (spent >= seconds)
                pending = point, dual
                if ends or step == 0 or not problem._promise > limits.tol:
                    pending = None
                    found = judged(point, dual)
                    claimed = "optimal" if found.verdict is Verdict.CERTIFIED else ends
                else:
                    evaluated(step)
                if claimed:
                    break
            if pending is not None:
                judged(*pending)
    except KeyboardInterrupt:
        claimed = message = "interrupted"
    except np.linalg.LinAlgError as error:
        claimed, message = "error", f"{name} stopped: {error}"
    spent = time.perf_counter() - start
    run = ReferenceRun(claimed or "no further step", spent, 0.0, step, message)
    if best is None:
        return _failed(problem, name, run, limits)
    solution = _told(conclude(problem, best[0], name, best[1]), run)
    solution.evaluated = trace
    return solution


def conclude(
    problem: PosedArrays, certificate: Certificate, solver: str, point: Arrays | None = None
) -> Solution:
    """The Solution of a certificate: its point and dual point, or its evidence."""
    status = certificate.claim
    if status == "optimal":
        status = "optimal" if certificate.verdict is Verdict.CERTIFIED else "inaccurate"
    names = problem.shapes()[1]
    dual = {name: value for name, value in certificate.dual.items() if name in names}
    return Solution(
        status=status,
        problem=problem.snapshot(),
        primal={name: np.asarray(value) + 0.0 for name, value in (point or {}).items()},
        dual=dual if point is not None else {},
        certificate=certificate,
        solver=solver,
        evidence=dict(certificate.evidence),
    )


def judge_stored(
    problem: PosedArrays,
    primal: Mapping[str, Array],
    dual: Mapping[str, Array],
    document: Mapping[str, Any],
) -> Solution:
    """Certify a stored point, or look again for the evidence that there is none."""
    tol, solver = float(document.get("tol", 1e-6)), document.get("solver", "")
    if primal:
        certificate = problem._judge(dict(primal), dict(dual), tol, search=True)
        return conclude(problem, certificate, solver, dict(primal))
    evidence = problem._absence(tol)
    if evidence is None:
        raise InputError(f"{problem.name}: the stored solution has no point.")
    return conclude(problem, evidence, solver)
