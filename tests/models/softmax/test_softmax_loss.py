"""The softmax loss: Fenchel-Young, derivatives, prox, conjugate, known values, expressions."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime, minimize
from scipy.special import logsumexp
from scipy.special import softmax as probabilities
from support.models.softmax import CODES, LOSS, SCORES, K, N

import convexml as cml

NUMBERS = st.sampled_from([0.0, 1.0, -800.0, 800.0]) | st.floats(-20.0, 20.0)
ROWS = st.lists(NUMBERS, min_size=2, max_size=5)


@settings(max_examples=100, deadline=None)
@given(ROWS, st.integers(0, 4))
def test_fenchel_young(row: list[float], label: int) -> None:
    z, y = np.array([row]), np.array([float(label % len(row))])
    value, v = LOSS.value(y, z), LOSS.derivative(y, z)
    assert v.sum() == pytest.approx(0.0, abs=1e-15)
    gap = value + LOSS.conjugate(y, v) - (v * z).sum(axis=1)
    assert gap[0] == pytest.approx(0.0, abs=1e-12 * max(1.0, np.abs(z).max()))
    other = LOSS.derivative(y, np.roll(z, 1, axis=1))
    assert (value + LOSS.conjugate(y, other) - (other * z).sum(axis=1))[0] >= -1e-10
    assert value[0] == pytest.approx(logsumexp(row) - row[label % len(row)])


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-3.0, 3.0), min_size=3, max_size=3), st.integers(0, 2))
def test_derivatives_by_finite_differences(row: list[float], label: int) -> None:
    y, z = np.array([float(label)]), np.array(row)
    slope = approx_fprime(z, lambda x: LOSS.value(y, x[None])[0], 1e-7)
    np.testing.assert_allclose(LOSS.derivative(y, z[None])[0], slope, atol=1e-5)
    diagonal = [
        approx_fprime(z, lambda x, k=k: LOSS.derivative(y, x[None])[0, k], 1e-7)[k]
        for k in range(3)
    ]
    np.testing.assert_allclose(LOSS.curvature(y, z[None])[0], diagonal, atol=1e-5)
    p = probabilities(z)
    largest = np.linalg.eigvalsh(np.diag(p) - np.outer(p, p))[-1]
    assert largest <= LOSS.curvature_bound


@settings(max_examples=50, deadline=None)
@given(ROWS, st.integers(0, 4), st.sampled_from([1e-3, 0.5, 1.0, 30.0]))
def test_prox(row: list[float], label: int, step: float) -> None:
    z, y = np.array([row]), np.array([float(label % len(row))])
    x = LOSS.prox(y, z, step)
    residual = x - z + step * LOSS.derivative(y, x)
    np.testing.assert_allclose(residual, 0.0, atol=1e-10 * max(1.0, np.abs(z).max()))


def test_prox_by_brute_force() -> None:
    y, z = np.array([1.0]), np.array([[0.3, -0.2, 1.0]])
    found = minimize(lambda x: 0.7 * LOSS.value(y, x[None])[0] + ((x - z[0]) ** 2).sum() / 2, z[0])
    np.testing.assert_allclose(LOSS.prox(y, z, 0.7)[0], found.x, atol=1e-5)


def test_conjugate_outside_the_simplex_is_infinite() -> None:
    y = np.zeros(4)
    v = np.array([[0.1, -0.1], [-1.1, 1.1], [-0.5, 0.4], [-1.0, 1.0]])
    assert np.array_equal(LOSS.conjugate(y, v), [np.inf, np.inf, np.inf, 0.0])


@pytest.mark.parametrize(
    ("label", "row"),
    [(0, [0.2, 0.5, 0.3]), (1, [0.2, 0.5, 0.3]), (2, [0.2, 0.5, 0.3]), (2, [1e4, 0.0, 7e-7])],
)
def test_values_of_scikit_learns_loss_tests(label: int, row: list[float]) -> None:
    """sklearn/_loss/tests/test_loss.py, test_loss_on_specific_values, HalfMultinomialLoss."""
    value = LOSS.value(np.array([float(label)]), np.array([row]))[0]
    assert value == pytest.approx(logsumexp(row) - row[label], rel=1e-15)


def test_a_small_loss_keeps_its_digits() -> None:
    value = LOSS.value(np.array([0.0]), np.array([[50.0, 0.0, -5.0]]))[0]
    assert value == pytest.approx(np.exp(-50.0) + np.exp(-55.0), rel=1e-14)
    far = LOSS.value(np.array([0.0]), np.array([[0.0, 900.0, -900.0]]))[0]
    assert far == 900.0


def test_ground_truth_of_scikit_learn() -> None:
    """sklearn/linear_model/tests/test_sag.py, test_multinomial_loss_ground_truth (from R)."""
    samples = np.array([[1.1, 2.2], [2.2, -4.4], [3.3, -2.2], [1.1, 1.1]])
    s, y = np.array([0.8, 1.0, 1.0, 0.8]), np.array([0, 1, 2, 0])
    w, b = np.array([[0.1, 0.2, 0.3], [1.1, 1.2, -1.3]]), np.array([1.0, 0.0, -0.2])
    problem = cml.SoftmaxRegression(samples, y, 0.0, sample_weight=s)
    assert problem.objective(w, b) * s.sum() == pytest.approx(11.680360354325961, rel=1e-14)
    gradient = problem.objective_parts.gradient(w.ravel(), b)[0].reshape(2, 3) * s.sum()
    truth = [[-0.557487, -1.619151, +2.176638], [-0.903942, +5.258745, -4.354803]]
    np.testing.assert_allclose(gradient, truth, atol=1e-6)


def test_expressions_have_the_values_of_the_formulas() -> None:
    y, z = CODES.astype(float), np.clip(SCORES, -5, 5)
    variable = cp.Variable((N, K), value=z)
    np.testing.assert_allclose(LOSS.expression(y, variable, {}).value.value, LOSS.value(y, z))
    c = np.linspace(0.5, 1.5, N)
    u = cp.Variable((N, K))
    target = c[:, None] * LOSS.derivative(y, z)
    terms = LOSS.conjugate_expression(y, u, c, {})
    problem = cp.Problem(
        cp.Minimize(cp.sum(terms.value)), [*terms.constraints.values(), u == target]
    )
    problem.solve(solver="CLARABEL")
    assert problem.value == pytest.approx(c @ LOSS.conjugate(y, target / c[:, None]), rel=1e-6)
