"""Two matrices above one another: how far w can be where X w and A w are known to be small."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import UNIT, Array, gamma
from ..algebra.definite import Cholesky, Factored, definite_solver, factored
from ..algebra.dependence import dependence
from ..algebra.singular import least_singular_value, powers

SMALL = 400_000
"""Entries up to which a sparse stack becomes a dense matrix."""
EXAMINED = 4_000_000
"""Entries up to which columns are asked for exact dependences."""
GUESSES, SHARE = 30, 0.5
"""Inverse iterations towards the least eigenvalue, and the share of it that is to be proved."""
REGULAR = 1e-10
"""Above this least eigenvalue of B'B a system is solved with it alone."""


@dataclass(frozen=True, eq=False)
class Stacked:
    """K = [B; kappa A] in units in which its columns have norms in [1, 2), or are 0.

    Attributes
    ----------
    B, A : array or sparse array, shapes (n, k) and (m, k)
        sqrt(c_i) times the columns of X less ``shift``, and those of A, all times ``units``.
    kappa : float
        Weight of A.
    shift, units : array, shape (k,)
        What is taken off each column of X, and powers of two.
    columns : array of int
        Which columns of the caller these are; the others depend on them, exactly.
    """

    B: Any
    A: Any
    kappa: float
    shift: Array
    units: Array
    columns: Array

    @cached_property
    def gram(self) -> Any:
        """B'B."""
        return self.B.T @ self.B

    def solver(self, weights: Array | None) -> Cholesky | Factored | None:
        """A factorisation of B'B + A' diag(weights) A, of B'B for None; None where it has none."""
        return definite_solver(self.gram if weights is None else self.normal(weights))

    def normal(self, weights: Array) -> Any:
        """B'B + A' diag(weights) A."""
        roots = np.sqrt(weights)
        dense = not sparse.issparse(self.A)
        rows = roots[:, None] * self.A if dense else sparse.diags_array(roots) @ self.A
        return self.gram + rows.T @ rows

    @cached_property
    def regular(self) -> Cholesky | Factored | None:
        """The factorisation of B'B where it is far from singular, else None."""
        solver = self.solver(None)
        return solver if solver is not None and _least(solver, self.units.size) > REGULAR else None

    @cached_property
    def sigma(self) -> float:
        """At most the least singular value of K; 0 where nothing better can be proved.

        Entries of B and of kappa A are rounded, by up to 8 units of their last place.
        """
        K = _above(self.B, self.A * self.kappa)
        found = _sparse_sigma(K) if sparse.issparse(K) else least_singular_value(K)
        entries = K.data if sparse.issparse(K) else K
        lost = 8.0 * UNIT * float(np.sqrt(np.sum(np.square(entries)))) * (1.0 + 1e-6)
        return max(found - lost, 0.0)


def with_ones(X: Any, A: Any) -> tuple[Any, Any]:
    """X with a column of ones more, and A with one of zeros."""
    columns = np.ones((X.shape[0], 1)), np.zeros((A.shape[0], 1))
    return _beside(X, columns[0]), _beside(A, columns[1])


def _beside(matrix: Any, column: Array) -> Any:
    if sparse.issparse(matrix):
        return sparse.csr_array(sparse.hstack([matrix, sparse.csr_array(column)]))
    return np.hstack([matrix, column])


def stacked(X: Any, c: Array, A: Any, kappa: float, intercept: bool) -> tuple[Stacked, str]:
    """The stack of columns that are independent, and why no bound is known, or "".

    Parameters
    ----------
    X, A : array or sparse array, shapes (n, k) and (m, k)
        With ``intercept`` their last columns are ones and zeros.
    c : array, shape (n,)
        Weights of the rows of X.
    kappa : float
        Weight of A.
    intercept : bool
        A dense X is shifted to columns of mean 0.
    """
    k, count = X.shape[1], X.shape[0] + A.shape[0]
    is_dense = count * k <= SMALL or not (sparse.issparse(X) and sparse.issparse(A))
    if is_dense:
        X, A = (each.toarray() if sparse.issparse(each) else each for each in (X, A))
    shift = np.zeros(k)
    if intercept and is_dense:
        shift[:-1] = c @ X[:, :-1]
    found = _in_units(X, c, A, kappa, shift, np.arange(k))
    if found.sigma > 0.0:
        return found, ""
    split = None
    if count * k <= EXAMINED:
        dense = [each.toarray() if sparse.issparse(each) else each for each in (X, A)]
        split = dependence(np.vstack(dense) if kappa > 0.0 else dense[0])
    if split is not None and split.exact.size and not split.doubtful.size:
        kept = split.independent
        fewer = _in_units(X[:, kept], c, A[:, kept], kappa, np.zeros(kept.size), kept)
        if fewer.sigma > 0.0:
            return fewer, ""
    return found, "columns of X and A depend on each other up to rounding: no bound on w is known."


def _in_units(X: Any, c: Array, A: Any, kappa: float, shift: Array, columns: Array) -> Stacked:
    roots = np.sqrt(c)
    if sparse.issparse(X):
        B, A = sparse.csr_array(sparse.diags_array(roots) @ X), sparse.csr_array(A)
    else:
        B = roots[:, None] * (X - shift)
    units = powers(np.maximum(_largest(B), kappa * _largest(A)))
    sizes = np.hypot(_norms(_scaled(B, units)), kappa * _norms(_scaled(A, units)))
    units = units * powers(sizes)
    return Stacked(_scaled(B, units), _scaled(A, units), kappa, shift, units, columns)


def _scaled(matrix: Any, units: Array) -> Any:
    if sparse.issparse(matrix):
        return sparse.csr_array(matrix @ sparse.diags_array(units))
    return matrix * units


def _largest(matrix: Any) -> Array:
    if sparse.issparse(matrix):
        return np.asarray(abs(matrix).max(axis=0).toarray()).ravel()
    return np.asarray(np.abs(matrix).max(axis=0, initial=0.0))


def _norms(matrix: Any) -> Array:
    squares = matrix.power(2) if sparse.issparse(matrix) else np.square(matrix)
    return np.sqrt(np.asarray(squares.sum(axis=0)).ravel())


def _above(B: Any, A: Any) -> Any:
    return sparse.csr_array(sparse.vstack([B, A])) if sparse.issparse(B) else np.vstack([B, A])


def _least(solver: Cholesky | Factored, k: int) -> float:
    """About the least eigenvalue, by inverse iterations."""
    x, size = 1.0 + 0.5 * np.cos(np.arange(k)), np.inf  # far from the vectors of a symmetry
    for _ in range(GUESSES):
        x = solver.solve(x / np.linalg.norm(x))
        size = float(np.linalg.norm(x))
        if not 0.0 < size < np.inf:
            return 0.0
    return 1.0 / size


def _sparse_sigma(K: Any) -> float:
    """The bound from a verified factorisation of K'K - theta I."""
    gram, k = sparse.csc_array(K.T @ K), K.shape[1]
    solver = definite_solver(gram)
    if solver is None:
        return 0.0
    theta = SHARE * _least(solver, k)
    found = factored(gram - theta * sparse.eye_array(k, format="csc"))
    if found is None:
        return 0.0
    count = int(np.max(np.bincount(K.indices, minlength=k), initial=0))
    sizes = abs(K).T @ (abs(K) @ np.ones(k))
    error = 2.0 * gamma(count + 8) * float(np.max(sizes, initial=0.0))
    least = theta * (1.0 - 4.0 * UNIT) + found[0] - error
    return float(np.sqrt(least)) * (1.0 - 4.0 * UNIT) if least > 0.0 else 0.0
