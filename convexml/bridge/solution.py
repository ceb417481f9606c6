"""Solve a CVXPY problem, certify the answer, and try harder where it is not verified."""

from __future__ import annotations

import importlib
import time
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from scipy import sparse

from ..certificates import Certificate
from ..certificates.algebra.searchers import highs
from ..certificates.certificate import Verdict
from ..certificates.conic.program import linear_rows
from ..certificates.judge import raised
from ..duality.checking import check_problem, require_problem
from ..duality.interface import last_answer, record, store, stored
from ..errors import InputError, SolverError, UnknownSolverError, UnsuitableSolverError, nearest
from ..formulas import ConvexSum
from ..modelling import cp
from ..numerics import Array, without_warnings
from ..problem.cones import ConePoint, ConeProgram
from ..progress import Wish, at, judged, operation
from ..solvers.reference import REFERENCE, installed, run_reference, suits, tolerances
from ..validation import known_keywords, positive_number, yes_or_no
from .absence import certify_absence
from .certificate import ENDED, certify_problem, judge
from .point import Posed, pose, sparse_values
from .recognition.kept import kept_reading
from .recognition.problem import read
from .recognition.sums import SplitSum, split_sum

# Solvers that are given the conic form itself: CVXPY would compile the problem once more.


CLAIMS = {
    "PIQP_SOLVED": "optimal",
    "PIQP_PRIMAL_INFEASIBLE": "infeasible",
    "PIQP_DUAL_INFEASIBLE": "unbounded",
}


Direct = tuple[str, tuple[Array, Array] | None, dict[str, Any]]
"""A claim, (x, y) of the conic form where there is a point, and CVXPY's statistics."""


def stats_of(seconds: float, before: float, iterations: int) -> dict[str, Any]:
    """What CVXPY calls the statistics of a solver."""
    return {"solve_time": seconds, "setup_time": before, "num_iters": iterations}


def solve_linear(program: ConeProgram) -> Direct:
    """HiGHS; P plays no part."""
    start, (data, rows) = time.perf_counter(), linear_rows(program)
    begun = time.perf_counter()
    found, y = highs(data), np.zeros(program.b.size)
    stats = stats_of(time.perf_counter() - begun, begun - start, 0)
    if found.x is None or found.y is None:
        return found.status, None, stats
    y[rows] = found.y
    return found.status, (found.x, y), stats


def solve_quadratic(program: ConeProgram, tol: float) -> Direct:
    """PIQP, whose interior points end nearer to an optimum than Clarabel's."""
    piqp: Any = importlib.import_module("piqp")
    start, (data, rows) = time.perf_counter(), linear_rows(program)
    solver = piqp.SparseSolver()
    for name, value in tolerances("piqp", tol, None).items():
        setattr(solver.settings, name, value)
    parts = (program.P, data.A_eq, data.A_ub)
    P, A_eq, A_ub = (sparse.csc_matrix(part, dtype=float) for part in parts)
    try:
        solver.setup(P, data.c, A_eq, data.b_eq, A_ub, h_u=data.b_ub)
        begun = time.perf_counter()
        solver.solve()
    except Exception as error:  # whatever ended it is an outcome: there are other solvers
        return f"{type(error).__name__}: {error}", None, {}
    found = solver.result
    iterations = int(found.info.iter)
    stats = stats_of(time.perf_counter() - begun, begun - start, iterations)
    claimed = CLAIMS.get(found.info.status.name, str(found.info.status.name))
    y = np.zeros(program.b.size)
    y[rows] = np.concatenate([found.z_u, found.y])
    x = np.array(found.x, dtype=float)
    is_point = claimed == "optimal" and np.all(np.isfinite(x)) and np.all(np.isfinite(y))
    return claimed, (x, y) if is_point else None, stats


# What stands in a CVXPY problem while it is solved, and what it shows in the end.


def leaves(posed: Posed) -> list[Any]:
    """The variables, and those that hold dual values."""
    duals = [dual for each in posed.problem.constraints for dual in each.dual_variables]
    return [*posed.problem.variables(), *duals]


def clear(posed: Posed) -> None:
    """No values and no dual values."""
    for each in leaves(posed):
        each.save_value(None)


def empty(posed: Posed) -> bool:
    """Whether a variable has no value."""
    return any(variable.value is None for variable in posed.problem.variables())


def told(problem: Any, certificate: Certificate, name: str, stats: dict[str, Any]) -> None:
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


# Solve a problem, and certify it as it was written.


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
    return _checked(problem, solver, tol, thorough, progress)


