"""Kernel ridge regression, as scikit-learn has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn import kernel_ridge

from ..audit.sklearn.parts import LearningPart
from ..models.solution import Solution
from .base import OURS, Given
from .kernel import KernelFit, of_all, represented


class KernelRidge(KernelFit, kernel_ridge.KernelRidge):
    """Minimise sum_i s_i (y_i - f(x_i))^2 + alpha |f|_H^2, and certify it.

    f = sum_i q_i k(x_i, .) with q = ``dual_coef_``; there is no intercept. That is 2 sum(s) times
    ``cml.KernelRidge`` with lam = alpha / sum(s).

    Parameters
    ----------
    alpha : float or array of shape (K,)
        Strength >= 0; of each target.
    kernel : str or callable
        As of scikit-learn; it must be positive semidefinite.
    gamma, degree, coef0 : float
        Of the kernel.
    kernel_params : dict, optional
        Of a callable kernel.
    tol : float
        Verified relative gap that the fit is to reach.
    max_iter : int, optional
        Steps of the solver; None is its own limit.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    _parameter_constraints: ClassVar = kernel_ridge.KernelRidge._parameter_constraints | OURS
    _reading: ClassVar = {"multi_output": True, "y_numeric": True}

    def __init__(
        self,
        alpha: Any = 1,
        *,
        kernel: Any = "linear",
        gamma: float | None = None,
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Any = None,
        tol: float = 1e-6,
        max_iter: int | None = None,
        engine: str = "auto",
    ) -> None:
        self.alpha = alpha
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.tol = tol
        self.max_iter = max_iter
        self.engine = engine

    def _begin(self, given: Given) -> None:
        self.X_fit_, self.dual_coef_ = given.X, np.zeros(np.shape(given.y))

    def _end(
        self, given: Given, parts: Sequence[LearningPart], solutions: Sequence[Solution]
    ) -> None:
        each = zip(parts, solutions, strict=True)
        q = np.column_stack([of_all(given, represented(*pair)) for pair in each])
        self.dual_coef_ = q.reshape(np.shape(given.y))
