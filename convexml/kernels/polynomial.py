"""The linear kernel and the polynomial kernel."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..errors import InputError
from ..numerics import ELEMENTARY, Array, gamma
from ..tex import number, plus
from ..validation import nonnegative_number, positive_number
from .base import Kernel


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
