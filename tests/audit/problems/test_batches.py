"""Variables of three dimensions: several matrices at once, and what CVXPY does not make of them."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml import Verdict
from convexml.audit.cvxpy.rounding.walk import Walk

UNITS = np.stack([np.eye(3)] * 2)


def batch(**attributes: bool) -> Any:
    return cp.Variable((2, 3, 3), name="X", **attributes)


def cases() -> dict[str, tuple[Any, list[Any], float]]:
    """What is smallest, where, and its least value."""
    X, S, P = batch(), batch(symmetric=True), batch(PSD=True)
    several = cp.Variable((2, 2, 3, 3))
    largest = cp.lambda_sum_largest
    return {
        "traces": (cp.sum(cp.trace(X)), [X >= 1], 6.0),
        "weighted traces": (cp.sum(cp.multiply([1.0, 2.0], cp.trace(X))), [X >= 1], 9.0),
        "traces of four": (cp.sum(cp.trace(several)), [several >= 1], 12.0),
        "traces and squares": (cp.sum(cp.trace(X)) + cp.sum_squares(X - 1), [X >= 1], 6.0),
        "traces, PSD": (cp.sum(cp.trace(P)), [P[:, 0, 1] >= 1], 4.0),
        "two eigenvalues": (cp.sum(largest(S, 2)), [S >= UNITS], 4.0),
        "one and a half": (cp.sum(largest(S, 1.5)), [S >= UNITS], 3.0),
        "the largest of all": (cp.max(largest(S, 2)), [S >= UNITS], 2.0),
    }


@pytest.mark.parametrize("name", cases())
def test_several_matrices_are_certified(name: str) -> None:
    value, rows, least = cases()[name]
    certificate = cml.solve(cp.Problem(cp.Minimize(value), rows))
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.primal_objective == pytest.approx(least, abs=1e-5)


@pytest.mark.parametrize("attribute", ["PSD", "symmetric"])
def test_several_matrices_may_be_absent(attribute: str) -> None:
    """A corner of -1, or a corner of 3 where the two largest eigenvalues add up to 1."""
    X = batch(**{attribute: True})
    rows = [X[:, 0, 0] == -1]
    if attribute == "symmetric":
        rows = [cp.lambda_sum_largest(X, 2) <= 1, X[:, 0, 0] >= 3, X >> 0]
    certificate = cml.solve(cp.Problem(cp.Minimize(cp.sum(cp.trace(X))), rows))
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.claim == "infeasible"


def test_the_terms_of_a_trace_are_those_of_its_matrix() -> None:
    """Each trace has three terms of size 1, and they are the diagonal's."""
    X = batch()
    walk = Walk({X.id: 0}, X.size)
    sizes = walk.terms(cp.trace(X)).size.toarray()[:, : X.size]
    for k, row in enumerate(sizes):
        expected = np.zeros(X.shape)
        expected[k] = np.eye(3)
        assert np.array_equal(row, expected.ravel(order="F"))


@pytest.mark.parametrize("judge", [cml.solve, cml.certify, cml.dualize])
def test_several_diagonal_matrices_are_refused_with_the_reason(judge: Any) -> None:
    """CVXPY's value of such a variable is a single matrix."""
    X = batch(diag=True)
    problem = cp.Problem(cp.Minimize(cp.sum(cp.trace(X))), [cp.trace(X) >= 1])
    with pytest.raises(cml.errors.InputError, match="variable X has diag=True and the shape"):
        judge(problem)


def test_what_cvxpy_cannot_write_has_no_dual() -> None:
    X = batch()
    problem = cp.Problem(cp.Minimize(cp.sum(cp.normNuc(X))), [X[:, 0, 1] >= 1])
    with pytest.raises(cml.errors.InputError, match="CVXPY cannot write the problem in cones"):
        cml.dualize(problem)


def test_a_matrix_without_symmetry_has_no_inverse_to_compare() -> None:
    X = cp.Variable((3, 3), name="X")
    X.value = np.array([[1.0, 2.0, 0.0], [0.5, 3.0, 1.0], [0.2, 0.1, 1.0]])
    certificate = cml.certify(cp.Problem(cp.Minimize(cp.tr_inv(X)), [X >= np.eye(3)]))
    assert certificate.verdict is Verdict.UNDECIDED
    assert certificate.reason == (
        "the objective: tr_inv(X) has no value at X = [[1. 2. 0. ] [0.5 3. 1. ] [0.2 0.1 1. ]]"
    )
