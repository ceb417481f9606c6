"""Affine expressions as linear maps of the variables and an offset."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse

from ...numerics import Array
from ..rounding import MOVED
from .maps import Declined, LinearMap, named, stacked


@dataclass(frozen=True)
class Affine:
    """sum of maps of variables + offset; every array has one entry for each of ``size``."""

    size: int
    maps: dict[int, LinearMap]
    offset: Array

    def __call__(self, values: dict[int, Array]) -> Array:
        """The value where each variable, by id, has these entries: of one point, or row by row."""
        if not self.maps:
            points = next((each.shape[:-1] for each in values.values()), ())
            return np.broadcast_to(self.offset.astype(float), (*points, self.size)).copy()
        total = self.offset
        for key, each in self.maps.items():
            total = total + each(values[key])
        return total

    def is_same(self, other: Affine) -> bool:
        """Whether both are the same, entry by entry."""
        return self is other or (
            self.maps.keys() == other.maps.keys()
            and bool(np.array_equal(self.offset, other.offset))
            and all(each.is_same(other.maps[key]) for key, each in self.maps.items())
        )

    def scaled(self, factor: Any) -> Affine:
        """Each entry times its factor."""
        maps = {key: each.scaled(factor) for key, each in self.maps.items()}
        return Affine(self.size, maps, self.offset * factor)

    def taken(self, rows: Array) -> Affine:
        """Some of the entries."""
        maps = {key: each.taken(rows) for key, each in self.maps.items()}
        return Affine(rows.size, maps, self.offset[rows])

    def before(self, matrix: Any) -> Affine:
        """``matrix`` times these entries."""
        maps = {key: each.before(matrix) for key, each in self.maps.items()}
        return Affine(matrix.shape[0], maps, np.asarray(matrix @ self.offset).ravel())

    def under(self, own: LinearMap) -> Affine:
        """What a map takes these entries to."""
        if own.is_selection:
            return self.taken(own.index).scaled(own.scale)
        return self.before(own.full())

    def __add__(self, other: Affine) -> Affine:
        return added([self, other])

    def terms(self, sizes: dict[int, Array]) -> Array:
        """A bound of the sum of the absolute terms of each entry: what rounding is relative to."""
        total = np.abs(self.offset)
        for key, each in self.maps.items():
            size = sizes[key]
            total = total + each.row_sizes * np.sqrt(np.vecdot(size, size))[..., None]
        return total


def added(parts: list[Affine]) -> Affine:
    """The sum of some, all of one size."""
    maps, offset = dict(parts[0].maps), parts[0].offset
    for part in parts[1:]:
        for key, each in part.maps.items():
            maps[key] = maps[key] + each if key in maps else each
        offset = offset + part.offset
    return Affine(parts[0].size, maps, offset)


# The affine atoms of CVXPY, by what they do.


SUMS = frozenset({"Sum", "Trace"})
PROBED = frozenset({"cumsum", "conv", "convolve", "kron"})
"""Linear atoms of one argument that varies, evaluated at unit vectors where it is small."""
SMALL = 500
WRAPPED = frozenset({"psd_wrap", "nsd_wrap", "symmetric_wrap", "nonneg_wrap", "nonpos_wrap"})
PRODUCTS = ("multiply", "MulExpression", "DivExpression")
TAKEN_APART = frozenset({"AddExpression", "NegExpression", *PRODUCTS, *MOVED, *SUMS, *WRAPPED})
ADDED = TAKEN_APART | PROBED
"""Atoms that are affine where their arguments are, of products one of them constant."""


def numbered(atom: Any) -> list[Array]:
    """The arguments of an atom with numbers from 1 as their entries."""
    numbers, start = [], 1.0
    for each in atom.args:
        count = np.arange(start, start + each.size)
        numbers.append(count.reshape(each.shape, order="F"))
        start += each.size
    return numbers


def entries_of(atom: Any) -> Any:
    """The matrix of an atom that moves entries, or adds them up, of its stacked arguments."""
    numbers, stop = numbered(atom), sum(each.size for each in atom.args)
    kind = type(atom).__name__
    if kind == "Trace":
        taken = np.diagonal(numbers[0], axis1=-2, axis2=-1).ravel(order="F")
        rows = np.arange(taken.size) % max(atom.size, 1)
    elif kind == "Sum":
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


def probed(atom: Any, moving: Any, constant: Callable[[Any], Any]) -> Any:
    """The matrix of an atom that is linear in one argument, from its values at unit vectors."""
    unit, columns = np.zeros(moving.size), []
    for j in range(unit.size):
        unit[j] = 1.0
        at = unit.reshape(moving.shape, order="F")
        values = [at if each is moving else constant(each) for each in atom.args]
        found = np.asarray(atom.numeric(values), dtype=float).reshape((-1, 1), order="F")
        columns.append(sparse.csc_array(found))
        unit[j] = 0.0
    return sparse.hstack(columns, format="csr")


# Affine expressions of CVXPY as linear maps of the variables and an offset.
#
# CVXPY's own canonicalisation turns a dense X into a sparse matrix, which costs more than a solve;
# this walks the expression and keeps X by reference. Atoms that only move entries about (indices,
# reshapes, stacks, promotions) are asked where each entry goes: they are evaluated on the numbers
# of their entries. The rest is told by name; what has no name here is declined.


class Walker:
    """Reads the affine expressions of one problem; what was read is remembered.

    ``affine`` answers for any expression, ``constant`` for one without variables.
    """

    def __init__(self) -> None:
        self._constant: dict[int, Any] = {}
        self._affine: dict[int, Affine] = {}
        self._fixed: dict[int, bool] = {}
        self._is_affine: dict[int, bool] = {}
        self._kept: list[Any] = []  # so that no other object has the id of one that is remembered

    def but_for(self, changed: set[int]) -> Self:
        """What is remembered, where these expressions, by ``id()``, have other values now."""
        found = type(self)()
        found._constant = {key: v for key, v in self._constant.items() if key not in changed}
        found._affine = {key: each for key, each in self._affine.items() if key not in changed}
        found._fixed, found._is_affine = dict(self._fixed), dict(self._is_affine)
        found._kept = list(self._kept)
        return found

    @staticmethod
    def is_leaf(expression: Any) -> bool:
        """Whether it is a variable, a constant or a Parameter."""
        return hasattr(expression, "attributes")

    def is_constant(self, expression: Any) -> bool:
        """Whether no variable stands in it."""
        key = id(expression)
        if key not in self._fixed:
            self._kept.append(expression)
            arguments = getattr(expression, "args", ())
            own = not arguments and expression.is_constant()
            self._fixed[key] = own or (
                bool(arguments) and all(self.is_constant(each) for each in arguments)
            )
        return self._fixed[key]

    def is_affine(self, expression: Any) -> bool:
        """Whether it is affine by what it is made of."""
        key = id(expression)
        if key not in self._is_affine:
            self._kept.append(expression)
            self._is_affine[key] = self.is_constant(expression) or (
                not expression.args
                or (
                    type(expression).__name__ in ADDED
                    and all(self.is_affine(each) for each in expression.args)
                )
            )
        return self._is_affine[key]

    def constant(self, expression: Any) -> Any:
        """The value of a constant expression, float64, dense or sparse; parameters as they are."""
        key = id(expression)
        if key not in self._constant:
            self._kept.append(expression)
            try:
                value = expression.value
            except Exception:  # an atom outside of its domain raises whatever it likes
                value = None
            if value is None:
                raise Declined(f"{named(expression)} has no value")
            if np.iscomplexobj(value):
                raise Declined(f"{named(expression)} is complex")
            if not sparse.issparse(value):
                value = np.asarray(value, dtype=float)
            self._constant[key] = value
        return self._constant[key]

    def entries(self, expression: Any) -> Array:
        """The entries of a constant expression in CVXPY's order."""
        value = self.constant(expression)
        value = value.toarray() if sparse.issparse(value) else value
        return np.broadcast_to(value, expression.shape).ravel(order="F")

    def factors(self, fixed: Any, expression: Any) -> Any:
        """The constant of an elementwise product: a number where it is one for all."""
        if fixed.size == 1:
            return float(self.entries(fixed)[0])
        if type(fixed).__name__ == "Promote" and fixed.args[0].size == 1:
            return float(self.entries(fixed.args[0])[0])
        value = self.constant(fixed)
        value = value.toarray() if sparse.issparse(value) else value
        return np.broadcast_to(value, expression.shape).ravel(order="F")

    def shares(self, divisor: Any, expression: Any) -> Any:
        """One over the constant that is divided by."""
        if not self.is_constant(divisor):
            raise Declined(f"{named(expression)} divides by what varies")
        by = np.asarray(self.factors(divisor, expression))
        if not np.all(np.isfinite(by) & (by != 0.0)):
            raise Declined(f"{named(expression)} divides by 0")
        return 1.0 / by if by.ndim else 1.0 / float(by)

    def affine(self, expression: Any) -> Affine:
        """The maps and the offset of an affine expression.

        Raises
        ------
        Declined
            If it is not affine, or not in a way that is known here.
        """
        key = id(expression)
        if key not in self._affine:
            self._kept.append(expression)
            self._affine[key] = self._read(expression)
        return self._affine[key]

    def _read(self, expression: Any) -> Affine:
        kind, size = type(expression).__name__, expression.size
        if self.is_constant(expression):
            return Affine(size, {}, self.entries(expression))
        if not expression.args:
            if expression.is_complex():
                raise Declined(f"{named(expression)} is complex")
            return Affine(size, {expression.id: LinearMap(size, size)}, np.zeros(size))
        if kind == "AddExpression":
            return added(
                [self._grown(self.affine(each), expression, each) for each in expression.args]
            )
        if kind == "NegExpression":
            return self.affine(expression.args[0]).scaled(-1.0)
        if kind in MOVED:
            return self._moved(expression)
        if kind in WRAPPED:
            return self.affine(expression.args[0])
        if kind in PRODUCTS:
            return self._product(expression, kind)
        if kind == "Sum" and expression.axis is None:
            inner = self.affine(expression.args[0])
            return inner.before(np.ones((1, inner.size)))
        if kind in SUMS:
            return self.affine(expression.args[0]).before(entries_of(expression))
        if kind in PROBED:
            return self._probed(expression)
        raise Declined(f"{named(expression)} is no affine map that is read ({kind})")

    def _grown(self, part: Affine, whole: Any, expression: Any) -> Affine:
        """An argument of a sum, repeated where CVXPY broadcasts it."""
        if expression.shape == whole.shape:
            return part
        numbers = np.arange(part.size).reshape(expression.shape, order="F")
        return part.taken(np.broadcast_to(numbers, whole.shape).ravel(order="F"))

    def _product(self, expression: Any, kind: str) -> Affine:
        left, right = expression.args
        if kind == "DivExpression":
            part = self._grown(self.affine(left), expression, left)
            return part.scaled(self.shares(right, expression))
        fixed, moving = (left, right) if self.is_constant(left) else (right, left)
        if not self.is_constant(fixed):
            raise Declined(f"{named(expression)} is a product of two expressions that vary")
        if kind == "multiply" or fixed.ndim == 0:
            part = self._grown(self.affine(moving), expression, moving)
            return part.scaled(self.factors(fixed, expression))
        if moving.ndim == 0:  # an array times a number that varies
            part = self.affine(moving).taken(np.zeros(expression.size, dtype=int))
            return part.scaled(self.factors(fixed, expression))
        if fixed.ndim > 2 or moving.ndim > 2:
            raise Declined(f"{named(expression)} multiplies arrays of more than two dimensions")
        matrix, inner = self.constant(fixed), self.affine(moving)
        if fixed is left:
            return self._left(matrix, inner, moving)
        # moving @ C: row by row it is C' @ moving'.
        matrix = matrix.T if matrix.ndim == 2 else matrix[None, :]
        if moving.ndim == 1 or moving.shape[0] == 1:
            return self._left(matrix, inner, None)
        numbers = np.arange(moving.size).reshape(moving.shape, order="F").T.ravel(order="F")
        turned = self._left(matrix, inner.taken(numbers), None, copies=moving.shape[0])
        numbers = np.arange(turned.size).reshape((-1, moving.shape[0]), order="F").T
        return turned.taken(numbers.ravel(order="F"))

    def _left(self, matrix: Any, inner: Affine, moving: Any, copies: int = 1) -> Affine:
        matrix = matrix if matrix.ndim == 2 else matrix[None, :]
        if moving is not None and moving.ndim == 2:
            copies = moving.shape[1]
        rows = matrix.shape[0] * copies
        if matrix.shape[1] == 1 and not sparse.issparse(matrix):  # a column, times each entry
            outer = inner.taken(np.repeat(np.arange(inner.size), matrix.shape[0]))
            return outer.scaled(_one(np.tile(matrix[:, 0], copies)))
        if copies == 1:
            return inner.before(matrix)
        offset = np.asarray(matrix @ inner.offset.reshape(-1, copies, order="F"))
        maps = {}
        for key, each in inner.maps.items():
            if each.is_selection and np.ndim(each.scale) == 0:
                maps[key] = LinearMap(rows, each.width, matrix, each.scale, each.columns, copies)
            else:
                maps[key] = each.before(sparse.kron(sparse.eye_array(copies), matrix, format="csr"))
        return Affine(rows, maps, offset.ravel(order="F"))

    def _moved(self, expression: Any) -> Affine:
        """Entries of the arguments in other places: 0 where the atom puts none."""
        parts = [self.affine(each) for each in expression.args]
        places = np.asarray(expression.numeric(numbered(expression))).ravel(order="F").astype(int)
        return self.gathered(parts, places, expression.size)

    def gathered(self, parts: list[Affine], places: Array, size: int) -> Affine:
        """Entries of several expressions, numbered from 1; 0 stands for none."""
        homes: dict[int, list[tuple[int, LinearMap]]] = {}
        total, maps = 0, {}
        for part in parts:
            for key, each in part.maps.items():
                homes.setdefault(key, []).append((total, each))
            total += part.size
        whole = places.size == total and bool((places == np.arange(1, total + 1)).all())
        rows, empty = np.maximum(places - 1, 0), (places == 0).any()
        for key, found in homes.items():
            each = stacked(_filled(found, total))
            each = each if whole else each.taken(rows)
            maps[key] = each.scaled((places > 0).astype(float)) if empty else each
        offset = np.concatenate([part.offset for part in parts])
        return Affine(size, maps, np.where(places > 0, offset[rows], 0.0))

    def _probed(self, expression: Any) -> Affine:
        """A linear atom of a small argument."""
        moving = [each for each in expression.args if not self.is_constant(each)]
        if len(moving) != 1 or moving[0].size > SMALL or expression.size > 20 * SMALL:
            raise Declined(f"{named(expression)} is not read at this size")
        return self.affine(moving[0]).before(probed(expression, moving[0], self.constant))


def _filled(found: list[tuple[int, LinearMap]], total: int) -> list[LinearMap]:
    """Maps that begin at rows, with rows of 0 between them."""
    every, end, width = [], 0, found[0][1].width
    for start, each in [*found, (total, LinearMap(0, width))]:
        if start > end:
            every.append(LinearMap(start - end, width, None, 0.0, np.zeros(start - end, dtype=int)))
        if each.rows:
            every.append(each)
        end = start + each.rows
    return every


def _one(factors: Array) -> Any:
    """Factors that are equal as one number."""
    return float(factors[0]) if (factors == factors[0]).all() else factors
