"""Any loss with the penalty on the norm of a function of a kernel."""

from __future__ import annotations

from typing import Any

from ...errors import InputError
from ...losses import Loss
from ...penalties import L2
from ..base import Hyperparameter
from ..learning.construction import Parts, read_parts
from .model import KernelModel


class KernelProblem(KernelModel):
    r"""Minimise sum_i c_i l(y_i, f(x_i) + b) + (lam/2) |f|_H^2, f = sum_j q_j k(x_j, .).

    Kernel ridge, logistic and support vector machines have names of their own; this is the same
    for every other loss of one score: Huber, quantile, squared hinge, Poisson, hard margin, one
    of the user's. By the representer theorem q = -u / lam, and D(u) = -F*(u) - u'K u / (2 lam).
    Sources: [G] 5, [P] 16.5.

    Parameters
    ----------
    X : array or sparse matrix, shape (n, d)
        Samples in rows; the kernel matrix (n, n) for a precomputed kernel.
    y : array, shape (n,)
        Real numbers, two labels of any kind (the larger is +1) or counts >= 0, as the loss asks.
    loss : Loss
        For example ``losses.Huber(1.0)``.
    lam : float
        Strength, >= 0.
    kernel : Kernel
        For example ``kernels.Gaussian(1.0)``.
    fit_intercept : bool
        Whether b is free; else b = 0.
    sample_weight : array, shape (n,), optional
        Weights s_i >= 0; rows of weight 0 are dropped first.
    loss_scale : "mean", "sum" or float
        c_i = s_i / sum(s), s_i, or the number times s_i.

    Raises
    ------
    InputError
        For a negative lam, a loss of several scores, labels that do not fit the loss, a kernel
        matrix that is not positive semidefinite, NaN or infinite entries, wrong shapes, bad
        weights.
    """

    lam = Hyperparameter()

    def __init__(
        self,
        X: Any,
        y: Any,
        loss: Loss,
        lam: float,
        kernel: Any,
        *,
        fit_intercept: bool = True,
        sample_weight: Any = None,
        loss_scale: str | float = "mean",
    ) -> None:
        self._set_kernel(kernel)
        self._parts = read_parts(loss, L2(0.0), loss_scale, self.name)
        if loss.labels == "classes":
            raise InputError(
                f"{self.name}: loss must be of one score a sample, got {loss!r}. Pose one problem "
                "for each class with losses.Logistic(), or SoftmaxRegression on features."
            )
        self._start(X, y, fit_intercept, sample_weight, lam=lam)

    def _make(self, **hyper: Any) -> Parts:
        loss, _, scale = self._parts
        return loss, L2(hyper["lam"]), scale

    @property
    def _told(self) -> dict[str, Any]:
        return {"loss": self._parts[0]} | self._hyper
