"""``problem.solve(method="convexml")`` and what recognising leaves alone."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from support.recognize import MISSES, STATEMENTS
from support.recognize.judging import near, written
from support.recognize.lagrangian import clarabel, filled
from support.recognize.statement import regression

import convexml as cml


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("name", ["lasso", "lasso_maximised", "soft_margin", "square_root_lasso"])
def test_the_method_answers_as_cvxpy_does(name: str) -> None:
    build = (STATEMENTS.get(name) or MISSES[name]).build
    problem = build()
    value = problem.solve(method="convexml", tol=1e-8)
    assert value == problem.value
    assert near(value, clarabel(build()))
    assert list(written(problem)) == []


@pytest.mark.usefixtures("registered")
def test_the_method_tells_infeasible_and_unbounded() -> None:
    x = cp.Variable(2)
    infeasible = cp.Problem(cp.Minimize(cp.sum_squares(x)), [x >= 1, cp.sum(x) <= 1])
    assert infeasible.solve(method="convexml") == np.inf
    assert infeasible.status == "infeasible"
    unbounded = cp.Problem(cp.Minimize(cp.sum(x)), [x <= 1])
    assert unbounded.solve(method="convexml") == -np.inf
    assert unbounded.status == "unbounded"


def test_registering_twice_is_registering_once() -> None:
    cml.register()
    cml.register()
    assert "convexml" in cp.Problem.REGISTERED_SOLVE_METHODS


def test_a_parameter_that_changes_is_read_anew() -> None:
    X, y = regression()
    w = cp.Variable(5)
    lam, t = cp.Parameter(nonneg=True), cp.Parameter(30)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - t) + lam * cp.norm1(w)))
    for target in (y, y[::-1] + 1.0):
        for strength in (8.0, 0.5, 0.0, 3.0):
            lam.value, t.value = strength, target
            cml.solve(problem, tol=1e-9)
            ours = float(problem.value)
            assert near(ours, float(problem.objective.value), 1e-12)
            fresh = cp.Variable(5)
            loss = cp.sum_squares(X @ fresh - target) + strength * cp.norm1(fresh)
            assert near(ours, clarabel(cp.Problem(cp.Minimize(loss))))


def test_a_parameter_without_a_value_is_named() -> None:
    w, lam = cp.Variable(3, name="w"), cp.Parameter(nonneg=True, name="lam")
    problem = cp.Problem(cp.Minimize(cp.sum_squares(np.eye(3) @ w - 1.0) + lam * cp.norm1(w)))
    with pytest.raises(cml.errors.InputError, match="lam"):
        cml.solve(problem)


@pytest.mark.parametrize("name", ["lasso", "soft_margin", "penalty_of_the_predictions"])
def test_recognising_leaves_the_problem_as_it_is(name: str) -> None:
    problem = (STATEMENTS.get(name) or MISSES[name]).build()
    cml.recognize(problem)
    assert all(value is None for value in filled(problem))
    assert problem.status is None
    clarabel(problem)
    before = filled(problem)
    cml.recognize(problem)
    for old, new in zip(before, filled(problem), strict=True):
        np.testing.assert_array_equal(old, new)


def test_the_data_are_left_alone() -> None:
    X, y = regression()
    kept = X.copy(), y.copy()
    w = cp.Variable(5)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + cp.norm1(w)))
    cml.solve(problem)
    np.testing.assert_array_equal(X, kept[0])
    np.testing.assert_array_equal(y, kept[1])
    assert X.flags.writeable


def test_cvxpy_solves_the_same_problem_afterwards() -> None:
    problem = STATEMENTS["soft_margin"].build()
    cml.solve(problem)
    ours = float(problem.value)
    assert near(ours, clarabel(problem))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_data_that_are_no_numbers_are_refused(bad: float) -> None:
    X, y = regression()
    X[3, 2] = bad
    w = cp.Variable(5)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y) + cp.norm1(w)))
    assert cml.recognize(problem) is None
    with pytest.raises(cml.errors.InputError):
        cml.solve(problem)


def test_integers_and_matrices_are_no_learning_problem() -> None:
    X, y = regression()
    w = cp.Variable(5, integer=True)
    assert cml.recognize(cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y)))) is None
    S = cp.Variable((3, 3), PSD=True)
    assert cml.recognize(cp.Problem(cp.Minimize(cp.sum_squares(S - np.eye(3))))) is None
    z = cp.Variable(5, complex=True)
    assert cml.recognize(cp.Problem(cp.Minimize(cp.sum_squares(X @ z - y)))) is None
