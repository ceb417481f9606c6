"""The kernels of the Euclidean distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import ELEMENTARY, Array, gamma
from ..tex import number
from ..validation import positive_number
from .base import Kernel, Rows
from .distances import (
    SUBNORMAL,
    centre_of,
    distances_with_errors,
    exponential_with_errors,
    largest_square,
    squared_distances,
)
from .polynomial import squared_norms

ORDINARY = 1e3
"""Up to this |x - mean|^2 / sigma^2 a Gaussian needs no close pairs subtracted."""
LEAST = -700.0
"""exp of less is taken for exp of this: subnormal numbers slow all later algebra down."""


@dataclass(frozen=True)
class Gaussian(Kernel):
    """The Gaussian kernel k(x, x') = exp(-|x - x'|^2 / (2 sigma^2)).

    Parameters
    ----------
    sigma : float
        Width, > 0, in the units of x. scikit-learn's gamma is 1 / (2 sigma^2).

    Raises
    ------
    InputError
        If sigma is not positive.
    """

    sigma: float

    def __post_init__(self) -> None:
        positive_number(self.sigma, "Gaussian", "sigma")

    def __call__(self, A: Any, B: Any) -> Array:
        # sigma^2 itself may underflow or overflow; a quotient that does gives k = 0, as it should.
        with np.errstate(over="ignore"):
            return np.exp(-0.5 * (squared_distances(A, B) / self.sigma) / self.sigma)

    def diagonal(self, A: Any) -> Array:
        return np.ones(A.shape[0])

    def rows_of(self, A: Any) -> Rows:
        # One product: -|a - b|^2 / 2 = (a, |a|^2 / 2, 1) . (b, -1, -|b|^2 / 2), in units of sigma.
        if sparse.issparse(A):
            return super().rows_of(A)
        with np.errstate(over="ignore"):
            scaled = (A - centre_of(A)) / self.sigma
            half = 0.5 * squared_norms(scaled)[:, None]
        if not 2.0 * half.max() <= ORDINARY:
            return super().rows_of(A)
        ones = np.ones_like(half)
        left = np.concatenate([scaled, half, ones], axis=1)
        right = np.ascontiguousarray(np.concatenate([scaled, -ones, -half], axis=1).T)

        def rows(index: Array, columns: Array | None = None) -> Array:
            exponent = left[index] @ (right if columns is None else right[:, columns])
            exponent.clip(LEAST, 0.0, out=exponent)
            return np.exp(exponent, out=exponent)

        return rows

    def rounding(self, A: Any) -> float:
        # Of the exponent, whose terms add up to at most 2 reach; exp is no steeper than 1.
        with np.errstate(over="ignore"):
            error = 2.0 * gamma(A.shape[1] + 8) * largest_square(A) / self.sigma / self.sigma
        return 1.01 * error + 2.0 * ELEMENTARY if error <= 0.01 else np.inf

    def with_errors(self, A: Any) -> tuple[Array, Array]:
        return exponential_with_errors(
            *distances_with_errors(A), lambda t: 0.5 * (t / self.sigma) / self.sigma
        )

    def frequencies(self, rng: np.random.Generator, count: int, d: int) -> Array | None:
        # exp(-t^2 / (2 sigma^2)) is the characteristic function of the normal law of scale 1/sigma.
        return rng.normal(size=(count, d)) / self.sigma

    def tex(self, x: str, y: str) -> str:
        width = rf"2 \cdot {number(self.sigma)}^2"
        return rf"\exp\left(-\frac{{\|{x} - {y}\|_2^2}}{{{width}}}\right)"


@dataclass(frozen=True)
class Laplacian(Kernel):
    """The Laplacian kernel k(x, x') = exp(-|x - x'|_2 / sigma), the distance not squared.

    Parameters
    ----------
    sigma : float
        Width, > 0, in the units of x. (scikit-learn's laplacian_kernel uses the l1 distance.)

    Raises
    ------
    InputError
        If sigma is not positive.
    """

    sigma: float

    def __post_init__(self) -> None:
        positive_number(self.sigma, "Laplacian", "sigma")

    def __call__(self, A: Any, B: Any) -> Array:
        with np.errstate(over="ignore"):
            return np.exp(-np.sqrt(squared_distances(A, B)) / self.sigma)

    def diagonal(self, A: Any) -> Array:
        return np.ones(A.shape[0])

    def rounding(self, A: Any) -> float:
        # A distance not subtracted is at least 1e-3 of the sizes, so that the root is at most
        # 1000 times as steep as they are large.
        with np.errstate(over="ignore"):
            error = 1500.0 * gamma(A.shape[1] + 8) * np.sqrt(largest_square(A)) / self.sigma
        return 1.01 * float(error) + 2.0 * ELEMENTARY if error <= 0.01 else np.inf

    def with_errors(self, A: Any) -> tuple[Array, Array]:
        # |sqrt(a) - sqrt(b)| is at most sqrt(|a - b|) and |a - b| / sqrt(a).
        squares, errors = distances_with_errors(A)
        lengths = np.sqrt(squares)
        off = errors / np.maximum(np.maximum(lengths, np.sqrt(errors)), SUBNORMAL)
        return exponential_with_errors(lengths, off, lambda t: t / self.sigma)

    def frequencies(self, rng: np.random.Generator, count: int, d: int) -> Array | None:
        # exp(-|t| / sigma) is that of Cauchy's law in d dimensions of scale 1/sigma.
        return rng.normal(size=(count, d)) / np.abs(rng.normal(size=(count, 1))) / self.sigma

    def tex(self, x: str, y: str) -> str:
        return rf"\exp\left(-\frac{{\|{x} - {y}\|_2}}{{{number(self.sigma)}}}\right)"
