"""Read a matrix X once: as numbers, all of them finite, with the squares of its columns."""

from __future__ import annotations

from math import isfinite
from typing import Any

import numpy as np
from scipy import sparse

from ...design import Design, as_design
from ...errors import InputError
from ...numerics import LEAST_SQUARE, Array
from ...validation import finite_sparse, float_array, refuse_nonfinite
from .names import NamedColumns, column_names, refuse_text

SOME = 4096
"""Rows or columns of a sparse X whose first entries are seen."""
IMPUTE = " Impute or drop that sample."

FEW = 20_000
"""Entries of X that are all seen: to choose among them takes longer."""


def read_matrix(owner: str, X: Any, name: str = "X") -> Any:
    """Return X as a float64 array, CSR or CSC matrix of shape (n, d), n, d >= 1, all finite."""
    return read_design(owner, X, name).constant


def read_design(owner: str, X: Any, name: str = "X") -> Design:
    """The same as a design.

    The numbers are shared with what was passed where they need not be converted. Squares of dense
    columns, which are asked for later, tell what is finite.
    """
    values = X.values if isinstance(X, NamedColumns) else X
    if sparse.issparse(values):
        design = as_design(finite_sparse(values, owner, name, IMPUTE, share=True))
    else:
        try:
            matrix = float_array(values, owner, name, share=True)
        except InputError:
            refuse_text(owner, X, name)  # by its column
            raise
        if matrix.ndim != 2:
            raise InputError(
                f"{owner}: {name} must be a matrix of shape (n, d), got shape {matrix.shape}."
                f"{_in_two_axes(matrix, name)}"
            )
        design = as_design(matrix)
        with np.errstate(over="ignore", under="ignore", invalid="ignore"):
            finite = isfinite(design.column_squares().sum())
        if not finite:
            refuse_nonfinite(matrix, owner, name, IMPUTE, columns=column_names(X))
    if 0 in design.shape:
        raise InputError(
            f"{owner}: {name} is empty (shape {design.shape}); at least one sample and one "
            "feature are required. Pass some rows."
        )
    return design


def _in_two_axes(matrix: Array, name: str) -> str:
    """How to make a matrix of an array with fewer or more axes."""
    if matrix.ndim == 0:
        return f" Got {matrix.item()!r}; pass the samples in rows."
    if matrix.size == 0:
        return " It is empty; at least one sample and one feature are required."
    if matrix.ndim == 1:
        return (
            f" Use {name}.reshape(-1, 1) for a single feature, {name}.reshape(1, -1) for a single "
            "sample."
        )
    return f" Use {name}.reshape(len({name}), -1) for one row a sample."


def some_of(X: Any) -> Array:
    """An entry or more of each column, a thousand at least, from rows spread evenly; or all.

    Of a sparse X some that are stored first of a row or column, and where.
    """
    if sparse.issparse(X):
        starts = X.indptr[:: len(X.indptr) // SOME + 1]
        first = starts[starts < X.indptr[-1]]
        return np.concatenate([X.data[first], X.indices[first]])
    n, d = X.shape
    if X.size <= FEW:
        return X
    steps = np.arange(max(1000, d))
    rows = (steps * ((np.sqrt(5.0) - 1.0) / 2.0) % 1.0 * n).astype(np.intp)
    return np.asarray(X[rows, steps % d])


def refuse_lost(owner: str, matrix: Any, name: str) -> None:
    """Raise InputError for entries other than 0 whose products float64 cannot hold."""
    sizes = np.abs(matrix.data if sparse.issparse(matrix) else matrix)
    lost = sizes[(sizes > 0.0) & ~((sizes >= LEAST_SQUARE) & (sizes <= 1.0 / LEAST_SQUARE))]
    if lost.size:
        raise InputError(
            f"{owner}: {name} has an entry of size {lost.flat[0]:g}, whose products are beyond "
            f"float64. Entries must be 0 or from {LEAST_SQUARE:g} to {1.0 / LEAST_SQUARE:g}: "
            "change its unit, and lam with it."
        )
