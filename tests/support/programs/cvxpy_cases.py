"""CVXPY's own cases, with their published values and duals."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest
from cvxpy.tests import solver_test_helpers as helpers

from support.installed import need

KINDS = {"lp", "qp", "socp", "sdp", "expcone", "pcp"}
ABSENT = ("lp_3", "lp_4", "lp_6")  # infeasible or unbounded: tests of absence
CASES: dict[str, Callable[[], Any]] = {
    name: getattr(helpers, name)
    for name in dir(helpers)
    if name.split("_")[0] in KINDS and name not in (*ABSENT, "socp_3", "sdp_1")
}
CASES |= {f"socp_3 axis {axis}": lambda axis=axis: helpers.socp_3(axis) for axis in (0, 1)}
CASES |= {f"sdp_1 {sense}": lambda sense=sense: helpers.sdp_1(sense) for sense in ("min", "max")}


def case(name: str) -> Any:
    """The case of this name; older versions of CVXPY have fewer."""
    if name not in CASES:
        pytest.skip(f"this version of CVXPY has no {name}")
    return CASES[name]()


def solved(name: str, solver: str = "CLARABEL") -> Any:
    need(solver)
    helper = case(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SCS says where it is inaccurate; we measure it
        helper.prob.solve(solver=solver)
    return helper
