"""Kernel logistic regression and the support vector machine with a kernel."""

from __future__ import annotations

from typing import Any, ClassVar

from ...losses import Logistic, Loss
from ...penalties import L2, Penalty
from ..classification.logistic_regression import LogisticRegression
from ..classification.soft_margin_svm import SoftMarginSVM
from .model import KernelModel


class KernelLogistic(KernelModel, LogisticRegression):
    r"""Minimise mean log(1 + exp(-y z)) + (lam/2) |f|_H^2, z = f(x) + b, y in {-1, +1}.

    f = sum_j q_j k(x_j, .), q_i = c_i y_i P(other class) / lam. Sources: [G] 5, [P] 16.5.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows; the kernel matrix (n, n) for a precomputed kernel.
    y : array, shape (n,)
        Two labels of any kind; the larger is +1.
    lam : float
        Strength, >= 0.
    kernel : Kernel
        For example ``kernels.Gaussian(1.0)``.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.

    Raises
    ------
    InputError
        For a negative lam, other than two classes, a kernel matrix that is not positive
        semidefinite, NaN or infinite entries, wrong shapes, bad weights.
    """

    def __init__(
        self,
        X: Any,
        y: Any,
        lam: float,
        kernel: Any,
        *,
        fit_intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        self._set_kernel(kernel)
        self._start(X, y, fit_intercept, sample_weight, lam=lam)

    def _make(self, **hyper: Any) -> tuple[Loss, Penalty, str]:
        return Logistic(), L2(hyper["lam"]), "mean"


class KernelSVM(KernelModel, SoftMarginSVM):
    r"""Minimise (1/2) |f|_H^2 + C sum_i s_i xi_i s.t. y_i (f(x_i) + b) >= 1 - xi_i, xi_i >= 0.

    f = sum_j q_j k(x_j, .), q_i = alpha_i y_i. As scikit-learn's SVC. Sources: [G] 5, [E] 2.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows; the kernel matrix (n, n) for a precomputed kernel.
    y : array, shape (n,)
        Two labels of any kind; the larger is +1.
    C : float
        Cost of a unit of slack, > 0.
    kernel : Kernel
        For example ``kernels.Gaussian(1.0)``.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        The s_i.

    Raises
    ------
    InputError
        For C <= 0, other than two classes, a kernel matrix that is not positive semidefinite, NaN
        or infinite entries, wrong shapes, bad weights.
    """

    scikit_learn: ClassVar = {"SVC": {"C": "C = C"}}

    def __init__(
        self,
        X: Any,
        y: Any,
        C: float,
        kernel: Any,
        *,
        fit_intercept: bool = True,
        sample_weight: Any = None,
    ) -> None:
        self._set_kernel(kernel)
        self._start(X, y, fit_intercept, sample_weight, C=C)
