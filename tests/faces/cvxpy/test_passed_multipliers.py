"""Multipliers and answers that stand in a problem; CVXPY's own cases with published values."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.tests import solver_test_helpers as helpers
from support.installed import need
from support.sizes import by_turns, quick

import convexml as cml
from convexml import Verdict

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
    with warnings.catch_warnings(action="ignore"):  # SCS says where it is inaccurate; we measure it
        helper.prob.solve(solver=solver)
    return helper


WITHOUT = ("lp_bound_attr", "qp_bound_attr")  # attributes have no dual values that stand

MUTATIONS: dict[str, Callable[[Any], Any]] = {
    "flipped": np.negative,
    "twice": lambda y: 2.0 * y,
    "zero": np.zeros_like,
    "shifted": lambda y: y + max(1.0, float(np.max(np.abs(y)))),
}


QUICK = ("lp_0", "lp_2", "lp_bound_attr", "qp_0", "socp_1", "expcone_1", "pcp_2")


@pytest.mark.parametrize("name", quick(CASES, QUICK))
def test_a_mutated_multiplier_holds_only_where_it_is_optimal(name: str) -> None:
    problem = solved(name).prob
    certificate = cml.certify(problem)
    if name in WITHOUT:
        assert certificate.multipliers == "not passed"
        return
    assert certificate.multipliers == "hold", str(certificate)
    if name != "lp_5":  # its equalities are dependent: the bound comes from other multipliers
        assert certificate.dual_source == "passed"
    for constraint in problem.constraints:
        values = [np.array(part.value) for part in constraint.dual_variables]
        size = max(float(np.max(np.abs(value))) for value in values)
        for kind, mutate in MUTATIONS.items():
            if size < 1e-5 and kind != "shifted":
                continue
            for part, value in zip(constraint.dual_variables, values, strict=True):
                part.save_value(mutate(value))
            found = cml.certify(problem)
            if name == "lp_0":  # |x|_1 + 1 subject to x = 0: any multiplier in [-1, 1] is optimal
                optimal = np.max(np.abs(mutate(values[0]))) <= 1.0 + 1e-6
            else:
                optimal = False
            assert (found.multipliers == "hold") == optimal, f"{kind}: {found}"
            assert optimal or not found.holds()
        for part, value in zip(constraint.dual_variables, values, strict=True):
            part.save_value(value)


def two_bounds(x: float, y: list[float], first: float = 0.0, unit: float = 1.0) -> cml.Certificate:
    """Minimise x subject to x >= first and x >= 0, at x with multipliers y: of one, y sums to 1."""
    variable = cp.Variable(name="x")
    rows = [unit * variable >= unit * first, unit * variable >= 0.0]
    problem = cp.Problem(cp.Minimize(unit * (variable + 1.0)), rows)
    variable.save_value(np.array(x))
    for row, value in zip(rows, y, strict=True):
        row.save_dual_value(np.array(value))
    return cml.certify(problem)


def test_the_nearest_multipliers_that_hold_are_what_counts() -> None:
    for y in ([1.0, 0.0], [0.25, 0.75], [0.25, 0.75 + 1e-7]):  # they need not be unique
        assert two_bounds(0.0, y).multipliers == "hold"
    for y in ([0.25, 0.75 + 1e-5], [1.0, 1.0], [-0.5, 1.5], [np.nan, 1.0]):
        assert two_bounds(0.0, y).multipliers == "do not hold"


def test_feasible_multipliers_of_too_low_a_value_do_not_hold() -> None:
    """x >= 1 and x >= 0: only (1, 0) gives the value 1, whatever is said of the point."""
    right, wrong = [1.0, 0.0], [0.0, 1.0]
    for unit in (1.0, 2.0**20, 2.0**-20):
        assert two_bounds(1.0, right, first=1.0, unit=unit).multipliers == "hold"
        found = two_bounds(1.0, wrong, first=1.0, unit=unit)
        assert found.multipliers == "do not hold"
        assert "their bound" in str(found)
        worse = two_bounds(2.0, right, first=1.0, unit=unit)
        assert (worse.verdict, worse.multipliers) == (Verdict.REFUTED, "hold")
        worse = two_bounds(2.0, wrong, first=1.0, unit=unit)
        assert (worse.verdict, worse.multipliers) == (Verdict.REFUTED, "do not hold")


def test_the_words_are_the_same_everywhere() -> None:
    found = two_bounds(0.0, [1.0, 1.0])
    words = "the passed multipliers do not hold: "
    assert words in str(found).splitlines()[1]
    assert words in found._repr_html_()
    assert "passed multipliers do not hold" in found._repr_latex_()
    assert "multipliers do not hold" in repr(found)
    assert "the passed multipliers hold" in str(two_bounds(0.0, [1.0, 0.0])).splitlines()[1]


LINEAR = tuple(name for name in CASES if name.startswith(("lp", "qp")))

SECOND_ORDER = (*LINEAR, *(name for name in CASES if name.startswith(("socp", "expcone"))))

# First-order solvers at their defaults leave errors of 1e-4 and more.
RUNS = [("CLARABEL", name, 1e-5) for name in CASES]
RUNS += [("SCS", name, 1e-3) for name in [*CASES][::3]]
RUNS += [("ECOS", name, 1e-5) for name in SECOND_ORDER[::4]]
RUNS += [("OSQP", name, 1e-3) for name in LINEAR[::3]]
RUNS += [("HIGHS", name, 1e-5) for name in LINEAR[::3]]


@pytest.mark.parametrize(("solver", "name", "tol"), by_turns(RUNS), ids=str)
def test_cvxpys_own_cases_are_certified(solver: str, name: str, tol: float) -> None:
    helper = solved(name, solver)
    certificate = cml.certify(helper.prob, tol=tol)
    if name == "lp_7":  # all right-hand sides are 0, and P* = 0: nothing says what a unit is
        assert certificate.verdict is not Verdict.REFUTED
        assert certificate.within is None
        assert certificate.scale <= 1e-6
        return
    assert certificate.verdict is Verdict.CERTIFIED, str(certificate)
    assert certificate.holds(tol)
    value = helper.expect_val
    if value is not None:
        assert certificate.primal_objective == pytest.approx(value, abs=5e-3)  # two digits
    if solver == "CLARABEL" and np.isfinite(certificate.gap):
        assert certificate.dual_objective == pytest.approx(helper.prob.value, rel=1e-5, abs=1e-5)


def test_the_wrong_published_dual_is_not_certified() -> None:
    """The helper gives X1 itself as the multiplier of X1 >> 0."""
    helper = solved("sdp_2")
    constraint = helper.constraints[2]
    constraint.save_dual_value(helper.expect_dual_vars[2])
    certificate = cml.certify(helper.prob, tol=1e-5)
    assert certificate.verdict is Verdict.UNDECIDED
    rows = {row.name: row for row in certificate.conditions}
    assert rows["constraints[2]: complementarity"].residual > 100.0
    assert "the multipliers leave" in certificate.reason


@pytest.mark.parametrize("name", ["lp_1", "socp_1", "socp_2", "socp_4", "expcone_1", "pcp_1"])
def test_published_points_and_duals_are_judged_as_they_are(name: str) -> None:
    """The published values are rounded to 5 digits or so; nothing of ours is solved for them."""
    helper = case(name)
    for variable, value in zip(helper.variables, helper.expect_prim_vars, strict=True):
        variable.save_value(np.reshape(value, variable.shape))
    for constraint, value in zip(helper.constraints, helper.expect_dual_vars, strict=True):
        parts = value if isinstance(value, list) else [value]
        for dual, part in zip(constraint.dual_variables, parts, strict=True):
            dual.save_value(np.reshape(np.asarray(part, dtype=float), dual.shape))
    assert cml.certify(helper.prob, tol=1e-3).verdict is Verdict.CERTIFIED


def logistic(lam: Any = 0.1) -> cp.Problem:
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(30, 3)), rng.choice([-1.0, 1.0], 30)
    w = cp.Variable(3, name="w")
    loss = cp.sum(cp.logistic(-cp.multiply(y, X @ w)))
    return cp.Problem(cp.Minimize(loss + lam * cp.sum_squares(w)), [w <= 0.1])


def test_what_clarabel_solved_is_not_solved_again(monkeypatch: pytest.MonkeyPatch) -> None:
    import clarabel

    asked, inner = [], clarabel.DefaultSolver
    monkeypatch.setattr(clarabel, "DefaultSolver", lambda *a: asked.append(1) or inner(*a))
    problem, other = logistic(), logistic()
    problem.solve(solver="CLARABEL")
    asked.clear()
    first = cml.certify(problem)
    assert first.verdict is Verdict.CERTIFIED
    assert not asked
    for mine, theirs in zip(problem.variables(), other.variables(), strict=True):
        theirs.value = mine.value
    for mine, theirs in zip(problem.constraints, other.constraints, strict=True):
        theirs.save_dual_value(mine.dual_value)
    second = cml.certify(other)
    assert asked
    assert first.primal_objective == second.primal_objective
    assert first.dual_objective == pytest.approx(second.dual_objective, rel=1e-6)


def test_an_answer_to_another_problem_is_none() -> None:
    lam = cp.Parameter(nonneg=True, value=0.1)
    problem = logistic(lam)
    problem.solve(solver="CLARABEL")
    assert cml.certify(problem).verdict is Verdict.CERTIFIED
    lam.value = 10.0
    assert cml.certify(problem).verdict is Verdict.REFUTED
    lam.value = 0.1
    (w,) = problem.variables()
    w.value = w.value - 1e-3
    moved = cml.certify(problem)
    assert moved.primal_objective == pytest.approx(problem.objective.value)
    assert moved.gap > 0.0
