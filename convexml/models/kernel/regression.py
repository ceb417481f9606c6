"""Kernel ridge regression and support vector regression with a kernel."""

from __future__ import annotations

from typing import Any, ClassVar

from ..regression.ridge import Ridge
from ..regression.svr import SVR
from .model import KernelModel


class KernelRidge(KernelModel, Ridge):
    r"""Minimise (1/2) mean (y - f(x))^2 + (lam/2) |f|_H^2, f = sum_j q_j k(x_j, .).

    Closed form: (K + n lam I) q = y. scikit-learn's KernelRidge has alpha = n lam. Sources: [G] 5,
    [P] 16.5.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows; the kernel matrix (n, n) for a precomputed kernel.
    y : array, shape (n,)
        Real targets.
    lam : float
        Strength, >= 0.
    kernel : Kernel
        For example ``kernels.Gaussian(1.0)``.
    fit_intercept : bool
        Whether an unpenalised b is added to f.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, a kernel matrix that is not positive semidefinite, NaN or infinite
        entries, wrong shapes, bad weights.
    """

    scikit_learn: ClassVar = {"KernelRidge": {"alpha": "lam = alpha / S"}}

    def __init__(
        self,
        X: Any,
        y: Any,
        lam: float,
        kernel: Any,
        *,
        fit_intercept: bool = False,
        sample_weight: Any = None,
    ) -> None:
        self._set_kernel(kernel)
        self._start(X, y, fit_intercept, sample_weight, lam=lam)


class KernelSVR(KernelModel, SVR):
    r"""Minimise (1/2) |f|_H^2 + C sum_i s_i (|y_i - f(x_i) - b| - epsilon)_+.

    f = sum_j q_j k(x_j, .), q = alpha - alpha_star. As scikit-learn's SVR. Sources: [G] 5.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows; the kernel matrix (n, n) for a precomputed kernel.
    y : array, shape (n,)
        Real targets.
    C : float
        Cost of a unit of slack, > 0.
    epsilon : float
        Half-width of the tube without loss, >= 0, in units of y.
    kernel : Kernel
        For example ``kernels.Gaussian(1.0)``.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        The s_i.

    Raises
    ------
    InputError
        For C <= 0, a negative epsilon, a kernel matrix that is not positive semidefinite, NaN or
        infinite entries, wrong shapes, bad weights.
    """

    scikit_learn: ClassVar = {"SVR": {"C": "C = C", "epsilon": "epsilon = ε"}}

    def __init__(
        self,
        X: Any,
        y: Any,
        C: float,
        epsilon: float,
        kernel: Any,
        *,
        fit_intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        self._set_kernel(kernel)
        self._start(X, y, fit_intercept, sample_weight, C=C, epsilon=epsilon)
