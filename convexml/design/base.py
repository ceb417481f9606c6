"""The design-matrix protocol: all that losses, certificates and solvers may ask of X."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

from ..numerics import Array


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
