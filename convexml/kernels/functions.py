"""The kernels: of the Euclidean distance, linear and polynomial, and one given by its matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..errors import InputError
from ..formulas import number, plus
from ..numerics import ELEMENTARY, EPS, Array, gamma
from ..validation import nonnegative_number, positive_number
from .base import Kernel, Rows

# The linear kernel and the polynomial kernel.


def samples(A: Any) -> Any:
    """A as a float64 array, or as it is where sparse."""
    return A if sparse.issparse(A) else np.asarray(A, dtype=float)


def squared_norms(A: Any) -> Array:
    """|a_i|^2, shape (len(A),)."""
    if sparse.issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", A, A)


def inner_products(A: Any, B: Any) -> Array:
    """A B' as a dense array, for dense or sparse samples."""
    product = samples(A) @ samples(B).T
    return product.toarray() if sparse.issparse(product) else np.asarray(product)


@dataclass(frozen=True)
class Linear(Kernel):
    """The linear kernel k(x, x') = <x, x'>."""

    def __call__(self, A: Any, B: Any) -> Array:
        return inner_products(A, B)

    def diagonal(self, A: Any) -> Array:
        return squared_norms(samples(A))

    def rounding(self, A: Any) -> float:
        return gamma(A.shape[1] + 2)

    def exact_factor(self, A: Any) -> Array | None:
        if A.shape[1] > A.shape[0]:
            return None
        return np.asarray(A.toarray() if sparse.issparse(A) else A, dtype=float)

    def tex(self, x: str, y: str) -> str:
        return rf"\langle {x}, {y} \rangle"


@dataclass(frozen=True)
class Polynomial(Kernel):
    """The polynomial kernel k(x, x') = (gamma <x, x'> + coef0)^degree.

    Parameters
    ----------
    degree : int
        At least 1.
    coef0 : float
        At least 0: a negative one is not positive semidefinite.
    gamma : float
        Greater than 0.

    Raises
    ------
    InputError
        For parameters out of range.
    """

    degree: int
    coef0: float = 0.0
    gamma: float = 1.0

    def __post_init__(self) -> None:
        if isinstance(self.degree, bool) or int(self.degree) != self.degree or self.degree < 1:
            raise InputError(f"Polynomial: degree must be an integer >= 1, got {self.degree!r}.")
        nonnegative_number(self.coef0, "Polynomial", "coef0")
        positive_number(self.gamma, "Polynomial", "gamma")

    def __call__(self, A: Any, B: Any) -> Array:
        return (self.gamma * inner_products(A, B) + self.coef0) ** int(self.degree)

    def diagonal(self, A: Any) -> Array:
        return (self.gamma * squared_norms(samples(A)) + self.coef0) ** int(self.degree)

    def rounding(self, A: Any) -> float:
        # gamma |x||x'| + coef0 is at most sqrt((gamma |x|^2 + coef0) (gamma |x'|^2 + coef0)).
        share = gamma(A.shape[1] + 4)
        return float((1.0 + share) ** int(self.degree)) * (1.0 + ELEMENTARY) - 1.0 + ELEMENTARY

    def with_errors(self, A: Any) -> tuple[Array, Array]:
        # t^degree, for t off by e, changes by at most degree e (|t| + e)^(degree - 1).
        t, lengths = self.gamma * inner_products(A, A) + self.coef0, np.sqrt(squared_norms(A))
        terms = self.gamma * np.outer(lengths, lengths) + self.coef0
        error, degree = gamma(A.shape[1] + 8) * terms, int(self.degree)
        before = (np.abs(t) + error) ** (degree - 1)
        return t**degree, (degree * error + 2.0 * ELEMENTARY * (np.abs(t) + error)) * before

    def tex(self, x: str, y: str) -> str:
        scale = number(self.gamma) if self.gamma != 1.0 else ""
        inside = plus(rf"{scale}\langle {x}, {y} \rangle", number(self.coef0) if self.coef0 else "")
        return rf"\left({inside}\right)^{{{int(self.degree)}}}"


# Squared distances of samples, and what they may be off by.


