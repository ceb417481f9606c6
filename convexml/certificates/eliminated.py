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
    """x_j - h_i for entries (i, j), -h_i for sides, x_j - V for costs, x_j + x_k - V for P.

    The unknowns are x, h and V; z is x with V last.

    Attributes
    ----------
    columns, rows : array of int, shape (p,)
        j and i of the entries.
    sides : array of int, shape (q,)
        i of the sides.
    costs : array of int, shape (r,)
        j of the costs.
    bent : tuple of two arrays of int, shape (s,)
        j and k of the entries of P.
    n, k : int
        The numbers of z and of h.
    """

    columns: Array
    rows: Array
    sides: Array
    costs: Array
    bent: tuple[Array, Array]
    n: int
    k: int

    @property
    def shape(self) -> tuple[int, int]:
        """As of the matrix that maps the unknowns to the left-hand sides."""
        return sum(self._counts), self.n + self.k

    @property
    def _counts(self) -> tuple[int, int, int, int]:
        return self.rows.size, self.sides.size, self.costs.size, self.bent[0].size

    @cached_property
    def _by_column(self) -> tuple[Array, Array, Array]:
        """The entries in the order of j, their i, and where each j starts."""
        return _ordered(self.columns, self.rows, self.n)

    @cached_property
    def _by_row(self) -> tuple[Array, Array, Array]:
        """The entries in the order of i, their j, and where each i starts."""
        return _ordered(self.rows, self.columns, self.k)

    def apply(self, found: Array) -> Array:
        """The left-hand sides."""
        z, h = self._split(found)
        j, k = self.bent
        bent, costs = z[j] + z[k] - z[-1], z[self.costs] - z[-1]
        return np.concatenate([z[self.columns] - h[self.rows], -h[self.sides], costs, bent])

    def transposed(self, r: Array) -> Array:
        """The transpose of ``apply``."""
        entries, sides, costs, bent = self._parts(r)
        z = np.bincount(self.columns, entries, self.n) + self._of_costs(costs, bent)
        z[-1] -= costs.sum() + bent.sum()
        h = np.bincount(self.rows, entries, self.k) + np.bincount(self.sides, sides, self.k)
        return _joined(z, -h)

    def _of_costs(self, costs: Array, bent: Array) -> Array:
        """What the x have in common with V."""
        first, second = (np.bincount(each, bent, self.n) for each in self.bent)
        return np.asarray(np.bincount(self.costs, costs, self.n) + first + second)

    def _split(self, found: Array) -> tuple[Array, Array]:
        first, h, last = np.split(found, [self.n - 1, found.shape[0] - 1])
        return np.concatenate([first, last]), h

    def _parts(self, values: Array) -> list[Array]:
        return np.split(values, np.cumsum(self._counts[:-1]))

    def solver(self, squares: Array, shift: float) -> Callable[[Array], Array]:
        """r -> (N + shift I)^-1 r, N the normal matrix of equations weighted by ``squares``.

        With D the diagonal of the h and -C what z shares with them, z has the matrix K - C D^-1 C',
        K what the equations say of z alone.
        """
        n, (j, k) = self.n, self.bent
        entries, sides, costs, bent = self._parts(squares)
        own = np.bincount(self.rows, entries, self.k) + np.bincount(self.sides, sides, self.k)
        D: Array = own + shift
        order, i, starts = self._by_column
        scaled = sparse.csr_array((entries[order] / D[i], i, starts), shape=(n, self.k))
        order, column, starts = self._by_row
        turned = sparse.csr_array((entries[order], column, starts), shape=(self.k, n))
        shared = self._of_costs(costs, bent)
        alone: Array = np.bincount(self.columns, entries, n) + shared + shift
        alone[-1] += costs.sum() + bent.sum()
        if self.k * n <= DENSE:
            G: Any = np.bincount(j * n + k, bent, n * n).reshape(n, n)
            G = G + G.T - scaled @ turned.toarray()
            G[-1] -= shared
            G[:, -1] -= shared
            G.flat[:: n + 1] += alone
        else:
            x = np.arange(n)
            last = np.full(n, n - 1)
            places = np.concatenate([j, k, last, x, x]), np.concatenate([k, j, x, last, x])
            values = np.concatenate([bent, bent, -shared, -shared, alone])
            G = sparse.csr_array((values, places), shape=(n, n)) - scaled @ turned
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
