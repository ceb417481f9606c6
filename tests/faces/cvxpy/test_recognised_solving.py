"""What is recognised is solved as written: sense, constants, bounds, parameters, the door."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from scipy.optimize import lsq_linear
from support.answers import clarabel, near, written
from support.near_misses import MISSES
from support.spellings import STATEMENTS, classes, regression

import convexml as cml


def test_the_gap_is_measured_without_the_constant() -> None:
    plain, lifted = (
        cml.solve(cp.Problem(cp.Minimize(STATEMENTS["lasso"].build().objective.expr + constant)))
        for constant in (0.0, 1e4)
    )
    assert lifted.primal_objective == pytest.approx(plain.primal_objective + 1e4, rel=1e-12)
    assert lifted.scale == pytest.approx(plain.scale)


def test_only_a_problem_of_cvxpy_is_taken() -> None:
    with pytest.raises(cml.errors.InputError, match=r"^recognize: expected a cvxpy\.Problem"):
        cml.recognize(cp.Variable(3))


def test_the_gap_is_small_beside_p_itself() -> None:
    """P of the null model is 1e6 times as large where samples weigh so much more."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 5))
    y = X @ rng.normal(size=5) + rng.normal(size=30)
    w, a = cp.Variable(5), np.where(np.arange(30) < 2, 1e3, 1.0)
    loss = cp.sum_squares(cp.multiply(a, X @ w - y))
    problem = cp.Problem(cp.Minimize(loss + cp.norm1(w)))
    found = cml.solve(problem)
    value = problem.value
    assert found.verdict is cml.Verdict.CERTIFIED
    assert found.gap <= 1e-6 * value
    assert value == pytest.approx(problem.solve(solver="CLARABEL"), rel=1e-6)


@pytest.mark.parametrize("name", ["lasso", "lasso_maximised", "soft_margin", "square_root_lasso"])
def test_the_method_answers_as_cvxpy_does(name: str) -> None:
    build = STATEMENTS[name].build if name in STATEMENTS else MISSES[name][0]
    problem = build()
    cml.register()
    value = problem.solve(method="convexml", tol=1e-8)
    assert value == problem.value
    assert near(value, clarabel(build()))
    assert list(written(problem)) == []


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


def filled(problem: cp.Problem) -> list[Any]:
    return [v.value for v in problem.variables()] + [c.dual_value for c in problem.constraints]


def test_recognising_leaves_the_problem_as_it_is() -> None:
    problem = STATEMENTS["soft_margin"].build()
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


def test_integers_and_matrices_are_no_learning_problem() -> None:
    X, y = regression()
    w = cp.Variable(5, integer=True)
    assert cml.recognize(cp.Problem(cp.Minimize(cp.sum_squares(X @ w - y)))) is None
    S = cp.Variable((3, 3), PSD=True)
    assert cml.recognize(cp.Problem(cp.Minimize(cp.sum_squares(S - np.eye(3))))) is None
    z = cp.Variable(5, complex=True)
    assert cml.recognize(cp.Problem(cp.Minimize(cp.sum_squares(X @ z - y)))) is None


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


IDLE: dict[str, Callable[[Any, Any], list[Any]]] = {
    "squares": lambda w, b: [w <= np.inf, b <= np.inf, -np.inf <= b],
    "a mean": lambda w, b: [-2.0 * b <= np.inf],
    "a lasso": lambda w, b: [b >= -np.inf],
    "a hinge": lambda w, b: [b <= np.inf],
}


def idle_problem(loss: str, bounded: bool = True) -> cp.Problem:
    """A loss with constraints that bound nothing."""
    w, b = cp.Variable(2), cp.Variable()
    X, y = regression(d=2)
    Z, labels = classes(d=2)
    cost = {
        "squares": cp.sum_squares(X @ w + b - y),
        "a mean": cp.mean(cp.square(X @ w + b - y)),
        "a lasso": cp.sum_squares(X @ w + b - y) + cp.norm1(w),
        "a hinge": cp.sum(cp.pos(1 - cp.multiply(labels, Z @ w + b))) + cp.sum_squares(w),
    }[loss]
    return cp.Problem(cp.Minimize(cost), IDLE[loss](w, b) if bounded else [])


@pytest.mark.parametrize("loss", IDLE)
def test_an_infinite_bound_of_an_intercept_is_none(loss: str) -> None:
    """The value is that without it, and its dual value is 0."""
    problem = idle_problem(loss)
    found = cml.recognize(problem, explain=True)
    assert found, found.why
    assert found.posed.design.intercept is not None
    assert cml.solve(problem, tol=1e-9).verdict is cml.Verdict.CERTIFIED
    assert near(problem.value, clarabel(idle_problem(loss, bounded=False)))
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


LOSSES = {
    "hinge": lambda z: cp.sum(cp.pos(1.0 - z)),
    "hinge of margin 0.3": lambda z: cp.sum(cp.pos(0.3 - z)),
    "logistic": lambda z: cp.sum(cp.logistic(-z)),
}

COLUMNS = [(0.25 + 2.0**-51, 0.25), (0.1 + 0.2, 0.3), (1.0 + 2.0**-48, 1.0)]

EACH = [
    pytest.param(x, loss, by, marks=() if i == j and by == i % 2 else pytest.mark.slow)
    for (i, x), (j, loss), by in product(enumerate(COLUMNS), enumerate(LOSSES), (False, True))
]
"""Columns, losses, two ways to write the scores: three always, the others slow."""


@pytest.mark.parametrize(("x", "loss", "by_product"), EACH)
def test_a_column_that_is_nearly_constant_is_no_intercept(
    x: tuple[float, float], loss: str, by_product: bool
) -> None:
    """x_1 > x_2 separates the two classes, by their last digits: the infimum is 0."""
    signs, column = np.array([1.0, -1.0]), np.array(x)
    v, w, u = cp.Variable(), cp.Variable(1), cp.Variable()
    scores = column[:, None] @ w + u if by_product else column * v + u
    found = cml.solve(cp.Problem(cp.Minimize(LOSSES[loss](cp.multiply(signs, scores)))))
    assert not (found.verdict is cml.Verdict.CERTIFIED and found.primal_objective > 1e-3)
