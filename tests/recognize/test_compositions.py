"""Random compositions of atoms and affine maps: what is recognised has CLARABEL's value."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from support.recognize.composing import Recipe, compose, recipes
from support.recognize.judging import near
from support.recognize.lagrangian import clarabel

import convexml as cml

seen: Counter[str] = Counter()


def check(recipe: Recipe) -> None:
    problem = compose(recipe)
    found = cml.recognize(problem, explain=True)
    seen["recognised" if found else "declined"] += 1
    if not found:
        assert found.why
        return
    certificate = cml.solve(problem)
    assert certificate.verdict is cml.Verdict.CERTIFIED, certificate.reason
    value = clarabel(compose(recipe))
    assert near(float(problem.value), value)
    assert near(float(problem.objective.value), value)


@settings(max_examples=100)
@given(recipes)
def test_what_is_recognised_has_the_value_of_clarabel(recipe: Recipe) -> None:
    check(recipe)


@pytest.mark.slow
@settings(max_examples=2000)
@given(recipes)
def test_what_is_recognised_has_the_value_of_clarabel_2000(recipe: Recipe) -> None:
    check(recipe)


def test_a_part_is_recognised() -> None:
    assert seen["recognised"] >= 0.2 * seen.total()
