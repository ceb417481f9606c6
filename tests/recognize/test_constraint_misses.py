"""Slacks that have another use are declined by name, and planted misreadings are noticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.recognize.constrained import (
    Z,
    labels,
    of_a_ball_of_another_size,
    of_bounds_in_parts,
    of_margins_that_are_variables,
    of_scaled_slacks,
    of_the_margin_alone,
    squares,
)
from support.recognize.lagrangian import clarabel

import convexml as cml
from convexml.recognition.answering import solve_recognized
from convexml.recognition.constraints import read_constraints
from convexml.recognition.posing.problem import pose
from convexml.recognition.reading.declined import Declined
from convexml.recognition.reading.objective import read_objective
from convexml.recognition.verifying import verify


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
    assert found.certificate.primal_objective == pytest.approx(clarabel(problem), rel=1e-7)
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


@pytest.mark.parametrize("end", [-np.inf, np.nan, [1.0, 2.0, -np.inf, 1.0]])
def test_a_bound_that_leaves_no_room_is_declined(end: Any) -> None:
    w = cp.Variable(4, name="w")
    problem = cp.Problem(cp.Minimize(squares(Z @ w - labels)), [w <= end])
    found = cml.recognize(problem, explain=True)
    assert found is not None
    assert not found
    assert "w <= " in found.why


def test_an_infinite_bound_bounds_nothing() -> None:
    w = cp.Variable(4)
    rows = [w <= [np.inf, 0.1, 0.2, np.inf], w >= -np.inf]
    problem = cp.Problem(cp.Minimize(squares(Z @ w - labels)), rows)
    found = solve_recognized(problem, 1e-9)
    assert found is not None
    assert np.array_equal(problem.constraints[1].dual_value, np.zeros(4))
    assert found.certificate.primal_objective == pytest.approx(clarabel(problem), rel=1e-7)
