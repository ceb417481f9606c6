"""Least squares in logarithms: units that explain the sizes of a program's entries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg.lapack import dpotrf, dpotrs
from scipy.sparse.linalg import lsmr

from ..numerics import EPS, Array
from .algebra.definite import by_degree, definite_factor, definite_solver

# Equations of sizes in which every row has one unit of its own: these are eliminated.


ELIMINATED_DENSE = 500_000
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
        if self.k * n <= ELIMINATED_DENSE:
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


NOISE = np.log(1e-8)
"""Entries below this share (a logarithm) of what the fitted units expect are left out of them."""
REFITS, ROUNDS = 3, 4
DENSE = 200_000
"""Entries up to which a system is held as a dense matrix: the normal equations are small."""
DIRECT, FACTORED = 2500, 20_000
"""Up to so many unknowns the fit is factored; between the two, where ``STEPS`` of an iteration do
not end it: that goes fast where factors fill."""
DENSE_ALONE, FEW, THIN = 40_000, 300, 20
"""The same where each row has one unit, which is eliminated up to so many columns, or where that
leaves so few entries for each."""
STEPS = 150
SHIFT = 1e-9
"""Proximal term of the normal equations, removed by refinement."""


class Fit(NamedTuple):
    """A least-squares solution, and what says whether its last entry is the only one."""

    found: Array
    is_determined: Callable[[], bool]


@dataclass(frozen=True)
class LogSystem:
    """matrix @ u = side, equation by equation log|entry| + units = 0; the last u is what counts."""

    matrix: Any
    side: Array

    def solve(self, weights: Array, kept: Array) -> Fit:
        """The weighted least-squares solution."""
        if isinstance(self.matrix, SizeEquations):
            return self._eliminated(np.where(kept, weights, 0.0) ** 2)
        weights = np.where(kept, weights, 0.0)
        side = weights * self.side
        if isinstance(self.matrix, np.ndarray):
            return _direct(weights[:, None] * self.matrix, side)
        system = self.matrix.copy()
        system.data *= np.repeat(weights, np.diff(system.indptr))
        if system.shape[1] <= DIRECT:
            return _direct(system, side)
        normal = sparse.csc_array(system.T @ system) if system.shape[1] <= FACTORED else None
        return _iterated(system, side, normal)

    def left(self, found: Array) -> Array:
        """side - matrix @ found: log of how far entries are below what the units expect."""
        if isinstance(self.matrix, SizeEquations):
            return self.side - self.matrix.apply(found)
        return np.asarray(self.side - self.matrix @ found)

    def _eliminated(self, squares: Array) -> Fit:
        """``solve`` with squares of weights."""
        system = self.matrix
        solve = system.solver(squares, SHIFT)

        def pull(found: Array) -> Array:
            return system.transposed(squares * self.left(found))

        return _refined(solve, pull, system.shape[1])

    def refitted(self, weights: Array, kept: Array) -> Fit:
        """Fit, leave out the entries that are noise beside the fit, and fit again."""
        for _ in range(REFITS):
            fit = self.solve(weights, kept)
            small = self.left(fit.found) > -NOISE
            if np.array_equal(~small, kept):
                break
            kept = ~small
        return fit


class Triplets(NamedTuple):
    """Entries with their rows and columns."""

    data: Array
    row: Array
    col: Array


def log_system(
    A: Any, b: Array, c: Array, P: Any, groups: Any
) -> tuple[LogSystem, tuple[int, int, int]]:
    """The equations of ``program_units`` for nonzero entries of A, b, c and P, in this order.

    The unknowns are xi (n,), h (k,) and V. Returned with where those of A, of b and of c end.
    """
    n, k = A.shape[1], groups.shape[1]
    A, P = triplets(A), triplets(P)
    every = [A.data, b, c, P.data]
    used = [np.flatnonzero(values) for values in every]
    sides = [-np.log(np.abs(values[i])) for values, i in zip(every, used, strict=True)]
    ends = np.cumsum([i.size for i in used])
    shape = (int(ends[-1]), n + k + 1)
    size, alone = shape[0] * shape[1], bool(np.all(np.diff(groups.indptr) == 1))
    alone &= bool(np.all(groups.data == 1.0))
    if alone and size > DENSE_ALONE and (n <= FEW or _is_thin(A, P, groups.indices, n, k)):
        matrix: Any = _of_own_rows(A, P, used, groups, n)
    else:
        places = _places(A, P, used, groups, ends, n + k)
        if size <= (DENSE_ALONE if alone and n <= FEW else DENSE):
            matrix = np.zeros(shape)
            np.add.at(matrix, *places)
        else:
            matrix = sparse.csr_array(places[::-1], shape=shape)
    return LogSystem(matrix, np.concatenate(sides)), (int(ends[0]), int(ends[1]), int(ends[2]))


def _is_thin(A: Triplets, P: Triplets, group: Array, n: int, k: int) -> bool:
    """Whether elimination of the units of rows leaves few entries for each column."""
    counts = np.bincount(group[A.row], minlength=k)
    return n <= DIRECT and float(counts @ counts) + P.data.size <= THIN * n


def _places(
    A: Triplets, P: Triplets, used: list[Array], groups: Any, ends: Array, last: int
) -> tuple[tuple[Array, Array], Array]:
    """Where the matrix of all equations has entries, and these."""
    n = last - groups.shape[1]
    at_A, at_b, at_c, at_P = np.split(np.arange(ends[-1]), ends[:-1])
    parts = [
        (at_A, A.col[used[0]], np.ones(at_A.size)),
        _of_rows(at_A, groups, A.row[used[0]], n),
        _of_rows(at_b, groups, used[1], n),
        (at_c, used[2], np.ones(at_c.size)),
        (at_c, np.full(at_c.size, last), -np.ones(at_c.size)),
        (at_P, P.row[used[3]], np.ones(at_P.size)),
        (at_P, P.col[used[3]], np.ones(at_P.size)),
        (at_P, np.full(at_P.size, last), -np.ones(at_P.size)),
    ]
    rows, columns, values = (np.concatenate(each) for each in zip(*parts, strict=True))
    return (rows, columns), values


def _of_own_rows(A: Triplets, P: Triplets, used: list[Array], groups: Any, n: int) -> SizeEquations:
    """The equations where each row has the unit of one group."""
    group = groups.indices
    return SizeEquations(
        A.col[used[0]],
        group[A.row[used[0]]],
        group[used[1]],
        used[2],
        (P.row[used[3]], P.col[used[3]]),
        n + 1,
        groups.shape[1],
    )


def triplets(matrix: Any) -> Triplets:
    """The stored entries of a matrix, column by column where it is held so."""
    if sparse.issparse(matrix) and matrix.format == "csc":
        columns = np.repeat(np.arange(matrix.shape[1]), np.diff(matrix.indptr))
        return Triplets(matrix.data, matrix.indices, columns)
    entries = sparse.coo_array(matrix)
    return Triplets(entries.data, entries.row, entries.col)


def _of_rows(at: Array, groups: Any, rows: Array, n: int) -> tuple[Array, Array, Array]:
    """Entries of -groups[rows] in the equations ``at``, column 0 of groups standing in column n."""
    starts, counts = groups.indptr[rows], np.diff(groups.indptr)[rows]
    before = np.cumsum(counts) - counts
    places = np.repeat(starts - before, counts) + np.arange(int(counts.sum()))
    return np.repeat(at, counts), n + groups.indices[places], -groups.data[places]


def _direct(system: Any, side: Array, normal: Any = None) -> Fit:
    """By normal equations."""
    k, turned = system.shape[1], system.T
    normal = turned @ system if normal is None else normal
    if sparse.issparse(normal):
        sparse_factor = definite_factor(normal + SHIFT * sparse.eye_array(k))
        assert sparse_factor is not None
        solve = sparse_factor.solve
    else:
        normal.flat[:: k + 1] += SHIFT
        factor, failed = dpotrf(normal, lower=1)
        assert not failed  # of a Gram matrix with a shift

        def solve(r: Array) -> Array:
            return np.asarray(dpotrs(factor, r, lower=1)[0])

    return _refined(solve, lambda found: turned @ (side - system @ found), k)


def _refined(solve: Callable[[Array], Array], pull: Callable[[Array], Array], k: int) -> Fit:
    """By (N + SHIFT)^-1; ``pull`` is what is left of the normal equations, of k unknowns."""
    found, moved = np.zeros(k), 0.0
    for _ in range(ROUNDS):  # the proximal-point iteration forgets the shift
        step = solve(pull(found))
        found, before, moved = found + step, moved, float(np.max(np.abs(step)))
        if moved**2 <= EPS * before * float(
            np.max(np.abs(found))
        ):  # a step shrinks as the last did
            break

    def is_determined() -> bool:
        probe = _last(k)
        for _ in range(ROUNDS):
            probe = solve(SHIFT * probe)
            if abs(probe[-1]) < 1e-9:  # it falls from round to round
                return True
        return False  # what is left is what the data do not determine

    return Fit(found, is_determined)


def _iterated(system: Any, side: Array, normal: Any) -> Fit:
    """By LSMR, where no cheap order for normal equations is known, or no ``normal``."""
    k = system.shape[1]
    if normal is not None and by_degree(normal) is not None:
        return _direct(system, side, normal)
    limit = STEPS if normal is not None else 5000
    settings: dict[str, Any] = {"atol": 1e-14, "btol": 1e-14, "conlim": 0.0, "maxiter": limit}
    found, _, steps = lsmr(system, side, **settings)[:3]
    if steps >= limit and normal is not None:
        return _direct(system, side, normal)

    def is_determined() -> bool:
        # From another start, the part that the data do not determine stays as it was.
        other = lsmr(system, side, x0=_last(k), **settings | {"maxiter": 5000})[0]
        return bool(abs(other[-1] - found[-1]) < 1e-6)

    return Fit(found, is_determined)


def _last(k: int) -> Array:
    return np.eye(1, k, k - 1).ravel()
