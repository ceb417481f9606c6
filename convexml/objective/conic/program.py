"""A convex program in conic form, as Clarabel writes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, groupby
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...errors import InputError
from ...numerics import Array
from ...validation import refuse_nonfinite
from .cones import Cone


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

    def bends(self, d: Array) -> bool:
        """Whether P d may be other than it is by these data."""
        return self.rounded is not None and bool(np.any(d[self.rounded.bends]))

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

    def among(self, wanted: Array) -> Iterator[tuple[Any, Array]]:
        """The cones of the wanted rows with their rows; a curved cone comes whole or not at all."""
        for cone, part in self.blocks:
            inside = part.start + np.flatnonzero(wanted[part])
            if inside.size and cone.is_polyhedral:
                yield type(cone)(inside.size), inside
            elif inside.size:
                yield cone, np.arange(part.start, part.stop)

    def runs_of(self, wanted: Array | None) -> Iterator[tuple[Any, Array]]:
        """``runs`` of the wanted rows, by default of all; a curved cone comes whole or not."""
        for cone, rows in self.runs:
            if wanted is not None:
                chosen = wanted[rows]
                rows = rows[:, chosen[0]] if cone.is_polyhedral else rows[np.any(chosen, axis=1)]
            if rows.size:
                yield cone if rows.shape[1] == cone.dim else type(cone)(rows.size), rows

    def objective(self, x: Array) -> float:
        """x'Px / 2 + q'x + offset."""
        return float(0.5 * x @ (self.P @ x) + self.q @ x + self.offset)

    def dual_objective(self, w: Array, y: Array) -> float:
        """-w'Pw / 2 - b'y + offset."""
        return float(-0.5 * w @ (self.P @ w) - self.b @ y + self.offset)

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
