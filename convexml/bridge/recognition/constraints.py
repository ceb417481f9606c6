"""A constraint, read: sum of convex terms + affine <= 0 or affine == 0, row by row."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...numerics import Array
from .affine import Affine
from .atoms import Collector
from .maps import Declined, LinearMap, named, transposed
from .terms import NormBound, Reading, Term, per_row


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
    def said(self) -> str:
        """What it is called in messages."""
        return (
            "an attribute"
            if self.constraint is None
            else f"the constraint {named(self.constraint)}"
        )

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
        raise Declined(f"the constraint {named(constraint)}")
    expression, equality = constraint.expr, kind in ("Equality", "Zero")
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
        raise Declined(f"the constraint {named(constraint)}: {reason}") from None


def convex(constraint: Any, expression: Any, collector: Collector) -> ConstraintRows:
    """Rows of what is affine in parts and convex in others."""
    scratch, size = collector.reading, expression.size
    read, places = collector.atoms.affine(expression), np.arange(size)
    rows = ConstraintRows(constraint, False, Affine(size, {}, read.offset))
    for key, each in read.maps.items():
        leaf = collector.atoms.leaves[key]
        if collector.walker.is_affine(leaf):
            rows.affine = rows.affine + collector.walker.affine(leaf).under(each)
        elif size == 1:
            collector.count(leaf, transposed(each, np.ones(1)))
        elif each.is_selection and np.array_equal(each.index, places) and leaf.size == size:
            collector.count(leaf, each.scales)
        else:
            raise Declined(f"{named(leaf)} is repeated")
    if scratch.constant and size > 1:
        raise Declined("a constant inside of a convex part")
    rows.affine = rows.affine + Affine(size, {}, np.full(size, scratch.constant))
    for line in scratch.linear:
        if size not in (1, line.affine.size):
            raise Declined(f"{named(line.source)} is not one number for each row")
        part = line.affine.scaled(line.weight)
        rows.affine = rows.affine + (
            part if part.size == size else part.before(np.ones((1, part.size)))
        )
    for term in scratch.terms:
        if term.kind == "form":
            raise Declined(f"{named(term.said)} has a matrix that is not diagonal")
        if size > 1 and term.weight.size != size:
            raise Declined(f"{named(term.said)} is not one number for each row")
    rows.terms = scratch.terms
    return rows


# What is left of the constraints: bounds of entries, a ball, margins and equations of samples.


@dataclass
class EntryBounds:
    """Rows that bound entries of the variable ``key``: which entry, what a row counts, which side.

    ``holds`` says which rows are the bound; the others have the multiplier 0.
    """

    rows: ConstraintRows
    key: int
    place: Array
    scale: Array
    both: bool
    above: Array
    below: Array

    def set_multiplier(self, over: Array) -> Array:
        """Of what the entries' bounds have, an upper one's > 0; what is left for others."""
        rest, left = over[self.place], over.copy()
        held = np.where(rest > 0.0, self.above, self.below)
        self.rows.multiplier = np.where(held, np.abs(rest), 0.0) / np.abs(self.scale)
        left[self.place[held]] = 0.0
        return left


@dataclass
class SampleRows:
    """Rows that became an indicator of predictions."""

    rows: ConstraintRows
    term: Term


def take_sets(reading: Reading, constraints: list[ConstraintRows]) -> None:
    """Consume every constraint as a set; Declined where one is none that is known."""
    bounding = []
    for rows in constraints:
        if rows.terms:
            if not rows.is_number and bounds_sizes(rows):
                bounding.append(rows)
            else:
                reading.balls.append(_ball(rows))
        elif bounds_entries(rows):
            bounding.append(rows)
        else:
            _samples(reading, rows)
    for rows in bounding:
        reading.sets.append(read_bound(reading, rows))
    settle([each for each in reading.sets if isinstance(each, EntryBounds)], reading)


def refused(rows: ConstraintRows, why: str) -> Declined:
    """A constraint that stands in the way."""
    return Declined(f"{rows.said} {why}")


def _selection(rows: ConstraintRows, maps: dict[int, LinearMap]) -> tuple[int, LinearMap]:
    ((key, each),) = maps.items()
    if not np.all(each.scale) or np.unique(each.index).size < each.rows:
        raise refused(rows, "bounds an entry twice, or none")
    return key, each


def bounds_entries(rows: ConstraintRows) -> bool:
    """Whether each row is of one entry of a variable."""
    maps = list(rows.affine.maps.values())
    return not rows.equality and len(maps) == 1 and maps[0].is_selection


def bounds_sizes(rows: ConstraintRows) -> bool:
    """Whether each row is of the size of one entry of a variable."""
    (term, *more) = rows.terms
    each = list(term.affine.maps.values())
    plain = term.kind == "abs" and len(each) == 1 and each[0].is_selection
    return plain and not (more or rows.affine.maps or term.affine.offset.any())


def read_bound(reading: Reading, rows: ConstraintRows) -> EntryBounds:
    """Rows that bound entries; the bounds of the reading are tightened."""
    if rows.terms:
        (term,) = rows.terms
        key, each = _selection(rows, term.affine.maps)
        scale, both = term.weight * np.abs(each.scales), True
        if not (scale > 0.0).all():
            raise refused(rows, "bounds nothing")
    else:
        key, each = _selection(rows, rows.affine.maps)
        scale, both = each.scales, False
    end = -rows.affine.offset / scale
    above, below = both | (scale > 0.0), both | (scale < 0.0)
    nowhere = (above & (end == -np.inf)) | (below & (end == np.inf) & (not both))
    if (nowhere | np.isnan(end)).any():
        raise refused(rows, "leaves no room")
    size = reading.variables[key].size
    high, low = np.full(size, np.inf), np.full(size, -np.inf)
    high[each.index[above]] = end[above]
    low[each.index[below]] = np.where(both, -end, end)[below]
    reading.upper[key] = np.minimum(reading.upper.get(key, np.inf), high)
    reading.lower[key] = np.maximum(reading.lower.get(key, -np.inf), low)
    if not (reading.lower[key] <= reading.upper[key]).all():
        raise refused(rows, "leaves no room")
    return EntryBounds(rows, key, each.index, scale, both, above, below)


def share(reading: Reading, over: dict[int, Array]) -> None:
    """Give rows that bound entries their multipliers, and attributes what is left."""
    reading.over = dict(over)
    for one in reading.sets:
        if isinstance(one, EntryBounds):
            reading.over[one.key] = one.set_multiplier(reading.over[one.key])


def settle(bounds: list[EntryBounds], reading: Reading) -> None:
    """Let one row only be the bound of an entry: the tightest one, the first of equals."""
    taken: dict[tuple[int, bool], Array] = {}
    for each in bounds:
        for holds, ends, up in (
            (each.above, reading.upper[each.key], True),
            (each.below, reading.lower[each.key], False),
        ):
            end = -each.rows.affine.offset / each.scale
            end = -end if each.both and not up else end
            others = taken.setdefault((each.key, up), np.zeros(ends.size, dtype=bool))
            holds &= np.isfinite(end) & (end == ends[each.place]) & ~others[each.place]
            others[each.place[holds]] = True


def _ball(rows: ConstraintRows) -> NormBound:
    """A norm of all entries of one variable, at most a radius."""
    term, *more = rows.terms
    maps = term.affine.maps
    if more or not rows.is_number or rows.affine.maps or term.affine.offset.any() or len(maps) > 1:
        raise refused(rows, "is no ball that is known")
    ((key, each),) = maps.items()
    whole = each.is_selection and 0 < each.rows == each.width == np.unique(each.index).size
    size = (
        term.weight * np.abs(each.scales)
        if term.kind != "square"
        else (term.weight * each.scales**2)
    )
    if not whole or not (size == size[0]).all() or not size[0] > 0.0:
        raise refused(rows, "is not of all entries alike")
    level = -float(rows.affine.offset[0]) / float(size[0])
    orders = {"abs": 1, "norm": 2, "square": 2}
    if term.kind not in orders or not 0.0 < level < np.inf:
        raise refused(rows, "is no ball that is known")
    radius = float(np.sqrt(level)) if term.kind == "square" else level
    factor = float(size[0]) * (2.0 * radius if term.kind == "square" else 1.0)
    return NormBound(orders[term.kind], key, radius, factor, rows)


def _samples(reading: Reading, rows: ConstraintRows) -> None:
    """Margins or equations of the predictions: an indicator among the losses."""
    if not rows.affine.maps:
        raise refused(rows, "does not vary")
    kind = "is 0" if rows.equality else "at most 0"
    term = Term(kind, np.ones(rows.size), rows.affine, None, rows.constraint)
    reading.terms.append(term)
    reading.sets.append(SampleRows(rows, term))
