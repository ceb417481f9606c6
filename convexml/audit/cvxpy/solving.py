"""Solve a CVXPY problem, certify the answer, and try harder where it is not verified."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from ...certificates.algebra.highs import highs
from ...certificates.certificate import Certificate, Verdict
from ...certificates.conic.values import linear_rows
from ...duality.checking import check_problem, require_problem
from ...duality.inner import record, store, stored
from ...errors import SolverError, UnknownSolverError, UnsuitableSolverError, nearest
from ...naming import known_keywords
from ...numerics import Array, without_warnings
from ...objective.conic.program import ConePoint, ConeProgram
from ...recognition.answering import solve_recognized
from ...solvers.reference import REFERENCE, installed, run_reference, suits
from ...validation import positive_number, yes_or_no
from .absence import certify_absence
from .problems import ENDED, certify_problem, judge
from .reading.point import Posed, pose, sparse_values

RESCALED = "clarabel, rescaled"
TALL = 2
"""Linear programs with more rows than so many times their columns stay with Clarabel."""


@known_keywords("solve")
@without_warnings
@sparse_values()
def solve(
    problem: Any, solver: str = "auto", *, tol: float = 1e-6, thorough: bool = False
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
    tol, name = positive_number(tol, "solve", "tol"), str(solver).lower()
    thorough = yes_or_no(thorough, "solve", "thorough")
    started = time.perf_counter()
    if name == "auto":
        found = solve_recognized(problem, tol)
        if found is not None:
            setup = time.perf_counter() - started - found.seconds
            stats = {
                "solve_time": found.seconds,
                "setup_time": setup,
                "num_iters": found.iterations,
            }
            _record(problem, found.certificate, found.solver, stats)
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
        _record(problem, constant, "no variables", {})
        return constant
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
        elif not _empty(posed):
            certificate = judge(posed, tol, answer)
        if certificate is not None and (
            best is None or certificate.standing(sign) < best[0].standing(sign)
        ):
            best = certificate, attempt, _state(posed) | {"stats": stats}
        if best is not None and best[0].verdict is Verdict.CERTIFIED:
            break
        tried.append(f"{attempt}: {claimed}")
    if not looked and (best is None or best[0].verdict is not Verdict.CERTIFIED):
        absent = certify_absence(posed, "infeasible", tol=tol)
        if absent.verdict is Verdict.CERTIFIED or best is None:
            best = absent, "search for evidence", _state(posed) | {"stats": {}}
    assert best is not None
    _restore(posed, *best)
    certificate, attempt, _ = best
    if tried:
        note = f"answer of {attempt}; not verified before: {'; '.join(tried)}"
        reason = f"{certificate.reason} ({note})" if certificate.reason else note
        certificate = certificate.but(reason=reason)
    return certificate


def _order(program: ConeProgram) -> list[str]:
    """The reference solvers as structure says that they are tried, by what was measured.

    HiGHS is ahead of Clarabel on linear programs until their bases grow large, and its vertices
    are certified sooner. On quadratic programs Clarabel is as fast as PIQP, which comes next.
    """
    if not program.is_polyhedral:
        return list(REFERENCE)
    first = ["clarabel", "piqp", "highs"]
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
        _clear(posed)
        if name == RESCALED:
            yield name, *_solve_rescaled(posed), {}
        elif installed(name) and suits(name, posed.problem)[0]:
            yield name, *_ask(posed, name, tol)


def _stats(seconds: float, before: float, iterations: int) -> dict[str, Any]:
    return {"solve_time": seconds, "setup_time": before, "num_iters": iterations}


def _ask(posed: Posed, name: str, tol: float) -> tuple[str, ConePoint | None, dict[str, Any]]:
    """A solver's claim, its answer where it was given the conic form, and its statistics."""
    if name == "highs" and not posed.program.P.nnz:
        return _solve_linear(posed)
    form = posed.canonical.form if name == "clarabel" else None
    run = run_reference(posed.problem, name, tol=min(tol, 1e-7), form=form)
    stats = _stats(run.seconds, run.compile_seconds, run.iterations)
    return run.claimed if run.claimed != "error" else run.message, None, stats


def _solve_linear(posed: Posed) -> tuple[str, ConePoint | None, dict[str, Any]]:
    """HiGHS on the conic form itself: CVXPY would compile the problem once more."""
    start, (data, rows) = time.perf_counter(), linear_rows(posed.program)
    begun = time.perf_counter()
    found, y = highs(data), np.zeros(posed.program.b.size)
    stats = _stats(time.perf_counter() - begun, begun - start, 0)
    if found.x is None or found.lambda_ub is None or found.nu is None:
        return found.status, None, stats
    y[rows] = np.concatenate([found.lambda_ub, found.nu])
    return found.status, _fill(posed, found.x, y), stats


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


def _clear(posed: Posed) -> None:
    for variable in posed.problem.variables():
        variable.save_value(None)
    for constraint in posed.problem.constraints:
        for dual in constraint.dual_variables:
            dual.save_value(None)


def _empty(posed: Posed) -> bool:
    return any(variable.value is None for variable in posed.problem.variables())


def _state(posed: Posed) -> dict[str, Any]:
    return {
        "variables": [(v, stored(v)) for v in posed.problem.variables()],
        "duals": [
            (dual, dual.value) for c in posed.problem.constraints for dual in c.dual_variables
        ],
    }


def _restore(posed: Posed, certificate: Certificate, name: str, state: dict[str, Any]) -> None:
    for variable, value in state["variables"]:
        store(variable, value)
    for dual, value in state["duals"]:
        dual.save_value(value)
    _record(posed.problem, certificate, name, state["stats"])


def _record(problem: Any, certificate: Certificate, name: str, stats: dict[str, Any]) -> None:
    """What CVXPY shows of a problem, as the certificate has it, and who found it how fast.

    Other claims have the words of CVXPY that are nearest: of an infimum that is not attained
    there is a point, and an inaccurate one.
    """
    certified, claim = certificate.verdict is Verdict.CERTIFIED, certificate.claim
    if claim in ("optimal", "unattained"):
        status = "optimal" if certified and claim == "optimal" else "optimal_inaccurate"
    else:
        status = claim if certified else f"{claim}_inaccurate"
        for variable in problem.variables():
            variable.save_value(None)
    record(problem, certificate.primal_objective, status, name, **stats)
