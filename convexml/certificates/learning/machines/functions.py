"""Where a machine with nu has its function f: coefficients of features, or of samples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from ....conditions import Condition, worst
from ....kernels.matrix import KernelMatrix
from ....numerics import Array, gamma
from ...certificate import Certificate
from ..beside_kernel import said_of_matrix


class Functions(Protocol):
    """Functions f by an array w: f(x_i), |f|, and the one that is sum_i q_i k(x_i, .)."""

    @property
    def diagonal(self) -> Array:
        """K_ii, shape (n,)."""
        ...

    def spread(self, s: Array) -> float:
        """The mean of |k(x_i, .) - m|^2, m their mean, by weights s; not more but for rounding."""
        ...

    def scores(self, w: Array) -> Array:
        """The f(x_i), shape (n,)."""
        ...

    def square(self, w: Array) -> float:
        """|f|^2."""
        ...

    def of(self, q: Array) -> Array:
        """The w of sum_i q_i k(x_i, .)."""
        ...

    @property
    def letters(self) -> tuple[str, str]:
        """What the formulas call f and x_i."""
        ...

    def apart(self, w: Array, q: Array, name: str) -> Condition:
        """How far f is from that function."""
        ...

    def errors(self, w: Array) -> tuple[Array, float]:
        """Bounds of the errors of ``scores(w)`` and ``square(w)``."""
        ...

    def error_of(self, q: Array) -> float:
        """A bound of the error of ``square(of(q))``."""
        ...

    def told(self, certificate: Certificate) -> Certificate:
        """The certificate, with words where it is not one of the kernel itself."""
        ...


@dataclass(frozen=True, eq=False)
class OfFeatures:
    """f(x) = w.x; ``A`` is the matrix of the x_i, (n, d), dense or sparse."""

    A: Any

    @cached_property
    def diagonal(self) -> Array:
        squares = self.A.multiply(self.A) if hasattr(self.A, "multiply") else self.A * self.A
        return np.ravel(squares.sum(axis=1))

    def spread(self, s: Array) -> float:
        total = float(s.sum())
        with np.errstate(over="ignore", invalid="ignore"):
            means = (self.A.T @ s) / total
            if not sparse.issparse(self.A):
                off = self.A - means
                rest = s @ off / total  # of the mean, which was rounded
                return max(float(s @ (off * off).sum(axis=1)) / total - float(rest @ rest), 0.0)
            held = sparse.coo_array(self.A)
            weights, (n, d) = s[held.row], held.shape
            stored = np.bincount(held.col, weights, minlength=d)
            zeros = np.maximum(total - stored - gamma(2 * n + 2) * total, 0.0)
            off = held.data - means[held.col]
            return float(weights @ (off * off) + zeros @ (means * means)) / total

    def scores(self, w: Array) -> Array:
        found: Array = self.A @ w
        return found

    def square(self, w: Array) -> float:
        return float(w @ w)

    def of(self, q: Array) -> Array:
        found: Array = self.A.T @ q
        return found

    @property
    def letters(self) -> tuple[str, str]:
        return "w", "x_i"

    def apart(self, w: Array, q: Array, name: str) -> Condition:
        return worst(name, "stationarity", w - self.of(q), float(np.max(np.abs(w))) or 1.0)

    def errors(self, w: Array) -> tuple[Array, float]:
        share = gamma(self.A.shape[1] + 4)
        return share * (abs(self.A) @ np.abs(w)), share * float(w @ w)

    def error_of(self, q: Array) -> float:
        f, (n, d) = self.of(q), self.A.shape
        off = gamma(n + 8) * (abs(self.A).T @ np.abs(q))
        return float((2.0 * np.abs(f) + off) @ off + gamma(d + 8) * (f @ f))

    def told(self, certificate: Certificate) -> Certificate:
        return certificate


@dataclass(frozen=True, eq=False)
class OfSamples:
    """f = sum_j w_j k(x_j, .), of a kernel.

    Where no theorem says that the kernel is semidefinite, it is that of a factor of K, whose
    distance from K counts as rounding.
    """

    matrix: KernelMatrix

    @property
    def diagonal(self) -> Array:
        return self.matrix.diagonal

    @property
    def _entry_errors(self) -> Array:
        """What entries of K may be off by; 0 where it is not known, which ``told`` says."""
        errors = self.matrix.entry_errors
        return np.zeros(self.matrix.shape) if errors is None else errors

    def spread(self, s: Array) -> float:
        """The mean of K_ii less that of all K_ij, less what these may be off by."""
        K, share = self.matrix, gamma(2 * len(s) + 8)
        total = float(s.sum())
        if K.is_exact:
            scores, off, outer = K.product(s), K.product_error(s), K.sizes * K.sizes
        else:
            scores, outer = K.dense @ s, np.abs(K.diagonal)
            errors = self._entry_errors
            outer = outer + np.diagonal(errors)
            off = share * (np.abs(K.dense) @ s) + errors @ s
        off = off + share * np.abs(scores)
        error = float(s @ (outer - K.diagonal + share * outer)) + float(s @ off) / total
        return max((float(s @ K.diagonal) - float(s @ scores) / total - error) / total, 0.0)

    def scores(self, w: Array) -> Array:
        if self.matrix.is_exact:
            return self.matrix.product(w)
        return self.matrix.factor @ (self.matrix.factor.T @ w)

    def square(self, w: Array) -> float:
        return max(float(w @ self.scores(w)), 0.0)

    def of(self, q: Array) -> Array:
        return q

    @property
    def letters(self) -> tuple[str, str]:
        return "Kq", "K_i"

    def apart(self, w: Array, q: Array, name: str) -> Condition:
        size = float(np.max(np.abs(self.scores(w))))
        return worst(name, "stationarity", self.scores(w - q), size or 1.0)

    def errors(self, w: Array) -> tuple[Array, float]:
        scores = self.scores(w)
        if self.matrix.is_exact:
            off = self.matrix.product_error(w)
        else:
            K, L = self.matrix.dense, self.matrix.factor
            sizes = np.abs(K) @ np.abs(w) + np.abs(L) @ (np.abs(L).T @ np.abs(w))
            off = np.abs(K @ w - scores) + gamma(len(K) + L.shape[1] + 8) * sizes
            off += self._entry_errors @ np.abs(w)
        size = np.abs(w)
        return off, float(size @ off + gamma(len(w) + 4) * (size @ np.abs(scores)))

    def error_of(self, q: Array) -> float:
        return self.errors(q)[1]

    def told(self, certificate: Certificate) -> Certificate:
        return said_of_matrix(self.matrix, certificate)
