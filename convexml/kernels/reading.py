"""A kernel, and the samples that it is asked about, without a model."""

from __future__ import annotations

from typing import Any

from scipy import sparse

from ..errors import InputError
from ..validation import finite_array, finite_sparse
from .base import Kernel

IMPUTE = " Impute or drop that sample."


def read_samples(kernel: Any, X: Any, owner: str) -> Any:
    """Return X as a float64 array or sparse array of shape (n, d), n, d >= 1, all finite."""
    if not isinstance(kernel, Kernel):
        raise InputError(f"{owner}: kernel must be one of convexml.kernels, got {kernel!r}.")
    if sparse.issparse(X):
        A = finite_sparse(X, owner, "X", IMPUTE)
    else:
        A = finite_array(X, owner, "X", IMPUTE)
    if A.ndim != 2 or 0 in A.shape:
        raise InputError(
            f"{owner}: X must be a matrix of shape (n, d) with n, d >= 1, got shape {A.shape}."
        )
    return A
