"""The terms of affine expressions as CVXPY adds them up."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ....numerics import Array
from ..reading.layout import class_names, dense
from .enclosed import MOVED
from .summands import Summands, added, constant_of, mapped, ones, stacked, unit_of

UNKNOWN = 1e200
"""The size of a coefficient of which nothing is known."""
WIDEST = 4000
"""Columns up to which an atom that is not known is asked for each."""


class Walk:
    """Reads affine expressions of variables that begin at ``starts``, n entries in all.

    ``plain``: no quadratic form that it met was scaled but by powers of two, or met another.
    ``longest``: the most terms of a sum.
    """

    def __init__(self, starts: Mapping[int, int], n: int) -> None:
        self.starts, self.n, self.longest = starts, n, 64
        self.bent: set[int] = set()
        self.plain = True

    def terms(self, expression: Any, exact: bool = True) -> Summands:
        """Those of an affine expression; ``exact``: by powers of two alone it is scaled."""
        names = class_names(expression)
        if expression.is_constant():
            return self._placed(constant_of(expression), np.full(expression.size, self.n))
        if "SymbolicQuadForm" in names:
            return self._bent(expression, exact)
        if not expression.args:
            one, size = np.ones(expression.size), expression.size
            return self._placed(Summands(one, one), self.starts[expression.id] + np.arange(size))
        if "AddExpression" in names:
            self.longest += len(expression.args)
            return added([self._spread(each, expression, exact) for each in expression.args])
        if names & {"NegExpression", "real"} or any("wrap" in name.lower() for name in names):
            return self.terms(expression.args[0], exact)
        if names & {"multiply", "DivExpression", "MulExpression"}:
            return self._product(expression, names, exact)
        if names & (MOVED | {"Sum", "Trace"}):
            parts = stacked([self.terms(each, exact) for each in expression.args])
            pick = _picked(expression, names)
            return self._mapped(Summands(pick, pick), parts)
        return self._asked(expression)

    def _placed(self, entries: Summands, columns: Array) -> Summands:
        flat = [dense(each).ravel(order="F") for each in entries]
        rows = np.flatnonzero(flat[0])
        shape = (flat[0].size, self.n + 1)
        return Summands(*(sparse.csr_array((f[rows], (rows, columns[rows])), shape) for f in flat))

    def _bent(self, form: Any, exact: bool) -> Summands:
        met = {variable.id for variable in form.variables()}
        self.plain = self.plain and exact and not met & self.bent
        self.bent |= met
        empty = sparse.csr_array((form.size, self.n + 1))
        return Summands(empty, empty)

    def _spread(self, part: Any, whole: Any, exact: bool) -> Summands:
        """The terms of a part that is broadcast."""
        numbers = np.arange(part.size).reshape(part.shape, order="F")
        return self.terms(part, exact).taken(np.broadcast_to(numbers, whole.shape).ravel(order="F"))

    def _mapped(self, matrix: Summands, terms: Summands) -> Summands:
        found, longest = mapped(matrix, terms)
        self.longest += longest
        return found

    def _product(self, expression: Any, names: frozenset[str], exact: bool) -> Summands:
        left, right = expression.args
        fixed, moving = (left, right) if left.is_constant() else (right, left)
        if not fixed.is_constant():
            return self._unknown(expression)
        factor = constant_of(fixed)
        if "DivExpression" in names:
            size = 1.0 / dense(factor.size)
            factor = Summands(size, np.where(np.frexp(size)[0] == 0.5, size, 0.0))
        elif "multiply" not in names and fixed.ndim and moving.ndim:
            if max(expression.ndim, moving.ndim, fixed.ndim) > 2:
                return self._asked(expression)
            return self._mapped(_wide(factor, fixed is left, moving), self.terms(moving, False))
        size, unit = (np.broadcast_to(dense(e), expression.shape).ravel("F") for e in factor)
        exact = exact and bool(np.all(np.frexp(size)[0] == 0.5))
        return self._spread(moving, expression, exact).scaled(size, unit)

    def _asked(self, atom: Any) -> Summands:
        """A linear atom that is not known: what it makes of each column of absolute values."""
        varying = [k for k, each in enumerate(atom.args) if not each.is_constant()]
        part = self.terms(atom.args[varying[0]])
        columns = np.flatnonzero(np.asarray(ones(part.size).sum(axis=0)))
        if len(varying) > 1 or columns.size > WIDEST:
            return self._unknown(atom)
        given = [np.abs(dense(each.value)) if each.is_constant() else None for each in atom.args]
        units = [unit_of(each)[each != 0.0] for each in given if each is not None]
        found, inner = sparse.lil_array((atom.size, self.n + 1)), part.size.tocsc()
        for j in columns:
            shape = atom.args[varying[0]].shape
            given[varying[0]] = inner[:, [j]].toarray().reshape(shape, order="F")
            found[:, [j]] = np.abs(np.asarray(atom.numeric(given))).reshape((-1, 1), order="F")
        self.longest += atom.args[varying[0]].size
        known = ones(part.unit).nnz == ones(part.size).nnz
        unit = np.prod([np.min(each, initial=1.0) for each in (*units, part.unit.data)])
        size = sparse.csr_array(found)
        return Summands(size, ones(size) * (float(unit) if known else 0.0))

    def _unknown(self, atom: Any) -> Summands:
        used = np.zeros(self.n + 1)
        used[self.n] = UNKNOWN
        for variable in atom.variables():
            at = self.starts[variable.id]
            used[at : at + variable.size] = UNKNOWN
        size = sparse.csr_array(np.tile(used, (atom.size, 1)))
        return Summands(size, 0.0 * size)


def _wide(factor: Summands, first: bool, moving: Any) -> Summands:
    """The matrix that a product with a constant is, of vec(moving)."""
    found = []
    for part in factor:
        part = part if part.ndim == 2 else np.reshape(part, (1, -1) if first else (-1, 1))
        copies = 1 if moving.ndim < 2 else moving.shape[1 if first else 0]
        eye, part = sparse.eye_array(copies), sparse.csr_array(part)
        found.append(sparse.csr_array(sparse.kron(*((eye, part) if first else (part.T, eye)))))
    return Summands(*found)


def _picked(atom: Any, names: frozenset[str]) -> Any:
    """The matrix of an atom that moves entries, or adds them up, of its stacked arguments."""
    numbers, stop = [], 0
    for each in atom.args:
        count = np.arange(stop + 1.0, stop + each.size + 1.0)
        numbers.append(count.reshape(each.shape, order="F"))
        stop += each.size
    if "Trace" in names:
        taken = np.diagonal(numbers[0], axis1=-2, axis2=-1).ravel(order="F")
        rows = np.arange(taken.size) % max(atom.size, 1)
    elif "Sum" in names:
        kept = np.sum(numbers[0], axis=atom.axis, keepdims=True).shape
        groups = np.arange(int(np.prod(kept))).reshape(kept, order="F")
        rows = np.broadcast_to(groups, numbers[0].shape).ravel(order="F")
        taken = numbers[0].ravel(order="F")
    else:
        taken = np.asarray(atom.numeric(numbers)).ravel(order="F")
        rows = np.arange(taken.size)
    used = taken > 0.0
    columns = taken[used].astype(int) - 1
    return sparse.csr_array((np.ones(columns.size), (rows[used], columns)), (atom.size, stop))
