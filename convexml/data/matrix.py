"""The protocol of a design matrix, and those in memory: dense, in single precision, sparse."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from ..compiled import compiled
from ..numerics import Array

# The design-matrix protocol: all that losses, certificates and solvers may ask of X.


class Design(Protocol):
    """A matrix X of shape (n, d), seen through its products.

    A new storage (out of core, on an accelerator) needs one class with these members and gets the
    same solvers and the same certificates.
    """

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        ...

    @property
    def constant(self) -> Any:
        """X as CVXPY accepts it: a NumPy array or a SciPy sparse matrix."""
        ...

    @property
    def entries(self) -> int:
        """The entries that a product visits: n d, or those that are stored."""
        ...

    @property
    def is_sparse(self) -> bool:
        """Whether X is stored by its nonzero entries."""
        ...

    @property
    def ones(self) -> Array:
        """The vector 1 of n entries."""
        ...

    def matvec(self, w: Array) -> Array:
        """X w, for w of shape (d,) or (d, K)."""
        ...

    def rmatvec(self, u: Array) -> Array:
        """X'u, for u of shape (n,) or (n, K)."""
        ...

    def abs_matvec(self, w: Array) -> Array:
        """|X| |w|: the size of the terms summed by ``matvec``, which bounds its rounding error."""
        ...

    def abs_rmatvec(self, u: Array) -> Array:
        """|X|'|u|."""
        ...

    def column_counts(self) -> Array:
        """The entries stored of each column, shape (d,); not to be written to."""
        ...

    def gram(self, weights: Array | None = None) -> Array:
        """X' diag(weights) X, dense (d, d); weights of shape (n,), ones if None."""
        ...

    def bordered_gram(self, weights: Array | None = None) -> Array:
        """[X, 1]' diag(weights) [X, 1] in one pass, for weights >= 0."""
        ...

    def column_squares(self, weights: Array | None = None) -> Array:
        """The diagonal of ``gram(weights)``, shape (d,); not to be written to."""
        ...

    def squares_in(self, units: Array) -> Array:
        """The squared norms of the columns of X diag(units): entries are scaled, then squared."""
        ...

    def row_squares(self, weights: Array | None = None) -> Array:
        """Sum_j weights_j X_ij^2 of each row, ones if None, shape (n,)."""
        ...

    def columns(self, index: Array) -> Design:
        """The design of the columns chosen by a boolean mask or an index array."""
        ...

    def rows(self, index: Array) -> Design:
        """The design of the rows chosen by a boolean mask or an index array."""
        ...

    def dense(self) -> Array:
        """X as a dense array; only for small selections."""
        ...

    def row_blocks(self, size: int) -> Iterator[tuple[slice, Design]]:
        """Consecutive blocks of at most ``size`` rows."""
        ...


# A dense design matrix.


BLOCK = 4096
"""Rows that X'u adds up at a time: short sums carry little rounding."""
ENTRIES = 1 << 18
"""Entries whose sizes are taken at a time."""
SHORT = 1024
"""Rows that a Gram matrix takes at a time: they are weighted in the cache."""
WIDE, SCATTERED, APART = 256, 16, 3
"""Beyond so many columns, X w visits those of the nonzero w_j alone, if at most 1 / 16 are; 1 / 3
where columns lie in one piece."""
FEW, NARROW = 32, 512
"""Rows that are squared at a time, where there are more columns than these."""
TINY = 50_000
"""Entries of an X that is small enough for a second one beside it in the cache."""


class InArray:
    """What designs of one array share."""

    array: Any

    @cached_property
    def shape(self) -> tuple[int, int]:
        n, d = self.array.shape
        return n, d

    @property
    def ones(self) -> Array:
        return np.ones(self.shape[0])

    @property
    def entries(self) -> int:
        return self.array.size

    @property
    def is_sparse(self) -> bool:
        return False

    def column_counts(self) -> Array:
        return np.full(self.shape[1], self.shape[0])


