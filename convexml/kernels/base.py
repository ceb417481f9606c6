"""What a kernel is, and how kernels combine."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..errors import InputError
from ..formulas import name_of, number
from ..numerics import EPS, Array
from ..validation import positive_number

Rows = Callable[..., Array]
"""Of an index array, and of one of columns or None."""
FEW = 64
"""Samples that a diagonal is read off at a time."""


class Kernel(ABC):
    """A positive semidefinite function k(x, x') of two samples.

    ``kernel(A, B)`` is the matrix of k(a_i, b_j), shape (len(A), len(B)). Sums, products and
    positive multiples of kernels are kernels: ``k1 + k2``, ``k1 * k2``, ``3.0 * k``.
    """

    @property
    def takes_samples(self) -> bool:
        """Whether A and B hold samples; a precomputed kernel takes its matrix instead."""
        return True

    @abstractmethod
    def __call__(self, A: Any, B: Any) -> Array:
        """The kernel matrix, shape (len(A), len(B))."""

    def diagonal(self, A: Any) -> Array:
        """k(a_i, a_i), shape (len(A),)."""
        starts = range(0, A.shape[0], FEW)
        blocks = [self(A[k : k + FEW], A[k : k + FEW]) for k in starts]
        return np.concatenate([np.diagonal(block) for block in blocks])

    def rows_of(self, A: Any) -> Rows:
        """The function that takes an index array to those rows of the kernel matrix of A.

        A second one chooses among the columns.
        """
        return lambda index, columns=None: self(A[index], A if columns is None else A[columns])

    def rounding(self, A: Any) -> float:
        """A share of sqrt(k(a_i, a_i) k(a_j, a_j)) that entries of ``rows_of(A)`` may be off by.

        So may those of k(A, A). It is inf where no such bound is known, or no theorem says that the
        kernel is semidefinite.
        """
        return np.inf

    def with_errors(self, A: Any) -> tuple[Array, Array] | None:
        """k(A, A), and what its entries may be off by; None where no bound is known."""
        share = self.rounding(A)
        if not share < np.inf:
            return None
        sizes = np.sqrt(np.maximum(self.diagonal(A), 0.0)) * (1.0 + 64.0 * EPS + share)
        return self(A, A), share * np.outer(sizes, sizes)

    def exact_factor(self, A: Any) -> Array | None:
        """L, shape (n, r), with k(A, A) = L L' without rounding; None where none is known."""
        return None

    def frequencies(self, rng: np.random.Generator, count: int, d: int) -> Array | None:
        """Draw frequencies v, shape (count, d), with k(x, x') = E cos(v.(x - x')); None if none.

        By Bochner's theorem kernels of x - x' with k(x, x) = 1 have a law of such frequencies.
        """
        return None

    def tex(self, x: str, y: str) -> str:
        """k(x, y) in LaTeX, its parameters as numbers; by its own name if not told."""
        return f"{name_of(self)}({x}, {y})"

    def __add__(self, other: Kernel) -> Kernel:
        if not isinstance(other, Kernel):
            raise InputError(f"kernel: only a kernel can be added to a kernel, got {other!r}.")
        return Sum(self, other)

    def __mul__(self, other: Kernel | float) -> Kernel:
        return Product(self, other) if isinstance(other, Kernel) else other * self

    def __rmul__(self, factor: float) -> Kernel:
        return Scaled(positive_number(factor, "kernel", "factor"), self)


@dataclass(frozen=True)
class Pair(Kernel):
    """Two kernels of the same samples."""

    first: Kernel
    second: Kernel
    _both: ClassVar[Any]
    """The ufunc of their values."""

    def __post_init__(self) -> None:
        if self.first.takes_samples != self.second.takes_samples:
            raise InputError(
                "kernel: Precomputed takes a matrix, other kernels take samples; they cannot be "
                "combined. Add or multiply the matrices, and use Precomputed."
            )

    @property
    def takes_samples(self) -> bool:
        return self.first.takes_samples

    @abstractmethod
    def _error(self, one: Array, off: Array, other: Array, far: Array) -> Array:
        """What their values together may be off by, where these are off by ``off`` and ``far``."""

    def __call__(self, A: Any, B: Any) -> Array:
        return self._both(self.first(A, B), self.second(A, B))

    def diagonal(self, A: Any) -> Array:
        return self._both(self.first.diagonal(A), self.second.diagonal(A))

    def rows_of(self, A: Any) -> Rows:
        first, second, both = self.first.rows_of(A), self.second.rows_of(A), self._both
        return lambda index, columns=None: both(first(index, columns), second(index, columns))

    def with_errors(self, A: Any) -> tuple[Array, Array] | None:
        first = self.first.with_errors(A)
        second = None if first is None else self.second.with_errors(A)
        if first is None or second is None:
            return None
        K = self._both(first[0], second[0])
        return K, self._error(*first, *second) + EPS * np.abs(K)


@dataclass(frozen=True)
class Sum(Pair):
    """The sum k1 + k2 of two kernels.

    Parameters
    ----------
    first, second : Kernel
        Both of samples, or both precomputed.

    Raises
    ------
    InputError
        For a precomputed kernel with one of samples.
    """

    _both = np.add

    def _error(self, one: Array, off: Array, other: Array, far: Array) -> Array:
        return off + far

    def rounding(self, A: Any) -> float:
        # By Cauchy-Schwarz the sizes of the parts add up to at most the size of the sum.
        return max(self.first.rounding(A), self.second.rounding(A)) + EPS

    def tex(self, x: str, y: str) -> str:
        return f"{self.first.tex(x, y)} + {self.second.tex(x, y)}"


@dataclass(frozen=True)
class Product(Pair):
    """The product k1 k2 of two kernels, positive semidefinite by Schur's theorem.

    Parameters
    ----------
    first, second : Kernel
        Both of samples, or both precomputed.

    Raises
    ------
    InputError
        For a precomputed kernel with one of samples.
    """

    _both = np.multiply

    def _error(self, one: Array, off: Array, other: Array, far: Array) -> Array:
        return (np.abs(one) + off) * far + off * np.abs(other)

    def rounding(self, A: Any) -> float:
        one, other = self.first.rounding(A), self.second.rounding(A)
        return one + other + one * other + 2.0 * EPS

    def tex(self, x: str, y: str) -> str:
        return rf"\left({self.first.tex(x, y)}\right) \left({self.second.tex(x, y)}\right)"


@dataclass(frozen=True)
class Scaled(Kernel):
    """A positive multiple of a kernel.

    Parameters
    ----------
    factor : float
        Greater than 0.
    kernel : Kernel
        What is multiplied.
    """

    factor: float
    kernel: Kernel

    @property
    def takes_samples(self) -> bool:
        return self.kernel.takes_samples

    def __call__(self, A: Any, B: Any) -> Array:
        return self.factor * self.kernel(A, B)

    def diagonal(self, A: Any) -> Array:
        return self.factor * self.kernel.diagonal(A)

    def rows_of(self, A: Any) -> Rows:
        rows = self.kernel.rows_of(A)
        return lambda index, columns=None: self.factor * rows(index, columns)

    def rounding(self, A: Any) -> float:
        return self.kernel.rounding(A) + EPS

    def with_errors(self, A: Any) -> tuple[Array, Array] | None:
        found = self.kernel.with_errors(A)
        if found is None:
            return None
        K = self.factor * found[0]
        return K, self.factor * found[1] + EPS * np.abs(K)

    def tex(self, x: str, y: str) -> str:
        return rf"{number(self.factor)} \left({self.kernel.tex(x, y)}\right)"