def _checked(
    problem: Any,
    solver: str,
    tol: float,
    thorough: bool,
    progress: Wish,
    whole: ConvexSum | None = None,
    is_all: bool = True,
) -> Certificate:
    """``solve``, where ``whole`` says the objective by its terms, and whether that is all."""
    require_problem(problem, "solve")
    tol = positive_number(tol, "solve", "tol")
    thorough = yes_or_no(thorough, "solve", "thorough")
    with operation("solve", progress):
        certificate = _solve(problem, solver, tol, thorough, whole, is_all)
        judged(certificate)
    return certificate


@known_keywords("minimize")
@without_warnings
@sparse_values()
def minimize(
    objective: Any,
    constraints: Any = (),
    solver: str = "auto",
    *,
    tol: float = 1e-6,
    thorough: bool = False,
    progress: Wish = False,
) -> Certificate:
    """Minimise a sum of losses, penalties and convex expressions of CVXPY, and certify.

    The sum is posed in CVXPY as written, no 1/n is hidden in it, and solved by ``solve``:
    ``minimize(losses.Squared()(X @ w, y) + 0.1 * penalties.L1()(w))``. Its variables keep the best
    answer that was found.

    Parameters
    ----------
    objective : ConvexSum or cvxpy.Expression
        Losses and penalties that are called with affine expressions, added up.
    constraints : sequence of cvxpy.Constraint
        More than those of the sum itself, as of ``penalties.Nonnegative()(w)``.
    solver, tol, thorough, progress
        As of ``solve``.

    Returns
    -------
    Certificate
        As of ``solve``.

    Raises
    ------
    InputError
        For an objective that is no sum, constraints that are none, and what ``solve`` refuses.
    """
    if not isinstance(objective, ConvexSum | cp.Expression):
        raise InputError(
            f"minimize: the objective must be a sum of terms, got {type(objective).__name__}. Pass "
            "losses.Squared()(X @ w, y) + penalties.L1()(w), or a convex expression of CVXPY; a "
            "cp.Problem goes to solve."
        )
    given = list(constraints) if isinstance(constraints, Iterable) else [constraints]
    for each in given:
        if not isinstance(each, cp.Constraint | bool | np.bool_):
            raise InputError(
                f"minimize: constraints must be CVXPY's, got {each!r}. Pass a list, as [w >= 0]; "
                "penalties such as Nonnegative()(w) are added to the objective."
            )
    whole = objective if isinstance(objective, ConvexSum) else ConvexSum(objective)
    terms = whole if whole is objective else None
    return _checked(whole.problem(given), solver, tol, thorough, progress, terms, not given)


def _solve_split(split: SplitSum, solver: str, tol: float) -> Certificate | None:
    """By a reference solver and the terms of the sum; None where these certify nothing."""
    at("compiling")
    posed = pose(split.problem, "minimize")
    name = _order(posed.program)[0] if solver == "auto" else solver
    if not (installed(name) and suits(name, posed.problem)[0]):
        return None
    clear(posed)
    at(name)
    _, _, stats = _ask(posed, name, 1e-3 * tol)
    found = None if empty(posed) else split.certify(posed, tol)
    if found is None or found.verdict is not Verdict.CERTIFIED:
        return None
    told(split.problem, found, name, stats)
    return found


def _solve(
    problem: Any,
    solver: str,
    tol: float,
    thorough: bool,
    whole: ConvexSum | None,
    is_all: bool,
) -> Certificate:
    """As what it is recognised as, else as a sum, else by one solver after the other."""
    name, started = str(solver).lower(), time.perf_counter()
    if name == "auto":
        known = kept_reading(problem, lambda each: read(each).posed)
        found = None if known is None else known.answer(tol)
        if found is not None:
            setup = time.perf_counter() - started - found.seconds
            stats = stats_of(found.seconds, setup, found.iterations)
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
    split = None if whole is None else split_sum(whole)
    if split is not None and is_all and not thorough:
        certificate = _solve_split(split, name, tol)
        if certificate is not None:
            return certificate
    at("compiling")
    posed = pose(problem, "solve")
    order = _order(posed.program)
    if name != "auto":
        suitable, why = suits(name, problem)
        if not suitable:
            raise UnsuitableSolverError(f"solve: {why}")
        order = [name, *(other for other in order if other != name)]
    best: tuple[Certificate, str, dict[str, Any], list[Any]] | None = None
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
            best = certificate, attempt, stats, list(map(stored, leaves(posed)))
        if best is not None and _settled(posed, best[0]):
            break
        tried.append(f"{attempt}: {claimed}")
    if not looked and (best is None or not _settled(posed, best[0])):
        absent = certify_absence(posed, "infeasible", tol=tol)
        if absent.verdict is Verdict.CERTIFIED or best is None:
            best = absent, "search for evidence", {}, list(map(stored, leaves(posed)))
    assert best is not None
    certificate, attempt, stats, values = best
    for each, value in zip(leaves(posed), values, strict=True):
        store(each, value)
    told(problem, certificate, attempt, stats)
    if tried:
        note = f"answer of {attempt}; not verified before: {'; '.join(tried)}"
        reason = f"{certificate.reason} ({note})" if certificate.reason else note
        certificate = certificate.but(reason=reason)
    if whole is None or certificate.claim != "optimal":
        return certificate
    # Slack variables may lie below the losses that they stand for, within tol of their rows.
    value = whole.value if split is None else split.value()
    return certificate if value is None else raised(certificate, value)


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
        claimed, point, stats = direct
        return claimed, None if point is None else _fill(posed, *point), stats
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


