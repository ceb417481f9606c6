"""Estimators that hold coefficients of the samples: functions f = sum_i q_i k(x_i, .) + b."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import combinations
from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg, sparse
from sklearn import kernel_ridge, svm
from sklearn.utils import compute_class_weight
from sklearn.utils.validation import _num_samples

from .. import models
from ..certificates.learning.nu import HeldPoint, NuPart, OfSamples
from ..errors import InputError
from ..models.nu import ON
from ..models.solution import Solution
from ..numerics import Array
from ..sklearn.fitted import FunctionPart, LearningPart
from ..validation import positive_number
from .base import CertifiedFit, Given, Held, Parts, Solutions, named
from .linear import read_classes


class KernelFit(CertifiedFit):
    """A certified fit of one such function for each part."""

    def _standing(self, given: Given, parts: Parts, solutions: Solutions) -> Parts:
        return [
            Held(_function(part, solution), solution)
            for part, solution in zip(parts, solutions, strict=True)
        ]


def _function(part: Any, solution: Solution) -> LearningPart | FunctionPart:
    """The part at q; in its coordinates w = L'q, where it has them."""
    q, b = represented(part, solution), float(solution.primal["b"])
    if isinstance(part, FunctionPart):
        return replace(part, q=q, b=b)
    held: LearningPart = part
    return replace(held, w=held.objective.design.rmatvec(q), b=b)


def represented(part: LearningPart | FunctionPart, solution: Solution) -> Array:
    """The q of each sample of positive weight.

    Of a part with a design L it is a q with w = L'q: at a minimiser w = -L'u / lam; without a
    penalty q is the shortest one.
    """
    if isinstance(part, FunctionPart):
        return np.array(solution.primal["q"])
    lam = float(part.objective.penalty.hyperparameters()["lam"])
    if lam > 0.0:
        return -np.asarray(solution.dual["u"]) / lam
    L = part.objective.design.dense()
    return linalg.lstsq(L.T, solution.primal["w"])[0]


def of_all(given: Given, values: Array) -> Array:
    """Values of the samples of positive weight, with 0 for the others."""
    if given.weights is None:
        return values
    full = np.zeros((given.X.shape[0], *values.shape[1:]))
    full[given.weights > 0.0] = values
    return full


# What libsvm's machines hold, so that their namesakes predict with it.


class LibsvmFit(KernelFit):
    """A certified fit of ``dual_coef_`` on ``support_``, and of ``intercept_``."""

    C: Any
    kernel: Any
    gamma: Any
    _get_param_names: Callable[[], list[str]]
    _model: ClassVar[Any]
    """What poses the problem over functions, by the parameters in ``_strengths``."""
    _strengths: ClassVar[tuple[str, ...]] = ("C",)
    _defaults: ClassVar = {"tol": 1e-6, "engine": "auto"}
    _reading: ClassVar = {"accept_sparse": "csr", "accept_large_sparse": False, "order": "C"}

    def _read(self, X: Any, y: Any) -> tuple[Any, Any]:
        if sparse.issparse(X) and self.kernel == "precomputed":
            raise TypeError("Sparse precomputed kernels are not supported.")
        return super()._read(X, y)

    def _begin(self, given: Given) -> None:
        X = given.X
        if "C" in self._get_param_names():
            positive_number(self.C, f"{type(self).__name__}.fit", "C")
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise InputError(
                f"{type(self).__name__}.fit: a precomputed kernel must be a square matrix, got "
                f"shape {X.shape}."
            )
        self._sparse = sparse.issparse(X) and not callable(self.kernel)
        self._gamma = self._width(given)
        self._BaseLibSVM__Xfit = X if callable(self.kernel) else None
        self._probA = self._probB = np.empty(0)
        self.shape_fit_, self.fit_status_, self._effective_probability = X.shape, 0, False

    def _width(self, given: Given) -> float:
        """``gamma`` as a number; "scale" counts samples by their weights."""
        X, d = given.X, given.X.shape[1]
        if self.kernel == "precomputed" or callable(self.kernel):
            return 0.0
        if self.gamma != "scale":
            return 1.0 / d if self.gamma == "auto" else float(self.gamma)
        s = np.ones(X.shape[0]) if given.weights is None else given.weights
        share = s / (d * np.sum(s))
        with np.errstate(over="ignore", invalid="ignore"):
            mean = float((share @ X).sum())
            if sparse.issparse(X):
                variance = float((share @ X.multiply(X)).sum()) - mean * mean
            else:
                variance = float((share @ (X - mean) ** 2).sum())
        gamma = 1.0 / (d * variance) if not variance <= 0.0 else 1.0
        if not 0.0 < gamma < np.inf:
            if self.kernel == "linear":
                return 1.0  # it has no gamma
            raise InputError(
                f"{type(self).__name__}.fit: gamma='scale' is 1 / ({d} * {variance:.1e}) = "
                f"{gamma:g}, as the variance of X is out of range; scale X, or set gamma."
            )
        return gamma

    def _hold(self, given: Given, q: Array, b: Array, group: Array, groups: int) -> None:
        """Keep the samples with a nonzero q, of shape (rows, n), group by group.

        Of two classes libsvm itself holds the opposite signs.
        """
        found = np.flatnonzero(np.any(q != 0.0, axis=0))
        support = found[np.argsort(group[found], kind="stable")]
        self.support_ = support.astype(np.int32)
        own = self.kernel == "precomputed" or callable(self.kernel)
        self.support_vectors_ = np.empty((0, 0)) if own else given.X[support]
        self._n_support = np.bincount(group[found], minlength=groups).astype(np.int32)
        self._num_iter = np.ones(len(b), dtype=np.int32)
        sign = -1.0 if len(getattr(self, "classes_", ())) == 2 else 1.0
        self.dual_coef_ = self._stored(q[:, support])
        self._dual_coef_ = self._stored(sign * q[:, support])
        self.intercept_, self._intercept_ = b, sign * b

    def _hold_all(self, given: Given, q: Array, b: float) -> None:
        group = np.zeros(len(q), dtype=np.int64)
        self._hold(given, q[None, :], np.array([b]), group, 1)
        self._n_support = np.repeat(self._n_support, 2)  # as libsvm counts them

    def _solved(self, part: Any, tol: float) -> Solution:
        if not isinstance(part, FunctionPart):
            return super()._solved(part, tol)
        X, objective = named(part.objective.matrix.X, part.features), part.objective
        strengths = [float(getattr(self, name)) for name in self._strengths]
        given = {"kernel": objective.matrix.kernel, "sample_weight": objective.c / self.C}
        return self._solution(self._model(X, objective.y, *strengths, **given), tol, part.name)

    def _stored(self, q: Array) -> Any:
        """Dense, or sparse with every entry where X is."""
        q = np.ascontiguousarray(q)
        if not self._sparse:
            return q
        rows, columns = q.shape
        index = np.tile(np.arange(columns, dtype=np.int32), rows)
        ends = np.arange(rows + 1, dtype=np.int32) * columns
        return sparse.csr_matrix((q.ravel(), index, ends), shape=q.shape)

    def _iterations(self, solutions: Solutions) -> Any:
        steps = np.array([max(1, solution.iterations) for solution in solutions], dtype=np.int32)
        return steps if hasattr(self, "classes_") else int(steps[0])


