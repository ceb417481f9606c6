"""Kernels: one mathematical object, one small file; sums, products and positive multiples."""

from .base import Kernel, Product, Scaled, Sum
from .factor import factor
from .gaussian import Gaussian, Laplacian
from .polynomial import Linear, Polynomial
from .precomputed import Precomputed

__all__ = [
    "Gaussian",
    "Kernel",
    "Laplacian",
    "Linear",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "Sum",
    "factor",
]
