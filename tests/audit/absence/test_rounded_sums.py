"""Coefficients that CVXPY added up and rounded prove nothing that the written ones do not.

The written coefficients are summed by rationals here; no evidence may rest on what is left of them.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml import Verdict
from convexml.audit.cvxpy.reading.point import pose
from convexml.audit.cvxpy.rounding.coefficients import rounded_data
from convexml.audit.cvxpy.rounding.copied import is_copied
from convexml.audit.cvxpy.rounding.walk import Walk

TINY, STEP = 2.0**-54, 1.0 + 2.0**-52
x = cp.Variable(name="x")
z = cp.Variable(3, name="z")


def exactly(coefficients: list[float]) -> Fraction:
    return sum((Fraction(c) for c in coefficients), Fraction(0))


def combined(coefficients: list[float]) -> cp.Expression:
    return sum((c * x for c in coefficients[1:]), coefficients[0] * x)


ZERO = [1.0, TINY, TINY, TINY, TINY, -STEP]
"""0, and -2^-52 as it is added up."""
POSITIVE = [1.0, TINY, TINY, TINY, TINY, -1.0]
"""2^-52, and 0 as it is added up."""

WRONG: dict[str, Callable[[], tuple[cp.Problem, str]]] = {
    # The objective is 0 everywhere.
    "cost": lambda: (cp.Problem(cp.Minimize(combined(ZERO)), [x >= -1e3]), "unbounded"),
    # The row is 2^-52 x <= 1: the value is -2^52.
    "row": lambda: (cp.Problem(cp.Minimize(-x), [combined(POSITIVE) <= 1]), "unbounded"),
    "cone": lambda: (
        cp.Problem(cp.Minimize(-x), [cp.norm(cp.hstack([combined(POSITIVE), 1])) <= 2]),
        "unbounded",
    ),
    "exponential": lambda: (
        cp.Problem(cp.Minimize(cp.exp(combined(POSITIVE)) - x), [x >= 0]),
        "unbounded",
    ),
    # x = -2^52 is feasible.
    "contradiction": lambda: (cp.Problem(cp.Minimize(0), [combined(POSITIVE) <= -1]), "infeasible"),
    "equality": lambda: (cp.Problem(cp.Minimize(0), [combined(POSITIVE) == 1]), "infeasible"),
    # The value is about -2^51: x log 2 more than log(1 + e^(2^-52 x)) gains.
    "curve": lambda: (cp.Problem(cp.Minimize(combined(POSITIVE) - cp.log(x))), "unbounded"),
}


def test_the_cases_are_what_they_say() -> None:
    assert exactly(ZERO) == 0
    assert sum(ZERO) < 0.0
    assert exactly(POSITIVE) > 0
    assert sum(POSITIVE) == 0.0


@pytest.mark.parametrize("name", WRONG)
def test_what_rounding_left_over_is_no_evidence(name: str) -> None:
    problem, claim = WRONG[name]()
    found = cml.solve(problem)
    assert (found.claim, found.verdict) != (claim, Verdict.CERTIFIED), str(found)


RIGHT: dict[str, Callable[[], tuple[cp.Problem, str]]] = {
    "integers": lambda: (
        cp.Problem(cp.Minimize(-x), [3 * x - 2 * x - x <= 1, 2 * x - x >= 0]),
        "unbounded",
    ),
    "away from the border": lambda: (
        cp.Problem(cp.Minimize(0.1 * x + 0.2 * x), [x - 0.3 * x <= 1]),
        "unbounded",
    ),
    "means": lambda: (
        cp.Problem(cp.Minimize(cp.mean(z)), [cp.mean(z) <= 1, cp.sum(z) / 3 <= 7, z[0] == z[1]]),
        "unbounded",
    ),
    "contradiction": lambda: (
        cp.Problem(cp.Minimize(0), [3 * x - 2 * x <= -1, 0.1 * x >= 0]),
        "infeasible",
    ),
    "a mean that is too small": lambda: (
        cp.Problem(cp.Minimize(0), [cp.mean(z) <= -1, z >= 0]),
        "infeasible",
    ),
    "two means": lambda: (
        cp.Problem(cp.Minimize(0), [cp.mean(z) <= -1, cp.mean(z) >= 1]),
        "infeasible",
    ),
    "rounded rows of bounded variables": lambda: (
        cp.Problem(cp.Minimize(0), [0.1 * z[0] + 0.7 * z[0] + z[1] <= -1, z >= 0]),
        "infeasible",
    ),
    "products": lambda: (
        cp.Problem(cp.Minimize(z[0]), [np.ones((2, 3)) @ (np.eye(3) @ z) == 1]),
        "unbounded",
    ),
}


@pytest.mark.parametrize("name", RIGHT)
def test_exact_sums_and_strict_slopes_are_evidence_as_before(name: str) -> None:
    problem, claim = RIGHT[name]()
    found = cml.solve(problem)
    assert (found.claim, found.verdict) == (claim, Verdict.CERTIFIED), str(found)


def test_the_account_covers_what_was_rounded() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        terms = (rng.choice([1.0, 0.1, 1e-8, 3.0], 6) * rng.standard_normal(6)).tolist()
        posed = pose(cp.Problem(cp.Minimize(combined(terms)), [combined(terms) == 1.0]))
        off = rounded_data(posed.problem, posed.canonical)
        for stands, room in (
            (posed.program.q[0], off.costs[0]),
            (posed.program.A.toarray()[0, 0], off.rows.toarray()[0, 0]),
        ):
            assert min(
                abs(Fraction(stands) - exactly(terms)), abs(Fraction(stands) + exactly(terms))
            ) <= Fraction(room)


def test_what_was_not_rounded_has_no_account() -> None:
    rng = np.random.default_rng(4)
    X = rng.standard_normal((4, 3))
    problem = cp.Problem(
        cp.Minimize(cp.sum(cp.logistic(X @ z)) + cp.norm(z) + cp.sum_squares(X @ z - 1)),
        [z <= 1, cp.sum(z) == 1, cp.diag(z) >> -np.eye(3), cp.reshape(z, (3, 1), order="F") >= -9],
    )
    off = rounded_data(problem, pose(problem).canonical)
    assert off.rows.nnz == 0
    assert not np.any(off.costs)
    assert not np.any(off.bends)


A = np.array([[0.1, 0.0, -7.3], [0.3, 0.7, 1e-9]])
v, Y = cp.Variable(3, nonneg=True), cp.Variable((3, 2))
c = cp.Parameter(3, value=[0.1, 0.2, 0.3])
COPIED: dict[str, tuple[cp.Expression, list[cp.Constraint]]] = {
    "rows and bounds": (A[0] @ z, [A @ z <= [0.1, 3], z[[0, 2]] >= [-0.7, 0.3], z[1] == 0.9]),
    "two sides": (-(0.3 * x) - z[0], [A @ z - 0.7 <= 0, A @ z >= x, -z <= 0.1]),
    "matrices": (x, [Y @ A == np.eye(3), A @ Y <= 0.1, cp.multiply(A.T, Y) >= -0.3, Y.T <= A]),
}
ADDED: dict[str, tuple[cp.Expression, list[cp.Constraint]]] = {
    "objective": (0.1 * x + 0.2 * x, [x >= 0]),
    "both sides": (x, [0.1 * z <= A[0] @ z]),
    "constants": (x, [A @ z - 0.1 <= 0.2]),
    "products": (x, [0.1 * (A @ z) <= 0]),
    "entries twice": (x, [A @ z[[0, 0, 1]] <= 0]),
    "sums": (x, [cp.sum(A @ z) <= 0]),
    "quotients": (x, [z / 3.0 <= 0]),
    "atoms": (cp.abs(x), [z >= 0]),
    "cones": (x, [cp.norm(z) <= x]),
    "attributes": (x, [A @ v <= 0]),
    "parameters": (c @ z, [z >= 0]),
    "infinite": (x, [A @ z <= [np.inf, 1]]),
}


@pytest.mark.parametrize("name", COPIED)
def test_coefficients_that_are_copied_are_those_written(name: str) -> None:
    objective, constraints = COPIED[name]
    problem = cp.Problem(cp.Minimize(objective), constraints)
    assert is_copied(problem)
    program = pose(problem).program
    written = {0.0, 1.0, 0.1, 0.3, 0.7, 0.9, 3.0, *np.abs(A).ravel().tolist()}
    assert {*np.abs(np.concatenate([program.A.data, program.b, program.q])).tolist()} <= written


@pytest.mark.parametrize("name", ADDED)
def test_what_may_be_added_up_is_accounted_for(name: str) -> None:
    objective, constraints = ADDED[name]
    assert not is_copied(cp.Problem(cp.Minimize(objective), constraints))


def test_the_trace_of_each_matrix_of_a_stack() -> None:
    X = cp.Variable((2, 3, 3))
    spread = np.arange(1.0, 19.0).reshape(2, 3, 3)
    trace = cp.trace(-cp.multiply(-spread, X))  # CVXPY 1.9.2 fails at that of a product alone
    found = Walk({X.id: 0}, X.size).terms(trace).size.toarray()
    picked = np.einsum("ijj,ijj,jk->ik", spread, spread, np.ones((3, 1)))[:, 0]
    assert found.shape == (2, 19)
    assert np.array_equal(found[:, :18] @ spread.ravel(order="F"), picked)
    assert not found[:, 18].any()
