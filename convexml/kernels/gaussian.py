"""The kernels of the Euclidean distance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import Array
from ..validation import positive_number
from .base import Kernel
from .polynomial import inner_products, samples


def squared_distances(A: Any, B: Any) -> Array:
    """|a_i - b_j|^2, exactly 0 on the diagonal where A is B; shape (len(A), len(B))."""
    same = A is B
    A = samples(A)
    B = A if same else samples(B)
    if not (sparse.issparse(A) or sparse.issparse(B)):  # free of cancellation far from the origin
        centre = np.mean(B, axis=0)
        A = A - centre
        B = A if same else B - centre
    norms = [_squared_norms(A), _squared_norms(B)]
    distances = norms[0][:, None] + norms[1][None, :] - 2.0 * inner_products(A, B)
    np.maximum(distances, 0.0, out=distances)
    if same:
        np.fill_diagonal(distances, 0.0)
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
        return np.exp(squared_distances(A, B) / (-2.0 * self.sigma**2))


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
        return np.exp(-np.sqrt(squared_distances(A, B)) / self.sigma)
