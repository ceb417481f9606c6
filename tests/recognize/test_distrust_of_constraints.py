"""What was read of constraints is not trusted: each planted misreading is noticed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from support.recognize import STATEMENTS

from convexml.recognition.constraints import read_constraints
from convexml.recognition.constraints.sets import EntryBounds, SampleRows
from convexml.recognition.constraints.slacks import Slack
from convexml.recognition.posing.problem import pose
from convexml.recognition.reading.affine import Affine
from convexml.recognition.reading.declined import Declined
from convexml.recognition.reading.objective import read_objective
from convexml.recognition.verifying import verify

Fault = Callable[[Any], bool]
"""Changes a reading; False where there is nothing that it could change."""


def slacks(reading: Any) -> list[Slack]:
    return [each for each in reading.eliminated if isinstance(each, Slack)]


# -- before constraints are consumed ---------------------------------------------------------------


def forgotten_constraint(reading: Any) -> bool:
    known, reading.constraints = len(reading.constraints), list(reading.constraints)[:-1]
    return known > 0


def repeated_constraint(reading: Any) -> bool:
    reading.constraints = [*reading.constraints[:-1], *reading.constraints[:-1]][
        : len(reading.constraints)
    ]
    return len(reading.constraints) > 1


# -- after ----------------------------------------------------------------------------------------


def wider_bound(reading: Any) -> bool:
    bounded = [each for each in reading.sets if isinstance(each, EntryBounds)]
    for each in bounded:
        for ends, holds, step in (
            (reading.upper, each.above, 1e-4),
            (reading.lower, each.below, -1e-4),
        ):
            if holds.any():
                ends[each.key] = ends[each.key] + step
                return True
    return False


def no_bound(reading: Any) -> bool:
    bounded = [each for each in reading.sets if isinstance(each, EntryBounds)]
    for each in bounded:
        if each.above.any():
            return reading.upper.pop(each.key, None) is not None
        if each.below.any():
            return reading.lower.pop(each.key, None) is not None
    return False


def forgotten_attribute(reading: Any) -> bool:
    if any(reading.constraints):
        return False
    return bool(reading.lower.popitem() if reading.lower else reading.upper)


def invented_bound(reading: Any) -> bool:
    for key, variable in reading.remaining.items():
        if key not in reading.lower and not reading.balls:
            reading.lower[key] = np.full(variable.size, -0.5)
            return True
    return False


def larger_ball(reading: Any) -> bool:
    for number, ball in enumerate(reading.balls):
        reading.balls[number] = replace(ball, radius=ball.radius * (1.0 + 1e-6))
        return True
    return False


def other_ball(reading: Any) -> bool:
    for number, ball in enumerate(reading.balls):
        reading.balls[number] = replace(ball, order=3 - ball.order)
        return True
    return False


def margin_of_a_row(reading: Any) -> bool:
    for each in reading.sets:
        if isinstance(each, SampleRows):
            number = next(k for k, term in enumerate(reading.terms) if term is each.term)
            offset = each.term.affine.offset.copy()
            offset[0] -= 1e-4
            moved = replace(each.term, affine=replace(each.term.affine, offset=offset))
            reading.terms[number] = each.term = moved
            return True
    return False


def forgotten_margin(reading: Any) -> bool:
    for each in reading.sets:
        if isinstance(each, SampleRows):
            number = next(k for k, term in enumerate(reading.terms) if term is each.term)
            weight = each.term.weight.copy()
            weight[0] = 0.0
            reading.terms[number] = each.term = replace(each.term, weight=weight)
            return True
    return False


def cost_of_a_slack(reading: Any) -> bool:
    for slack in slacks(reading):
        for role, term in slack.terms.items():
            number = next((k for k, each in enumerate(reading.terms) if each is term), None)
            if number is not None:
                dearer = replace(term, weight=term.weight * (1.0 + 1e-6))
                reading.terms[number] = slack.terms[role] = dearer
                return True
    return False


def line_of_a_slack(reading: Any) -> bool:
    """The bound itself and the term that it became agree, and are not what stands there."""
    for slack in slacks(reading):
        for role, term in slack.terms.items():
            number = next((k for k, each in enumerate(reading.terms) if each is term), None)
            if number is not None and len(slack.bounds.lines) == 1 and not slack.squares:
                shift = Affine(term.affine.size, {}, np.full(term.affine.size, -1e-3))
                moved = replace(term, affine=term.affine + shift)
                reading.terms[number] = slack.terms[role] = moved
                slack.bounds.lines[0] = slack.bounds.lines[0] + shift
                return True
    return False


def floor_of_a_slack(reading: Any) -> bool:
    for slack in slacks(reading):
        role = slack.terms.get("first")
        number = next((k for k, each in enumerate(reading.terms) if each is role), None)
        if number is not None and role is not None and role.kind == "ramp" and not slack.squares:
            if len(slack.bounds.lines) == 1 and np.isfinite(slack.bounds.floor).all():
                shift = Affine(role.affine.size, {}, np.full(role.affine.size, 1e-3))
                reading.terms[number] = slack.terms["first"] = replace(
                    role, affine=role.affine + shift
                )
                slack.bounds.floor = slack.bounds.floor - 1e-3
                reading.constant -= 1e-3 * float(slack.cost.sum())
                return True
    return False


BEFORE = {each.__name__: each for each in (forgotten_constraint, repeated_constraint)}
AFTER = {
    each.__name__: each
    for each in (
        wider_bound,
        no_bound,
        forgotten_attribute,
        invented_bound,
        larger_ball,
        other_ball,
        margin_of_a_row,
        forgotten_margin,
        cost_of_a_slack,
        line_of_a_slack,
        floor_of_a_slack,
    )
}


@cache
def readable() -> list[tuple[str, Any]]:
    """The statements with constraints that are read."""
    found = []
    for name, statement in STATEMENTS.items():
        problem = statement.build()
        bounded = any(v.is_nonneg() or v.bounds is not None for v in problem.variables())
        if problem.constraints or bounded:
            with suppress(Declined):
                reading = read_objective(problem)
                read_constraints(reading)
                verify(pose(reading))
                found.append((name, problem))
    return found


@pytest.mark.parametrize("fault", [*BEFORE, *AFTER])
def test_a_misread_constraint_is_noticed(fault: str) -> None:
    found, planted = [], 0
    for name, problem in readable():
        reading = read_objective(problem)
        done = fault in BEFORE and BEFORE[fault](reading)
        try:
            read_constraints(reading)
            done = done or (fault in AFTER and AFTER[fault](reading))
            planted += done
            verify(pose(reading))
        except Declined:
            continue
        if done:
            found.append(name)
    assert found == []
    assert planted >= 1
