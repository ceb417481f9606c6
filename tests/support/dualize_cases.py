"""What the tests of dualize share: CVXPY's own test problems, a tight solve, a comparison."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import cvxpy.tests.solver_test_helpers as helpers
import numpy as np

LATER = {"socp_4"}
"""Not yet in CVXPY 1.9.2."""

HELPERS: dict[str, Callable[[], Any]] = {
    name: getattr(helpers, name)
    for name in (
        "lp_0 lp_1 lp_2 lp_5 lp_7 lp_bound_attr qp_0 qp_bound_attr socp_0 socp_1 socp_2 socp_4 "
        "socp_bounds_attr sdp_2 sdp_batched expcone_1 expcone_socp_1 pcp_1 pcp_2 pcp_3 sdp_pcp_1"
    ).split()
    if name not in LATER or hasattr(helpers, name)
} | {
    "sdp_1min": lambda: helpers.sdp_1("min"),
    "sdp_1max": lambda: helpers.sdp_1("max"),
    "socp_3ax0": lambda: helpers.socp_3(0),
    "socp_3ax1": lambda: helpers.socp_3(1),
}
"""The feasible and bounded ones; lp_3, lp_4 and lp_6 are infeasible or unbounded."""

SEVERAL_MULTIPLIERS = {"lp_5", "lp_7"}
"""Their active constraints are linearly dependent."""

TIGHT = {"tol_gap_abs": 1e-10, "tol_gap_rel": 1e-10, "tol_feas": 1e-10}


def solve(problem: Any) -> float:
    """The value by Clarabel, as accurate as it gets; inf and -inf where there is none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # "inaccurate": the comparison decides
        try:
            problem.solve(solver="CLARABEL", **TIGHT)
        except cp.error.SolverError:  # out of reach in float64
            problem.solve(solver="CLARABEL")
    return float(problem.value)


def close(one: float, other: float, rtol: float = 1e-6) -> bool:
    """Equal, relative to max(1, size)."""
    return one == other or abs(one - other) <= rtol * max(1.0, abs(one), abs(other))


def same_multipliers(problem: Any, dual: Any, atol: float) -> bool:
    """Whether the optimal multipliers are CVXPY's dual values of the primal."""
    for constraint in problem.constraints:
        mine, theirs = dual.multipliers[constraint], constraint.dual_value
        mine = mine if isinstance(mine, list) else [mine]
        theirs = theirs if isinstance(theirs, list) else [theirs]
        for variable, value in zip(mine, theirs, strict=True):
            if not np.allclose(np.ravel(variable.value), np.ravel(value), atol=atol, rtol=atol):
                return False
    return True
