"""Rows in single precision, converted as they are used, against whole numbers, which are exact."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import convexml as cml
from convexml.design import DenseDesign, SingleDesign, SparseDesign, is_single
from convexml.design.brought import column_facts

N, D = 5000, 60
RNG = np.random.default_rng(3)
WHOLE = RNG.integers(-50, 50, (N, D))
W, U, H = RNG.integers(-9, 9, D), RNG.integers(-9, 9, N), RNG.integers(0, 4, N) ** 2
U2 = np.stack([U, H], axis=1)
DESIGN = SingleDesign(WHOLE.astype(np.float32))
ONES = np.column_stack([WHOLE, np.ones(N, dtype=int)])

EXPECTED: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "matvec": (WHOLE @ W, (W,)),
    "rmatvec": (WHOLE.T @ U, (U,)),
    "abs_matvec": (np.abs(WHOLE) @ np.abs(W), (W,)),
    "abs_rmatvec": (np.abs(WHOLE).T @ np.abs(U), (U,)),
    "gram": (WHOLE.T @ (WHOLE * H[:, None]), (H,)),
    "bordered_gram": (ONES.T @ (ONES * H[:, None]), (H,)),
    "column_squares": ((WHOLE**2).T @ H, (H,)),
    "squares_in": (((2 * WHOLE) ** 2).sum(axis=0), (np.full(D, 2),)),
    "row_squares": ((WHOLE**2).sum(axis=1), ()),
    "column_counts": (np.full(D, N), ()),
    "dense": (WHOLE, ()),
}


@pytest.mark.parametrize("method", EXPECTED)
def test_products_are_exact_where_float64_holds_them(method: str) -> None:
    expected, arguments = EXPECTED[method]
    found = getattr(DESIGN, method)(*(np.asarray(x, dtype=float) for x in arguments))
    assert np.array_equal(found, expected)
    assert np.asarray(found).dtype == (int if method == "column_counts" else float)


def test_products_of_several_vectors_and_without_weights() -> None:
    assert np.array_equal(DESIGN.rmatvec(U2.astype(float)), WHOLE.T @ U2)
    assert np.array_equal(DESIGN.gram(), WHOLE.T @ WHOLE)
    assert np.array_equal(DESIGN.bordered_gram(), ONES.T @ ONES)
    assert np.array_equal(DESIGN.column_squares(), (WHOLE**2).sum(axis=0))
    assert np.array_equal(DESIGN.columns(np.array([4, 1])).dense(), WHOLE[:, [4, 1]])
    assert np.array_equal(DESIGN.rows(np.array([7, 4999])).dense(), WHOLE[[7, 4999]])
    assert np.array_equal(np.vstack([part.dense() for _, part in DESIGN.row_blocks(999)]), WHOLE)


def test_a_sum_is_off_by_no_more_than_its_chain_of_additions_allows() -> None:
    X = RNG.standard_normal((N, D)).astype(np.float32)[:, :3].copy()
    design, u = SingleDesign(X), RNG.standard_normal(N)
    eps, found = Fraction(1, 2**53), design.rmatvec(u)
    assert design.chain < N
    for j in range(3):
        terms = [Fraction(float(a)) * Fraction(float(t)) for a, t in zip(X[:, j], u, strict=True)]
        allowed = (design.chain + 1) * eps * sum(map(abs, terms))
        assert abs(Fraction(float(found[j])) - sum(terms)) <= allowed


@pytest.mark.parametrize(("value", "said"), [(np.nan, "nan"), (-np.inf, "-inf")])
def test_entries_that_are_no_numbers_are_named(tmp_path: Path, value: float, said: str) -> None:
    X = WHOLE.astype(np.float32)
    X[4321, 17] = value
    np.save(tmp_path / "X.npy", X)
    np.save(tmp_path / "y.npy", U)
    with pytest.raises(cml.errors.InputError, match=f"block 4: X.*{said}.*row 321.*column 17"):
        cml.Ridge(cml.RowBlocks.from_npy(tmp_path / "X.npy", tmp_path / "y.npy", 1000), lam=0.1)


def test_what_is_taken_for_single_precision() -> None:
    X = WHOLE.astype(np.float32)
    assert is_single(X)
    others = (X.T, X[:, ::2], X[0], X.astype(">f4"), X.astype(float), np.ma.array(X), X.tolist())
    assert not any(map(is_single, others))


@pytest.mark.parametrize("n", [0, 1, 31, 32, 33, 2500, N])
@pytest.mark.parametrize("kind", [SingleDesign, DenseDesign, SparseDesign])
def test_facts_of_columns_are_those_of_numpy(kind: Any, n: int) -> None:
    rows = WHOLE[:n]
    form = {SingleDesign: np.float32, DenseDesign: float, SparseDesign: sparse.csr_array}[kind]
    X = form(rows.astype(float)) if kind is SparseDesign else rows.astype(form)
    found = column_facts(kind(X))
    assert np.array_equal(found.sums, rows.sum(axis=0))
    assert np.array_equal(found.squares, (rows**2).sum(axis=0))
    assert np.array_equal(found.low, rows.min(axis=0, initial=99) if n else np.full(D, np.inf))
    assert np.array_equal(found.high, rows.max(axis=0, initial=-99) if n else np.full(D, -np.inf))
    stored = (rows != 0).sum(axis=0) if kind is SparseDesign else np.full(D, n)
    assert np.array_equal(found.counts, stored)
    assert found.chain == kind(X).chain if n and kind is not SparseDesign else found.chain >= 0
    columns = column_facts(DenseDesign(np.asfortranarray(rows.astype(float))))
    assert np.array_equal(columns.high, found.high)
    assert np.array_equal(columns.low, found.low)
