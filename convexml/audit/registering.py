"""``problem.solve(method="convexml")``: CVXPY's own door for other ways to solve."""

from __future__ import annotations

from typing import Any

from ..errors import InputError, SolverError
from ..validation import yes_or_no
from .cvxpy.solving import solve

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
    import cvxpy as cp

    cp.Problem.register_solve(METHOD, _solve)


def _solve(
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
    import cvxpy as cp

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
