"""Where the variables and the multipliers of a CVXPY problem stand in its conic form."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from scipy import sparse

from ....duality.canonical import Canonical
from ....duality.inner import full_value, real_and_imaginary, reduced_value, renamed
from ....numerics import Array
from .hermitian import hermitian_map

BASIS = 4000
"""Rows up to which a multiplier map that mixes rows is read off column by column."""
GOLDEN, SAME = 0.5 * (1.0 + np.sqrt(5.0)), 1e-12
"""The fractions of n multiples are about 1 / n apart; up to this they are the same."""


@dataclass(frozen=True)
class Columns:
    """A variable, or the real or imaginary part of one: x[columns] = read(value)."""

    variable: Any
    columns: Array
    imaginary: bool


def parts_of(canonical: Canonical, problem: Any) -> list[Columns]:
    """The columns of every variable; one that CVXPY eliminated has none."""
    found = []
    for variable in problem.variables():
        for new, imaginary in _split(canonical, variable):
            start = canonical.columns.get(renamed(canonical.reductions, new.id))
            if start is not None:
                size = reduced_value(new, np.zeros(new.shape)).size
                found.append(Columns(variable, np.arange(start, start + size), imaginary))
    return found


def read_part(canonical: Canonical, part: Columns, value: Any) -> Array:
    """The entries of x that stand for this value of the variable."""
    value = dense(value)
    real_and_imaginary = _split(canonical, part.variable)
    new = next(new for new, imaginary in real_and_imaginary if imaginary == part.imaginary)
    piece = np.imag(value) if part.imaginary else np.real(value)
    if part.imaginary and part.variable.is_hermitian():
        return piece[np.triu_indices(piece.shape[0], k=1)]
    return reduced_value(new, piece)


def expand_variable(canonical: Canonical, parts: list[Columns], variable: Any, x: Array) -> Array:
    """The inverse of ``read_part`` over all parts of a variable; zeros where it has none."""
    value: Array = np.zeros(variable.shape, dtype=complex if variable.is_complex() else float)
    for part in parts:
        if part.variable is not variable:
            continue
        entries = x[part.columns]
        if part.imaginary and variable.is_hermitian():
            upper = np.zeros(variable.shape)
            upper[np.triu_indices(variable.shape[0], k=1)] = entries
            piece = upper - upper.T
        else:
            split = _split(canonical, variable)
            new = next(new for new, imaginary in split if imaginary == part.imaginary)
            piece = dense(full_value(new, entries))
        value = value + (1j * piece if part.imaginary else piece)
    return value


@cache
def _names(kind: Any) -> frozenset[str]:
    return frozenset(base.__name__ for base in kind.__mro__)


def class_names(node: Any) -> frozenset[str]:
    """The names of an expression's class and of its bases, by which atoms are told apart."""
    kind: Any = type(node)
    return _names(kind)


def dense(value: Any) -> Array:
    """A NumPy array of whatever CVXPY gives."""
    return np.asarray(value.toarray() if sparse.issparse(value) else value)


def _split(canonical: Canonical, variable: Any) -> list[tuple[Any, bool]]:
    pair = real_and_imaginary(canonical.reductions, variable)
    if pair is None:
        return [(variable, False)]
    both = zip(pair, (False, True), strict=True)
    return [(new, imaginary) for new, imaginary in both if new is not None]


@dataclass(frozen=True)
class MultiplierMap:
    """vec(dual values of a constraint) = matrix @ y, entries in C order, imaginary parts last."""

    constraint: Any
    matrix: Any

    @cached_property
    def rows(self) -> Array:
        """The entries of y that these dual values depend on."""
        return np.unique(self.matrix.indices)

    @cached_property
    def is_selection(self) -> bool:
        """Whether each dual value is a multiple of one entry of y, and no two of the same."""
        matrix = self.matrix
        alone = matrix.nnz == matrix.shape[0] == self.rows.size and np.all(matrix.data)
        return bool(alone and np.all(np.diff(matrix.indptr) == 1))

    def lift(self, values: Array) -> tuple[Array, float]:
        """The least y[rows] with these dual values, and what they ask for beyond the range."""
        if self.is_selection:
            y = np.zeros(self.matrix.shape[1])
            y[self.matrix.indices] = values / self.matrix.data
            return y[self.rows], 0.0
        matrix = self.matrix.tocsc()[:, self.rows]
        inner = (matrix.T @ matrix).tocsr()
        if abs(inner - sparse.diags_array(inner.diagonal())).max() < 1e-12:
            y = (matrix.T @ values) / inner.diagonal()
        else:
            y = np.linalg.lstsq(matrix.toarray(), values, rcond=None)[0]
        return y, float(np.max(np.abs(matrix @ y - values), initial=0.0))


