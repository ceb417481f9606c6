"""The softmax loss: Fenchel-Young, derivatives, prox, conjugate, digits of small values."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import approx_fprime
from scipy.special import logsumexp
from scipy.special import softmax as probabilities

import convexml as cml

LOSS = cml.losses.Softmax()
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


def test_conjugate_outside_the_simplex_is_infinite() -> None:
    y = np.zeros(4)
    v = np.array([[0.1, -0.1], [-1.1, 1.1], [-0.5, 0.4], [-1.0, 1.0]])
    assert np.array_equal(LOSS.conjugate(y, v), [np.inf, np.inf, np.inf, 0.0])


def test_a_small_loss_keeps_its_digits() -> None:
    value = LOSS.value(np.array([0.0]), np.array([[50.0, 0.0, -5.0]]))[0]
    assert value == pytest.approx(np.exp(-50.0) + np.exp(-55.0), rel=1e-14)
    far = LOSS.value(np.array([0.0]), np.array([[0.0, 900.0, -900.0]]))[0]
    assert far == 900.0
