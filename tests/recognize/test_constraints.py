"""Constraints: slacks and equations that are eliminated, sets, and the users' own multipliers."""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import lsq_linear
from support.recognize.constrained import BUILT, of_thirds_of_a_slack
from support.recognize.judging import near
from support.recognize.lagrangian import clarabel, minimised_lagrangian
from support.recognize.statement import classes, regression

import convexml as cml
from convexml.recognition.answering import solve_recognized
from convexml.recognition.comparing import compare_sets
from convexml.recognition.constraints import read_constraints
from convexml.recognition.posing.problem import pose
from convexml.recognition.reading.declined import Declined
from convexml.recognition.reading.objective import read_objective
from convexml.recognition.verifying import verify


@pytest.mark.parametrize("build", BUILT, ids=lambda each: each.__name__)
def test_it_is_read_and_its_constraints_get_their_multipliers(
    build: Callable[[], cp.Problem],
) -> None:
    loss, penalty, unique = BUILT[build]
    problem, theirs = build(), build()
    found = cml.recognize(problem, explain=True)
    assert found is not None
    assert found.loss is not None, found.why
    assert found.penalty is not None
    assert (found.loss.name, found.penalty.name) == (loss, penalty)
    found, value = solve_recognized(problem, 1e-9), clarabel(theirs)
    assert found is not None
    assert found.certificate.primal_objective == pytest.approx(value, rel=1e-7)
    assert all(np.max(each.violation()) <= 1e-7 for each in problem.constraints)
    for number in unique:
        ours, other = (each.constraints[number].dual_value for each in (problem, theirs))
        np.testing.assert_allclose(ours, other, atol=2e-5 * max(1.0, np.abs(other).max()))
    assert minimised_lagrangian(problem) == pytest.approx(value, rel=1e-6)


def test_an_intercept_in_units_of_a_third_is_one() -> None:
    found = cml.recognize(of_thirds_of_a_slack())
    assert found is not None
    assert found.posed is not None
    assert found.posed.design.intercept is not None


@pytest.mark.parametrize("one_sided", [True, False])
def test_bounds_of_a_variable_may_be_parameters(one_sided: bool) -> None:
    """CVXPY projects to none of these: they are compared by their values."""
    X, y = regression()
    low, high = cp.Parameter(5), 0.25 * np.arange(1.0, 6.0)
    w = cp.Variable(5, bounds=[low, None if one_sided else low + high])
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y)))
    with pytest.raises(cml.errors.InputError):
        cml.solve(problem)
    for start in (-0.5, -2.0, 0.25):
        low.value = start + 0.1 * np.arange(5.0)
        found = cml.recognize(problem, explain=True)
        assert found, found.why
        end = np.full(5, np.inf) if one_sided else low.value + high
        for far, ends in ((-1e9, low.value), (1e9, np.minimum(end, 1e9))):
            np.testing.assert_array_equal(found.penalty.project(np.full(5, far)), ends)
        cml.solve(problem, tol=1e-9)
        expected = lsq_linear(X, y, (low.value, end), tol=1e-14)
        assert near(problem.value, 2.0 * expected.cost)
        np.testing.assert_allclose(w.value, expected.x, atol=1e-5)


def idle_problem(
    loss: str, idle: Callable[[cp.Variable, cp.Variable], list[cp.Constraint]]
) -> cp.Problem:
    """A loss with constraints that bound nothing."""
    w, b = cp.Variable(2), cp.Variable()
    X, y = regression(d=2)
    residual = X @ w + b - y
    Z, labels = classes(d=2)
    costs = {
        "squares": lambda: cp.sum_squares(residual),
        "a mean": lambda: cp.mean(cp.square(residual)),
        "a lasso": lambda: cp.sum_squares(residual) + cp.norm1(w),
        "a hinge": lambda: cp.sum(cp.pos(1 - cp.multiply(labels, Z @ w + b))) + cp.sum_squares(w),
    }
    return cp.Problem(cp.Minimize(costs[loss]()), idle(w, b))


