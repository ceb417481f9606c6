"""Gram matrices that grow, factors of nearby supports, products that are remembered."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import sparse

import convexml as cml
from convexml.certificates.learning.repair import product_error, repair_dual
from convexml.data import DenseDesign, as_design
from convexml.losses import Logistic, Squared
from convexml.numerics import Array
from convexml.penalties import L1, L2
from convexml.problem import Objective
from convexml.problem.newton import slopes_at
from convexml.solvers.coordinate.support import SupportFactor
from convexml.solvers.coordinate.working_set import ChosenColumns, gram_of
from convexml.solvers.second_order.newton import Corrections

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


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_a_rough_matrix_is_near_the_exact_one_and_positive_definite(fit_intercept: bool) -> None:
    index, h = 50 + np.arange(170) % 100, WEIGHTS["of their own"]  # more than rows, some twice
    chosen = ChosenColumns(as_design(X[:, index]), fit_intercept)
    for part in np.split(np.arange(170), [70]):
        chosen.add(part)
        size = chosen.index.size
        found, truth = chosen.gram(h, rough=True)[0][:size, :size], centred(index, h, fit_intercept)
        scale = np.sqrt(truth.diagonal()[:size])
        scale = np.outer(scale, scale)
        assert found.dtype == np.float32
        assert not chosen.is_exact
        assert np.all(np.abs(found - truth[:size, :size]) <= 5e-6 * scale)
        assert np.linalg.eigvalsh(found / scale)[0] > 0.0
    assert chosen.gram(h)[0].dtype == float  # asked for the exact one, nobody gets the other


@pytest.mark.parametrize("layout", [np.asfortranarray, sparse.csr_array])
def test_columns_that_are_let_go_leave_the_others_as_they_were(layout: type) -> None:
    chosen = ChosenColumns(as_design(layout(X)), True)
    chosen.add(np.arange(20, 100))
    chosen.gram(WEIGHTS["alike"])
    chosen.keep(np.arange(80) % 3 > 0)
    chosen.add(np.arange(110, 120))
    expected = [*(j for j in range(20, 100) if (j - 20) % 3), *range(110, 120)]
    assert chosen.index.tolist() == expected == sorted(np.flatnonzero(chosen.contains))
    u, size = RNG.normal(size=60), len(expected)
    assert np.allclose(chosen.products(u), X[:, expected].T @ u)
    matrix, _ = chosen.gram(WEIGHTS["alike"])
    assert np.allclose(matrix[:size, :size], centred(np.array(expected), WEIGHTS["alike"], True))


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


@pytest.mark.parametrize("offset", [0.0, 1e3, 1e6])
def test_the_gram_matrix_of_some_columns_is_right_about_its_centre(offset: float) -> None:
    """Against longer numbers; single precision has lost the centre of columns that are far."""
    rng = np.random.default_rng(6)
    X, c = rng.normal(size=(9_001, 5)) + offset, rng.random(9_001)
    for order in "CF":
        parts = cml.Lasso(np.asarray(X, order=order), X @ np.ones(5), 0.1, sample_weight=c)
        index, h = np.array([0, 3, 4]), parts.objective_parts.c.astype(np.longdouble)
        own = X[:, index].astype(np.longdouble)
        own = own - (h @ own) / h.sum()
        exact = (own * h[:, None]).T @ own
        off = np.abs(gram_of(parts.objective_parts, index) - exact).max()
        assert off <= max(1e-6, 1e-15 * offset**2)


def labelled(rng: np.random.Generator, X: Array) -> Array:
    z = (X - X.mean(axis=0)) @ rng.normal(size=X.shape[1]) / X.std(axis=0).max()
    return np.where(z + 0.5 * rng.logistic(size=len(X)) > 0.0, 1.0, -1.0)


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_pair_of_products_is_made_block_by_block_and_remembered(
    order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(1)
    X = np.asarray(rng.normal(size=(40_001, 5)), order=order)
    y, w = labelled(rng, X), rng.normal(size=5)
    c = rng.random(len(y))
    objective = Objective(as_design(X), y, Logistic(), L2(1.0), c)
    z, u, pull = slopes_at(objective, w, 0.3)
    margins = y * (X @ w + 0.3)
    slopes = -c * y * np.exp(-np.logaddexp(0.0, margins))
    assert np.allclose(z, X @ w + 0.3, rtol=1e-13, atol=1e-13)
    assert np.allclose(u, slopes, rtol=1e-12, atol=0.0)
    assert np.allclose(pull, X.T @ slopes, rtol=1e-11)
    monkeypatch.setattr(DenseDesign, "matvec", None)
    assert np.array_equal(objective.predict(w, 0.3), z)


def test_corrections_are_those_of_the_full_matrix() -> None:
    """The recursion against the update of the inverse, written out."""
    rng = np.random.default_rng(2)
    factor = rng.normal(size=(5, 5))
    true = factor @ factor.T + np.eye(5)
    H = np.diag(1.0 / np.diag(true))
    steps, start = Corrections(lambda r: r / np.diag(true)), H.copy()
    for _ in range(4):
        s = rng.normal(size=5)
        y = true @ s
        assert steps.keep(s, y)
        left = np.eye(5) - np.outer(s, y) / (s @ y)
        H = left @ H @ left.T + np.outer(s, s) / (s @ y)
    g = rng.normal(size=5)
    assert np.allclose(steps.step(g), -H @ g, rtol=1e-10)
    assert not np.allclose(steps.step(g), -start @ g, rtol=1e-2)
    assert not steps.keep(np.ones(5), -np.ones(5))  # no curvature along it


COUNT, COLUMNS = 50, 220


def data(n: int = COUNT, d: int = COLUMNS) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d)) + 0.7 * rng.normal(size=(n, 1))
    return X, X[:, :4] @ np.array([2.0, -1.0, 1.5, 0.7]) + 0.3 * rng.normal(size=n)


def test_a_remembered_product_is_used_only_within_its_error() -> None:
    X, y = data()
    rng = np.random.default_rng(3)
    for scale, times in product((0.0, 1e-17, 1e-14, 1e-9, 1e-3), (1.0, 0.25, 0.3, 1.0 / 3.0)):
        objective = Objective(
            as_design(X), y, Squared(), L1(1e3), np.full(COUNT, 1.0 / COUNT), False
        )
        u = rng.normal(size=COUNT)
        repair_dual(objective, u)
        near = times * (u + scale * rng.normal(size=COUNT))
        found = repair_dual(objective, near)
        terms = X.T.astype(np.longdouble) * found.u.astype(np.longdouble)
        exact = -terms.sum(axis=1).astype(float)
        assert np.all(np.abs(found.v - exact) <= found.error)
        assert np.all(found.error <= 3.0 * product_error(objective, found.u))
