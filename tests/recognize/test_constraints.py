"""Constraints: slacks and equations that are eliminated, sets, and the users' own multipliers."""

from __future__ import annotations

from collections.abc import Callable

import cvxpy as cp
import numpy as np
import pytest
from support.recognize.constrained import BUILT, of_thirds_of_a_slack
from support.recognize.lagrangian import clarabel, minimised_lagrangian

import convexml as cml
from convexml.recognition.answering import solve_recognized


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
