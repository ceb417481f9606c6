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
from support.recognize.statement import regression

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
