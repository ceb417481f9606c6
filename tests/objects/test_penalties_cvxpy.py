"""CVXPY sees the same penalties, conjugates and proximal points as NumPy does, as DPP."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest
from support.catalogue import PENALTIES, D, name

from convexml.numerics import Array
from convexml.penalties import Penalty
from convexml.terms import Terms

each_penalty = pytest.mark.parametrize("penalty", PENALTIES, ids=name)
W = np.array([1.0, -0.4, 0.0, 2.0, -0.7])
V = np.array([0.3, -1.2, 0.0, 0.5, 2.0])


def parameters(penalty: Penalty) -> dict[str, Any]:
    return {
        key: cp.Parameter(np.shape(value), nonneg=True, value=value)
        for key, value in penalty.hyperparameters().items()
    }


def minimum(value: Any, terms: Terms, *more: Any) -> float:
    """The least value under the constraints of the terms; the problem must be DPP."""
    problem = cp.Problem(cp.Minimize(value), [*terms.constraints.values(), *more])
    assert problem.is_dcp(dpp=True)
    tight = {"tol_gap_abs": 1e-9, "tol_gap_rel": 1e-9, "tol_feas": 1e-9}
    problem.solve(solver="CLARABEL", **tight)
    return float(problem.value)


def in_domain(penalty: Penalty, v: Array) -> Array:
    """0.9 of the way from 0 to the end of the domain of the conjugate."""
    v = np.where(penalty.free(D), 0.0, v)
    return 0.9 * penalty.domain_scale(v) * v


@each_penalty
def test_expression_has_the_value_of_the_penalty(penalty: Penalty) -> None:
    at = penalty.project(W)
    w = cp.Variable(D, value=at)
    terms = penalty.expression(w, parameters(penalty))
    value = terms.value if isinstance(terms.value, float) else terms.value.value
    assert value == pytest.approx(penalty.value(at), rel=1e-13)
    assert all(np.max(g.violation()) <= 1e-14 for g in terms.constraints.values())
    assert cp.Problem(cp.Minimize(terms.value), list(terms.constraints.values())).is_dcp(dpp=True)


@each_penalty
def test_expression_is_violated_where_the_penalty_is(penalty: Penalty) -> None:
    if not penalty.restricts or penalty.free(D).all():
        assert penalty.violation(100.0 * W) == 0.0
        return
    w = cp.Variable(D, value=100.0 * W)
    constraints = penalty.expression(w, parameters(penalty)).constraints
    assert penalty.violation(100.0 * W) > 0.0
    assert max(np.max(g.violation()) for g in constraints.values()) > 1e-3


@each_penalty
def test_prox_is_the_solution_of_its_problem(penalty: Penalty) -> None:
    w = cp.Variable(D)
    terms = penalty.expression(w, parameters(penalty))
    least = minimum(0.7 * terms.value + 0.5 * cp.sum_squares(w - W), terms)
    p = penalty.prox(W, 0.7)
    gap = 1e-8  # ten times what CLARABEL was asked for; the problem is 1-strongly convex
    assert 0.7 * penalty.value(p) + 0.5 * float((p - W) @ (p - W)) == pytest.approx(least, abs=gap)
    np.testing.assert_allclose(p, w.value, atol=np.sqrt(2.0 * gap))


@each_penalty
def test_conjugate_is_the_supremum(penalty: Penalty) -> None:
    v = in_domain(penalty, V)
    w = cp.Variable(D)
    terms = penalty.expression(w, parameters(penalty))
    supremum = -minimum(terms.value - v @ w, terms)
    assert penalty.conjugate(v) == pytest.approx(supremum, rel=1e-7, abs=1e-7)


@each_penalty
def test_conjugate_expression_has_the_value_of_the_conjugate(penalty: Penalty) -> None:
    v = in_domain(penalty, V)
    xtu = cp.Variable(D)
    terms = penalty.conjugate_expression(xtu, D, parameters(penalty))
    assert minimum(terms.value, terms, xtu == -v) == pytest.approx(
        penalty.conjugate(v), rel=1e-7, abs=1e-7
    )


@each_penalty
def test_conjugate_expression_ends_where_the_domain_ends(penalty: Penalty) -> None:
    for v in (30.0 * V, -30.0 * V):
        if penalty.conjugate(v) < np.inf:
            continue
        xtu = cp.Variable(D)
        terms = penalty.conjugate_expression(xtu, D, parameters(penalty))
        constraints = [xtu == -v, *terms.constraints.values()]
        problem = cp.Problem(cp.Minimize(terms.value), constraints)
        problem.solve(solver="CLARABEL")
        assert problem.status == "infeasible"
