"""What was read is not trusted: each planted misreading is noticed before anything is solved."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from itertools import product
from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.recognize import STATEMENTS

import convexml as cml
from convexml.recognition.posing.problem import pose
from convexml.recognition.reading.declined import Declined
from convexml.recognition.reading.objective import read_objective
from convexml.recognition.verifying import verify

SMALL = 1e-6
Fault = Callable[[Any, np.random.Generator], bool]
"""Changes a reading; False where there is nothing that it could change."""


def one_term(reading: Any, change: Callable[[Any], Any], kinds: str = "") -> bool:
    for number, term in enumerate(reading.terms):
        if term.kind in kinds or not kinds:
            changed = change(term)
            if changed is not None:
                reading.terms[number] = changed
                return True
    return False


def one_row(rng: np.random.Generator, rows: int, factor: float) -> np.ndarray:
    factors = np.ones(rows)
    factors[rng.integers(rows)] = factor
    return factors


def weight(reading: Any, rng: np.random.Generator) -> bool:
    return one_term(reading, lambda t: replace(t, weight=t.weight * (1.0 + SMALL)))


def weight_of_a_row(reading: Any, rng: np.random.Generator) -> bool:
    def change(term: Any) -> Any:
        return replace(term, weight=term.weight * one_row(rng, term.weight.size, 1.0 + 1e-4))

    return one_term(reading, change)


def dropped_row(reading: Any, rng: np.random.Generator) -> bool:
    def change(term: Any) -> Any:
        return replace(term, weight=term.weight * one_row(rng, term.weight.size, 0.0))

    return one_term(reading, change)


def dropped_term(reading: Any, rng: np.random.Generator) -> bool:
    if len(reading.terms) < 2:
        return False
    gone = reading.terms.pop(int(rng.integers(len(reading.terms))))
    return bool(gone.weight.any())


def target(reading: Any, rng: np.random.Generator) -> bool:
    def change(term: Any) -> Any:
        affine = term.affine
        moved = affine.offset + SMALL * (one_row(rng, affine.size, 2.0) - 1.0)
        return replace(term, affine=replace(affine, offset=moved))

    return one_term(reading, change)


def flipped_row(reading: Any, rng: np.random.Generator) -> bool:
    def change(term: Any) -> Any:
        return replace(term, affine=term.affine.scaled(one_row(rng, term.affine.size, -1.0)))

    return one_term(reading, change, "ramp logistic exp squared ramp")


def scaled_row(reading: Any, rng: np.random.Generator) -> bool:
    def change(term: Any) -> Any:
        factors = one_row(rng, term.affine.size, 1.0 + SMALL)
        return replace(term, affine=term.affine.scaled(factors))

    return one_term(reading, change)


def exchanged_rows(reading: Any, rng: np.random.Generator) -> bool:
    def change(term: Any) -> Any:
        order = np.arange(term.affine.size)
        if order.size < 2 or term.groups is not None:
            return None
        order[[0, 1]] = order[[1, 0]]
        return replace(term, affine=term.affine.taken(order))

    return one_term(reading, change)


def entry_of_the_design(reading: Any, rng: np.random.Generator) -> bool:
    def change(term: Any) -> Any:
        for key, each in term.affine.maps.items():
            if isinstance(each.matrix, np.ndarray):
                matrix = each.matrix.copy()
                matrix[rng.integers(matrix.shape[0]), rng.integers(matrix.shape[1])] += 1e-4
                maps = term.affine.maps | {key: replace(each, matrix=matrix)}
                return replace(term, affine=replace(term.affine, maps=maps))
        return None

    return one_term(reading, change)


def level(reading: Any, rng: np.random.Generator) -> bool:
    def change(term: Any) -> Any:
        return replace(term, level=term.level * (1.0 + 1e-4)) if term.level else None

    return one_term(reading, change)


def kind(reading: Any, rng: np.random.Generator) -> bool:
    other = {"square": "abs", "abs": "square", "ramp": "squared ramp", "squared ramp": "ramp"}
    other |= {"logistic": "ramp", "exp": "logistic", "huber": "square", "tube": "abs"}

    def change(term: Any) -> Any:
        return replace(term, kind=other[term.kind]) if term.kind in other else None

    return one_term(reading, change)


def constant(reading: Any, rng: np.random.Generator) -> bool:
    reading.constant += 1e-3
    return True


def sign(reading: Any, rng: np.random.Generator) -> bool:
    reading.sign = -reading.sign
    return True


def line(reading: Any, rng: np.random.Generator) -> bool:
    for number, term in enumerate(reading.linear):
        if term.weight.any():
            reading.linear[number] = replace(term, weight=term.weight * (1.0 + 1e-4))
            return True
    return False


FAULTS: dict[str, Fault] = {
    each.__name__: each
    for each in (
        weight,
        weight_of_a_row,
        dropped_row,
        dropped_term,
        target,
        flipped_row,
        scaled_row,
        exchanged_rows,
        entry_of_the_design,
        level,
        kind,
        constant,
        sign,
        line,
    )
}


@cache
def readable() -> list[tuple[str, Any]]:
    """The statements that are read, those without constraints."""
    found = []
    for name, statement in STATEMENTS.items():
        problem = statement.build()
        if not problem.constraints:
            with suppress(Declined):
                verify(pose(read_objective(problem)))
                found.append((name, problem))
    return found


def missed(fault: str, problems: list[tuple[str, Any]]) -> tuple[list[str], int]:
    """The statements in which a fault is not noticed, and in how many it was planted."""
    found, planted = [], 0
    for number, (name, problem) in enumerate(problems):
        reading = read_objective(problem)
        if FAULTS[fault](reading, np.random.default_rng(number)):
            planted += 1
            try:
                verify(pose(reading))
            except Declined:
                continue
            found.append(name)
    return found, planted


@pytest.mark.parametrize("fault", FAULTS)
def test_a_misreading_is_noticed(fault: str) -> None:
    every = readable()[list(FAULTS).index(fault) % 3 :: 3]
    names, planted = missed(fault, every)
    assert names == []
    assert planted >= 1


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_misreading_of_any_statement_is_noticed(fault: str) -> None:
    assert missed(fault, readable())[0] == []


def test_rounding_is_no_misreading() -> None:
    # 0.2 * 2 and 2 * 0.2 * 1 differ in the last digit; where the hinge is 0 that was all there was.
    rng = np.random.default_rng(0)
    X, y, s = rng.normal(size=(40, 3)), rng.choice([-1.0, 1.0], 40), rng.uniform(0.1, 2.0, 40)
    w = cp.Variable(3)
    hinge = s @ cp.pos(2 - 3.0 * cp.multiply(y, X @ w))
    verify(pose(read_objective(cp.Problem(cp.Minimize(hinge + cp.sum_squares(w))))))


LOSSES = {
    "hinge": lambda z: cp.sum(cp.pos(1.0 - z)),
    "hinge of margin 0.3": lambda z: cp.sum(cp.pos(0.3 - z)),
    "logistic": lambda z: cp.sum(cp.logistic(-z)),
}


COLUMNS = [(0.25 + 2.0**-51, 0.25), (0.1 + 0.2, 0.3), (1.0 + 2.0**-48, 1.0)]
EACH = [
    pytest.param(x, loss, by, marks=() if (i + j + by) % 2 == 0 else pytest.mark.slow)
    for (i, x), (j, loss), by in product(enumerate(COLUMNS), enumerate(LOSSES), (False, True))
]
"""Columns, losses, two ways to write the scores: half of all always, the others slow."""


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
