"""The kernel matrix of the samples, checked."""

from __future__ import annotations

from ...errors import InputError, warn
from ...kernels import Kernel, Precomputed
from ...kernels.factor import CLIPPED, INDEFINITE, clipped, is_rounded, least_eigenvalue
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
    if is_rounded(matrix.dense):
        try:
            matrix.factor  # noqa: B018
            return matrix
        except InputError:
            near = clipped(matrix.as_given())
            if near is None:
                raise
    else:
        near = clipped(matrix.as_given())
        if near is None:
            raise InputError(f"{owner}: {INDEFINITE.format(least_eigenvalue(matrix.dense))}")
    K, least = near
    warn(f"{owner}: {CLIPPED.format(least)}")
    matrix = KernelMatrix(owner, Precomputed(), K, projected=True)
    matrix.factor  # noqa: B018
    return matrix
