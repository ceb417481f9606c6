"""Matrices of affine maps, dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import Array, same

LOOKED_AT = 8
"""Entries that a signature shows."""


def diagonal_of(matrix: Any) -> Array | None:
    """The diagonal of a square matrix that has nothing else; else None."""
    if matrix.shape[0] != matrix.shape[1]:
        return None
    if sparse.issparse(matrix):
        diagonal = matrix.diagonal()
        return diagonal if matrix.count_nonzero() == np.count_nonzero(diagonal) else None
    if matrix[0, 1:].any() or matrix[1:, 0].any():
        return None
    diagonal = np.diagonal(matrix)
    alone = np.count_nonzero(matrix) == np.count_nonzero(diagonal)
    return np.array(diagonal) if alone else None


def first_entries(matrix: Any) -> tuple[Any, ...]:
    """Some entries of the first row; of a sparse matrix only where it is the only one."""
    if not sparse.issparse(matrix):
        return tuple(matrix[0, :LOOKED_AT].tolist()) if len(matrix) else ()
    if matrix.shape[0] != 1:
        return ()
    row = sparse.csr_array(matrix, copy=True)
    row.sum_duplicates()
    row.eliminate_zeros()
    return (*row.indices[:LOOKED_AT].tolist(), *row.data[:LOOKED_AT].tolist())


def equal(one: Any, two: Any) -> bool:
    """Whether two matrices are the same, entry by entry."""
    if one is two:
        return True
    if sparse.issparse(one) != sparse.issparse(two) or one.shape != two.shape:
        return False
    if sparse.issparse(one):
        return one.nnz == two.nnz and (one != two).nnz == 0
    return same(one, two)
