"""A quadratic form is convex by proof, but for its rounding, or no certificate relies on it."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.transforms.partial_optimize import partial_optimize

import convexml as cml
from convexml.certificates.algebra.definite import is_semidefinite

ROUNDED = "no negative eigenvalue is not proved"


def pair(exponent: int, sign: float = 1.0) -> np.ndarray:
    """1 on the diagonal, 1 + e beside it, e = sign 2^-exponent; the least eigenvalue is -e."""
    e = 1.0 + sign * 2.0**-exponent
    return np.array([[1.0, e], [e, 1.0]])


def test_what_far_points_meet_is_not_infeasible() -> None:
    x = cp.Variable(2)
    problem = cp.Problem(cp.Minimize(0), [cp.quad_form(x, pair(40)) <= -1])
    assert cml.solve(problem).verdict != "certified"
    problem.solve(solver=cp.CLARABEL)
    assert problem.status == "infeasible"
    found = cml.certify(problem)
    x.value = 2.0**20 * np.array([1.0, -1.0])
    assert problem.constraints[0].value()
    assert found.verdict == "undecided"
    assert "is not convex: its least eigenvalue is -9.09e-13" in found.reason


def test_a_constraint_that_is_not_convex_has_no_bound() -> None:
    x = cp.Variable(2)
    concave = -cp.quad_form(x, pair(40)) >= -1
    for form in (cp.quad_form(x, pair(40)) <= 1, concave):
        x.value = np.array([0.5, 0.5])
        problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 0.5)), [form])
        found = cml.certify(problem)
        assert (found.verdict, found.gap) == ("undecided", np.inf)
        assert "least eigenvalue is -9.09e-13" in found.reason


@pytest.mark.parametrize("place", ["objective", "constraint", "infeasible"])
def test_what_rounding_may_hide_is_told(place: str) -> None:
    x = cp.Variable(2)
    form = cp.quad_form(x, pair(46))
    if place == "objective":
        problem = cp.Problem(cp.Minimize(form - 2.0 * cp.sum(x)))  # unbounded below: (t, -t)
    elif place == "constraint":
        problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 0.5)), [form <= 2.0])
    else:
        problem = cp.Problem(cp.Minimize(0), [form <= -1])
    found = cml.solve(problem)
    assert found.verdict == "certified"
    assert ROUNDED in found.reason
    assert found.proved_gap == np.inf


@pytest.mark.parametrize(
    "P",
    [
        [[2, 1], [1, 2]],
        [[1, -1], [-1, 1]],
        [[1, 0], [0, 0]],
        [[0, 0], [0, 0]],
        pair(46, -1.0).tolist(),
    ],
)
def test_what_is_proved_says_nothing(P: list[list[float]]) -> None:
    x = cp.Variable(2)
    x.value = np.zeros(2)
    found = cml.certify(cp.Problem(cp.Minimize(cp.quad_form(x, np.array(P, dtype=float)))))
    assert (found.verdict, found.reason) == ("certified", "")


@pytest.mark.parametrize("exponent", range(20, 53))
def test_what_is_proved_has_no_negative_determinant(exponent: int) -> None:
    for sign in (1.0, -1.0):
        P = pair(exponent, sign)
        assert is_semidefinite(P) is bool(1 - Fraction(float(P[0, 1])) ** 2 >= 0)


def test_a_hermitian_form_is_looked_at_whole() -> None:
    P = np.array([[1.0, 1j * (1.0 + 2.0**-40)], [-1j * (1.0 + 2.0**-40), 1.0]])
    x = cp.Variable(2, complex=True)
    x.value = np.zeros(2, dtype=complex)
    found = cml.certify(cp.Problem(cp.Minimize(cp.quad_form(x, P))))
    assert "least eigenvalue is -9.09e-13" in found.reason


def test_a_problem_inside_is_looked_into() -> None:
    x, y = cp.Variable(2), cp.Variable(2)
    inner = cp.Problem(cp.Minimize(cp.sum_squares(y)), [cp.quad_form(x - y, pair(40)) <= 1])
    whole = cp.Problem(cp.Minimize(partial_optimize(inner, [y])))
    for variable in whole.variables():
        variable.value = np.zeros(2)
    assert "least eigenvalue is -9.09e-13" in cml.certify(whole).reason