PAIRS = 100_000
"""So many close pairs are subtracted at a time."""
CLOSE = 1e-6
"""Pairs whose squared distance is at most this share of |a|^2 + |b|^2 are subtracted."""
LOOSE = 1.0 + 1e-6
"""Covers the rounding of the account itself."""
SUBNORMAL = 5e-324
"""What a product may be off by where it leaves the normal numbers."""


def centre_of(A: Array) -> Array:
    """The mean of the samples, shape (d,), as a product: A is long and narrow."""
    return np.ones(len(A)) @ A / len(A)


def centred(A: Any) -> Any:
    """The samples less their centre, free of cancellation far from the origin; sparse ones as is.

    Whatever the centre is, distances are the same: only the differences are rounded.
    """
    A = samples(A)
    return A if sparse.issparse(A) else A - centre_of(A)


def largest_square(A: Any) -> float:
    """The largest |a_i - c|^2 about the centre that ``squared_distances`` takes."""
    return float(np.max(squared_norms(centred(A))))


def squared_distances(A: Any, B: Any) -> Array:
    """|a_i - b_j|^2, to full accuracy also for close and equal samples; shape (len(A), len(B))."""
    same = A is B
    A = samples(A)
    B = A if same else samples(B)
    if not (sparse.issparse(A) or sparse.issparse(B)):
        centre = centre_of(B)
        A = A - centre
        B = A if same else B - centre
    size = squared_norms(A)[:, None] + squared_norms(B)[None, :]
    distances = size - 2.0 * inner_products(A, B)
    rows, columns = np.nonzero(distances <= CLOSE * size)
    for start in range(0, len(rows), PAIRS):
        i, j = rows[start : start + PAIRS], columns[start : start + PAIRS]
        distances[i, j] = squared_norms(A[i] - B[j])
    return distances


def distances_with_errors(A: Any) -> tuple[Array, Array]:
    """``squared_distances(A, A)``, and what they may be off by from those of the samples.

    With r = |a_i| + |a_j| about the centre, a sum of products is off by gamma_d r^2 at most, and
    the samples, less the centre, by u r: of pairs that were subtracted that changes D^2 by 2 D u r.
    """
    distances, lengths = squared_distances(A, A), np.sqrt(squared_norms(centred(A)))
    share, reach = gamma(A.shape[1] + 8), lengths[:, None] + lengths[None, :]
    near = share * np.sqrt(distances) * (np.sqrt(distances) + reach) + (EPS * reach) ** 2
    # Certainly subtracted: |a|^2 + |b|^2 is at least r^2 / 2.
    errors = np.where(distances <= 0.25 * CLOSE * reach**2, near, share * reach**2)
    errors = LOOSE * errors + 4.0 * (A.shape[1] + 4.0) * SUBNORMAL
    np.fill_diagonal(errors, 0.0)  # a sample less itself
    return distances, errors


def exponential_with_errors(
    size: Array, error: Array, in_widths: Callable[[Array], Array]
) -> tuple[Array, Array]:
    """exp(-t), t = size in widths, and what it may be off by where size is within ``error``.

    exp(-t) on both sides of t changes by at most e^{-(t - error)} (1 - e^{-error}). Quotients that
    overflow are inf: exp of minus them is 0, as that of all sizes that may be meant.
    """
    error = LOOSE * error + 4.0 * EPS * size
    with np.errstate(over="ignore"):
        exponent, spread = in_widths(size), (1.0 + 8.0 * EPS) * in_widths(error)
        least = (1.0 - 8.0 * EPS) * in_widths(np.maximum(size - error, 0.0))
    return np.exp(-exponent), np.exp(-least) * (2.0 * ELEMENTARY - np.expm1(-spread))


# The kernels of the Euclidean distance.


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


# A kernel given by its matrix.


@dataclass(frozen=True)
class Precomputed(Kernel):
    """The samples *are* the kernel matrix: X is K, (n, n); to predict, K(new, training), (m, n)."""

    @property
    def takes_samples(self) -> bool:
        return False

    def __call__(self, A: Any, B: Any) -> Array:
        return A.toarray() if sparse.issparse(A) else np.asarray(A, dtype=float)

    def rows_of(self, A: Any) -> Rows:
        def rows(index: Array, columns: Array | None = None) -> Array:
            found = self(A[index], A)
            return found if columns is None else found[:, columns]

        return rows

    def diagonal(self, A: Any) -> Array:
        return A.diagonal()
