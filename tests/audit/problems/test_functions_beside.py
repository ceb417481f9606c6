"""Perspectives, support functions and spectral entropies: functions beside an atom's arguments."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

import convexml as cml
from convexml import Verdict
from convexml.audit.cvxpy.rounding.enclosed import enclosed


def test_a_perspective_is_certified() -> None:
    """min |x|^2 / s + s = 2 |x|, and |x| = sqrt(3) where the sum is 3."""
    x, s = cp.Variable(3), cp.Variable(pos=True)
    value = cp.perspective(cp.sum_squares(x), s) + s
    certificate = cml.solve(cp.Problem(cp.Minimize(value), [cp.sum(x) == 3]))
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.primal_objective == pytest.approx(2.0 * math.sqrt(3.0), rel=1e-6)


def test_the_perspective_of_a_concave_function_is_certified() -> None:
    """max s log(x / s), x = 3, is 3 / e at s = 3 / e."""
    x, s = cp.Variable(), cp.Variable(nonneg=True)
    problem = cp.Problem(cp.Maximize(cp.perspective(cp.log(x), s)), [x <= 3, s <= 2])
    certificate = cml.solve(problem)
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.primal_objective == pytest.approx(3.0 / math.e, rel=1e-6)


def test_a_perspective_is_evaluated_with_its_rounding() -> None:
    """s |x / s|^2 in fractions, and the recession function for s = 0."""
    x, s = cp.Variable(3), cp.Variable(nonneg=True)
    x.value, s.value = np.array([0.1, -2.7, 1e3]), 0.3
    found = enclosed(cp.perspective(cp.sum_squares(x), s))
    exact = sum(Fraction(each) ** 2 for each in x.value.tolist()) / Fraction(0.3)
    off = abs(Fraction(float(found.value)) + Fraction(float(found.tail)) - exact)
    assert off <= Fraction(float(found.radius)) <= exact / 10**14
    s.value = 0.0
    assert enclosed(cp.perspective(cp.norm(x), s, cp.norm1(x))).value == np.abs(x.value).sum()


def test_a_perspective_of_diagonal_matrices_is_certified() -> None:
    D, s = cp.Variable((3, 3), diag=True), cp.Variable(nonneg=True)
    value = cp.perspective(cp.sum_squares(D), s) + s
    certificate = cml.solve(cp.Problem(cp.Minimize(value), [cp.trace(D) >= 3]))
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.primal_objective == pytest.approx(2.0 * math.sqrt(3.0), rel=1e-6)


@pytest.mark.parametrize("attribute", ["symmetric", "PSD", "hermitian"])
def test_the_entropy_of_a_matrix_is_certified(attribute: str) -> None:
    """At best the eigenvalues are 1/2, 1/4, 1/4."""
    R = cp.Variable((3, 3), **{attribute: True})
    real = cp.real if attribute == "hermitian" else lambda part: part
    rows = [real(cp.trace(R)) == 1, real(R[0, 0]) >= 0.5]
    certificate = cml.solve(cp.Problem(cp.Maximize(cp.von_neumann_entr(R)), rows))
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.primal_objective == pytest.approx(1.5 * math.log(2.0), rel=1e-6)


def test_the_entropy_of_a_matrix_is_evaluated_with_its_rounding() -> None:
    """Of a matrix with known eigenvalues, one of them tiny, and of a perturbed argument."""
    values = [0.5, 0.3, 1e-14]
    turn = np.linalg.qr(np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 2.0], [1.0, 1.0, 1.0]]))[0]
    R = cp.Variable((3, 3), symmetric=True)
    R.value = turn @ np.diag(values) @ turn.T
    found = enclosed(cp.von_neumann_entr(R))
    exact = math.fsum(-each * math.log(each) for each in values)
    assert abs(float(found.value) - exact) <= float(found.radius) < 1e-12


@pytest.mark.parametrize("size", [(1, 1), (3, 3)])
def test_what_cones_only_approximate_has_no_bound(size: tuple[int, int]) -> None:
    """With one node the cones' maximum, 1.0098, is below the entropy of its own point."""
    R = cp.Variable((3, 3), symmetric=True)
    rows = [cp.trace(R) == 1, R[0, 0] >= 0.5]
    problem = cp.Problem(cp.Maximize(cp.von_neumann_entr(R, size)), rows)
    certificate = cml.solve(problem)
    assert certificate.verdict is Verdict.UNDECIDED
    assert certificate.gap == np.inf
    assert "approximate" in certificate.reason
    assert "not verified before" not in certificate.reason  # nobody else was asked


def test_what_cones_only_approximate_proves_no_absence() -> None:
    """The entropy of R is at most log 3, the cones may say what they like."""
    R = cp.Variable((3, 3), symmetric=True)
    rows = [cp.trace(R) == 1, cp.von_neumann_entr(R, (1, 1)) >= math.log(3.0) - 1e-3]
    certificate = cml.solve(cp.Problem(cp.Minimize(R[0, 0]), rows))
    assert certificate.verdict is not Verdict.CERTIFIED


def mixed() -> Any:
    """Feasible: 0.6 (0.6 / 0.7 + 0.6 / 0.9 + 0.6 / 1.4) = 1.17; CVXPY's cones ask for 2.82."""
    v, s = cp.Variable(3), cp.Variable(nonneg=True)
    bound = cp.perspective(cp.sum(cp.inv_pos(v)), s) <= 1.5
    return cp.Problem(cp.Minimize(s), [bound, v == np.array([0.7, 0.9, 1.4]), s == 0.6])


def two_perspectives() -> Any:
    """CVXPY takes the second one for the first, as both have the arguments s and v."""
    v, s = cp.Variable(2), cp.Variable(nonneg=True)
    parts = [cp.perspective(cp.inv_pos(v[i]), s) for i in range(2)]
    return cp.Problem(cp.Minimize(cp.sum(parts)), [s >= 0.1, cp.sum(v) == 3])


def two_supports() -> Any:
    """Feasible, at y = 1.5: |y|_1 = 4.5 and |y|_2 = 2.6; taken for one they are not."""
    u, y = cp.Variable(3), cp.Variable(3)
    boxed, round_ = cp.suppfunc(u, [cp.norm_inf(u) <= 1]), cp.suppfunc(u, [cp.norm(u) <= 1])
    return cp.Problem(cp.Minimize(cp.sum(y)), [boxed(y) <= 5, round_(y) <= 3, y >= 1.5])


@pytest.mark.parametrize("problem", [mixed(), two_perspectives(), two_supports()])
def test_conic_forms_of_other_functions_are_refused(problem: Any) -> None:
    for judge in (cml.solve, cml.certify):
        with pytest.raises(cml.errors.InputError, match=r"CVXPY (takes|writes)"):
            judge(problem)


def test_the_same_function_twice_is_fine() -> None:
    x, s = cp.Variable(3), cp.Variable(pos=True)
    twice = cp.perspective(cp.sum_squares(x), s) + cp.perspective(cp.sum_squares(x), s) + s
    certificate = cml.solve(cp.Problem(cp.Minimize(twice), [cp.sum(x) == 3]))
    assert certificate.verdict is Verdict.CERTIFIED
    assert certificate.primal_objective == pytest.approx(2.0 * math.sqrt(6.0), rel=1e-6)
