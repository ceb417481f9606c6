"""Infeasible and unbounded problems: evidence that an independent reader can check."""

from __future__ import annotations

import warnings
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.tests import solver_test_helpers as helpers
from support.installed import need
from support.model_cases import confirmed
from support.programs.netlib import netlib
from support.sizes import sizes

import convexml as cml
from convexml import Verdict
from convexml.duality import cone_program


def infeasible() -> dict[str, Any]:
    x, y = cp.Variable(3, name="x"), cp.Variable(2, nonneg=True, name="y")
    X, least = cp.Variable((2, 2), PSD=True, name="X"), cp.Minimize
    again = (x[0] + x[1] == 3).set_label("again")
    return {
        "lp_4": helpers.lp_4().prob,
        "equalities": cp.Problem(least(0), [x[0] + x[1] == 1, again]),
        "ball": cp.Problem(least(cp.sum(x)), [cp.norm(x) <= 1, x[0] >= 2]),
        "semidefinite": cp.Problem(least(X[0, 0]), [cp.trace(X) <= -1]),
        "exponential": cp.Problem(least(x[1]), [cp.exp(x[0]) <= 1, x[0] >= 1]),
        "attribute": cp.Problem(cp.Maximize(-cp.sum(y)), [cp.sum(y) <= -2]),
        "quadratic": cp.Problem(
            least(cp.sum_squares(x)), [cp.sum_squares(x) <= 1, cp.sum(x) >= 10]
        ),
    }


def unbounded() -> dict[str, Any]:
    x, X = cp.Variable(3, name="x"), cp.Variable((2, 2), PSD=True, name="X")
    return {
        "lp_3": helpers.lp_3().prob,
        "lp_6": helpers.lp_6().prob,
        "equality": cp.Problem(cp.Maximize(cp.sum(x)), [x[0] == x[1], x[2] >= x[0] - 5]),
        "quadratic": cp.Problem(cp.Minimize(cp.square(x[0] - 1) + x[1]), [x[2] == 0]),
        "semidefinite": cp.Problem(cp.Maximize(cp.trace(X)), [X[0, 1] == 1]),
        "second-order": cp.Problem(cp.Minimize(x[0]), [cp.norm(x[1:]) <= -x[0]]),
        "exponential": cp.Problem(cp.Minimize(cp.exp(x[0]) - x[1])),
    }


def judged(problem: Any, solver: str = "CLARABEL") -> Any:
    need(solver)
    with warnings.catch_warnings(action="ignore"):
        problem.solve(solver=solver)
    return cml.certify(problem)


@pytest.mark.parametrize("seed", range(8))
def test_the_value_is_that_of_the_multipliers_that_are_shown(seed: int) -> None:
    """b'y in fractions: scaled to -1 up to the rounding of y, which terms that cancel enlarge."""
    rng, x = np.random.default_rng(seed), cp.Variable(3)
    size = 10.0 ** rng.integers(0, 9)
    A, b = rng.normal(size=(4, 3)), rng.normal(size=4) * size
    against = -A.sum(axis=0) @ x <= -b.sum() - 1e-3 * size
    problem = cp.Problem(cp.Minimize(cp.sum(x)), [A @ x <= b, against])
    found = confirmed(judged(problem), "infeasible")
    sides = cone_program(problem).program.b.tolist()
    pairs = zip(sides, found.dual["y"].tolist(), strict=True)
    value = sum((Fraction(s) * Fraction(y) for s, y in pairs), Fraction(0))
    assert found.evidence["value"] == float(value)
    assert found.evidence["value"] == pytest.approx(-1.0, abs=1e-9)


@pytest.mark.parametrize("name", infeasible())
def test_infeasibility_is_verified_and_relaxed(name: str) -> None:
    problem = infeasible()[name]
    certificate = confirmed(judged(problem), "infeasible")
    evidence = certificate.evidence
    assert evidence["radius"] > 1e6
    total, bound = evidence["relaxation_total"], evidence["relaxation_bound"]
    assert total == pytest.approx(bound, rel=1e-5)  # nothing smaller would do
    assert 0.0 < sum(float(np.sum(np.abs(v))) for v in evidence["relaxation"].values())


