"""A kernel matrix, seen through the rows and products that somebody asks for."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError
from ..numerics import EPS, Array, gamma
from .base import Kernel
from .factor import factor, is_semidefinite
from .rows import KernelRows


class KernelMatrix(KernelRows):
    """K_ij = k(x_i, x_j), shape (n, n), of the training samples.

    All of K and its factor are made only for whoever asks. ``X`` is K itself for a precomputed
    kernel.

    Raises
    ------
    InputError
        For a kernel that overflows, and, where no theorem says that the kernel is semidefinite,
            for a matrix that is not. ``owner`` is named.

    Attributes
    ----------
    projected : bool
        Whether K has 0 for negative eigenvalues of the matrix that was given.
    """

    def __init__(self, owner: str, kernel: Kernel, X: Any, projected: bool = False) -> None:
        self.owner, self.kernel, self.X, self.projected = owner, kernel, X, projected
        with np.errstate(over="ignore", invalid="ignore"):
            self.diagonal = np.asarray(kernel.diagonal(X), dtype=float)
        if not np.all(np.isfinite(self.diagonal)):  # no entry is larger than those on the diagonal
            raise self.overflow()
        size = float(np.abs(self.diagonal).max(initial=0.0))
        super().__init__(kernel.rows_of(X), X.shape[0], size)

    def __reduce__(self) -> tuple[Any, ...]:
        """Copied as what it is made of: rows are made by functions, which are not pickled."""
        return type(self), (self.owner, self.kernel, self.X, self.projected)

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self.n, self.n

    @cached_property
    def share(self) -> float:
        """A share of sqrt(k_ii k_jj) that entries may be off by; inf where none is known."""
        with np.errstate(over="ignore", invalid="ignore"):
            return self.kernel.rounding(self.X)

    @property
    def is_exact(self) -> bool:
        """Whether K is semidefinite by a theorem, and a bound on the rounding of rows is known."""
        return self.share < np.inf

    @cached_property
    def sizes(self) -> Array:
        """sqrt(k(x_i, x_i)), which bounds what f of norm 1 can be at x_i; shape (n,)."""
        return np.sqrt(np.maximum(self.diagonal, 0.0)) * (1.0 + 64.0 * EPS + self.share)

    def product_error(self, q: Array) -> Array:
        """What ``product(q)`` may be off by as values of sum_j q_j k(x_j, .), shape (n,)."""
        made = self._applied(q)
        share = self.share + gamma(made.count + 4.0) * (1.0 + self.share)
        return share * (1.0 + 1e-6) * float(made.sizes @ self.sizes) * self.sizes

    @cached_property
    def dense(self) -> Array:
        """All of K, symmetric."""
        K = self.as_given()
        return 0.5 * (K + K.T)

    def as_given(self) -> Array:
        """K as its kernel gives it; entries that are nothing beside the largest are 0."""
        with np.errstate(over="ignore", invalid="ignore"):
            K = np.asarray(self.kernel(self.X, self.X), dtype=float)
        if not np.all(np.isfinite(K)):
            raise self.overflow()
        return np.where(np.abs(K) < EPS**2 * np.abs(K).max(initial=0.0), 0.0, K)

    @cached_property
    def entry_errors(self) -> Array | None:
        """What entries of ``dense`` may be off by from the kernel's, (n, n); None if not known."""
        with np.errstate(over="ignore", invalid="ignore"):
            found = self.kernel.with_errors(self.X)
        if found is None:
            return None
        K, errors = np.abs(found[0]), np.maximum(found[1], found[1].T)
        # ``dense`` is rounded as a mean, and what is nothing beside the largest entry is 0 there.
        return (errors + EPS * K + EPS**2 * K.max(initial=0.0)) * (1.0 + 1e-6)

    @cached_property
    def is_semidefinite(self) -> bool:
        """Whether K itself, as it was given, is proved to be semidefinite."""
        return not self.projected and is_semidefinite(self.as_given())

    @cached_property
    def exact_factor(self) -> Array | None:
        """L with K = L L' without rounding; None where none is known."""
        return self.kernel.exact_factor(self.X)

    @cached_property
    def factor(self) -> Array:
        """L with K = L L', shape (n, r), r the rank, or the width of the exact one."""
        if self.exact_factor is not None:
            return self.exact_factor
        try:
            L = factor(self.as_given())
        except InputError as error:
            raise InputError(f"{self.owner}: {error}") from None
        return L if L.shape[1] else np.zeros((self.n, 1))

    def overflow(self) -> InputError:
        """What is said where the kernel overflows."""
        message = f"{self.owner}: {self.kernel!r} overflows on these samples; scale X down."
        return InputError(message)