def dual_values(constraint: Any) -> Array | None:
    """The dual values that stand in a constraint, as one vector; None where one is missing."""
    values = [variable.value for variable in constraint.dual_variables]
    return None if any(value is None for value in values) else _flat(constraint, values)


def _flat(constraint: Any, values: list[Any]) -> Array:
    flat = np.concatenate([np.zeros(0), *(dense(value).ravel() for value in values)])
    if any(argument.is_complex() for argument in constraint.args):
        return np.concatenate([np.real(flat), np.imag(flat)])
    return np.asarray(np.real(flat), dtype=float)


def multiplier_maps(canonical: Canonical, problem: Any) -> list[MultiplierMap]:
    """The maps of the constraints that have dual values, found by asking for those of some y.

    Two y suffice where every dual value is a multiple of one entry of y: that of ones tells the
    multiples, and one whose entries have no other relation (multiples of the golden ratio, modulo
    1) tells which entries, and that there are no others; else the columns are read off one by one.
    """
    size = canonical.program.b.size
    spread = 1.0 + np.modf(GOLDEN * np.arange(1.0, size + 1.0))[0]
    order = np.argsort(spread)
    probes = [np.ones(size), spread]
    answers = [_answers(canonical, problem, y) for y in probes]
    found, mixed = [], []
    for constraint in problem.constraints:
        ones, other = (answer.get(constraint.id) for answer in answers)
        if ones is None or other is None:
            continue
        used = np.flatnonzero(ones)
        ratio = other[used] / ones[used]
        rows = order[np.searchsorted(spread, ratio * (1.0 - SAME), sorter=order).clip(max=size - 1)]
        alone = np.all(np.abs(ratio - spread[rows]) <= SAME) and not np.any(other[ones == 0.0])
        if alone:
            starts = np.append(0, np.cumsum(ones != 0.0))
            matrix = sparse.csr_array((ones[used], rows, starts), shape=(ones.size, size))
            found.append(MultiplierMap(constraint, matrix))
        else:
            mixed.append((constraint, ones.size))
    if mixed and size <= BASIS:
        columns = [_answers(canonical, problem, unit) for unit in np.eye(size)]
        for constraint, _ in mixed:
            matrix = np.stack([column[constraint.id] for column in columns], axis=1)
            found.append(MultiplierMap(constraint, sparse.csr_array(matrix)))
    return [_completed(canonical, item) for item in found]


def _completed(canonical: Canonical, item: MultiplierMap) -> MultiplierMap:
    """A Hermitian constraint has its multiplier in more rows than CVXPY reads."""
    import cvxpy as cp

    constraint = item.constraint
    complex_ = isinstance(constraint, cp.constraints.PSD) and constraint.args[0].is_complex()
    if not complex_ or constraint.args[0].ndim != 2 or item.rows.size == 0:
        return item
    order = constraint.args[0].shape[0]
    return MultiplierMap(constraint, hermitian_map(canonical.program, item.matrix, order))


def _answers(canonical: Canonical, problem: Any, y: Array) -> dict[int, Array]:
    """The dual values that CVXPY makes of y, by constraint id; those that are there stay."""
    _, duals = canonical.recover(np.zeros(canonical.program.q.size), y)
    found = {}
    for constraint in problem.constraints:
        raw = duals.get(constraint)
        if raw is None:
            continue
        kept = [variable.value for variable in constraint.dual_variables]
        constraint.save_dual_value(raw)
        values = dual_values(constraint)
        for variable, value in zip(constraint.dual_variables, kept, strict=True):
            variable.save_value(value)
        if values is not None:
            found[constraint.id] = values
    return found
