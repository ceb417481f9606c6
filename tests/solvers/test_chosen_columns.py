"""Gram matrices that grow, and factors that serve nearby supports, against NumPy from scratch."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

import convexml as cml
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


def test_rough_matrices_leave_out_rows_that_hardly_count() -> None:
    rows, is_faint = RNG.normal(size=(400, 200)), np.arange(400) % 2 > 0
    h = np.where(is_faint, 8e-5, 0.2)
    for count, left_out in ((100, True), (190, False)):  # of 190 rows for 190 columns none can go
        chosen = ChosenColumns(as_design(rows), False)
        for part in np.split(np.arange(count), [70]):
            chosen.add(part)
            matrix, _ = chosen.gram(h, rough=True)
        some = rows[~is_faint if left_out else slice(None), :count]
        truth = some.T @ (h[~is_faint if left_out else slice(None), None] * some)
        assert np.allclose(matrix[:count, :count], truth, rtol=0.0, atol=1e-3)


@pytest.mark.parametrize("size", [1e-30, 1e30])
def test_columns_beyond_single_precision_are_summed_in_double(size: float) -> None:
    chosen = ChosenColumns(as_design(X * size), True)
    chosen.add(np.arange(100, 190))
    matrix, _ = chosen.gram(WEIGHTS["of their own"], rough=True)
    truth = centred(chosen.index, WEIGHTS["of their own"], True)
    assert np.allclose(matrix[:90, :90] / size**2, truth, atol=1e-10)


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


def test_a_factor_is_of_one_mu() -> None:
    A = RNG.normal(size=(200, 100))
    factor, support, right = SupportFactor(), np.arange(100), RNG.normal(size=100)
    for mu in (0.0, 5.0, 0.1):
        found = factor.solve(A.T @ A, mu, support, right)
        assert np.allclose(found, np.linalg.solve(A.T @ A + mu * np.eye(100), right), rtol=1e-9)


def test_a_rough_gram_matrix_that_leads_nowhere_is_replaced(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def misled(self: ChosenColumns, h: Array, known: int) -> None:
        made.append(self.index.size)
        extend(self, h, known)
        own = self._gram.diagonal().copy()
        self._gram[:] = 0.0
        np.fill_diagonal(self._gram, own)

    made: list[int] = []
    extend = ChosenColumns._extend_roughly
    monkeypatch.setattr(ChosenColumns, "_extend_roughly", misled)
    rng = np.random.default_rng(3)
    rows = rng.normal(size=(300, 1)) + rng.normal(size=(300, 200))
    y = np.sign(rows[:, :90] @ rng.normal(size=90) + rng.normal(size=300))
    problem = cml.LogisticRegression(rows, y, 1.0, "l1")
    problem.lam = 0.003 * problem.lam_max
    assert problem.solve("working_set", tol=1e-11).status == "optimal"
    assert 0 < len(made) < 50
