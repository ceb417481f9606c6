"""Gram matrices that grow, and factors that serve nearby supports, against NumPy from scratch."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from convexml.design import as_design
from convexml.numerics import Array
from convexml.solvers.coordinate.chosen_columns import ChosenColumns
from convexml.solvers.coordinate.support_factor import SupportFactor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 200)) * (RNG.random((60, 200)) < 0.3) + 3.0
X[:, 7] = 0.1  # constant
WEIGHTS = {"alike": np.full(60, 0.25), "of their own": 0.1 + RNG.random(60)}


def centred(index: Array, h: Array, fit_intercept: bool) -> Array:
    """The Gram matrix from its definition."""
    columns = X[:, index]
    if fit_intercept:
        columns = columns - h @ columns / h.sum()
    return columns.T @ (h[:, None] * columns)


@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, sparse.csr_array])
def test_a_gram_matrix_that_grows_is_the_one_from_scratch(
    layout: type, fit_intercept: bool, weights: Array
) -> None:
    chosen = ChosenColumns(as_design(layout(X)), fit_intercept)
    order = RNG.permutation(200)
    order = np.append(order[order != 7], 7)
    for part in np.split(order, [5, 40, 90, 130]):
        chosen.add(part)
        size = chosen.index.size
        matrix, q = chosen.gram(weights)
        found, truth = matrix[:size, :size], centred(chosen.index, weights, fit_intercept)
        scale = np.sqrt(np.outer(*2 * [weights @ X[:, chosen.index] ** 2]))
        assert np.all(np.abs(found - truth) <= 1e-13 * scale)
        assert np.all(np.abs(found - found.T) <= 1e-14 * scale)
        if fit_intercept:
            assert np.allclose(q, X[:, chosen.index].T @ weights, rtol=1e-13)
    x, u = RNG.normal(size=200), RNG.normal(size=60)
    assert np.allclose(chosen.predictions(x), X[:, chosen.index] @ x)
    assert np.allclose(chosen.products(u), X[:, chosen.index].T @ u)
    if fit_intercept:
        assert not np.any(found[chosen.index == 7])  # nothing of it is left, exactly


def test_other_weights_are_not_mixed_with_the_old_ones() -> None:
    chosen = ChosenColumns(as_design(X), True)
    chosen.add(np.arange(8, 60))
    chosen.gram(WEIGHTS["alike"])
    chosen.add(np.arange(60, 90))
    matrix, _ = chosen.gram(WEIGHTS["of their own"])
    truth = centred(chosen.index, WEIGHTS["of their own"], True)
    assert np.allclose(matrix[:82, :82], truth, atol=1e-12)


@pytest.mark.parametrize("mu", [0.0, 0.3])
def test_a_factor_serves_the_supports_near_its_own(mu: float) -> None:
    A = RNG.normal(size=(300, 150))
    gram = A.T @ A
    factor = SupportFactor()
    base = np.arange(100)
    for gone, come in ((0, 0), (3, 0), (0, 4), (5, 6), (1, 12), (60, 40)):
        support = np.sort(np.append(RNG.permutation(base)[gone:], 100 + RNG.permutation(50)[:come]))
        right = RNG.normal(size=support.size)
        truth = np.linalg.solve(gram[np.ix_(support, support)] + mu * np.eye(support.size), right)
        found = factor.solve(gram, mu, support, right)
        assert found is not None
        assert np.allclose(found, truth, rtol=1e-9, atol=1e-12)
    assert factor.base.size == 80  # the last one was far, and is factored anew


def test_a_factor_is_of_one_mu() -> None:
    A = RNG.normal(size=(200, 100))
    factor, support, right = SupportFactor(), np.arange(100), RNG.normal(size=100)
    for mu in (0.0, 5.0, 0.1):
        found = factor.solve(A.T @ A, mu, support, right)
        assert np.allclose(found, np.linalg.solve(A.T @ A + mu * np.eye(100), right), rtol=1e-9)
