"""Choose the design for what the user passed."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .base import Design
from .dense import DenseDesign
from .sparse import SparseDesign


def as_design(X: Any) -> Design:
    """Wrap a validated float64 array or SciPy sparse matrix of shape (n, d)."""
    if sparse.issparse(X):
        return SparseDesign(X if X.format in ("csr", "csc") else sparse.csr_array(X))
    return DenseDesign(np.asarray(X, dtype=float))
