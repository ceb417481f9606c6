"""The one-class machine with a kernel, as scikit-learn has it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn import svm
from sklearn.utils.validation import _num_samples

from .. import models
from ..audit.sklearn.parts import Subproblem
from ..certificates.learning.machines.functions import OfSamples
from ..certificates.learning.machines.nu import HeldPoint, NuPart
from ..models.kernel.one_class_svm import ON
from ..models.reading.names import NamedColumns
from ..models.solution import Solution
from ..numerics import Array
from .base import OURS, Given
from .libsvm import LibsvmFit
from .reading import read_samples


class OneClassSVM(LibsvmFit, svm.OneClassSVM):
    """Minimise |f|_H^2 / 2 + sum_i s_i (rho - f(x_i))_+ - nu sum(s) rho, and certify it.

    f = sum_i q_i k(x_i, .) with q = ``dual_coef_`` on ``support_``, rho = ``offset_``, so little
    below its best value that samples on the boundary are inside. That is ``cml.OneClassSVM``.

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
    nu : float
        Share of the weights that may be left outside, 0 < nu <= 1.
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

    _parameter_constraints: ClassVar = svm.OneClassSVM._parameter_constraints | OURS

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-6,
        nu: float = 0.5,
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
            nu=nu,
            shrinking=shrinking,
            cache_size=cache_size,
            verbose=verbose,
            max_iter=max_iter,
        )
        self.engine = engine

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Solve to a verified relative gap of ``tol``; y is ignored.

        Parameters
        ----------
        X : array, sparse matrix or data frame, shape (n, d)
        y : object
            Has no effect.
        sample_weight : float or array, shape (n,), optional
            Weights >= 0: 0 is as good as left out, 2 as repeated.

        Returns
        -------
        self : object
            Fitted.
        """
        return super().fit(X, y, sample_weight)

    def predict(self, X: Any) -> Array:
        """+1 for samples with f(x) >= rho, -1 for the others, shape (m,)."""
        return np.where(self.decision_function(X) >= 0.0, 1, -1)

    def _read(self, X: Any, y: Any) -> tuple[Any, Any]:
        self._refuse_sparse_kernel(X)
        return read_samples(self, X, np.ones(_num_samples(X)), self._reading)

    def _begin(self, given: Given) -> None:
        super()._begin(given)
        self._hold_all(given, np.zeros(given.X.shape[0]), 0.0)

    def _solved(self, part: NuPart, tol: float) -> Solution:
        space, kernel = part.space, None
        X = space.matrix.X if isinstance(space, OfSamples) else space.A  # type: ignore[attr-defined]
        if isinstance(space, OfSamples):
            kernel = space.matrix.kernel
        names = getattr(self, "feature_names_in_", None)
        if names is not None and (kernel is not None or self.kernel == "linear"):
            X = NamedColumns(X, [*map(str, names)])
        given = {"sample_weight": part.limits}
        return self._solution(models.OneClassSVM(X, float(self.nu), kernel, **given), tol)

    def _end(self, given: Given, parts: Sequence[Any], solutions: Sequence[Solution]) -> None:
        alpha, rho = np.array(solutions[0].dual["alpha"]), float(solutions[0].primal["rho"])
        self._hold_all(given, alpha, rho - ON * abs(rho))

    def _standing(
        self, given: Given, parts: Sequence[Any], solutions: Sequence[Solution]
    ) -> Sequence[Subproblem]:
        part, alpha = parts[0], np.array(solutions[0].dual["alpha"])
        point = HeldPoint(part.space.of(alpha), 0.0, float(self.offset_[0]), alpha)
        return [replace(part, point=point, again=lambda: point)]

    def _hold_all(self, given: Given, q: Array, rho: float) -> None:
        group = np.zeros(len(q), dtype=np.int64)
        self._hold(given, q[None, :], np.array([-rho]), group, 1)
        self._n_support = np.repeat(self._n_support, 2)  # as libsvm counts them
        self.offset_ = -self._intercept_