def test_farkas_multipliers_combine_the_named_constraints_into_nonsense() -> None:
    rng = np.random.default_rng(0)
    A = rng.normal(size=(5, 3))
    b = A @ np.ones(3)
    x = cp.Variable(3, name="x")
    rows = [(A @ x <= b).set_label("upper"), (A[0] @ x == b[0] + 1.0).set_label("equality")]
    certificate = judged(cp.Problem(cp.Minimize(cp.sum(x)), rows))
    upper, equality = certificate.evidence["upper"], certificate.evidence["equality"]
    assert np.all(upper >= 0.0)
    np.testing.assert_allclose(A.T @ upper + A[0] * equality, 0.0, atol=1e-12)
    assert upper @ b + equality * (b[0] + 1.0) == pytest.approx(-1.0)
    moved = certificate.evidence["relaxation"]
    assert moved["upper"].shape == (5,)
    assert np.sum(moved["upper"]) + abs(moved["equality"]) == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize(
    ("solver", "name"),
    [("SCS", "lp_3"), ("SCS", "lp_4"), ("ECOS", "lp_3"), ("OSQP", "lp_4"), ("HIGHS", "lp_3")],
)
def test_a_solvers_word_is_never_repeated_unchecked(name: str, solver: str) -> None:
    certificate = judged(getattr(helpers, name)().prob, solver)
    claim = {"lp_3": "unbounded", "lp_4": "infeasible"}[name]
    assert (certificate.claim, certificate.verdict) == (claim, Verdict.CERTIFIED)


def test_a_wrong_word_is_not_repeated() -> None:
    x = cp.Variable(2, name="x")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x)), [x >= 1])
    for word in ("infeasible", "unbounded"):
        problem._status = word
        certificate = cml.certify(problem)
        assert certificate.verdict is Verdict.UNDECIDED
        assert certificate.claim == word


@pytest.mark.parametrize("name", unbounded())
def test_unboundedness_is_verified_along_the_ray(name: str) -> None:
    problem = unbounded()[name]
    certificate = confirmed(judged(problem), "unbounded")
    point, ray = certificate.evidence["point"], certificate.evidence["ray"]
    sign = 1.0 if isinstance(problem.objective, cp.Minimize) else -1.0
    values = []
    for far in (0.0, 10.0, 1000.0):  # by CVXPY's own expressions
        for variable in problem.variables():
            name = variable.name()
            variable.save_value(np.asarray(point[name] + far * ray[name]))
        for constraint in problem.constraints:
            assert np.max(constraint.violation()) <= 1e-6 * (1.0 + far)
        values.append(sign * float(problem.objective.expr.value))
    assert values[0] > values[1] > values[2]
    slope = (values[2] - values[1]) / 990.0
    assert slope < -1e-3


EMPTY = ["mondou2", "klein1", "bgprtr", "itest2", "woodinfe", "cplex2"]


def netlib_problem(name: str, as_rows: bool) -> cp.Problem:
    """A NETLIB program with its bounds as constraints, or as an attribute."""
    data = netlib(name).data
    x = cp.Variable(data.n, name="x", bounds=None if as_rows else [data.lower, data.upper])
    given = [data.A_ub @ x <= data.b_ub, data.A_eq @ x == data.b_eq]
    low, high = (np.flatnonzero(np.isfinite(ends)) for ends in (data.lower, data.upper))
    if as_rows:
        given += [x[low] >= data.lower[low], x[high] <= data.upper[high]]
    return cp.Problem(cp.Minimize(data.c @ x), [each for each in given if each.size])


@pytest.mark.parametrize("name", EMPTY)
def test_a_program_without_a_point_is_proved_to_have_none(name: str) -> None:
    problem = netlib_problem(name, EMPTY.index(name) % 2 == 0)
    found = confirmed(judged(problem, "HIGHS"), "infeasible")
    assert problem.status == "infeasible"
    assert found.within is None


@pytest.mark.parametrize("solver", ["CLARABEL", "HIGHS"])
def test_mondou2_is_infeasible_whoever_solves_it(solver: str) -> None:
    """It has no dual feasible point either, and Clarabel calls it unbounded."""
    confirmed(cml.solve(netlib_problem("mondou2", as_rows=True), solver), "infeasible")


def claimed(A, b):
    """The certificate of the claim that A x = b has no solution."""
    A = np.array(A, dtype=float)
    x = cp.Variable(A.shape[1])
    problem = cp.Problem(cp.Minimize(0), [A @ x == np.array(b, dtype=float)])
    problem._status = "infeasible"
    return cml.certify(problem)


