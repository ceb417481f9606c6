"""The kernel matrix of the samples and its factor, checked."""

from __future__ import annotations

import numpy as np

from ...errors import InputError
from ...kernels import Kernel, factor
from ...numerics import EPS, Array
from ..reading.inputs import Samples


def factored(owner: str, kernel: Kernel, samples: Samples) -> tuple[Array, Array]:
    """The symmetric kernel matrix K, shape (n, n), and L with K = L L'.

    Raises
    ------
    InputError
        For a precomputed matrix of the wrong shape, an overflow, a K that is not semidefinite.
    """
    X = samples.X
    if not kernel.takes_samples:
        if X.shape[1] != samples.total:
            raise InputError(
                f"{owner}: a precomputed kernel needs the matrix of shape (n, n), got "
                f"({samples.total}, {X.shape[1]})."
            )
        X = X[:, samples.kept]
    with np.errstate(over="ignore", invalid="ignore"):
        K = np.asarray(kernel(X, X), dtype=float)
    if not np.all(np.isfinite(K)):
        raise InputError(f"{owner}: {kernel!r} overflows on these samples; scale X down.")
    K = np.where(np.abs(K) < EPS**2 * np.abs(K).max(initial=0.0), 0.0, K)
    try:
        L = factor(K)
    except InputError as error:
        raise InputError(f"{owner}: {error}") from None
    return 0.5 * (K + K.T), L
