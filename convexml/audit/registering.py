"""``problem.solve(method="convexml")``: CVXPY's own door for other ways to solve."""

from __future__ import annotations

from typing import Any

from .cvxpy.solving import solve

METHOD = "convexml"


def register() -> None:
    """Let every CVXPY problem be solved by ``problem.solve(method="convexml")``.

    Keywords are those of ``convexml.solve``: solver, tol, thorough. It returns the value; the
    variables, the dual values, ``problem.value`` and ``problem.status`` are filled, the status
    "optimal" where the answer is certified, else "optimal_inaccurate".
    """
    import cvxpy as cp

    cp.Problem.register_solve(METHOD, _solve)


def _solve(problem: Any, **options: Any) -> Any:
    solve(problem, **options)
    return problem.value
