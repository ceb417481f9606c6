"""A convex program in conic form, as Clarabel writes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from itertools import accumulate, groupby
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy import sparse

from ..errors import InputError
from ..numerics import Array
from ..validation import refuse_nonfinite

# The cones of conic programs: distance, projection, dual cone. One small class each.
#
# The order of the entries is Clarabel's (and CVXPY's for Clarabel): the exponential cone is the
# closure of {(x, y, z): y > 0, y exp(x / y) <= z}, a symmetric matrix is its upper triangle column
# by column with off-diagonal entries times sqrt(2).


@dataclass(frozen=True)
class Cone:
    """A closed convex cone K in R^dim; each has ``project`` or ``project_each`` of its own.

    Attributes
    ----------
    is_polyhedral : bool
        Whether K is a product of half-lines: then violations are counted entry by entry.
    is_self_dual : bool
        Whether K* = {y: y's >= 0 for all s in K} is K.
    """

    dim: int
    is_polyhedral: ClassVar[bool] = False
    is_self_dual: ClassVar[bool] = False

    def project(self, s: Array) -> Array:
        """The nearest point of K, shape (dim,)."""
        return self.project_each(s[None])[0]

    def project_each(self, s: Array) -> Array:
        """The projection of every row, shape (k, dim)."""
        return np.array([self.project(row) for row in s]).reshape(s.shape)

    def project_dual(self, y: Array) -> Array:
        """The nearest point of K*."""
        return self.project_dual_each(y[None])[0]

    def project_dual_each(self, y: Array) -> Array:
        """The projection of every row to K*, by Moreau's identity, shape (k, dim)."""
        return self.project_each(y) if self.is_self_dual else y + self.project_each(-y)

    def distance(self, s: Array) -> Array:
        """Distances to K: one for each entry of a polyhedral cone, else one, shape (1,)."""
        difference = s - self.project(s)
        return np.abs(difference) if self.is_polyhedral else np.array([np.linalg.norm(difference)])


@dataclass(frozen=True)
class ZeroCone(Cone):
    """{0}; its dual is all of R^dim."""

    is_polyhedral = True

    def project_each(self, s: Array) -> Array:
        """See ``Cone``."""
        return np.zeros_like(s)


@dataclass(frozen=True)
class NonnegativeCone(Cone):
    """{s >= 0}."""

    is_polyhedral = is_self_dual = True

    def project_each(self, s: Array) -> Array:
        """See ``Cone``."""
        return np.maximum(s, 0.0)


@dataclass(frozen=True)
class SecondOrder(Cone):
    """{(t, v): |v|_2 <= t}."""

    is_self_dual = True

    def project_each(self, s: Array) -> Array:
        """See ``Cone``."""
        found, t, norms = s.copy(), s[:, 0], np.linalg.norm(s[:, 1:], axis=1)
        half, polar = 0.5 * (t + norms), norms <= -t
        outside = ~(norms <= t) & ~polar
        found[outside, 0] = half[outside]
        found[outside, 1:] *= (half[outside] / norms[outside])[:, None]
        found[polar] = 0.0
        return found


@dataclass(frozen=True)
class Semidefinite(Cone):
    """Positive semidefinite matrices of this order; dim = order (order + 1) / 2."""

    is_self_dual = True

    @property
    def order(self) -> int:
        """The number of rows of the matrix."""
        return int((np.sqrt(8 * self.dim + 1) - 1) / 2)

    @property
    def triangle(self) -> tuple[Array, Array, Array]:
        """The row, the column and the factor, 1 or sqrt(2), of each entry."""
        return _triangle(self.order)

    def matrix(self, s: Array) -> Array:
        """The symmetric matrix with this upper triangle."""
        found = np.zeros((self.order, self.order))
        row, column, factor = self.triangle
        found[row, column] = found[column, row] = s / factor
        return found

    def vector(self, matrix: Array) -> Array:
        """The inverse of ``matrix``."""
        row, column, factor = self.triangle
        return matrix[row, column] * factor

    def project(self, s: Array) -> Array:
        """See ``Cone``."""
        values, vectors = np.linalg.eigh(self.matrix(s))
        if values.size == 0 or values[0] >= 0.0:
            return s.copy()
        return self.vector((vectors * np.maximum(values, 0.0)) @ vectors.T)


@lru_cache(maxsize=32)
def _triangle(order: int) -> tuple[Array, Array, Array]:
    column, row = np.tril_indices(order)  # the upper triangle column by column
    return row, column, np.where(row == column, 1.0, np.sqrt(2.0))


class ConePoint(NamedTuple):
    """A point of a cone program, its slack and its multipliers, as a solver ended with them."""

    x: Array
    s: Array
    y: Array


@dataclass(frozen=True)
class Rounded:
    """How far the data of a cone program may be off what was written.

    Attributes
    ----------
    rows : csr_array, shape (m, n + 1)
        Of the entries of A, b last.
    costs : array, shape (n,)
        Of q.
    bends : mask, shape (n,)
        The rows of P that are not what was written.
    """

    rows: Any
    costs: Array
    bends: Array


@dataclass(frozen=True)
class ConeProgram:
    """Minimise x'Px / 2 + q'x + offset subject to A x + s = b, s in K.

    The dual maximises -w'Pw / 2 - b'y + offset subject to P w + A'y + q = 0, y in K*.

    Attributes
    ----------
    P : csc_array, shape (n, n)
        Symmetric, positive semidefinite (this is not checked).
    q : array, shape (n,)
    A : csc_array, shape (m, n)
    b : array, shape (m,)
    cones : tuple of Cone
        Of the rows of A in order; K is their product.
    offset : float
        A constant.
    rounded : Rounded, optional
        What the data may be off by, where that is known; exact without.
    pairs : array, shape (k, 2), optional
        The rows that are the real and the imaginary part of one complex equation.
    """

    P: Any
    q: Array
    A: Any
    b: Array
    cones: tuple[Cone, ...]
    offset: float = 0.0
    rounded: Rounded | None = None
    pairs: Array | None = None

    def off(self, x: Array, tau: float = 0.0) -> Array:
        """How far A x - tau b may be off because the data are, shape (m,)."""
        if self.rounded is None:
            return np.zeros(self.b.size)
        return np.asarray(self.rounded.rows @ np.append(np.abs(x), abs(tau))) * (1.0 + 1e-9)

    def left_off(self, y: Array) -> Array:
        """How far A'y may be off because A is, shape (n,), of all multipliers up to y."""
        if self.rounded is None:
            return np.zeros(self.q.size)
        return np.asarray(self.rounded.rows.T @ y)[:-1] * (1.0 + 1e-9)

    def costs_off(self, d: Array) -> float:
        """How far q'd may be off because q is."""
        return 0.0 if self.rounded is None else 1.001 * float(self.rounded.costs @ np.abs(d))

    @cached_property
    def blocks(self) -> list[tuple[Cone, slice]]:
        """Each cone with the rows it rules."""
        ends = accumulate(cone.dim for cone in self.cones)
        return [(c, slice(end - c.dim, end)) for c, end in zip(self.cones, ends, strict=True)]

    @cached_property
    def runs(self) -> list[tuple[Cone, Array]]:
        """Cones with the rows they rule, shape (k, dim): k curved cones in a row that are equal."""
        found, start = [], 0
        for cone, equal in groupby(self.cones):
            for k in [1 for _ in equal] if cone.is_polyhedral else [len(list(equal))]:
                end = start + k * cone.dim
                found.append((cone, np.arange(start, end).reshape(k, cone.dim)))
                start = end
        return found

    @cached_property
    def A_by_row(self) -> Any:
        """A as a csr_array."""
        return sparse.csr_array(self.A)

    @cached_property
    def P_by_row(self) -> Any:
        """P likewise."""
        return sparse.csr_array(self.P)

    @cached_property
    def A_sizes(self) -> Any:
        """The absolute values of the entries of A."""
        return abs(self.A)

    @cached_property
    def _dual(self) -> tuple[Any, Any, Any]:
        """A', |P| and |A'|."""
        return self.A.T, abs(self.P), self.A_sizes.T

    @cached_property
    def equality(self) -> Any:
        """The rows [P, A'] of the dual's equality, entries of P first, as a csr_array."""
        P, A, (m, n) = self.P_by_row, self.A, self.A.shape
        ends = P.indptr + A.indptr
        own = np.arange(P.nnz) + np.repeat(A.indptr[:-1], np.diff(P.indptr))
        other = np.arange(A.nnz) + np.repeat(P.indptr[1:], np.diff(A.indptr))
        columns, values = np.zeros(P.nnz + A.nnz, dtype=int), np.zeros(P.nnz + A.nnz)
        columns[own], columns[other] = P.indices, A.indices + n
        values[own], values[other] = P.data, A.data
        return sparse.csr_array((values, columns, ends), shape=(n, n + m))

    def in_pairs(self, values: Array) -> Array:
        """These sizes of the rows, with the larger one for both parts of a complex equation."""
        if self.pairs is None:
            return values
        found = values.copy()
        found[self.pairs] = np.max(values[self.pairs], axis=1, keepdims=True)
        return found

    @property
    def is_polyhedral(self) -> bool:
        """Whether all cones are."""
        return all(cone.is_polyhedral for cone, _ in self.runs)

    def ruled_by(self, *kinds: type[Cone]) -> Array:
        """The mask of the rows that cones of these kinds rule, shape (m,)."""
        mask = np.zeros(self.b.size, dtype=bool)
        for cone, rows in self.runs:
            mask[rows] = isinstance(cone, kinds)
        return mask

    def runs_of(self, wanted: Array | None) -> Iterator[tuple[Any, Array]]:
        """``runs`` of the wanted rows, by default of all; a curved cone comes whole or not."""
        for cone, rows in self.runs:
            if wanted is not None:
                chosen = wanted[rows]
                rows = rows[:, chosen[0]] if cone.is_polyhedral else rows[np.any(chosen, axis=1)]
            if rows.size:
                yield cone if rows.shape[1] == cone.dim else type(cone)(rows.size), rows

    def without_objective(self) -> ConeProgram:
        """The program with the same points, and an objective of 0."""
        return replace(self, P=sparse.csc_array(self.P.shape), q=np.zeros(self.q.size), offset=0.0)

    def slack(self, x: Array) -> Array:
        """b - A x."""
        return self.b - self.A @ x

    def stationarity(self, w: Array, y: Array) -> Array:
        """P w + A'y + q."""
        return self.P @ w + self._dual[0] @ y + self.q

    def stationarity_size(self, w: Array, y: Array) -> Array:
        """The absolute products of ``stationarity``: what rounding is relative to."""
        _, P, A = self._dual
        return P @ np.abs(w) + A @ np.abs(y) + np.abs(self.q)

    def project_dual(self, y: Array) -> Array:
        """The nearest point of K*."""
        return self._map(y, lambda cone, parts: cone.project_dual_each(parts))

    def project(self, s: Array) -> Array:
        """The nearest point of K."""
        return self._map(s, lambda cone, parts: cone.project_each(parts))

    def _map(self, values: Array, f: Any) -> Array:
        parts = (f(cone, values[rows]).ravel() for cone, rows in self.runs)
        return np.concatenate([np.zeros(0), *parts])


def cone_program_of(
    P: Any, q: Any, A: Any, b: Any, cones: Sequence[Cone], offset: float = 0.0
) -> ConeProgram:
    """Check the shapes and build a ConeProgram.

    Parameters
    ----------
    P : array or sparse array, shape (n, n), or None
        The whole symmetric matrix, not a triangle of it.
    q, A, b : arrays, shapes (n,), (m, n), (m,)
        The other data.
    cones : sequence of Cone
        Their dims add up to m.
    offset : float
        A constant in the objective.

    Returns
    -------
    ConeProgram

    Raises
    ------
    InputError
        Where shapes do not agree, P is not symmetric or an entry is not finite.
    """
    q, b = np.array(q, dtype=float), np.array(b, dtype=float)
    A = sparse.csc_array(A, dtype=float)
    P = sparse.csc_array((q.size, q.size)) if P is None else sparse.csc_array(P, dtype=float)
    rows = sum(cone.dim for cone in cones)
    if A.shape != (b.size, q.size) or P.shape != (q.size, q.size) or rows != b.size:
        raise InputError(
            f"cone program: P {P.shape}, q {q.shape}, A {A.shape}, b {b.shape} and {rows} rows "
            "of cones do not fit together."
        )
    for name, values in (("P", P), ("q", q), ("A", A), ("b", b)):
        refuse_nonfinite(values, "cone program", name)
    program = ConeProgram(P, q, A, b, tuple(cones), float(offset))
    stored = ((each.indptr, each.indices, each.data) for each in (P, program.P_by_row))
    if not all(map(np.array_equal, *stored)) and abs(P - P.T).max() > 1e-12 * abs(P).max():
        raise InputError("cone program: P must be symmetric; pass the whole matrix.")
    return program


# The exponential and the power cone: their projections need the root of one equation.


FARTHEST = 1024.0
"""exp(-FARTHEST) is 0, exp(FARTHEST) is too large to be met."""


@dataclass(frozen=True)
class ExponentialCone(Cone):
    """The closure of {(x, y, z): y > 0, y exp(x / y) <= z}.

    References
    ----------
    Friberg, *Projection onto the exponential cone: a univariate root-finding problem*, 2021.
    """

    dim: int = 3

    def project_each(self, s: Array) -> Array:
        """See ``Cone``."""
        found = s.copy()
        x, y, z = s.T
        with np.errstate(all="ignore"):
            inside = np.where(y > 0.0, np.log(z) - np.log(y) >= x / y, (y == 0.0) & (x <= 0.0))
            polar = np.where(
                x > 0.0, np.log(x) + y / x <= 1.0 + np.log(-z), (x == 0.0) & (y <= 0.0)
            )
        inside &= (z > 0.0) | ((y == 0.0) & (z == 0.0))
        polar &= (z < 0.0) | ((x == 0.0) & (z == 0.0))
        found[polar & ~inside] = 0.0
        for i in np.flatnonzero(~inside & ~polar):
            found[i] = _nearest_exponential(*s[i].tolist())
        return found


def _nearest_exponential(x: float, y: float, z: float) -> Array:
    """The nearest point of the cone to one outside of it and of its polar."""
    if x <= 0.0 and (y <= 0.0 or x < -FARTHEST * y):  # exp(x / y) is 0
        return np.array([x, max(y, 0.0), max(z, 0.0)])
    if x > 0.0 and y < -FARTHEST * x:  # the surface leaves (0, 0, z) at once
        return np.array([0.0, 0.0, max(z, 0.0)])
    return _nearest_on_surface(x, y, z)


def _nearest_on_surface(x: float, y: float, z: float) -> Array:
    """p = a (r, 1, e^r) and s - p = m (1, 1 - r, -e^-r) with a, m > 0, for the root r of p_3.

    a > 0 bounds r by 1 - y/x and m > 0 by x/y. The distance t from the end where the exponential
    is large is the unknown: a (or m) is a multiple of t, free of cancellation.
    """
    low = 1.0 - y / x if x >= 1e-300 * abs(y) and x > 0.0 else -np.inf
    end, side = (low, 1.0) if x > 0.0 and x >= y else (x / y, -1.0)
    farthest = x / y - low if x > 0.0 and y > 0.0 and x / y < np.inf else np.inf

    def parts(t: float) -> tuple[float, float, float]:
        r = end + side * t
        below = r * r - r + 1.0
        if side > 0.0:
            return r, x * t / below, (x - r * y) / below
        return r, ((r - 1.0) * x + y) / below, y * t / below

    def excess(t: float) -> float:
        r, a, m = parts(t)
        return side * (_times_exp(a, r) - _times_exp(m, -r) - z)

    step = min(1.0, farthest)
    while excess(step) < 0.0 and step < min(farthest, FARTHEST + abs(end)):
        step = min(2.0 * step, farthest)
    t = _increasing_root(excess, 0.0, step)
    if excess(t) > 1e-9 * (1.0 + abs(z)):  # t is smaller than any float
        t = 0.0
    r, a, m = parts(t)
    # Equal at the root; where r is large, the larger one is in the cone to full accuracy.
    return np.array([a * r, a, max(_times_exp(a, r), z + _times_exp(m, -r))])


def _times_exp(a: float, r: float) -> float:
    """a exp(r) for a >= 0, without overflow on the way."""
    return float(np.exp(min(np.log(a) + r, 700.0))) if a > 0.0 else 0.0


def _increasing_root(excess: Callable[[float], float], left: float, right: float) -> float:
    """Bisect to the last bit, by secant steps where they are safe (Brent)."""
    from scipy.optimize import brentq

    if excess(left) >= 0.0:
        return left
    if excess(right) <= 0.0:
        return right
    return float(brentq(excess, left, right, xtol=1e-300, rtol=1e-15, maxiter=2000))


@dataclass(frozen=True)
class Power(Cone):
    """{(x, z): x >= 0, prod_i x_i^alpha_i >= |z|}, sum alpha_i = 1; z is one number.

    References
    ----------
    Hien, *Differential properties of Euclidean projection onto power cone*, 2015.
    """

    alphas: tuple[float, ...] = (0.5, 0.5)

    def project(self, s: Array) -> Array:
        """See ``Cone``."""
        alpha = np.array(self.alphas)
        x, z = s[:-1], float(s[-1])
        if np.all(x >= 0.0) and _mean(x, alpha) >= abs(z):
            return s.copy()
        if np.all(x <= 0.0) and _mean(-x / alpha, alpha) >= abs(z):
            return np.zeros_like(s)
        if z == 0.0:
            return np.concatenate([np.maximum(x, 0.0), [0.0]])

        def candidate(r: float) -> Array:
            root = np.sqrt(x * x + 4.0 * alpha * r * (abs(z) - r))
            # Of the two equal forms, the one without cancellation.
            negative = 2.0 * alpha * r * (abs(z) - r) / np.maximum(root - x, 1e-300)
            return np.where(x >= 0.0, 0.5 * (x + root), negative)

        def excess(r: float) -> float:
            return r - _mean(candidate(r), alpha)

        r = _increasing_root(excess, 1e-250 * abs(z), abs(z))
        return np.concatenate([candidate(r), [np.sign(z) * r]])


def _mean(x: Array, alpha: Array) -> float:
    """The weighted geometric mean."""
    if np.any(x <= 0.0):
        return 0.0
    return float(np.exp(alpha @ np.log(x)))
