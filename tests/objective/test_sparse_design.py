"""A sparse X: its products in either format, entries stored twice, and no other format made."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from support.solvers.loops import forced

import convexml as cml
from convexml.design import ScaledDesign, as_design
from convexml.design import sparse as module
from convexml.models.reading.matrix import read_matrix
from convexml.numerics import Array
from convexml.objective import frame_of

FORMATS = (sparse.csr_array, sparse.csc_array)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(0)


def entries(rng: np.random.Generator) -> Array:
    """8 x 5, half of the entries 0, and the last column empty."""
    X = rng.normal(size=(8, 5)) * (rng.random((8, 5)) < 0.5)
    X[:, -1] = 0.0
    return X


@pytest.mark.parametrize("make", FORMATS)
@pytest.mark.parametrize("enough", [-1.0, np.inf], ids=["compiled", "not compiled"])
def test_products_are_those_of_the_dense_matrix(
    make: Any, enough: float, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, units = entries(rng), np.exp2(np.arange(5.0))
    w, u, h = rng.normal(size=5), rng.normal(size=8), rng.random(8)
    monkeypatch.setattr(module, "ENTRIES", 6)  # several blocks
    forced(monkeypatch, enough, module.squared_columns, module.sums_along, module.sums_across)
    outer = X @ ((w**2) * (X.T @ u))
    assert as_design(make(X)).outer_matvec(u, w**2) == pytest.approx(outer, abs=1e-12)
    for design, A in (
        (as_design(make(X)), X),
        (ScaledDesign(as_design(make(X)), units), X * units),
    ):
        assert design.matvec(w) == pytest.approx(A @ w, abs=1e-12)
        assert design.rmatvec(u) == pytest.approx(A.T @ u, abs=1e-12)
        assert design.abs_matvec(w) == pytest.approx(np.abs(A) @ np.abs(w))
        assert design.abs_rmatvec(u) == pytest.approx(np.abs(A).T @ np.abs(u))
        assert np.array_equal(design.column_counts(), np.count_nonzero(A, axis=0))
        assert design.column_squares() == pytest.approx((A**2).sum(axis=0))
        assert design.column_squares(h) == pytest.approx(h @ A**2)
        assert design.row_squares() == pytest.approx((A**2).sum(axis=1))
        assert design.gram(h) == pytest.approx(A.T @ (h[:, None] * A), abs=1e-12)


@pytest.mark.parametrize("make", FORMATS)
def test_entries_stored_twice_are_added_before_sizes_are_taken(make: Any) -> None:
    twice = sparse.coo_array(([3.0, -1.0, 4.0], ([0, 0, 1], [0, 0, 1])), shape=(2, 2))
    X = make((2, 2))
    X.data, X.indices = twice.data.copy(), np.array([0, 0, 1], dtype=np.int32)
    X.indptr = np.array([0, 2, 3], dtype=np.int32)
    problem = cml.Ridge(X, [1.0, 2.0], 0.1)
    assert np.array_equal(problem.objective_parts.design.column_squares(), [4.0, 16.0])
    assert np.array_equal(read_matrix("it", X).toarray(), [[2.0, 0.0], [0.0, 4.0]])
    assert X.nnz == 3  # what was passed stays as it is


@pytest.mark.parametrize("make", FORMATS)
@pytest.mark.parametrize("model", [cml.Ridge, cml.LogisticRegression])
def test_neither_rows_nor_columns_are_converted(
    make: Any, model: Any, rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = sparse.random_array((400, 900), density=0.01, rng=rng, data_sampler=rng.normal)
    y = np.sign(rng.normal(size=400))
    problem = model(make(X), y, 1e-2)
    for kind, name in ((sparse.csr_array, "tocsc"), (sparse.csc_array, "tocsr")):
        monkeypatch.setattr(kind, name, lambda *_, **__: pytest.fail("converted"))
    assert problem.solve().status == "optimal"


def test_columns_of_any_size_are_measured(rng: np.random.Generator) -> None:
    """Units follow the columns, where squares leave float64 too; an empty one has none."""
    X = entries(rng)[:, [0, 0, 0, 0, 4]] * np.array([1.0, 2.0**80, 1e-200, 1e308, 1.0])
    parts = cml.Ridge(sparse.csc_array(X), np.ones(8), 1.0).objective_parts
    frame = frame_of(parts, always=True)
    own = frame.unit / frame.target_unit
    assert own[1] == 2.0**-80 * own[0]
    assert own[2] == 2.0**200
    assert own[3] == 2.0**-200
    assert own[4] == 1.0


def test_one_pass_gives_the_numbers_of_two_products(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    X = sparse.random_array((40, 90), density=0.1, rng=rng, data_sampler=rng.normal, format="csc")
    design, u, h = as_design(X), rng.normal(size=40), rng.random(90)
    two = design.outer_matvec(u, h)
    monkeypatch.setattr(module, "ENTRIES", 1)
    for enough in (-1.0, np.inf):
        forced(monkeypatch, enough, module.squared_columns)
        assert np.array_equal(design.outer_matvec(u, h), two)
    assert np.array_equal(module.squared_columns.plain(*module._unsigned(design.array), u, h), two)
