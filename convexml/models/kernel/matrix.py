"""The kernel matrix of the samples, checked."""

from __future__ import annotations

from ...errors import InputError, warn
from ...kernels import Kernel, Precomputed
from ...kernels.factor import CLIPPED, clipped
from ...kernels.matrix import KernelMatrix
from ..reading.inputs import Samples


def kernel_matrix(owner: str, kernel: Kernel, samples: Samples) -> KernelMatrix:
    """The kernel matrix; it is factored at once where no theorem says that it is semidefinite.

    Negative eigenvalues that may be rounding are clipped, with a warning.

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
    matrix = KernelMatrix(owner, kernel, X)
    if matrix.is_exact:
        return matrix
    try:
        matrix.factor  # noqa: B018
    except InputError:
        near = clipped(matrix.as_given())
        if near is None:
            raise
        K, least = near
        warn(f"{owner}: {CLIPPED.format(least)}")
        matrix = KernelMatrix(owner, Precomputed(), K)
        matrix.factor  # noqa: B018
    return matrix
