"""Support vector regression with a kernel, as scikit-learn has it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn import svm

from ..audit.sklearn.parts import LearningPart
from ..models import KernelSVR, LearningProblem
from ..models.solution import Solution
from ..numerics import Array
from ..objective.kernel import KernelObjective
from .base import OURS, Given
from .kernel import of_all, represented
from .libsvm import LibsvmFit


class SVR(LibsvmFit, svm.SVR):
    """Minimise |f|_H^2 / 2 + C sum_i s_i (|y_i - f(x_i) - b| - epsilon)_+, and certify it.

    f = sum_i q_i k(x_i, .) with q = ``dual_coef_`` on ``support_``; the intercept is free. That is
    ``cml.KernelSVR``, and ``cml.SVR`` with ``kernel="linear"``.

    Parameters
    ----------
    kernel : str or callable
        As of scikit-learn; it must be positive semidefinite.
    degree : int
        Of the polynomial kernel.
    gamma : float, "scale" or "auto"
        Of the kernel; "scale" counts samples by their weights.
    coef0 : float
        Of the polynomial kernel.
    tol : float
        Verified relative gap that the fit is to reach.
    C : float
        Weight > 0 of the losses.
    epsilon : float
        Half of the width of the tube without loss, >= 0.
    shrinking : bool
        Has no effect.
    cache_size : float
        Has no effect.
    verbose : bool
        Has no effect.
    max_iter : int
        Steps of the solver; -1 is its own limit.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    _parameter_constraints: ClassVar = svm.SVR._parameter_constraints | OURS

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-6,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: bool = False,
        max_iter: int = -1,
        engine: str = "auto",
    ) -> None:
        super().__init__(
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            tol=tol,
            C=C,
            epsilon=epsilon,
            shrinking=shrinking,
            cache_size=cache_size,
            verbose=verbose,
            max_iter=max_iter,
        )
        self.engine = engine

    def _begin(self, given: Given) -> None:
        super()._begin(given)
        self._hold_all(given, np.zeros(given.X.shape[0]), 0.0)

    def _machine(self, objective: KernelObjective, X: Any) -> LearningProblem:
        C, epsilon, kernel = float(self.C), float(self.epsilon), objective.matrix.kernel
        return KernelSVR(X, objective.y, C, epsilon, kernel, sample_weight=objective.c / self.C)

    def _end(
        self, given: Given, parts: Sequence[LearningPart], solutions: Sequence[Solution]
    ) -> None:
        q = of_all(given, represented(parts[0], solutions[0]))
        self._hold_all(given, q, float(solutions[0].primal["b"]))

    def _hold_all(self, given: Given, q: Array, b: float) -> None:
        group = np.zeros(len(q), dtype=np.int64)
        self._hold(given, q[None, :], np.array([b]), group, 1)
        self._n_support = np.repeat(self._n_support, 2)  # as libsvm counts them
