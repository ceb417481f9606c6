"""Learning problems as people write them: plain CVXPY agrees with itself about each."""

from __future__ import annotations

import pytest
from support.recognize import MISSES, STATEMENTS
from support.recognize.lagrangian import clarabel, minimised_lagrangian

CONSTRAINED = [name for name, each in STATEMENTS.items() if each.build().constraints]


def test_there_are_enough() -> None:
    assert len(STATEMENTS) >= 60
    assert len(MISSES) >= 25


@pytest.mark.parametrize("name", [*STATEMENTS, *MISSES])
def test_cvxpy_takes_it(name: str) -> None:
    problem = {**STATEMENTS, **MISSES}[name].build()
    assert problem.is_dcp(dpp=True)


@pytest.mark.parametrize("name", CONSTRAINED)
def test_the_lagrangian_at_the_multipliers_of_clarabel_comes_back_to_the_value(name: str) -> None:
    problem = STATEMENTS[name].build()
    value = clarabel(problem)
    assert minimised_lagrangian(problem) == pytest.approx(value, rel=1e-6, abs=1e-6)


def test_a_wrong_multiplier_does_not_come_back() -> None:
    problem = STATEMENTS["soft_margin"].build()
    value = clarabel(problem)
    margins = problem.constraints[0]
    margins.save_dual_value(0.9 * margins.dual_value)
    assert minimised_lagrangian(problem) < value - 1e-3


def test_a_miss_prints_what_stands_in_the_way() -> None:
    for miss in MISSES.values():
        text = str(miss.build())
        assert any(part in text for part in miss.culprit), miss.name
