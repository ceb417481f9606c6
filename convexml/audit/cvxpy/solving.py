"""Solve a CVXPY problem, certify the answer, and try harder where it is not verified."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...certificates.certificate import Certificate, Verdict
from ...duality.checking import check_problem, require_problem
from ...duality.inner import last_answer
from ...errors import SolverError, UnknownSolverError, UnsuitableSolverError, nearest
from ...naming import known_keywords
from ...numerics import Array, without_warnings
from ...objective.conic.program import ConePoint, ConeProgram
from ...progress import Wish, at, judged, operation
from ...recognition.answering import solve_recognized
from ...solvers.reference import REFERENCE, installed, run_reference, suits
from ...validation import positive_number, yes_or_no
from .absence import certify_absence
from .direct import solve_linear, solve_quadratic, stats_of
from .problems import ENDED, certify_problem, judge
from .reading.point import Posed, pose, sparse_values
from .standing import clear, empty, restore, state, told

RESCALED = "clarabel, rescaled"
TALL = 2
"""Linear programs with more rows than so many times their columns stay with Clarabel."""


@known_keywords("solve")
@without_warnings
@sparse_values()
def solve(
    problem: Any,
    solver: str = "auto",
    *,
    tol: float = 1e-6,
    thorough: bool = False,
    progress: Wish = False,
) -> Certificate:
    """Solve a DCP problem, and certify.

    What is recognised as a learning problem goes to the fast engines, the rest to a reference
    solver; on failure the problem is rescaled, then others are tried. CVXPY's variables and dual
    values keep the best answer that was found.

    Parameters
    ----------
    problem : cvxpy.Problem
        Continuous and DCP; parameters have values.
    solver : str
        "auto", or which one is tried first: clarabel, osqp, ecos, scs, highs or piqp, in capitals
        or not; then nothing is recognised.
    tol : float
        Relative, for the certificate.
    thorough : bool
        Also compile a problem that was recognised, and judge the answer by its conic form.
    progress : bool or callable
        True: a line on standard error, where that is a terminal, after a second. A function is
        called with a ``Progress``.

    Returns
    -------
    Certificate
        Claim "optimal", or "infeasible" or "unbounded" with verified evidence. ``reason`` names
        the solvers that failed before. UNDECIDED where nothing could be verified.

    Raises
    ------
    InputError
        For what is not a continuous DCP problem.
    UnknownSolverError
        If there is no reference solver of that name.
    UnsuitableSolverError
        If the solver cannot take the problem's cones.
    """
    require_problem(problem, "solve")
    tol = positive_number(tol, "solve", "tol")
    thorough = yes_or_no(thorough, "solve", "thorough")
    with operation("solve", progress):
        certificate = _solve(problem, solver, tol, thorough)
        judged(certificate)
    return certificate


def _solve(problem: Any, solver: str, tol: float, thorough: bool) -> Certificate:
    """As what it is recognised as, else by one solver after the other."""
    name, started = str(solver).lower(), time.perf_counter()
    if name == "auto":
        found = solve_recognized(problem, tol)
        if found is not None:
            setup = time.perf_counter() - started - found.seconds
            stats = {
                "solve_time": found.seconds,
                "setup_time": setup,
                "num_iters": found.iterations,
            }
            told(problem, found.certificate, found.solver, stats)
            again = thorough and found.certificate.claim == "optimal"
            return certify_problem(problem, tol=tol) if again else found.certificate
    check_problem(problem, "solve")
    if name not in (*REFERENCE, "auto"):
        raise UnknownSolverError(
            f"solve: no reference solver is called {solver!r}; there are {', '.join(REFERENCE)}."
            + nearest(name, REFERENCE)
        )
    if not problem.variables():
        constant = certify_problem(problem, tol=tol)
        told(problem, constant, "no variables", {})
        return constant
    at("compiling")
    posed = pose(problem, "solve")
    order = _order(posed.program)
    if name != "auto":
        suitable, why = suits(name, problem)
        if not suitable:
            raise UnsuitableSolverError(f"solve: {why}")
        order = [name, *(other for other in order if other != name)]
    best: tuple[Certificate, str, dict[str, Any]] | None = None
    tried: list[str] = []
    looked, sign = False, posed.canonical.sign
    for attempt, claimed, answer, stats in _attempts(posed, order, tol):
        certificate = None
        if claimed in ENDED and not looked:
            looked = True
            certificate = certify_absence(posed, claimed.removesuffix("_inaccurate"), tol=tol)
        elif not empty(posed):
            answer = _at_origin(posed, answer)
            at(f"{attempt}: certifying")
            certificate = judge(posed, tol, answer)
            judged(certificate)
        if certificate is not None and (
            best is None or certificate.standing(sign) < best[0].standing(sign)
        ):
            best = certificate, attempt, state(posed) | {"stats": stats}
        if best is not None and _settled(posed, best[0]):
            break
        tried.append(f"{attempt}: {claimed}")
    if not looked and (best is None or not _settled(posed, best[0])):
        absent = certify_absence(posed, "infeasible", tol=tol)
        if absent.verdict is Verdict.CERTIFIED or best is None:
            best = absent, "search for evidence", state(posed) | {"stats": {}}
    assert best is not None
    restore(posed, *best)
    certificate, attempt, _ = best
    if tried:
        note = f"answer of {attempt}; not verified before: {'; '.join(tried)}"
        reason = f"{certificate.reason} ({note})" if certificate.reason else note
        certificate = certificate.but(reason=reason)
    return certificate


def _at_origin(posed: Posed, answer: ConePoint | None) -> ConePoint | None:
    """Of a homogeneous problem 0 is optimal, or nothing: with the multipliers of an answer.

    Without a unit a solver's tolerance says nothing, and its point is as good as any.
    """
    program = posed.program
    if np.any(program.b) or (program.P.nnz and np.any(program.q)):
        return answer
    zero = np.zeros(program.q.size)
    for variable, value in posed.values(zero).items():
        variable.save_value(value)
    answer = answer or last_answer(posed.problem)
    return None if answer is None else ConePoint(zero, program.b, answer.y)


def _settled(posed: Posed, certificate: Certificate) -> bool:
    """Whether nobody else can do better: of what is not convex no point has a bound."""
    if certificate.verdict is Verdict.CERTIFIED:
        return True
    rows = [row for row in certificate.conditions if row.kind == "primal_feasibility"]
    is_met = certificate.claim == "optimal" and all(row.meets(certificate.tol) for row in rows)
    return is_met and certificate.verdict is Verdict.UNDECIDED and bool(posed.curvature)


def _order(program: ConeProgram) -> list[str]:
    """The reference solvers as structure says that they are tried, by what was measured.

    HiGHS is ahead of Clarabel on linear programs until their bases grow large, and its vertices
    are certified sooner. On quadratic programs PIQP, where it is there, ends nearer to an optimum.
    """
    if not program.is_polyhedral:
        return list(REFERENCE)
    first = ["piqp", "clarabel", "highs"] if installed("piqp") else ["clarabel", "highs"]
    if not program.P.nnz:
        rows = np.count_nonzero(np.diff(program.A_by_row.indptr) > 1)
        first = ["clarabel", "highs", "piqp"]
        if rows <= TALL * program.q.size and installed("highs"):
            first = ["highs", "clarabel", "piqp"]
    return [*first, *(name for name in REFERENCE if name not in first)]


def _attempts(
    posed: Posed, order: list[str], tol: float
) -> Iterator[tuple[str, str, ConePoint | None, dict[str, Any]]]:
    """Fill the variables by one solver after the other: (solver, its claim, and as ``_ask``)."""
    for name in (order[0], RESCALED, *order[1:]):
        clear(posed)
        at(name)
        if name == RESCALED:
            yield name, *_solve_rescaled(posed), {}
        elif installed(name) and suits(name, posed.problem)[0]:
            yield name, *_ask(posed, name, tol)


def _ask(posed: Posed, name: str, tol: float) -> tuple[str, ConePoint | None, dict[str, Any]]:
    """A solver's claim, its answer where it was given the conic form, and its statistics."""
    program, tol, direct = posed.program, min(tol, 1e-7), None
    if name == "highs" and not program.P.nnz:
        direct = solve_linear(program)
    if name == "piqp" and program.is_polyhedral:
        direct = solve_quadratic(program, tol)
    if direct is not None:
        answer = None if direct.point is None else _fill(posed, *direct.point)
        return direct.claimed, answer, direct.stats
    form = posed.canonical.form if name == "clarabel" else None
    run = run_reference(posed.problem, name, tol=tol, form=form)
    stats = stats_of(run.seconds, run.compile_seconds, run.iterations)
    return run.claimed if run.claimed != "error" else run.message, None, stats


def _solve_rescaled(posed: Posed) -> tuple[str, ConePoint | None]:
    try:
        return "a point", _fill(posed, *posed.fit.solve())
    except SolverError as error:
        return str(error), None


def _fill(posed: Posed, x: Array, y: Array) -> ConePoint:
    """Let the variables and constraints have the values of a point of the conic form."""
    for variable, value in posed.values(x).items():
        variable.save_value(value)
    _, duals = posed.canonical.recover(x, y)
    for constraint in posed.problem.constraints:
        if duals.get(constraint) is not None:
            constraint.save_dual_value(duals[constraint])
    return ConePoint(x, posed.program.slack(x), y)
