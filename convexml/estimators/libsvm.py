"""What libsvm's machines hold, so that their namesakes predict with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..errors import InputError
from ..models.solution import Solution
from ..numerics import Array
from ..validation import positive_number
from .base import Given
from .kernel import KernelFit


class LibsvmFit(KernelFit):
    """A certified fit of ``dual_coef_`` on ``support_``, and of ``intercept_``."""

    C: Any
    _get_param_names: Callable[[], list[str]]
    kernel: Any
    gamma: Any
    _reading: ClassVar = {"accept_sparse": "csr", "accept_large_sparse": False, "order": "C"}

    def _read(self, X: Any, y: Any) -> tuple[Any, Any]:
        self._refuse_sparse_kernel(X)
        return super()._read(X, y)

    def _refuse_sparse_kernel(self, X: Any) -> None:
        if sparse.issparse(X) and self.kernel == "precomputed":
            raise TypeError("Sparse precomputed kernels are not supported.")

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

    def _stored(self, q: Array) -> Any:
        """Dense, or sparse with every entry where X is."""
        q = np.ascontiguousarray(q)
        if not self._sparse:
            return q
        rows, columns = q.shape
        index = np.tile(np.arange(columns, dtype=np.int32), rows)
        ends = np.arange(rows + 1, dtype=np.int32) * columns
        return sparse.csr_matrix((q.ravel(), index, ends), shape=q.shape)

    def _iterations(self, solutions: Sequence[Solution]) -> Any:
        steps = np.array([max(1, solution.iterations) for solution in solutions], dtype=np.int32)
        return steps if hasattr(self, "classes_") else int(steps[0])
