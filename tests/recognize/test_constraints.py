"""Constraints: slacks and equations that are eliminated, sets, and the users' own multipliers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.recognize.lagrangian import clarabel, minimised_lagrangian
from support.recognize.statement import classes, regression, separable

import convexml as cml
from convexml.recognition.answering import solve_recognized
from convexml.recognition.constraints import read_constraints
from convexml.recognition.posing.problem import pose
from convexml.recognition.reading.declined import Declined
from convexml.recognition.reading.objective import read_objective
from convexml.recognition.verifying import verify

X, y = regression()
Z, labels = classes()
S, sides = separable()
squares = cp.sum_squares


def of_groups() -> cp.Problem:
    w, t = cp.Variable((3, 2)), cp.Variable(3)
    loss = squares(X[:, :3] @ w[:, 0] + X[:, 2:] @ w[:, 1] - y)
    return cp.Problem(cp.Minimize(loss + 3.0 * cp.sum(t)), [cp.norm(w, 2, axis=1) <= t])


def of_logistic_losses() -> cp.Problem:
    w, b, t = cp.Variable(4), cp.Variable(), cp.Variable(36)
    rows = [cp.logistic(-cp.multiply(labels, Z @ w + b)) <= t]
    return cp.Problem(cp.Minimize(cp.sum(t) + 0.5 * squares(w)), rows)


def of_the_whole_objective() -> cp.Problem:
    w, t = cp.Variable(5), cp.Variable()
    return cp.Problem(cp.Minimize(2.0 * t), [squares(X @ w - y) + 3.0 * cp.norm1(w) <= t])


def of_scaled_slacks() -> cp.Problem:
    w, b, xi = cp.Variable(4), cp.Variable(), cp.Variable(36)
    rows = [2.0 * cp.multiply(labels, Z @ w + b) >= 2.0 - 3.0 * xi, 5.0 * xi >= 0.0]
    cost = np.linspace(0.5, 1.5, 36)
    return cp.Problem(cp.Maximize(7.0 - cost @ xi - squares(w)), rows)


def of_parts_of_the_residual() -> cp.Problem:
    w, above, below = cp.Variable(5), cp.Variable(30), cp.Variable(30, nonneg=True)
    rows = [y - X @ w == above - below, above >= 0.0]
    cost = 0.7 * cp.sum(above) + 0.3 * cp.sum(below) + 0.5 * squares(w)
    return cp.Problem(cp.Minimize(cost), rows)


def of_margins_that_are_variables() -> cp.Problem:
    w, z, xi = cp.Variable(4), cp.Variable(36), cp.Variable(36)
    rows = [z == cp.multiply(labels, Z @ w), xi >= 1.0 - z, xi >= 0.0]
    return cp.Problem(cp.Minimize(0.5 * squares(w) + cp.sum(xi)), rows)


def of_copies() -> cp.Problem:
    w, v = cp.Variable(5), cp.Variable(5)
    return cp.Problem(cp.Minimize(squares(X @ w - y) + 6.0 * cp.norm1(v)), [w - v == 0])


def of_squared_tubes() -> cp.Problem:
    w, t = cp.Variable(5), cp.Variable(30)
    rows = [X @ w - y <= t + 0.3, y - X @ w <= t + 0.3]
    return cp.Problem(cp.Minimize(squares(t) + squares(w)), rows)


def of_slacks_in_another_order() -> cp.Problem:
    w, xi = cp.Variable(4), cp.Variable(36)
    rows = [xi[::-1] >= 1.0 - cp.multiply(labels, Z @ w), xi >= 0.0]
    cost = np.linspace(0.5, 1.5, 36)
    return cp.Problem(cp.Minimize(0.5 * squares(w) + cost @ xi), rows)


def of_bounds_in_parts() -> cp.Problem:
    w = cp.Variable(5)
    rows = [w[:2] >= 0.1, w[2:] >= -0.2, -2.0 * w >= -1.0, w[3] <= 0.4, w <= 5.0]
    return cp.Problem(cp.Minimize(squares(X @ w - y)), rows)


def of_the_margin_alone() -> cp.Problem:
    w, b = cp.Variable(3), cp.Variable()
    rows = [sides[k] * (S[k] @ w + b) - 3.0 >= 0.0 for k in range(24)]
    return cp.Problem(cp.Minimize(squares(w)), rows)


def of_a_ball_of_another_size() -> cp.Problem:
    w = cp.Variable(5)
    return cp.Problem(cp.Minimize(squares(X @ w - y)), [3.0 >= 2.0 * cp.norm1(w)])


BUILT: dict[Callable[[], cp.Problem], tuple[str, str, tuple[int, ...]]] = {
    of_groups: ("squared", "group_l2", (0,)),
    of_logistic_losses: ("logistic", "l2", (0,)),
    of_the_whole_objective: ("squared", "l1", (0,)),
    of_scaled_slacks: ("hinge", "l2", (0, 1)),
    of_parts_of_the_residual: ("pinball", "l2", (0, 1)),
    of_margins_that_are_variables: ("hinge", "l2", (0, 1, 2)),
    of_copies: ("squared", "l1", (0,)),
    of_squared_tubes: ("squared_epsilon_insensitive", "l2", (0, 1)),
    of_slacks_in_another_order: ("hinge", "l2", (0, 1)),
    of_bounds_in_parts: ("squared", "box", (0, 1, 2, 3, 4)),
    of_the_margin_alone: ("hard_margin", "l2", tuple(range(24))),
    of_a_ball_of_another_size: ("squared", "l1_ball", (0,)),
}


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
    certificate, value = solve_recognized(problem, 1e-9), clarabel(theirs)
    assert certificate is not None
    assert certificate.primal_objective == pytest.approx(value, rel=1e-7)
    assert all(np.max(each.violation()) <= 1e-7 for each in problem.constraints)
    for number in unique:
        ours, other = (each.constraints[number].dual_value for each in (problem, theirs))
        np.testing.assert_allclose(ours, other, atol=2e-5 * max(1.0, np.abs(other).max()))
    assert minimised_lagrangian(problem) == pytest.approx(value, rel=1e-6)


# -- near misses ----------------------------------------------------------------------------------


def slack_with(extra: Callable[[Any], Any], cost: Callable[[Any], Any] = cp.sum) -> cp.Problem:
    w, xi = cp.Variable(4, name="w"), cp.Variable(36, name="xi")
    rows = [cp.multiply(labels, Z @ w) >= 1.0 - xi, xi >= 0.0]
    more = extra(xi)
    rows += [] if more is None else [more]
    return cp.Problem(cp.Minimize(0.5 * squares(w) + cost(xi)), rows)


MISSES = {
    "a budget of slacks": slack_with(lambda xi: cp.sum(xi) <= 3.0),
    "equal slacks": slack_with(lambda xi: xi[0] == xi[1]),
    "a slack that gains": slack_with(lambda xi: None, lambda xi: cp.sum(xi[:-1]) - 0.1 * xi[-1]),
    "a slack without a cost": slack_with(lambda xi: None, lambda xi: cp.sum(xi[:-1])),
    "two costs": slack_with(lambda xi: None, lambda xi: cp.sum(xi) + cp.norm(xi)),
    "costs and squares": slack_with(lambda xi: None, lambda xi: cp.sum(xi) + squares(xi)),
    "squares about 1": slack_with(lambda xi: None, lambda xi: squares(xi - 1.0)),
    "a cone": slack_with(lambda xi: cp.SOC(cp.Constant(9.0), xi)),
}


@pytest.mark.parametrize("name", MISSES)
def test_a_slack_with_another_use_is_declined_by_name(name: str) -> None:
    found = cml.recognize(MISSES[name], explain=True)
    assert found is not None
    assert not found
    assert "xi" in found.why


def test_a_floor_counts() -> None:
    problem = slack_with(lambda xi: xi >= 0.25)
    found = solve_recognized(problem, 1e-9)
    assert found is not None
    xi = problem.variables()[1]
    assert found.primal_objective == pytest.approx(clarabel(problem), rel=1e-7)
    assert xi.value is not None
    assert np.min(xi.value) == pytest.approx(0.25)


# -- planted misreadings --------------------------------------------------------------------------


def a_cost(reading: Any) -> None:
    reading.terms[-1] = replace(reading.terms[-1], weight=reading.terms[-1].weight * (1.0 + 1e-6))


def a_line(reading: Any) -> None:
    bounds = reading.eliminated[-1].bounds
    line = bounds.lines[0]
    bounds.lines[0] = replace(line, offset=line.offset * (1.0 + 1e-6))


def a_dropped_floor(reading: Any) -> None:
    reading.eliminated[-1].bounds.floor[3] = -np.inf


def a_bound(reading: Any) -> None:
    (key,) = reading.lower
    reading.lower[key] = reading.lower[key] + 1e-6


def a_dropped_bound(reading: Any) -> None:
    (key,) = reading.upper
    reading.upper[key][3] = np.inf


def a_radius(reading: Any) -> None:
    reading.balls[0] = replace(reading.balls[0], radius=reading.balls[0].radius * (1.0 + 1e-6))


def another_norm(reading: Any) -> None:
    reading.balls[0] = replace(reading.balls[0], order=2)


def a_margin(reading: Any) -> None:
    term = reading.terms[-1]
    affine = replace(term.affine, offset=term.affine.offset + 1e-6)
    reading.terms[-1] = replace(term, affine=affine)


def a_constraint(reading: Any) -> None:
    rows = reading.written[0]
    rows.affine = replace(rows.affine, offset=rows.affine.offset + 1e-6)


FAULTS: list[tuple[Callable[[Any], None], Callable[[], cp.Problem]]] = [
    (a_cost, of_scaled_slacks),
    (a_line, of_scaled_slacks),
    (a_dropped_floor, of_scaled_slacks),
    (a_bound, of_bounds_in_parts),
    (a_dropped_bound, of_bounds_in_parts),
    (a_radius, of_a_ball_of_another_size),
    (another_norm, of_a_ball_of_another_size),
    (a_margin, of_the_margin_alone),
    (a_constraint, of_margins_that_are_variables),
]


@pytest.mark.parametrize(("fault", "build"), FAULTS, ids=lambda each: each.__name__)
def test_a_misreading_is_noticed(
    fault: Callable[[Any], None], build: Callable[[], cp.Problem]
) -> None:
    reading = read_objective(build())
    read_constraints(reading)
    fault(reading)
    with pytest.raises(Declined):
        verify(pose(reading))
