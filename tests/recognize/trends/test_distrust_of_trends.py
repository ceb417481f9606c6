"""What was read of a trend filter is not trusted: each planted misreading is noticed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from support.recognize.trends import TRENDS

import convexml as cml
from convexml.recognition.reading.declined import Declined
from convexml.recognition.reading.objective import read_objective
from convexml.recognition.trends.posing import PosedTrend, pose_trend
from convexml.recognition.trends.verifying import verify_trend

# -- of the reading, before it is posed ------------------------------------------------------------


def weight_of_a_term(reading: Any) -> bool:
    for number, term in enumerate(reading.terms):
        reading.terms[number] = replace(term, weight=term.weight * (1.0 + 1e-6))
        return True
    return False


def dropped_term(reading: Any) -> bool:
    return len(reading.terms) > 1 and reading.terms.pop(0) is not None


def forgotten_constraint(reading: Any) -> bool:
    known, reading.constraints = len(reading.constraints), list(reading.constraints)[:-1]
    return known > 0


def line(reading: Any) -> bool:
    for number, each in enumerate(reading.linear):
        factors = np.ones(each.weight.size)
        factors[0] = 1.0 + 1e-6
        reading.linear[number] = replace(each, weight=each.weight * factors)
        return True
    return False


def constant(reading: Any) -> bool:
    reading.constant += 1e-3
    return True


def sign(reading: Any) -> bool:
    reading.sign = -reading.sign
    return True


READ = (weight_of_a_term, dropped_term, forgotten_constraint, line, constant, sign)

# -- of what is posed -----------------------------------------------------------------------------


def other(posed: PosedTrend, **changed: Any) -> bool:
    known = {"y": posed.signal, "lam": posed.problem.lam, "order": posed.problem.order}
    posed.problem = cml.TrendFilter(**{**known, **changed})
    return True


def entry_of_the_signal(posed: PosedTrend) -> bool:
    y = posed.signal.copy()
    y[3] += 1e-6
    return other(posed, y=y)


def strength(posed: PosedTrend) -> bool:
    return other(posed, lam=posed.problem.lam * (1.0 + 1e-7))


def order(posed: PosedTrend) -> bool:
    return other(posed, order=posed.problem.order + 1)


def factor(posed: PosedTrend) -> bool:
    posed.factor *= 1.0 + 1e-7
    return other(posed, lam=posed.problem.lam / (1.0 + 1e-7))


def posed_constant(posed: PosedTrend) -> bool:
    posed.level += 1e-4
    return True


def what_is_over(posed: PosedTrend) -> bool:
    posed.distances.over[2:4] += np.array([1e-6, -1e-6])  # their sum is the same
    return True


def place_of_a_difference(posed: PosedTrend) -> bool:
    rows = posed.differences.rows[0]
    start = rows.start.copy()
    start[0] = start[0] + 1 if start[0] == 0 else start[0] - 1
    posed.differences.rows[0] = replace(rows, start=start)
    return True


def dropped_sizes(posed: PosedTrend) -> bool:
    return bool(posed.differences.rows.pop())


def dropped_squares(posed: PosedTrend) -> bool:
    return bool(posed.squares.pop())


def forgotten_slack(posed: PosedTrend) -> bool:
    return bool(posed.reading.eliminated) and bool(posed.reading.eliminated.pop())


def row_of_a_map(posed: PosedTrend) -> bool:
    rows = posed.differences.rows[0]
    factors = np.ones(rows.term.affine.size)
    factors[-1] = 1.0 + 1e-6
    term = replace(rows.term, affine=rows.term.affine.scaled(factors))
    posed.differences.rows[0] = replace(rows, term=term)
    return True


POSED = (entry_of_the_signal, strength, order, factor, posed_constant, place_of_a_difference)
POSED = (*POSED, what_is_over, dropped_sizes, dropped_squares, forgotten_slack, row_of_a_map)


def missed(name: str, before: Callable[[Any], bool], after: Callable[[Any], bool]) -> bool | None:
    """Whether a fault is not noticed; None where it could not be planted."""
    reading = read_objective(TRENDS[name][0]())
    planted = before(reading)
    try:
        posed = pose_trend(reading)
        if posed is None:
            return False if planted else None
        planted = after(posed) or planted
        verify_trend(posed)
    except (Declined, KeyError):
        return False if planted else None
    return True if planted else None


def nothing(_: Any) -> bool:
    return False


@pytest.mark.parametrize("fault", READ, ids=lambda each: each.__name__)
def test_a_misreading_is_noticed(fault: Callable[[Any], bool]) -> None:
    found = {name: missed(name, fault, nothing) for name in TRENDS}
    assert [name for name, each in found.items() if each] == []
    assert list(found.values()).count(False) >= 1


@pytest.mark.parametrize("fault", POSED, ids=lambda each: each.__name__)
def test_another_problem_is_noticed(fault: Callable[[Any], bool]) -> None:
    found = {name: missed(name, nothing, fault) for name in TRENDS}
    assert [name for name, each in found.items() if each] == []
    assert list(found.values()).count(False) >= 1


def test_without_a_fault_all_is_well() -> None:
    assert {missed(name, nothing, nothing) for name in TRENDS} == {None}
