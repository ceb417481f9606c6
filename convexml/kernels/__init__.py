"""Kernels: one mathematical object, one small file; sums, products and positive multiples."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..validation import no_such_name
from .approximation import LowRank, fourier_features, pivoted_cholesky
from .base import Kernel, Product, Scaled, Sum
from .functions import Gaussian, Laplacian, Linear, Polynomial, Precomputed
from .matrix import factor

__all__ = [
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "LowRank",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sum",
    "factor",
    "fourier_features",
    "pivoted_cholesky",
]

ALL: dict[str, type[Kernel]] = {
    "gaussian": Gaussian,
    "laplacian": Laplacian,
    "linear": Linear,
    "polynomial": Polynomial,
    "precomputed": Precomputed,
    "product": Product,
    "scaled": Scaled,
    "sum": Sum,
}
"""Every kernel of the library by the name that problem files use."""

if not TYPE_CHECKING:  # else every name would do

    def __getattr__(name: str) -> Any:
        raise no_such_name(__name__, name, __all__)
