"""The support vector machine with a kernel, as scikit-learn has it."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from sklearn import svm
from sklearn.utils import compute_class_weight

from ..audit.sklearn.parts import LearningPart
from ..errors import InputError
from ..models import KernelSVM, LearningProblem
from ..models.solution import Solution
from ..numerics import Array
from ..objective.kernel import KernelObjective
from .base import OURS, Given
from .kernel import represented
from .libsvm import LibsvmFit
from .linear import read_classes


class SVC(LibsvmFit, svm.SVC):
    """Minimise |f|_H^2 / 2 + C sum_i v_i s_i (1 - y_i (f(x_i) + b))_+, and certify it.

    f = sum_i q_i k(x_i, .) with q = ``dual_coef_`` on ``support_``, v are the class weights; the
    intercept is free. That is ``cml.KernelSVM``, and ``cml.SoftMarginSVM`` with
    ``kernel="linear"``. With more than two classes there is one such problem for each pair.

    Parameters
    ----------
    C : float
        Weight > 0 of the losses.
    kernel : str or callable
        As of scikit-learn; it must be positive semidefinite.
    degree : int
        Of the polynomial kernel.
    gamma : float, "scale" or "auto"
        Of the kernel; "scale" counts samples by their weights.
    coef0 : float
        Of the polynomial kernel.
    shrinking : bool
        Has no effect.
    probability : bool
        Not supported, and deprecated by scikit-learn: calibrate with ``CalibratedClassifierCV``.
    tol : float
        Verified relative gap that the fit is to reach.
    cache_size : float
        Has no effect.
    class_weight : dict or "balanced", optional
        Weights of the classes, times those of the samples, by which "balanced" counts.
    verbose : bool
        Has no effect.
    max_iter : int
        Steps of the solver; -1 is its own limit.
    decision_function_shape : str
        "ovr" or "ovo".
    break_ties : bool
        As of scikit-learn.
    random_state : int, optional
        Has no effect: nothing is random.
    engine : str
        A solver of convexml; "auto" chooses.
    """

    _parameter_constraints: ClassVar = svm.SVC._parameter_constraints | OURS

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: Any = "deprecated",
        tol: float = 1e-6,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: bool = False,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        engine: str = "auto",
    ) -> None:
        super().__init__(
            C=C,
            kernel=kernel,
            degree=degree,
            gamma=gamma,
            coef0=coef0,
            shrinking=shrinking,
            probability=probability,
            tol=tol,
            cache_size=cache_size,
            class_weight=class_weight,
            verbose=verbose,
            max_iter=max_iter,
            decision_function_shape=decision_function_shape,
            break_ties=break_ties,
            random_state=random_state,
        )
        self.engine = engine

    def _begin(self, given: Given) -> None:
        if self.probability not in ("deprecated", False):
            raise InputError(
                "SVC.fit: probability=True is not supported; calibrate the fit with "
                "CalibratedClassifierCV(SVC(), ensemble=False)."
            )
        super()._begin(given)
        self.classes_ = read_classes("SVC", given, self.class_weight)
        self.class_weight_ = compute_class_weight(
            self.class_weight, classes=self.classes_, y=given.y, sample_weight=given.weights
        )
        K = len(self.classes_)
        self._hold_pairs(given, np.zeros((K - 1, given.X.shape[0])), np.zeros(K * (K - 1) // 2))

    def _machine(self, objective: KernelObjective, X: Any) -> LearningProblem:
        weights = objective.c / self.C
        kernel = objective.matrix.kernel
        return KernelSVM(X, objective.y, float(self.C), kernel, sample_weight=weights)

    def _end(
        self, given: Given, parts: Sequence[LearningPart], solutions: Sequence[Solution]
    ) -> None:
        index, K = np.searchsorted(self.classes_, given.y), len(self.classes_)
        q = np.zeros((K - 1, len(index)))
        pairs = zip(combinations(range(K), 2), parts, solutions, strict=True)
        for (i, j), part, solution in pairs:
            chosen = (index == i) | (index == j)
            if given.weights is not None:
                chosen &= given.weights > 0.0
            rows, values = np.flatnonzero(chosen), represented(part, solution)
            first = index[rows] == i
            if K > 2:  # the coefficients of a class against the others, itself left out
                q[j - 1, rows[first]], q[i, rows[~first]] = values[first], values[~first]
            else:
                q[0, rows] = values
        self._hold_pairs(given, q, np.array([float(each.primal["b"]) for each in solutions]))

    def _hold_pairs(self, given: Given, q: Array, b: Array) -> None:
        self._hold(given, q, b, np.searchsorted(self.classes_, given.y), len(self.classes_))
