"""Affine forms whose matrices carry the names that LaTeX shows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import EPS, Array

TRANSPOSE = r"^\top"
INVERSE, INVERSE_TRANSPOSE = "^{-1}", r"^{-\top}"
TRANSPOSED = {INVERSE_TRANSPOSE: INVERSE, INVERSE: INVERSE_TRANSPOSE, TRANSPOSE: "", "": TRANSPOSE}
INVERTED = {INVERSE_TRANSPOSE: TRANSPOSE, INVERSE: "", TRANSPOSE: INVERSE_TRANSPOSE, "": INVERSE}
"""What becomes of the exponent of a name, which has only one."""


@dataclass(frozen=True)
class Matrix:
    """A sparse matrix, equal to ``scale`` times the matrix called ``name``."""

    entries: Any
    name: str
    scale: float = 1.0

    @property
    def T(self) -> Matrix:
        """The transpose; (A')' is A."""
        return Matrix(self.entries.T.tocsr(), _with(TRANSPOSED, self.name), self.scale)

    @property
    def is_zero(self) -> bool:
        """Whether every entry is 0."""
        return not np.any(self.entries.data)

    def __mul__(self, factor: float) -> Matrix:
        return Matrix(self.entries * factor, self.name, self.scale * factor)

    def __add__(self, other: Matrix) -> Matrix:
        entries = self.entries + other.entries
        if self.name == other.name and self.scale + other.scale:
            return Matrix(entries, self.name, self.scale + other.scale)
        sign = "+" if other.scale * self.scale > 0 else "-"
        ratio = abs(other.scale / self.scale)
        shown = other.name if ratio == 1.0 else f"{ratio:.4g} {other.name}"
        return Matrix(entries, f"({self.name} {sign} {shown})", self.scale)

    def __matmul__(self, other: Matrix) -> Matrix:
        """The product; multiples of the identity leave the other name alone."""
        entries, size = self.entries @ other.entries, abs(self.entries) @ abs(other.entries)
        entries = entries.multiply(abs(entries) > 8.0 * EPS * size).tocsr()  # else it is rounding
        for left, right in ((self, other), (other, self)):
            factor = left.identity_factor()
            if factor is not None:
                return Matrix(entries, right.name, right.scale * factor)
        return Matrix(entries, f"{self.name} {other.name}", self.scale * other.scale)

    def identity_factor(self) -> float | None:
        """The number c where the matrix is c times the identity, else None."""
        rows, columns = self.entries.shape
        if rows != columns or rows == 0:
            return None
        diagonal = self.entries.diagonal()
        off = self.entries - sparse.diags_array(diagonal)
        same = np.all(diagonal == diagonal[0]) and not np.any(off.data)
        return float(diagonal[0]) if same else None

    def inverse(self) -> Matrix | None:
        """The inverse of a matrix with one entry in each row and column, else None."""
        found = self.entries.tocoo()
        keep = found.data != 0.0
        row, column, data = found.row[keep], found.col[keep], found.data[keep]
        n = self.entries.shape[0]
        ordered = np.array_equal(np.sort(row), np.arange(n))
        if self.entries.shape != (n, n) or not ordered:
            return None
        if not np.array_equal(np.sort(column), np.arange(n)):
            return None
        entries = sparse.csr_array((1.0 / data, (column, row)), shape=(n, n))
        return Matrix(entries, _with(INVERTED, self.name), 1.0 / self.scale)


def _with(exponents: Mapping[str, str], name: str) -> str:
    """The name with the exponent that follows on its own."""
    own = next(each for each in exponents if name.endswith(each))
    return name.removesuffix(own) + exponents[own]


ONES = r"\mathbf{1}"


def named(entries: Any, name: str, scale: float = 1.0) -> Matrix:
    """A Matrix of whatever holds its entries; multiples of I and of ones are called so."""
    matrix = Matrix(sparse.csr_array(entries, dtype=float), name, scale)
    rows, columns = matrix.entries.shape
    factor = matrix.identity_factor()
    if factor:
        return Matrix(matrix.entries, "I", factor)
    first = matrix.entries[0, 0] if rows and columns else 0.0
    if min(rows, columns) == 1 and first and matrix.entries.nnz == rows * columns:
        if np.all(matrix.entries.toarray() == first):
            return Matrix(matrix.entries, ONES + (TRANSPOSE if rows == 1 else ""), float(first))
    return matrix


def is_plain(matrix: Matrix) -> bool:
    """Whether it is written by numbers and ones, not by a name."""
    return matrix.name.removesuffix(TRANSPOSE) in ("I", ONES)


def identity(size: int) -> Matrix:
    """The identity."""
    return named(sparse.eye_array(size), "I")


@dataclass(frozen=True)
class AffineForm:
    """sum_k terms[k] @ v_k + constant, for vectors v_k called by their keys k."""

    rows: int
    terms: dict[int, Matrix] = field(default_factory=dict)
    constant: Matrix | None = None

    def __add__(self, other: AffineForm) -> AffineForm:
        terms = dict(self.terms)
        for key, matrix in other.terms.items():
            terms[key] = terms[key] + matrix if key in terms else matrix
        constant = self.constant if other.constant is None else other.constant
        if self.constant is not None and other.constant is not None:
            constant = self.constant + other.constant
        return AffineForm(self.rows, terms, constant).cleaned()

    def cleaned(self) -> AffineForm:
        """Without zero matrices."""
        terms = {key: matrix for key, matrix in self.terms.items() if not matrix.is_zero}
        constant = None if self.constant is None or self.constant.is_zero else self.constant
        return AffineForm(self.rows, terms, constant)

    def after(self, matrix: Matrix) -> AffineForm:
        """Return ``matrix`` times this form."""
        terms = {key: matrix @ term for key, term in self.terms.items()}
        constant = None if self.constant is None else matrix @ self.constant
        return AffineForm(matrix.entries.shape[0], terms, constant).cleaned()

    def without(self, key: int) -> AffineForm:
        """Drop one term."""
        terms = {other: term for other, term in self.terms.items() if other != key}
        return AffineForm(self.rows, terms, self.constant)

    def substitute(self, key: int, value: AffineForm) -> AffineForm:
        """Replace v_key by a form of the other vectors."""
        if key not in self.terms:
            return self
        return self.without(key) + value.after(self.terms[key])

    def common(self) -> AffineForm:
        """One row in place of all where they are multiples of 1, the same in each; else all."""
        same = all(m.name == ONES and m.entries.shape[1] == 1 for m in self.matrices())
        return self.only(np.arange(self.rows) == 0) if same and self.rows > 1 else self

    def only(self, kept: Array) -> AffineForm:
        """The rows where ``kept`` is True; names go, but for those of numbers and ones."""
        rows = np.flatnonzero(kept)
        terms = {key: named(matrix.entries[rows], "") for key, matrix in self.terms.items()}
        constant = None if self.constant is None else named(self.constant.entries[rows], "")
        return AffineForm(rows.size, terms, constant).cleaned()

    def used(self) -> Array:
        """Whether a row has an entry that is not 0."""
        rows = [np.abs(matrix.entries).sum(axis=1) > 0.0 for matrix in self.matrices()]
        return np.any([np.zeros(self.rows, dtype=bool), *rows], axis=0)

    def matrices(self) -> list[Matrix]:
        """Those of the terms, and the constant."""
        return [*self.terms.values(), *([] if self.constant is None else [self.constant])]

    @property
    def is_zero(self) -> bool:
        """Whether nothing is left."""
        return not self.terms and self.constant is None

    def mostly_positive(self) -> AffineForm:
        """Return this form or its negative, whichever starts with a plus sign: for what is even."""
        first = next(iter(self.terms.values()), self.constant)
        return self if first is None or first.scale > 0 else self.after(identity(self.rows) * -1.0)

    def constant_vector(self) -> Array:
        """The constant as a dense vector."""
        if self.constant is None:
            return np.zeros(self.rows)
        return self.constant.entries.toarray().ravel()
