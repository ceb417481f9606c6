"""Design matrices behind one protocol, and arrays over rows that lie in blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .array import (
    BlockArray,
    between,
    count_between,
    dear,
    in_memory,
    joined,
    parted,
    rowwise,
    thinned,
    together,
)
from .executor import Executor, Here
from .matrix import DenseDesign, Design, SingleDesign, SparseDesign, cached_rows, is_single
from .row_blocks import (
    BlockedDesign,
    OneByOne,
    SomeRows,
    ahead,
    by_blocks,
    in_blocks,
    rows_in_blocks,
)
from .scaled import ScaledDesign, StackedDesign, last_scores, last_slopes, remember_scores, unscaled

# Choose the design for what the user passed.


def as_design(X: Any) -> Design:
    """Wrap a validated float64 array or SciPy sparse matrix of shape (n, d)."""
    if sparse.issparse(X):
        return SparseDesign(X if X.format in ("csr", "csc") else sparse.csr_array(X))
    return DenseDesign(np.asarray(X, dtype=float))


__all__ = [
    "BlockArray",
    "BlockedDesign",
    "DenseDesign",
    "Design",
    "Executor",
    "Here",
    "OneByOne",
    "ScaledDesign",
    "SingleDesign",
    "SomeRows",
    "SparseDesign",
    "StackedDesign",
    "ahead",
    "as_design",
    "between",
    "by_blocks",
    "cached_rows",
    "count_between",
    "dear",
    "in_blocks",
    "in_memory",
    "is_single",
    "joined",
    "last_scores",
    "last_slopes",
    "parted",
    "remember_scores",
    "rows_in_blocks",
    "rowwise",
    "thinned",
    "together",
    "unscaled",
]