# The support vector machine with a kernel, as scikit-learn has it.


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

    _model = models.KernelSVM

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

    def _end(self, given: Given, parts: Parts, solutions: Solutions) -> None:
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


# Support vector regression with a kernel, as scikit-learn has it.


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

    _model, _strengths = models.KernelSVR, ("C", "epsilon")

    def _begin(self, given: Given) -> None:
        super()._begin(given)
        self._hold_all(given, np.zeros(given.X.shape[0]), 0.0)

    def _end(self, given: Given, parts: Parts, solutions: Solutions) -> None:
        q = of_all(given, represented(parts[0], solutions[0]))
        self._hold_all(given, q, float(solutions[0].primal["b"]))


# The one-class machine with a kernel, as scikit-learn has it.


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
        return super()._read(X, np.ones(_num_samples(X)))

    def _begin(self, given: Given) -> None:
        super()._begin(given)
        self._hold_all(given, np.zeros(given.X.shape[0]), -0.0)

    def _solved(self, part: NuPart, tol: float) -> Solution:
        space, kernel = part.program.space, None
        X = space.matrix.X if isinstance(space, OfSamples) else space.A
        if isinstance(space, OfSamples):
            kernel = space.matrix.kernel
        if kernel is not None or self.kernel == "linear":
            X = named(X, [*map(str, getattr(self, "feature_names_in_", ()))])
        given = {"sample_weight": part.program.limits}
        return self._solution(models.OneClassSVM(X, float(self.nu), kernel, **given), tol)

    def _end(self, given: Given, parts: Parts, solutions: Solutions) -> None:
        alpha, rho = np.array(solutions[0].dual["alpha"]), float(solutions[0].primal["rho"])
        self._hold_all(given, alpha, -(rho - ON * abs(rho)))

    def _standing(self, given: Given, parts: Parts, solutions: Solutions) -> Parts:
        part, alpha = parts[0], np.array(solutions[0].dual["alpha"])
        point = HeldPoint(part.program.space.of(alpha), 0.0, float(self.offset_[0]), alpha)
        return [replace(part, point=point, again=lambda: point)]

    def _hold_all(self, given: Given, q: Array, b: float) -> None:
        super()._hold_all(given, q, b)
        self.offset_ = -self._intercept_


# Kernel ridge regression, as scikit-learn has it.


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

    def _begin(self, given: Given) -> None:
        self.X_fit_, self.dual_coef_ = given.X, np.zeros(np.shape(given.y))

    def _end(self, given: Given, parts: Parts, solutions: Solutions) -> None:
        each = zip(parts, solutions, strict=True)
        q = np.column_stack([of_all(given, represented(*pair)) for pair in each])
        self.dual_coef_ = q.reshape(np.shape(given.y))
