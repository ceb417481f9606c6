"""Linear programs in CVXPY that have no point: proved by the linear programs' own search."""

from __future__ import annotations

import warnings
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.programs.netlib import netlib

import convexml as cml
from convexml import Verdict
from convexml.errors import SolverError

EMPTY = ["mondou2", "klein1", "bgprtr", "itest2", "woodinfe", "cplex2"]


def rows(name: str) -> cp.Problem:
    """A NETLIB program with its bounds as constraints."""
    problem = bounds(name)
    (x,) = problem.variables()
    y = cp.Variable(x.size, name="x")
    lower, upper = x.attributes["bounds"]
    low, high = np.flatnonzero(np.isfinite(lower)), np.flatnonzero(np.isfinite(upper))
    given = [y[low] >= lower[low], y[high] <= upper[high]]
    return _posed(name, y, [each for each in given if each.size])


def bounds(name: str) -> cp.Problem:
    """A NETLIB program with its bounds as an attribute."""
    data = netlib(name).data
    return _posed(name, cp.Variable(data.n, name="x", bounds=[data.lower, data.upper]), [])


def _posed(name: str, x: cp.Variable, more: list[Any]) -> cp.Problem:
    data = netlib(name).data
    given = [data.A_ub @ x <= data.b_ub, data.A_eq @ x == data.b_eq]
    return cp.Problem(cp.Minimize(data.c @ x), [each for each in given if each.size] + more)


@pytest.mark.parametrize("posed", [rows, bounds])
@pytest.mark.parametrize("name", EMPTY)
def test_a_program_without_a_point_is_proved_to_have_none(name: str, posed: Any) -> None:
    problem = posed(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem.solve(solver="HIGHS")
    assert problem.status == "infeasible"
    found = cml.certify(problem)
    assert (found.claim, found.verdict) == ("infeasible", Verdict.CERTIFIED)
    assert found.within is None


@pytest.mark.parametrize("solver", ["CLARABEL", "HIGHS"])
def test_mondou2_is_infeasible_whoever_solves_it(solver: str) -> None:
    """It has no dual feasible point either, and Clarabel calls it unbounded."""
    found = cml.solve(rows("mondou2"), solver)
    assert (found.claim, found.verdict) == ("infeasible", Verdict.CERTIFIED)


def little() -> cp.Problem:
    """0 <= x, 1'x <= 1, 1'x >= 1 + 2^-20, and a row of large numbers."""
    x = cp.Variable(3, name="x")
    given = [x >= 0, cp.sum(x) <= 1, cp.sum(x) >= 1 + 2.0**-20, np.array([1e6, 1.0, 0]) @ x <= 1e6]
    return cp.Problem(cp.Minimize(cp.sum_squares(x)), given)


def test_no_conic_solver_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    from convexml.certificates.conic import infeasible

    def crash(*_: Any) -> None:
        raise SolverError("no conic solver today")

    monkeypatch.setattr(infeasible, "relax", crash)
    problem = little()
    problem.solve(solver="HIGHS")
    found = cml.certify(problem)
    assert (found.claim, found.verdict) == ("infeasible", Verdict.CERTIFIED)
    values = [found.evidence[f"constraints[{i}]"] for i in (1, 2)]
    assert values[0] == pytest.approx(values[1], rel=1e-6)  # 1'x <= 1 and >= 1 + 2^-20
    assert values[0] * 2.0**-20 == pytest.approx(1.0, rel=1e-6)  # b'y = -1