# ``problem.solve(method="convexml")``: CVXPY's own door for other ways to solve.


METHOD = "convexml"

ELSEWHERE = {
    "gp": "a log-log convex problem: problem.solve(gp=True) without a method is CVXPY's own, or "
    "pose it in the logarithms of its variables",
    "qcp": "a quasiconvex problem: problem.solve(qcp=True) without a method is CVXPY's own "
    "bisection, or fix the level and solve the convex problem that is left",
    "nlp": "a problem that is not convex: nothing can be certified of it",
    "requires_grad": "derivatives of the solution: problem.solve(requires_grad=True) without a "
    "method is CVXPY's own",
    "bibtex": "references of solvers: problem.solve(bibtex=True) without a method prints CVXPY's",
}
"""Keywords of CVXPY that ask for what is not done here: what, and what to do."""
IDLE = ("warm_start", "ignore_dpp", "canon_backend")
"""Keywords of CVXPY that change how fast a problem is compiled, not what is solved."""


def register() -> None:
    """Let every CVXPY problem be solved by ``problem.solve(method="convexml")``.

    Keywords are those of ``convexml.solve``: solver, tol, thorough; and CVXPY's own: verbose=True
    prints the certificate, enforce_dpp=True asks for a DPP problem; warm_start, ignore_dpp and
    canon_backend make no difference; gp, qcp, nlp, requires_grad, bibtex are refused unless False.
    It returns the value; the variables, the dual values, ``problem.value``, ``problem.status``,
    ``problem.solution`` and ``problem.solver_stats`` are filled. The status is "optimal",
    "infeasible" or "unbounded" where that is certified, else the same with "_inaccurate"; of an
    infimum that is not attained the variables have a point near it, "optimal_inaccurate".

    What is no DCP problem, a Parameter without a value, or a solver that cannot be used raises an
    error that is both ``convexml.errors``' and the one of ``cvxpy.error`` that CVXPY raises.
    """
    cp.Problem.register_solve(METHOD, _registering_solve)


def _registering_solve(
    problem: Any,
    solver: Any = None,
    *,
    verbose: bool = False,
    enforce_dpp: bool = False,
    **options: Any,
) -> Any:
    verbose = yes_or_no(verbose, "solve", "verbose")
    for name in IDLE:
        options.pop(name, None)
    for name, words in ELSEWHERE.items():
        if options.pop(name, False):
            raise InputError(f"solve: {name}=True asks for {words}.")
    try:
        if yes_or_no(enforce_dpp, "solve", "enforce_dpp") and not problem.is_dpp():
            raise InputError("solve: the problem is not DPP; leave enforce_dpp out, or pose it so.")
        certificate = solve(problem, "auto" if solver is None else solver, **options)
    except (InputError, SolverError) as error:
        raise _also_theirs(problem, error) from None
    if verbose:
        print(certificate)
    return problem.value


def _also_theirs(problem: Any, error: InputError | SolverError) -> Exception:
    """The error, as one of CVXPY's too where it has its own for that."""
    theirs: type[Exception] | None = None
    if isinstance(error, SolverError):
        theirs = cp.error.SolverError
    elif not problem.is_dcp():
        theirs = cp.error.DCPError
    elif any(parameter.value is None for parameter in problem.parameters()):
        theirs = cp.error.ParameterError
    elif "DPP" in str(error):
        theirs = cp.error.DPPError
    if theirs is None:
        return error
    kind = type(error)
    return type(kind.__name__, (kind, theirs), {"__module__": kind.__module__})(str(error))