IDLE: dict[str, Callable[[cp.Variable, cp.Variable], list[cp.Constraint]]] = {
    "b <= inf": lambda w, b: [b <= np.inf],
    "b >= -inf": lambda w, b: [b >= -np.inf],
    "-2 b <= inf": lambda w, b: [-2.0 * b <= np.inf],
    "both": lambda w, b: [w <= np.inf, b <= np.inf, -np.inf <= b],
}


@pytest.mark.parametrize(
    ("loss", "idle"),
    [(loss, "b <= inf") for loss in ("a mean", "a lasso", "a hinge")]
    + [("squares", each) for each in IDLE],
)
def test_an_infinite_bound_of_an_intercept_is_none(loss: str, idle: str) -> None:
    """The value is that without it, and its dual value is 0."""
    problem, without = idle_problem(loss, IDLE[idle]), idle_problem(loss, lambda w, b: [])
    found = cml.recognize(problem, explain=True)
    assert found, found.why
    assert found.posed.design.intercept is not None
    assert cml.solve(problem, tol=1e-9).verdict is cml.Verdict.CERTIFIED
    assert near(problem.value, clarabel(without))
    assert all(not np.any(each.dual_value) for each in problem.constraints)


def test_a_slope_that_is_taken_for_the_intercept_may_have_an_infinite_bound() -> None:
    """(x w + b - y)^2 is x^2 (w + b/x - y/x)^2; the line of least squares in closed form."""
    x, y = np.array([1.59, -1.07, 0.01, -0.29, 0.31]), np.array([-1.6, 0.1, -0.8, 0.4, -2.1])
    w, b = cp.Variable(1), cp.Variable()
    idle = w <= np.inf
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x[:, None] @ w + b - y)), [idle])
    assert cml.solve(problem, tol=1e-9).verdict is cml.Verdict.CERTIFIED
    centred = x - x.mean()
    slope = centred @ y / (centred @ centred)
    np.testing.assert_allclose([w.value[0], b.value], [slope, y.mean() - slope * x.mean()])
    np.testing.assert_array_equal(idle.dual_value, [0.0])


def test_a_finite_bound_of_an_intercept_is_noticed() -> None:
    """Planted: what was read as infinite, and is not."""
    reading = read_objective(idle_problem("squares", IDLE["both"]))
    read_constraints(reading)
    posed = pose(reading)
    verify(posed)
    bound = next(one for one in reading.sets if one.key == posed.design.intercept)
    bound.rows.affine.offset[:] = -1.0
    with pytest.raises(Declined):
        compare_sets(posed, posed.check.written, np.zeros((1, 2)), np.zeros((1, 30)))


def test_a_bound_of_an_intercept_that_becomes_finite_holds() -> None:
    """A Parameter that was inf; the multiplier is the slope of the least squares by b."""
    X, y = regression(d=2)
    w, b, top = cp.Variable(2), cp.Variable(), cp.Parameter()
    problem = cp.Problem(cp.Minimize(cp.sum_squares(X @ w + b - y)), [b <= top])
    for top.value in (np.inf, 0.25, np.inf):
        cml.solve(problem, tol=1e-9)
        expected = lsq_linear(
            np.column_stack([X, np.ones(30)]), y, (-np.inf, [np.inf, np.inf, top.value]), tol=1e-14
        )
        assert near(problem.value, 2.0 * expected.cost)
        slope = -2.0 * expected.fun.sum() if np.isfinite(top.value) else 0.0
        np.testing.assert_allclose(problem.constraints[0].dual_value, slope, rtol=1e-5)


def test_a_ball_of_no_entries_is_left_to_the_cones() -> None:
    none, x = cp.Variable((0,)), cp.Variable(3)
    ball = cp.sum_squares(none) <= 1.0
    found = cml.recognize(cp.Problem(cp.Minimize(cp.sum_squares(x - 1.0)), [ball]), explain=True)
    assert not found
    assert "not of all entries" in found.why
    problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 1.0)), [ball])
    assert cml.solve(problem).verdict is cml.Verdict.CERTIFIED
    np.testing.assert_allclose(x.value, 1.0, atol=1e-3)
