"""The data of a linear program, as ``scipy.optimize.linprog`` reads them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..errors import InputError
from ..numerics import Array
from ..validation import finite_array, finite_sparse, float_array, refuse_masked
from .cones import ConeProgram, NonnegativeCone, ZeroCone

MULTIPLIERS = ("lambda_ub", "nu", "lambda_lower", "lambda_upper")
"""Of A_ub x <= b_ub, A_eq x = b_eq, x >= lower and x <= upper."""
NO_BOUND = " An absent bound is None or inf in bounds."


@dataclass(frozen=True, eq=False)
class LinearData:
    """Minimise c'x s.t. A_ub x <= b_ub, A_eq x = b_eq, lower <= x <= upper.

    Attributes
    ----------
    c : array, shape (n,)
    A_ub, A_eq : array or csr_array, shapes (m, n) and (p, n)
        Matrices without rows where there are no such constraints.
    b_ub, b_eq : array, shapes (m,) and (p,)
    lower, upper : array, shape (n,)
        -inf and +inf where there is no bound.
    """

    c: Array
    A_ub: Any
    b_ub: Array
    A_eq: Any
    b_eq: Array
    lower: Array
    upper: Array

    @property
    def n(self) -> int:
        """The number of variables."""
        return self.c.size

    @cached_property
    def rows(self) -> Any:
        """[A_ub; A_eq] as a csr_array."""
        return self.constraints[0][: self.b_ub.size + self.b_eq.size]

    @cached_property
    def sides(self) -> Array:
        """(b_ub, b_eq)."""
        return np.concatenate([self.b_ub, self.b_eq])

    @cached_property
    def signed(self) -> Array:
        """Which of ``rows`` are inequalities."""
        return ~self.equal[: self.sides.size]

    @cached_property
    def constraints(self) -> tuple[Any, Array]:
        """A x <= b of everything, with equations in between: A_ub, A_eq, and finite bounds."""
        eye = sparse.eye_array(self.n, format="csr")
        lower, upper = np.isfinite(self.lower), np.isfinite(self.upper)
        parts = [self.A_ub, self.A_eq, -eye[lower], eye[upper]]
        sides = [self.b_ub, self.b_eq, -self.lower[lower], self.upper[upper]]
        return sparse.vstack(parts, format="csr"), np.concatenate(sides)

    @cached_property
    def equal(self) -> Array:
        """Which of ``constraints`` are equations."""
        place = np.arange(self.constraints[1].size) - self.b_ub.size
        return np.asarray((place >= 0) & (place < self.b_eq.size))

    @cached_property
    def as_cones(self) -> ConeProgram:
        """``constraints`` as a cone program."""
        (A, b), m, p = self.constraints, self.b_ub.size, self.b_eq.size
        cones = NonnegativeCone(m), ZeroCone(p), NonnegativeCone(b.size - m - p)
        flat = sparse.csc_array((self.n, self.n))
        return ConeProgram(flat, self.c, sparse.csc_array(A), b, cones)

    @cached_property
    def terms(self) -> Any:
        """The absolute values of the entries of ``constraints``."""
        return abs(self.constraints[0])

    def by_name(self, values: Array) -> dict[str, Array]:
        """Values of ``constraints`` by the names of their multipliers; 0 of no bound."""
        there = [np.isfinite(side) for side in (self.lower, self.upper)]
        sizes = self.b_ub.size, self.b_eq.size, int(there[0].sum())
        parts = np.split(values, np.cumsum(sizes))
        for k, side in enumerate(there, 2):
            found = np.zeros(self.n, dtype=values.dtype)
            found[side] = parts[k]
            parts[k] = found
        return dict(zip(MULTIPLIERS, parts, strict=True))

    @cached_property
    def columns(self) -> Any:
        """The transpose of ``rows`` as a csr_array."""
        return sparse.csr_array(self.rows.T)

    @cached_property
    def memo(self) -> dict[str, Any]:
        """What was derived from the data and is kept with them."""
        return {}

    def with_cost(self, c: Array) -> LinearData:
        """Return the program with the same constraints and another cost."""
        return LinearData(c, self.A_ub, self.b_ub, self.A_eq, self.b_eq, self.lower, self.upper)


def read_linear_data(
    c: Any, A_ub: Any, b_ub: Any, A_eq: Any, b_eq: Any, bounds: Any, owner: str
) -> LinearData:
    """Check the arrays and give them one form; raises InputError with the worst offender."""
    cost = np.atleast_1d(finite_array(c, owner, "c"))
    if cost.ndim != 1 or cost.size == 0:
        raise InputError(f"{owner}: c must be a non-empty vector, got shape {np.shape(c)}.")
    ub = _rows(A_ub, b_ub, cost.size, ("A_ub", "b_ub"), owner)
    eq = _rows(A_eq, b_eq, cost.size, ("A_eq", "b_eq"), owner)
    lower, upper = _bounds(bounds, cost.size, owner)
    return LinearData(cost, *ub, *eq, lower, upper)


def read_point(data: LinearData, x: Any, owner: str) -> Array:
    """Return x as a finite float vector of the right length; raises InputError."""
    point = np.atleast_1d(finite_array(x, owner, "x"))
    if point.shape != (data.n,):
        raise InputError(f"{owner}: x must have shape ({data.n},), got {point.shape}.")
    return point


def _rows(matrix: Any, side: Any, n: int, names: tuple[str, str], owner: str) -> tuple[Any, Array]:
    if matrix is None and side is None:
        return np.zeros((0, n)), np.zeros(0)
    if matrix is None or side is None:
        present, absent = names if side is None else names[::-1]
        raise InputError(f"{owner}: {present} is given but {absent} is not; give both or neither.")
    if sparse.issparse(matrix):
        matrix = finite_sparse(matrix, owner, names[0], NO_BOUND).tocsr()
    else:
        matrix = finite_array(matrix, owner, names[0], NO_BOUND)
        matrix = matrix.reshape(1, -1) if matrix.ndim == 1 else matrix
    if matrix.ndim != 2 or matrix.shape[1] != n:
        raise InputError(
            f"{owner}: {names[0]} must have one column for each of the {n} entries of c, "
            f"got shape {matrix.shape}."
        )
    right = np.atleast_1d(finite_array(side, owner, names[1], NO_BOUND).squeeze())
    if right.shape != (matrix.shape[0],):
        raise InputError(
            f"{owner}: {names[1]} must have one entry for each of the {matrix.shape[0]} rows "
            f"of {names[0]}, got shape {np.shape(side)}."
        )
    return matrix, right


def _bounds(bounds: Any, n: int, owner: str) -> tuple[Array, Array]:
    refuse_masked(bounds, owner, "bounds")
    if bounds is None or np.size(np.asarray(bounds, dtype=object)) == 0:
        bounds = (0.0, None)
    pairs = np.atleast_2d(float_array(bounds, owner, "bounds"))  # None becomes NaN
    if np.any(np.isnan(pairs) & (np.atleast_2d(np.array(bounds, dtype=object)) != None)):  # noqa: E711
        raise InputError(f"{owner}: bounds hold nan; None is no bound.")
    if pairs.shape == (n, 2):
        pairs = pairs.copy()
    elif pairs.shape in {(1, 2), (2, 1)}:
        pairs = np.tile(pairs.ravel(), (n, 1))
    else:
        raise InputError(
            f"{owner}: bounds must be one pair (min, max) or {n} of them, one for each entry "
            f"of c, got shape {pairs.shape}."
        )
    lower = np.where(np.isnan(pairs[:, 0]), -np.inf, pairs[:, 0])
    upper = np.where(np.isnan(pairs[:, 1]), np.inf, pairs[:, 1])
    bad = np.flatnonzero((lower > upper) | (lower == np.inf) | (upper == -np.inf))
    if bad.size:
        j = bad[0]
        raise InputError(
            f"{owner}: bounds[{j}] = ({lower[j]:g}, {upper[j]:g}) is empty; "
            "the lower bound must not exceed the upper one, nor be +inf, nor the upper -inf."
        )
    return lower, upper


def linear_to_dict(data: LinearData) -> dict[str, Any]:
    """The arguments of ``LinearProgram`` as plain lists; ``None`` for infinite bounds."""

    def rows(matrix: Any) -> list[list[float]] | None:
        if matrix.shape[0] == 0:
            return None
        dense: list[list[float]] = (
            matrix.toarray() if sparse.issparse(matrix) else matrix
        ).tolist()
        return dense

    def limit(value: float) -> float | None:
        return float(value) if np.isfinite(value) else None

    pairs = zip(data.lower, data.upper, strict=True)
    return {
        "c": data.c.tolist(),
        "A_ub": rows(data.A_ub),
        "b_ub": data.b_ub.tolist() if data.b_ub.size else None,
        "A_eq": rows(data.A_eq),
        "b_eq": data.b_eq.tolist() if data.b_eq.size else None,
        "bounds": [[limit(low), limit(high)] for low, high in pairs],
    }
