"""Kernel logistic regression and the support vector machine with a kernel."""

from __future__ import annotations

from typing import Any

from ..losses import Logistic, Loss
from ..penalties import L2, Penalty
from .kernel_model import KernelModel
from .latex import Latex
from .logistic_regression import LogisticRegression
from .soft_margin_svm import SoftMarginSVM


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

    def _latex(self) -> Latex:
        return Latex(
            r"\min_{q,b}\ \tfrac1n\sum_i\log(1 + e^{-y_i z_i}) + \tfrac\lambda2 q^\top K q,"
            r"\quad z = Kq + b\mathbf{1}",
            r"\tfrac1n\sum_i\log(1 + e^{-y_i z_i}) + \tfrac\lambda2 q^\top K q"
            r" + u^\top(Kq + b\mathbf{1} - z)",
            r"\max_u\ -\tfrac1n\sum_i\left(p_i\log p_i + (1 - p_i)\log(1 - p_i)\right)"
            r" - \tfrac{1}{2\lambda}u^\top K u\quad\text{s.t.}\quad p_i = -n y_i u_i,\ "
            r"\mathbf{1}^\top u = 0",
            (
                r"u_i = -\tfrac1n y_i\,\frac{1}{1 + e^{y_i z_i}}",
                r"K(\lambda q + u) = 0",
                r"\mathbf{1}^\top u = 0",
            ),
        )


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

    def _latex(self) -> Latex:
        return Latex(
            r"\min_{q,b,\xi}\ \tfrac12 q^\top K q + C\sum_i\xi_i\quad\text{s.t.}\quad"
            r" y_i\left((Kq)_i + b\right) \ge 1 - \xi_i,\ \xi_i \ge 0",
            r"\tfrac12 q^\top K q + C\sum_i\xi_i"
            r" + \sum_i\alpha_i\left(1 - \xi_i - y_i((Kq)_i + b)\right) - \sum_i\beta_i\xi_i",
            r"\max_\alpha\ \sum_i\alpha_i - \tfrac12\sum_{ij}\alpha_i\alpha_j y_i y_j k(x_i, x_j)"
            r"\quad\text{s.t.}\quad 0 \le \alpha_i \le C,\ \sum_i\alpha_i y_i = 0",
            (
                r"f = \sum_i\alpha_i y_i k(x_i, \cdot),\quad \sum_i\alpha_i y_i = 0",
                r"\alpha_i + \beta_i = C,\quad \alpha_i, \beta_i \ge 0",
                r"\alpha_i\left(1 - \xi_i - y_i(f(x_i) + b)\right) = 0,\quad \beta_i\xi_i = 0",
            ),
        )
