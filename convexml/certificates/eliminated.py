"""Equations of sizes in which every row has one unit of its own: these are eliminated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import Array
from .algebra.definite import definite_factor, definite_solver

DENSE = 500_000
"""Up to so many pairs of an h and a z the matrix of the z is dense."""


@dataclass(frozen=True)
class SizeEquations:
    """z_j - h_i for entries (i, j), then -h_i for sides, then others in z alone.

    The unknowns are z but for its last entry, h, and this last one.

    Attributes
    ----------
    columns, rows : array of int, shape (p,)
        j and i of the entries.
    sides : array of int, shape (q,)
        i of the sides.
    others : csr_array, shape (r, n)
        The other equations.
    k : int
        The number of h.
    """

    columns: Array
    rows: Array
    sides: Array
    others: Any
    k: int

    @property
    def shape(self) -> tuple[int, int]:
        """As of the matrix that maps the unknowns to the left-hand sides."""
        equations = self.rows.size + self.sides.size + self.others.shape[0]
        return equations, self.others.shape[1] + self.k

    @cached_property
    def _turned(self) -> Any:
        return sparse.csr_array(self.others.T)

    @cached_property
    def _by_column(self) -> tuple[Array, Array, Array]:
        """The entries in the order of j, their i, and where each j starts."""
        return _ordered(self.columns, self.rows, self.others.shape[1])

    @cached_property
    def _by_row(self) -> tuple[Array, Array, Array]:
        """The entries in the order of i, their j, and where each i starts."""
        return _ordered(self.rows, self.columns, self.k)

    def apply(self, found: Array) -> Array:
        """The left-hand sides."""
        z, h = self._split(found)
        parts = [z[self.columns] - h[self.rows], -h[self.sides], self.others @ z]
        return np.concatenate(parts)

    def transposed(self, r: Array) -> Array:
        """The transpose of ``apply``."""
        entries, sides, rest = self._parts(r)
        z = np.bincount(self.columns, entries, self.others.shape[1]) + self._turned @ rest
        h = np.bincount(self.rows, entries, self.k) + np.bincount(self.sides, sides, self.k)
        return _joined(z, -h)

    def _split(self, found: Array) -> tuple[Array, Array]:
        first, h, last = np.split(found, [self.others.shape[1] - 1, found.shape[0] - 1])
        return np.concatenate([first, last]), h

    def _parts(self, values: Array) -> list[Array]:
        p = self.rows.size
        return np.split(values, [p, p + self.sides.size])

    def solver(self, squares: Array, shift: float) -> Callable[[Array], Array]:
        """r -> (N + shift I)^-1 r, N the normal matrix of equations weighted by ``squares``.

        With D the diagonal of the h and -C what z shares with them, z has the matrix K - C D^-1 C',
        K what the equations say of z alone.
        """
        n = self.others.shape[1]
        entries, sides, rest = self._parts(squares)
        own = np.bincount(self.rows, entries, self.k) + np.bincount(self.sides, sides, self.k)
        D: Array = own + shift
        order, i, starts = self._by_column
        scaled = sparse.csr_array((entries[order] / D[i], i, starts), shape=(n, self.k))
        order, j, starts = self._by_row
        turned = sparse.csr_array((entries[order], j, starts), shape=(self.k, n))
        weighted = self.others.copy()
        weighted.data = weighted.data * np.repeat(rest, np.diff(weighted.indptr))
        alone: Array = np.bincount(self.columns, entries, n) + shift
        if self.k * n <= DENSE:
            G: Any = (self._turned @ weighted).toarray() - scaled @ turned.toarray()
            G.flat[:: n + 1] += alone
        else:
            G = self._turned @ weighted - scaled @ turned + sparse.diags_array(alone)
        inner = definite_solver(G) or definite_factor(G)
        assert inner is not None  # of a Gram matrix with a shift

        def solve(r: Array) -> Array:
            z, h = self._split(r)
            found = inner.solve(z + scaled @ h)
            return _joined(found, (h + turned @ found) / D)

        return solve


def _ordered(by: Array, others: Array, count: int) -> tuple[Array, Array, Array]:
    """An order by one index of some pairs, the other index in it, and where each of them starts."""
    order = np.argsort(by, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(by, minlength=count)))
    return order, others[order].astype(np.int32), starts.astype(np.int32)


def _joined(z: Array, h: Array) -> Array:
    return np.concatenate([z[:-1], h, z[-1:]])