def system(rng):
    """Integers A, x and A x, the last rows copies or combinations of the first."""
    n, k = int(rng.integers(2, 5)), int(rng.integers(2, 4))
    A = rng.integers(-9, 10, size=(k, n))
    again = A[rng.integers(0, k, size=int(rng.integers(1, 3)))]
    if rng.random() < 0.5:
        again = again + int(rng.integers(1, 4)) * A[0]
    A = np.vstack([A, again])
    return A, A @ rng.integers(-20, 21, size=n)


@pytest.mark.parametrize("draws", sizes(6, 60))
def test_consistent_systems_in_any_units(draws: int) -> None:
    rng = np.random.default_rng(20261121)
    for k in range(draws):
        A, b = system(rng)
        if k % 2:
            rows = np.exp2(rng.integers(-40, 41, size=b.size))
            columns = np.exp2(rng.integers(-40, 41, size=A.shape[1]))
            A, b = rows[:, None] * A * columns, rows * b
        certificate = claimed(A, b)
        assert certificate.verdict is not Verdict.CERTIFIED, (A.tolist(), b.tolist())


def test_inconsistent_systems_stay_certified():
    rng = np.random.default_rng(20261122)
    for _ in range(10):
        A, b = system(rng)
        b[-1] += 1
        certificate = claimed(A, b)
        assert certificate.verdict is Verdict.CERTIFIED, (A.tolist(), b.tolist())
        y = certificate.dual["y"]
        value = sum(Fraction(v) * int(w) for v, w in zip(y.tolist(), b.tolist(), strict=True))
        assert abs(float(value) + 1.0) <= 1e-9


@pytest.mark.filterwarnings("ignore")  # CVXPY's own sums overflow
def test_sums_that_overflow_prove_nothing() -> None:
    y = cp.Variable(2)
    for level in (1e308, 1e307):
        problem = cp.Problem(cp.Minimize(cp.sum(y)), [y >= level])
        problem._status = "infeasible"
        assert cml.certify(problem).verdict is not Verdict.CERTIFIED
        solved = cml.solve(problem)
        assert solved.claim != "infeasible" or solved.verdict is not Verdict.CERTIFIED


@pytest.mark.parametrize("apart", [0.0, 1e-9])
def test_rows_that_define_entries_hide_no_contradiction(apart):
    """Least squares and absolute values bring rows that any w meets; sum(w) = 1 = 1 + apart not."""
    rng = np.random.default_rng(0)
    X, t = rng.normal(size=(6, 3)), rng.normal(size=6)
    w = cp.Variable(3)
    cost = cp.sum_squares(X @ w - t) + cp.norm1(w)
    problem = cp.Problem(cp.Minimize(cost), [cp.sum(w) == 1, cp.sum(w) == 1 + apart])
    alone = cp.Problem(cp.Minimize(cost), [cp.sum(w) == 1])
    alone.solve(solver="CLARABEL")
    problem.constraints[0].save_dual_value(alone.constraints[0].dual_value)
    problem.constraints[1].save_dual_value(np.array(0.0))
    certificate = cml.certify(problem)
    assert (certificate.verdict is Verdict.CERTIFIED) == (apart == 0.0), str(certificate)
    assert ("no point is known" in certificate.reason) == (apart > 0.0)


STRUCTURES: dict[str, dict[str, Any]] = {
    name: {name: True} if name else {} for name in ("", "PSD", "NSD", "symmetric", "diag")
}

LOOP = ((0.0, "infeasible"), (1.0, "optimal"), (4.0, "optimal"), (0.0, "infeasible"))


@pytest.mark.parametrize("name", STRUCTURES)
def test_rows_that_cannot_be_met_and_can(name: str) -> None:
    """In a loop: no answer is that of before, nor is CVXPY's own afterwards."""
    ask = cml.certify if name in ("PSD", "diag") else cml.solve
    sign = -1.0 if name == "NSD" else 1.0
    w, D = cp.Variable(2), cp.Parameter((2, 2), **STRUCTURES[name])
    problem = cp.Problem(cp.Minimize(cp.sum(w)), [sign * (D @ w) >= 1, w >= -1, w <= 5])
    for size, claim in LOOP:
        D.value = sign * size * np.eye(2)
        if ask is cml.certify:
            problem.solve(solver="CLARABEL")
        certificate = confirmed(ask(problem), claim)
        if claim == "optimal":
            assert certificate.primal_objective == pytest.approx(2.0 / size, rel=1e-6)
        problem.solve(solver="CLARABEL")
        assert problem.status == claim
