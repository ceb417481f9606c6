"""How often the blocks are read: what is asked of all rows before a solve is told by reading."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import convexml as cml
from convexml.blocks import Here
from convexml.design import BlockedDesign, SingleDesign, as_design
from convexml.design.scaled import last_scores
from convexml.objective.outputs.class_hessian import class_sums

RNG = np.random.default_rng(53)
X = RNG.standard_normal((30_000, 18)) * 2.0 ** np.arange(-9, 9) + np.where(np.arange(18) % 2, 3, 0)
SCORE = (X - X.mean(axis=0)) @ 2.0 ** -np.arange(-9.0, 9.0) / 4.0
Y = (SCORE + RNG.logistic(size=len(X)) > 0.0).astype(float)
CUTS = (9000, 9001, 21_000)


def pieces() -> list[Any]:
    return list(zip(np.split(X, CUTS), np.split(Y, CUTS), strict=True))


def test_a_logistic_solve_reads_the_blocks_a_few_times() -> None:
    blocks = cml.RowBlocks(pieces())
    problem = cml.LogisticRegression(blocks, lam=1e-3)
    assert blocks.passes == 1
    solution = problem.solve(tol=1e-6)
    assert solution.status == "optimal"
    assert blocks.passes <= 12  # 24 when each product and each sum of the columns was a pass
    whole = cml.LogisticRegression(X, Y, lam=1e-3).solve(tol=1e-6)
    assert solution.objective == pytest.approx(whole.objective, rel=2e-6)


def test_slopes_and_hessian_of_classes_are_one_visit() -> None:
    some, y = X[:4000], np.digitize(SCORE[:4000], [-1.0, 1.0])
    blocks = cml.RowBlocks([(some[:1500], y[:1500]), (some[1500:], y[1500:])])
    solution = cml.SoftmaxRegression(blocks, lam=1e-3).solve(tol=1e-6)
    assert solution.status == "optimal"
    assert blocks.passes <= 16  # 70 when each was a visit, and the null model read X
    whole = cml.SoftmaxRegression(some, y, lam=1e-3).solve(tol=1e-9)
    assert solution.objective == pytest.approx(whole.objective, rel=2e-6)


@pytest.mark.parametrize("ones", [True, False])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, np.float32])
def test_the_hessian_of_classes_is_that_of_its_formula(kind: Any, ones: bool) -> None:
    rows = np.round(4.0 * X[:700])
    c, p = RNG.uniform(0.1, 1.0, 700), RNG.dirichlet([1.0, 2.0, 0.5], 700)
    G = np.column_stack([rows, np.ones(700)]) if ones else rows
    curved = np.einsum("ik,kl->ikl", p, np.eye(3)) - np.einsum("ik,il->ikl", p, p)
    expected = np.einsum("i,ikl,ij,im->jkml", c, curved, G, G)
    design = SingleDesign(rows.astype(np.float32)) if kind is np.float32 else as_design(kind(rows))
    u = RNG.standard_normal((700, 3))
    pull, found = class_sums(design, u, c, p, ones)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    np.testing.assert_allclose(pull, (rows.T @ u).ravel(), atol=1e-9)
    none = design.columns(np.zeros(0, dtype=int))
    pull, found = class_sums(none, u, c, p, ones)
    assert found.shape == (int(ones), 3, int(ones), 3)
    np.testing.assert_allclose(found, expected[18:, :, 18:, :])
    assert pull.size == 0


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_columns_are_told_of_in_one_visit(kind: Any) -> None:
    some = np.round(X[:100])
    blocks = [as_design(kind(part)) for part in np.split(some, [1, 40])]
    design = BlockedDesign.of(blocks, Here())
    np.testing.assert_allclose(design.column_squares(), (some**2).sum(axis=0))
    np.testing.assert_allclose(design.means, some.mean(axis=0))
    stored = np.count_nonzero(some, axis=0) if kind is sparse.csr_array else np.full(18, 100)
    np.testing.assert_array_equal(design.column_counts(), stored)
    assert design.entries == stored.sum()
    if kind is np.asarray:
        np.testing.assert_array_equal(design.extent, (some.min(axis=0), some.max(axis=0)))
    assert design.visits.count == 1


def test_weights_that_are_equal_take_no_other_visit() -> None:
    design = BlockedDesign.of([as_design(part) for part in np.split(X[:90], [30])], Here())
    alike = design.ones * 0.25
    np.testing.assert_allclose(design.column_squares(alike), 0.25 * (X[:90] ** 2).sum(axis=0))
    visits = design.visits.count
    np.testing.assert_allclose(
        design.column_squares(alike * np.exp(design.matvec(np.zeros(18)))),
        0.25 * (X[:90] ** 2).sum(axis=0),
    )
    assert design.visits.count > visits


def test_products_beyond_numbers_are_not_remembered_for_a_part_of_them() -> None:
    design = as_design(np.array([[1e308, 1e308], [1.0, 0.0]]))
    with np.errstate(over="ignore"):
        assert last_scores(design, np.array([1.0, 1.0]))[0] == np.inf
        assert last_scores(design, np.array([0.5, 0.5]))[0] == 1e308


@pytest.mark.parametrize("model", [cml.SoftMarginSVM, partial(cml.SVR, epsilon=0.1)])
def test_a_loss_with_kinks_is_smoothed_where_rows_are_very_many(model: Any) -> None:
    rng = np.random.default_rng(5)
    rows = rng.standard_normal((30_000, 4))
    score = rows @ [1.0, -1.0, 0.5, 0.0] + 0.3
    noise = rng.standard_normal(len(rows))
    y = np.where(score + noise > 0.0, 1.0, -1.0) if model is cml.SoftMarginSVM else score + noise
    blocks = cml.RowBlocks(list(zip(np.split(rows, [5000]), np.split(y, [5000]), strict=True)))
    solution = model(blocks, C=0.01).solve(tol=1e-5)
    assert solution.status == "optimal"
    assert blocks.passes <= 20  # an interior point takes 150
    whole = model(rows, y, C=0.01).solve("augmented_lagrangian", tol=1e-10)
    assert solution.objective - whole.objective <= 1e-5 * whole.objective
    assert solution.objective >= whole.objective * (1.0 - 1e-10)
