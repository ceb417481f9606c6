"""Plain CVXPY problems: only the solver's own word, until any CVXPY problem can be certified."""

from __future__ import annotations

import time
import warnings
from math import isfinite
from types import SimpleNamespace
from typing import TYPE_CHECKING

from convexml.comparison.measure import blank, check_facts, crash_text, is_crash

if TYPE_CHECKING:
    from convexml.comparison.entries import Entry
    from convexml.comparison.record import Record

UNCERTIFIED = (
    "certification of arbitrary CVXPY problems is not available yet: "
    "the values are the solver's own word"
)


def measure_claim(entry: Entry, solver: str, tol: float) -> Record:
    """Let CVXPY solve its own problem with a named solver; the verdict is "undecided".

    The solver runs at its default accuracy. Known facts of the problem file are checked all the
    same: they come from elsewhere.
    """
    problem = entry.problem
    start = time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            problem.solve(solver=solver.upper())
    except BaseException as error:
        if not is_crash(error):
            raise
        return blank(entry, solver, tol, crash_text(error), claimed="error", certifiable=False)
    elapsed = time.perf_counter() - start
    value = float("nan") if problem.value is None else float(problem.value)
    stats = problem.solver_stats
    solving = min(float(getattr(stats, "solve_time", None) or elapsed), elapsed)
    iterations = getattr(stats, "num_iters", None)
    return blank(
        entry,
        solver,
        tol,
        UNCERTIFIED,
        claimed=str(problem.status),
        status="inaccurate" if isfinite(value) else "failed",
        objective=value,
        seconds=solving,
        compile_seconds=elapsed - solving,
        iterations=None if iterations is None else int(iterations),
        facts=check_facts(entry, SimpleNamespace(objective=value)),
        certifiable=False,
    )