@dataclass(frozen=True, eq=False)
class DenseDesign(InArray):
    """A dense float64 array of shape (n, d)."""

    array: Array

    @property
    def constant(self) -> Array:
        return self.array

    @property
    def chain(self) -> int:
        """The number of additions that an entry of X'u has gone through."""
        n = self.shape[0]
        return min(n, BLOCK) + n // BLOCK + 1

    def matvec(self, w: Array) -> Array:
        if w.ndim == 1 and len(w) > WIDE:
            used, by_columns = np.flatnonzero(w), self.array.flags.f_contiguous
            few = (APART if by_columns else SCATTERED) * used.size <= len(w) - WIDE
            if few or not used.size:
                return self.array[:, used] @ w[used]  # few columns cost less than a pass
        return self.array @ w

    def rmatvec(self, u: Array) -> Array:
        if len(u) <= BLOCK:
            if u.ndim == 1 and self.array.flags.f_contiguous:
                return np.vecdot(self.array.T, u)  # a column at a time reads memory fastest
            return self.array.T @ u
        starts = range(0, len(u), BLOCK)
        parts = [self.array[i : i + BLOCK].T @ u[i : i + BLOCK] for i in starts]
        return np.sum(parts, axis=0)

    def abs_matvec(self, w: Array) -> Array:
        w = np.abs(w)
        parts = [np.abs(block) @ w for _, block in self._parts()]
        return np.concatenate(parts) if len(parts) > 1 else parts[0]

    def abs_rmatvec(self, u: Array) -> Array:
        u, total = np.abs(u), np.zeros((self.shape[1], *np.shape(u)[1:]))
        for some, block in self._parts():
            total += np.abs(block).T @ u[some]
        return total

    def _parts(self) -> Iterator[tuple[slice, Array]]:
        """Rows whose sizes stay in the cache: no second X is held."""
        size = min(BLOCK, max(ENTRIES // max(self.shape[1], 1), 16))
        for start in range(0, max(len(self.array), 1), size):
            some = slice(start, start + size)
            yield some, self.array[some]

    def gram(self, weights: Array | None = None) -> Array:
        if self.array.size <= TINY:
            columns = self._with_ones[1][:-1]
            return (columns if weights is None else columns * weights) @ self.array
        if weights is not None and np.any(weights < 0.0):
            return self.array.T @ (self.array * weights[:, None])
        return sum((part.T @ part for part, _ in self._roots(weights)), self._square(0))

    def bordered_gram(self, weights: Array | None = None) -> Array:
        if self.array.size <= TINY:
            with_ones, columns = self._with_ones
            return (columns if weights is None else columns * weights) @ with_ones
        total, d = self._square(1), self.shape[1]
        for part, root in self._roots(weights):
            total[:d, :d] += part.T @ part
            total[d, :d] += root @ part
            total[d, d] += root @ root
        total[:d, d] = total[d, :d]
        return total

    @cached_property
    def _with_ones(self) -> tuple[Array, Array]:
        """[X, 1], and its columns in one piece each."""
        n, d = self.shape
        found = np.ones((n, d + 1))
        found[:, :d] = self.array
        return found, np.ascontiguousarray(found.T)

    def _square(self, more: int) -> Array:
        return np.zeros((self.shape[1] + more,) * 2)

    def _roots(self, weights: Array | None) -> Iterator[tuple[Array, Array]]:
        """Rows of the square root of diag(weights) [X, 1], few enough to stay in the cache."""
        root = None if weights is None else np.sqrt(weights)
        for start in range(0, self.shape[0], SHORT):
            part = self.array[start : start + SHORT]
            if root is None:
                yield part, np.ones(len(part))
                continue
            own = root[start : start + SHORT]
            used = np.flatnonzero(own)
            if 2 * used.size < own.size:  # most rows weigh nothing
                part, own = part[used], own[used]
            yield part * own[:, None], own

    @cached_property
    def _squares(self) -> Array:
        if self.array.flags.f_contiguous:
            return np.vecdot(self.array.T, self.array.T)
        if self.shape[1] <= NARROW:
            return np.einsum("ij,ij->j", self.array, self.array)
        return self._weighted_squares(np.ones(len(self.array)))

    def column_squares(self, weights: Array | None = None) -> Array:
        if weights is None or not weights.size:
            return self._squares
        if (weights == weights[0]).all():
            return weights[0] * self._squares
        return self._weighted_squares(weights)

    def _weighted_squares(self, weights: Array) -> Array:
        if self.array.flags.f_contiguous or self.shape[1] <= NARROW:
            return np.einsum("ij,ij,i->j", self.array, self.array, weights)
        total = np.zeros(self.shape[1])
        for start in range(0, self.shape[0], FEW):  # squares that stay in the cache
            block = self.array[start : start + FEW]
            total += weights[start : start + FEW] @ (block * block)
        return total

    def squares_in(self, units: Array) -> Array:
        return np.square(self.array * units).sum(axis=0)

    def row_squares(self, weights: Array | None = None) -> Array:
        if weights is None:
            return np.einsum("ij,ij->i", self.array, self.array)
        return np.einsum("ij,ij,j->i", self.array, self.array, weights)

    def columns(self, index: Array) -> DenseDesign:
        if self.array.flags.f_contiguous and index.dtype != bool:
            return DenseDesign(self.array.T.take(index, axis=0).T)  # whole columns are copied
        return DenseDesign(self.array[:, index])

    def rows(self, index: Array) -> DenseDesign:
        if self.array.flags.f_contiguous and index.dtype != bool:
            return DenseDesign(self.array.T.take(index, axis=1).T)  # a column at a time
        return DenseDesign(self.array[index])

    def dense(self) -> Array:
        return self.array

    def row_blocks(self, size: int) -> Iterator[tuple[slice, DenseDesign]]:
        for start in range(0, self.shape[0], size):
            block = slice(start, start + size)
            yield block, DenseDesign(self.array[block])


# A dense design matrix in single precision, computed with in double.


SINGLE_ENTRIES = 1 << 17
"""Of the rows that are in double precision at a time: they stay in the cache."""


def cached_rows(d: int) -> int:
    """Rows of d columns that stay in the cache, in whole parts as Gram matrices take them."""
    return max(SINGLE_ENTRIES // max(d, 1) // SHORT, 1) * SHORT


@dataclass(frozen=True, eq=False)
class SingleDesign(InArray):
    """A float32 array of shape (n, d), rows in one piece each; its numbers are float64 ones too.

    Rows are converted as they are used, some at a time, so that X is never in memory twice: that
    costs less than to write them all in double precision and to read these.
    """

    array: Array

    @property
    def constant(self) -> Array:
        return self.dense()

    @property
    def chain(self) -> int:
        """See ``DenseDesign``: the additions in some rows, and those of their sums."""
        most = DenseDesign(np.empty((min(self._rows, self.shape[0]), 0))).chain
        return most + -(-self.shape[0] // self._rows)

    @property
    def _rows(self) -> int:
        """That are converted at a time."""
        return cached_rows(self.shape[1])

    def _pieces(self) -> Iterator[tuple[slice, DenseDesign]]:
        return self.row_blocks(self._rows)

    def row_blocks(self, size: int) -> Iterator[tuple[slice, DenseDesign]]:
        """Consecutive rows in double precision."""
        for start in range(0, self.shape[0], size):
            block = slice(start, start + size)
            yield block, DenseDesign(self.array[block].astype(float))

    def _of_rows(self, product: Callable[[DenseDesign], Array], *more: int) -> Array:
        found = np.empty((self.shape[0], *more))
        for some, part in self._pieces():
            found[some] = product(part)
        return found

    def _added(self, of: Callable[..., Array], *more: int, along: Array | None = None) -> Array:
        """What some rows say, with what belongs to them of a vector of n numbers, added up."""
        total = np.zeros(more)
        for some, part in self._pieces():
            total += of(part) if along is None else of(part, along[some])
        return total

    def matvec(self, w: Array) -> Array:
        return self._of_rows(lambda part: part.matvec(w), *w.shape[1:])

    def abs_matvec(self, w: Array) -> Array:
        return self._of_rows(lambda part: part.abs_matvec(w), *w.shape[1:])

    def row_squares(self, weights: Array | None = None) -> Array:
        return self._of_rows(lambda part: part.row_squares(weights))

    def rmatvec(self, u: Array) -> Array:
        return self._added(DenseDesign.rmatvec, self.shape[1], *u.shape[1:], along=u)

    def abs_rmatvec(self, u: Array) -> Array:
        return self._added(DenseDesign.abs_rmatvec, self.shape[1], *u.shape[1:], along=u)

    def gram(self, weights: Array | None = None) -> Array:
        return self._added(DenseDesign.gram, *(2 * self.shape[1:]), along=weights)

    def bordered_gram(self, weights: Array | None = None) -> Array:
        size = self.shape[1] + 1
        return self._added(DenseDesign.bordered_gram, size, size, along=weights)

    def column_squares(self, weights: Array | None = None) -> Array:
        return self._added(DenseDesign.column_squares, self.shape[1], along=weights)

    def squares_in(self, units: Array) -> Array:
        return self._added(lambda part: part.squares_in(units), self.shape[1])

    def columns(self, index: Array) -> SingleDesign:
        return SingleDesign(np.ascontiguousarray(self.array[:, index]))

    def rows(self, index: Array) -> DenseDesign:
        return DenseDesign(self.array[index].astype(float))

    def dense(self) -> Array:
        return self.array.astype(float)


def is_single(X: Any) -> bool:
    """Whether X is a matrix as ``SingleDesign`` takes it."""
    return (
        isinstance(X, np.ndarray)
        and not isinstance(X, np.ma.MaskedArray)
        and X.dtype == np.float32
        and X.ndim == 2
        and X.flags.c_contiguous
    )


# A sparse design matrix.


SPARSE_ENTRIES = 2**18
"""Of X, whose squares or sizes are held at a time; with more, a product may be worth compiling."""
SAVED = 4e-3
"""Microseconds that a compiled loop saves for each of them."""


@dataclass(frozen=True, eq=False)
class SparseDesign(InArray):
    """A SciPy CSR or CSC array of shape (n, d), each entry of which is stored once."""

    array: sparse.csr_array | sparse.csc_array

    @cached_property
    def _by_rows(self) -> sparse.csr_array:
        return self.array.tocsr()

    @cached_property
    def _transposed(self) -> sparse.csr_array | sparse.csc_array:
        return self.array.T  # in the other format, on the same numbers

    @property
    def chain(self) -> int:
        """See ``DenseDesign``: what is not stored is not added."""
        return int(self.column_counts().max(initial=0)) + 1

    @property
    def entries(self) -> int:
        return int(self.array.nnz)

    @property
    def is_sparse(self) -> bool:
        return True

    @property
    def constant(self) -> sparse.csr_array | sparse.csc_array:
        return self.array

    def matvec(self, w: Array) -> Array:
        return self.array @ w

    def rmatvec(self, u: Array) -> Array:
        return self._transposed @ u

    def outer_matvec(self, u: Array, weights: Array) -> Array:
        """X diag(weights) X'u: a large X by columns is read once."""
        X = self.array
        if X.format == "csr" or X.nnz < SPARSE_ENTRIES or not squared_columns.pays(X.data):
            return self.matvec(weights * self.rmatvec(u))
        return squared_columns(*_unsigned(X), u, weights)

    def abs_matvec(self, w: Array) -> Array:
        return self._of_entries(np.abs, np.abs(w))

    def abs_rmatvec(self, u: Array) -> Array:
        return self._of_entries(np.abs, np.abs(u), transposed=True)

    def _of_entries(
        self, function: Callable[..., Array], x: Array, transposed: bool = False
    ) -> Array:
        """f(X) x, or f(X)'x, for a function of the entries: some of them at a time."""
        X, by_rows = self.array, self.array.format == "csr"
        other = self.shape[1 if by_rows else 0]
        out = np.zeros((self.shape[int(transposed)], *x.shape[1:]))
        sums = sums_along if by_rows is not transposed else sums_across
        if X.nnz >= SPARSE_ENTRIES and x.ndim == 1 and sums.pays(X.data):
            sums(*_unsigned(X), x, function is np.square, out)
            return out
        steps = np.arange(0, X.nnz + SPARSE_ENTRIES, SPARSE_ENTRIES)
        cuts = np.unique(np.searchsorted(X.indptr, steps, "right") - 1).tolist()
        room = np.empty(int(np.diff(X.indptr[cuts]).max(initial=0)))
        for first, last in pairwise(cuts):
            start, stop = X.indptr[first], X.indptr[last]
            data = function(X.data[start:stop], out=room[: stop - start])
            part = data, X.indices[start:stop], X.indptr[first : last + 1] - start
            if by_rows is transposed:  # x goes along with the blocks
                out += _by_columns(part, other, last - first) @ x[first:last]
            else:
                out[first:last] = _by_columns(part, other, last - first).T @ x
        return out

    @cached_property
    def _counts(self) -> Array:
        X = self.array
        by_rows = X.format == "csr"
        return np.bincount(X.indices, minlength=X.shape[1]) if by_rows else np.diff(X.indptr)

    def column_counts(self) -> Array:
        return self._counts

    def gram(self, weights: Array | None = None) -> Array:
        if weights is None:
            return (self._transposed @ self.array).toarray()
        return (self._transposed @ (sparse.diags_array(weights) @ self.array)).toarray()

    def bordered_gram(self, weights: Array | None = None) -> Array:
        h = np.ones(self.shape[0]) if weights is None else weights
        edge = self.rmatvec(h)
        return np.block([[self.gram(weights), edge[:, None]], [edge, np.array([[h.sum()]])]])

    @cached_property
    def _squares(self) -> Array:
        return self._of_entries(np.square, np.ones(self.shape[0]), transposed=True)

    def column_squares(self, weights: Array | None = None) -> Array:
        if weights is None or not weights.size:
            return self._squares
        if np.all(weights == weights[0]):
            return weights[0] * self._squares
        return self._of_entries(np.square, weights, transposed=True)

    def squares_in(self, units: Array) -> Array:
        X = sparse.csc_array(self.array)
        column = np.repeat(units, np.diff(X.indptr))
        scaled = sparse.csc_array(((X.data * column) ** 2, X.indices, X.indptr), shape=X.shape)
        return np.asarray(scaled.sum(axis=0))

    def row_squares(self, weights: Array | None = None) -> Array:
        return self._of_entries(np.square, np.ones(self.shape[1]) if weights is None else weights)

    def columns(self, index: Array) -> SparseDesign:
        return SparseDesign(self.array[:, index])

    def rows(self, index: Array) -> SparseDesign:
        return SparseDesign(self._by_rows[index])

    def dense(self) -> Array:
        return self.array.toarray()

    def row_blocks(self, size: int) -> Iterator[tuple[slice, SparseDesign]]:
        for start in range(0, self.shape[0], size):
            block = slice(start, min(start + size, self.shape[0]))
            yield block, SparseDesign(self._by_rows[block])


def _by_columns(given: tuple[Array, Array, Array], rows: int, columns: int) -> sparse.csc_array:
    return sparse.csc_array(given, shape=(rows, columns))


def _unsigned(X: sparse.csr_array | sparse.csc_array) -> tuple[Array, Array, Array]:
    """The numbers of X for loops; indices that cannot be negative need not be asked."""
    kinds = [f"u{x.itemsize}" for x in (X.indices, X.indptr)]
    return X.data, X.indices.view(kinds[0]), X.indptr.view(kinds[1])


@compiled(work=lambda data, *others: SAVED * len(data))
def squared_columns(data: Array, rows: Array, starts: Array, u: Array, weights: Array) -> Array:
    """Sum_j weights_j x_j (x_j'u), for a matrix by columns: the numbers of two products."""
    out = np.zeros_like(u)
    for j in range(len(weights)):
        first, last, inner = starts[j], starts[j + 1], 0.0
        for k in range(first, last):
            inner += data[k] * u[rows[k]]
        inner *= weights[j]
        for k in range(first, last):
            out[rows[k]] += data[k] * inner
    return out


@compiled(work=lambda data, *others: SAVED * len(data))
def sums_along(
    data: Array, index: Array, starts: Array, x: Array, is_square: bool, out: Array
) -> None:
    """The sums of f(x_ij) x_i over the i along which a matrix is stored, f a square or a size."""
    for j in range(len(out)):
        total = 0.0
        for k in range(starts[j], starts[j + 1]):
            entry = data[k] * data[k] if is_square else abs(data[k])
            total += entry * x[index[k]]
        out[j] = total


@compiled(work=lambda data, *others: SAVED * len(data))
def sums_across(
    data: Array, index: Array, starts: Array, x: Array, is_square: bool, out: Array
) -> None:
    """The same over the j across."""
    for j in range(len(x)):
        for k in range(starts[j], starts[j + 1]):
            entry = data[k] * data[k] if is_square else abs(data[k])
            out[index[k]] += entry * x[j]


# Choose the design for what the user passed.


def as_design(X: Any) -> Design:
    """Wrap a validated float64 array or SciPy sparse matrix of shape (n, d)."""
    if sparse.issparse(X):
        return SparseDesign(X if X.format in ("csr", "csc") else sparse.csr_array(X))
    return DenseDesign(np.asarray(X, dtype=float))
