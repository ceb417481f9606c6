"""One pass over X: squares of its columns, in any layout, say what is not finite."""

import numpy as np
import pytest

from convexml.data import as_design
from convexml.models.inputs import read_design, read_matrix

SHAPES = [(1, 1), (1, 7), (7, 1), (997, 3), (3, 997), (401, 1003), (70_001, 5), (5, 70_001)]
"""Rows and columns that are and are not multiples of those of a block."""


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("shape", SHAPES)
def test_every_entry_counts_once(shape: tuple[int, int], order: str) -> None:
    rng = np.random.default_rng(sum(shape))
    X = np.asarray(rng.integers(-1000, 1000, shape), dtype=float, order=order)
    exact = [sum(int(x) ** 2 for x in column) for column in X.T.tolist()]  # below 2^53
    assert np.array_equal(as_design(X).column_squares(), exact)
    assert np.array_equal(read_design("Lasso", X).column_squares(), exact)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_one_entry_that_is_not_finite_is_seen_wherever_it_is(bad: float, order: str) -> None:
    n, d = 40_003, 7
    for row, column in [(0, 0), (0, d - 1), (n - 1, 0), (n - 1, d - 1), (20_000, 3)]:
        X = np.zeros((n, d), order=order)
        X[row, column] = bad
        with pytest.raises(ValueError, match=f"at row {row}, column {column};"):
            read_matrix("Lasso", X)


def test_squares_beyond_float64_are_no_reason_to_refuse() -> None:
    X = np.full((3, 2), 1e200)
    assert read_matrix("Lasso", X).shape == (3, 2)
    with pytest.raises(ValueError, match="contains nan at row 2, column 1;"):
        read_matrix("Lasso", np.array([[1e200, 0.0], [0.0, 0.0], [0.0, np.nan]]))
