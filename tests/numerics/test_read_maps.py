"""Affine maps as they are read have CVXPY's values; what a reading leaves out is priced."""

from __future__ import annotations

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from support.spellings import COSTS, DUALS, SIGNAL, regression

import convexml as cml
from convexml.bridge.recognition.affine import Walker
from convexml.bridge.recognition.atoms import read_objective
from convexml.bridge.recognition.duals import _unfactored
from convexml.bridge.recognition.losses import FactoredForm, factored
from convexml.bridge.recognition.maps import Declined

w = cp.Variable(4)


def test_what_is_not_affine_is_named() -> None:
    with pytest.raises(Declined, match="abs"):
        Walker().affine(cp.abs(w))


A, target = regression()

G = A.T @ A


def test_what_a_factor_leaves_of_a_form_is_bounded_and_priced() -> None:
    rng, w = np.random.default_rng(0), cp.Variable(5)
    reading = read_objective(cp.Problem(cp.Minimize(cp.quad_form(w, G) + cp.norm1(w))))
    found = factored(reading)
    assert found is not None
    (each,) = found.squares.affine.maps.values()
    L = [[Fraction(x) for x in row] for row in each.matrix]
    for _ in range(10):
        a = [Fraction(x) for x in rng.normal(size=5) * 10.0 ** rng.uniform(-3, 3, 5)]
        exact = sum(Fraction(G[i, j]) * a[i] * a[j] for i in range(5) for j in range(5))
        mine = sum(sum(x * y for x, y in zip(row, a, strict=True)) ** 2 for row in L)
        assert 0 < abs(exact - mine) <= Fraction(found.loose) * mine
    assert found.loose < 1e-12


@pytest.mark.parametrize("loose", [1e-3, 0.1])
def test_the_price_holds_wherever_it_could_be_better(loose: float) -> None:
    a = np.linspace(-20.0, 20.0, 400001)
    for y in (0.0, 0.3, 2.0):
        for value in (0.5 * y * y, y * y + 1.0):
            price = FactoredForm(None, loose).price(y, value)  # type: ignore[arg-type]
            as_good = (a - y) ** 2 - loose * a**2 <= value
            assert price >= (1.0 - 1e-4) * loose * np.max(a[as_good] ** 2, initial=0.0)


def test_what_a_factor_leaves_of_a_kernel_matrix_is_charged() -> None:
    posed = cml.recognize(DUALS["a kernel, costs"].build()).posed
    plain = _unfactored(posed)
    assert 0.0 < plain <= 1e-9
    rng = np.random.default_rng(0)
    rest = 1e-6 * rng.normal(size=(24, 24))
    posed.X = posed.X + rest + rest.T
    L = posed.problem.kernel_parts.matrix.factor
    u = COSTS * rng.choice([-1.0, 0.0, 1.0], (200, 24))
    seen = 0.5 * np.abs(np.einsum("ij,jk,ik->i", u, posed.X - L @ L.T, u)).max()
    assert plain < seen <= _unfactored(posed)


def test_what_rounding_leaves_of_differences_is_charged() -> None:
    """Coefficients that are off by a few roundings move the objective, at a far level, by much."""
    rng = np.random.default_rng(5)
    D = np.diff(np.eye(SIGNAL.size), 2, axis=0)
    off = D * (1.0 + 4e-15 * rng.choice([-1.0, 0.0, 1.0], D.shape))
    x, y = cp.Variable(SIGNAL.size), SIGNAL + 1e6
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(x - y) + 0.5 * cp.norm1(off @ x)))
    found = cml.recognize(problem)
    assert found is not None
    value = 0.5 * np.abs(D @ SIGNAL).sum() + 1e-6
    points = y + 1e-3 * rng.normal(size=(50, y.size))
    changes = 0.5 * np.abs(np.abs(points @ (off - D).T)).sum(axis=1)
    assert 1e-9 <= changes.max() <= found.posed.price(value) <= 100.0 * changes.max()
