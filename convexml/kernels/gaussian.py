"""The kernels of the Euclidean distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import Array
from ..tex import number
from ..validation import positive_number
from .base import Kernel
from .polynomial import inner_products, samples

PAIRS = 100_000
"""So many close pairs are subtracted at a time."""


def squared_distances(A: Any, B: Any) -> Array:
    """|a_i - b_j|^2, to full accuracy also for close and equal samples; shape (len(A), len(B))."""
    same = A is B
    A = samples(A)
    B = A if same else samples(B)
    if not (sparse.issparse(A) or sparse.issparse(B)):  # free of cancellation far from the origin
        centre = np.mean(B, axis=0)
        A = A - centre
        B = A if same else B - centre
    size = _squared_norms(A)[:, None] + _squared_norms(B)[None, :]
    distances = size - 2.0 * inner_products(A, B)
    rows, columns = np.nonzero(distances <= 1e-6 * size)
    for start in range(0, len(rows), PAIRS):
        i, j = rows[start : start + PAIRS], columns[start : start + PAIRS]
        distances[i, j] = _squared_norms(A[i] - B[j])
    return distances


def _squared_norms(A: Any) -> Array:
    if sparse.issparse(A):
        return np.asarray(A.multiply(A).sum(axis=1)).ravel()
    return np.einsum("ij,ij->i", A, A)


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

    def tex(self, x: str, y: str) -> str:
        return rf"\exp\left(-\frac{{\|{x} - {y}\|_2}}{{{number(self.sigma)}}}\right)"
