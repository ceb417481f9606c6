"""The kernel of an estimator: one of ours, or a design matrix whose Gram matrix it is."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ....errors import InputError, warn
from ....kernels import Gaussian, Kernel, Polynomial, factor
from ....kernels.factor import CLIPPED, clipped
from ....numerics import Array, all_finite
from ..fitted import Fitted


def kernel_matrix(fitted: Fitted, gamma: float | None) -> Array:
    """K of the training samples, (n, n), computed by the formulas that scikit-learn documents.

    Raises
    ------
    InputError
        If ``kernel="precomputed"`` and X is not square.
    """
    from sklearn.metrics.pairwise import pairwise_kernels

    estimator, kernel = fitted.estimator, fitted.estimator.kernel
    if kernel == "precomputed":
        if fitted.X.shape[0] != fitted.X.shape[1]:
            raise fitted.refuse(
                f"X must be the kernel matrix of the training samples, got shape {fitted.X.shape}."
            )
        return np.asarray(fitted.X.toarray() if hasattr(fitted.X, "toarray") else fitted.X)
    if callable(kernel):
        if fitted.owner == "KernelRidge":
            extra = estimator.kernel_params or {}
            return np.asarray(pairwise_kernels(fitted.X, metric=kernel, **extra))
        return np.asarray(kernel(fitted.X, fitted.X), dtype=np.float64)
    settings = {"gamma": gamma, "degree": estimator.degree, "coef0": estimator.coef0}
    K = pairwise_kernels(fitted.X, metric=kernel, filter_params=True, **settings)
    return np.asarray(K.toarray() if hasattr(K, "toarray") else K, dtype=np.float64)


def known_kernel(estimator: Any, gamma: float) -> Kernel | None:
    """The kernel of ours with these values, where it is semidefinite by a theorem."""
    if not 0.0 < gamma < np.inf:
        return None
    if estimator.kernel == "rbf":
        sigma = float(np.sqrt(0.5 / gamma))
        return Gaussian(sigma) if 0.0 < sigma < np.inf else None
    if estimator.kernel == "poly" and estimator.degree >= 1 and 0.0 <= estimator.coef0 < np.inf:
        return Polynomial(int(estimator.degree), float(estimator.coef0), gamma)
    return None


def stands_on(fitted: Fitted, rows: Any) -> None:
    """Refuse X unless it is the rows that the estimator predicts from.

    K alone does not tell: X + 5, -X and X[:, ::-1] have the same Gaussian kernel.

    Raises
    ------
    InputError
        If the rows are not those of X.
    """
    if not sparse.issparse(rows) and not sparse.issparse(fitted.X):
        same = np.array_equal(np.asarray(rows, dtype=np.float64), fitted.X)
    else:
        held, X = sparse.csr_array(rows), sparse.csr_array(fitted.X)
        same = held.shape == X.shape and (held != X).nnz == 0
    if not same:
        raise fitted.refuse(
            "the rows that it predicts from are not those of X; pass the data that it was fitted "
            "on."
        )


def features(fitted: Fitted, K: Array) -> Array:
    """L with K = L L': predictions K q + b are L w + b with w = L'q, and q'Kq is |w|^2.

    Negative eigenvalues that may be rounding are clipped, with a warning.

    Raises
    ------
    InputError
        If K has a negative eigenvalue, as the estimator's problem is then not convex; or an entry
        that is not finite.
    """
    kernel = fitted.estimator.kernel
    if not all_finite(K):
        raise fitted.refuse(
            f"kernel={kernel!r} is not finite on these samples; scale X, or set its parameters."
        )
    K = np.asarray(0.5 * (K + K.T)) if _nearly_symmetric(K) else K
    try:
        L = factor(K)
    except InputError as error:
        near = clipped(K) if K.ndim == 2 and K.shape[0] == K.shape[1] else None
        if near is None:
            raise fitted.refuse(f"kernel={kernel!r}: {error}") from None
        warn(f"{fitted.owner}: {CLIPPED.format(near[1])}")
        L = factor(near[0])
    return L if L.shape[1] else np.zeros((len(K), 1))


def _nearly_symmetric(K: Array) -> Any:
    return np.max(np.abs(K - K.T), initial=0.0) <= 1e-12 * np.max(np.abs(K), initial=0.0)
