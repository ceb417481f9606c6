"""A constraint, read: sum of convex terms + affine <= 0 or affine == 0, row by row."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse

from ...numerics import Array
from ..reading.affine import Affine
from ..reading.declined import Declined, named
from ..reading.objective import Collector
from ..reading.terms import LinearTerm, Reading, Term, per_row

LONGEST = 80
"""Characters of a constraint that is told as it is written."""


@dataclass
class ConstraintRows:
    """What a constraint says: ``affine`` + ``terms`` <= 0, or == 0.

    Attributes
    ----------
    constraint : cvxpy constraint or None
        None for an attribute of a variable.
    equality : bool
        Whether it is an equation.
    affine : Affine
        One entry for each row.
    terms : list of Term
        Each has a value for each row; where there is one row only, their sum counts.
    multiplier : array or None
        By CVXPY's sign, once it is known.
    """

    constraint: Any
    equality: bool
    affine: Affine
    terms: list[Term] = field(default_factory=list)
    multiplier: Array | None = None

    @property
    def size(self) -> int:
        """How many rows there are."""
        return self.affine.size

    @property
    def is_number(self) -> bool:
        """Whether there is one row, into which all entries of the terms go."""
        return self.size == 1

    def copy(self) -> ConstraintRows:
        """The same, to be kept as it was read."""
        return replace(self, terms=list(self.terms))

    def without(self, key: int) -> Affine:
        """The affine part less what it has of a variable."""
        maps = {other: each for other, each in self.affine.maps.items() if other != key}
        return replace(self.affine, maps=maps)

    def value(self, values: dict[int, Array]) -> Array:
        """The left-hand side of each row at a point."""
        total = self.affine(values)
        for term in self.terms:
            total = total + self.counted(worth(term, term.affine(values)))
        return total

    def counted(self, entries: Array) -> Array:
        """Entries of a term as they go into the rows."""
        return np.asarray(entries.sum(axis=-1, keepdims=True)) if self.is_number else entries


def worth(term: Term, at: Array) -> Array:
    """weight . f of each row or group, at an argument."""
    return np.asarray(term.weight * per_row(term.kind, at, term.level, term.groups))


def read_rows(reading: Reading, constraint: Any) -> ConstraintRows:
    """A constraint of CVXPY; Declined if it is of a kind that is not read."""
    kind = type(constraint).__name__
    if kind not in ("Inequality", "Equality", "Zero", "NonPos", "NonNeg"):
        raise Declined(f"the constraint {brief(constraint)}")
    expression = constraint.args[0] if kind in ("NonPos", "NonNeg", "Zero") else constraint.expr
    equality = kind in ("Equality", "Zero")
    scratch = Reading(reading.problem, reading.walker, 1.0)
    collector = Collector(scratch)
    try:
        if collector.walker.is_affine(expression):
            affine = reading.walker.affine(expression)
            affine = affine.scaled(-1.0) if kind == "NonNeg" else affine
            return ConstraintRows(constraint, equality, affine)
        if equality or kind == "NonNeg":
            raise Declined("not affine")
        return convex(constraint, expression, collector)
    except Declined as reason:
        raise Declined(f"the constraint {brief(constraint)}: {reason}") from None


def convex(constraint: Any, expression: Any, collector: Collector) -> ConstraintRows:
    """Rows of what is affine in parts and convex in others."""
    scratch, size = collector.reading, expression.size
    rows = ConstraintRows(constraint, False, Affine(size, {}, np.zeros(size)))
    for sign, part in parts_of(expression):
        numbers = np.arange(part.size).reshape(part.shape, order="F")
        place = np.broadcast_to(numbers, expression.shape).ravel(order="F")
        if collector.walker.is_affine(part):
            rows.affine = rows.affine + collector.walker.affine(part).scaled(sign).taken(place)
            continue
        if part.size != size:
            raise Declined(f"{named(part)} is repeated")
        collector.add(part, np.full(size, sign))
    if scratch.constant and size > 1:
        raise Declined("a constant inside of a convex part")
    rows.affine = rows.affine + Affine(size, {}, np.full(size, scratch.constant))
    for line in scratch.linear:
        rows.affine = rows.affine + summed(line, size)
    for term in scratch.terms:
        if term.kind == "form":
            raise Declined(f"{named(term.said)} has a matrix that is not diagonal")
        if size > 1 and term.weight.size != size:
            raise Declined(f"{named(term.said)} is not one number for each row")
    rows.terms = scratch.terms
    return rows


def summed(line: LinearTerm, size: int) -> Affine:
    """A linear term as it goes into so many rows."""
    if line.affine.size == size:
        return line.affine.scaled(line.weight)
    if size != 1:
        raise Declined(f"{named(line.source)} is not one number for each row")
    weight = line.weight[None, :]
    maps = {key: each.before(weight) for key, each in line.affine.maps.items()}
    return Affine(1, maps, weight @ line.affine.offset)


def parts_of(expression: Any, sign: float = 1.0) -> list[tuple[float, Any]]:
    """The summands of an expression, with their signs."""
    kind = type(expression).__name__
    if kind == "AddExpression":
        return [found for each in expression.args for found in parts_of(each, sign)]
    if kind == "NegExpression":
        return parts_of(expression.args[0], -sign)
    return [(sign, expression)]


def brief(constraint: Any) -> str:
    """A constraint as it is written, or what it is called and of which variables it is."""
    sparse_ones = (each for each in constraint.constants() if issparse(each.value))
    # CVXPY looks such matrices up entry by entry to write them.
    text = "" if any(each.size > LONGEST for each in sparse_ones) else str(constraint)
    if 0 < len(text) <= LONGEST and "\n" not in text:
        return text
    said = ", ".join(each.name() for each in constraint.variables())
    return f"{constraint.label or type(constraint).__name__} of size {constraint.size} on {said}"
