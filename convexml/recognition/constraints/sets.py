"""What is left of the constraints: bounds of entries, a ball, margins and equations of samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...numerics import Array
from ..reading.declined import Declined
from ..reading.maps import LinearMap
from ..reading.terms import NormBound, Reading, Term
from .rows import ConstraintRows, brief


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

    def set_multiplier(self, upper: Array, lower: Array) -> None:
        """From those of the entries' bounds."""
        pull = np.where(self.above, upper[self.place], 0.0)
        pull = pull + np.where(self.below, lower[self.place], 0.0)
        self.rows.multiplier = pull / np.abs(self.scale)


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


def _declined(rows: ConstraintRows, why: str) -> Declined:
    said = "an attribute" if rows.constraint is None else f"the constraint {brief(rows.constraint)}"
    return Declined(f"{said} {why}")


def _selection(rows: ConstraintRows, maps: dict[int, LinearMap]) -> tuple[int, LinearMap]:
    ((key, each),) = maps.items()
    if not np.all(each.scale) or np.unique(each.index).size < each.rows:
        raise _declined(rows, "bounds an entry twice, or none")
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
            raise _declined(rows, "bounds nothing")
    else:
        key, each = _selection(rows, rows.affine.maps)
        scale, both = each.scales, False
    end = -rows.affine.offset / scale
    above, below = both | (scale > 0.0), both | (scale < 0.0)
    nowhere = (above & (end == -np.inf)) | (below & (end == np.inf) & (not both))
    if (nowhere | np.isnan(end)).any():
        raise _declined(rows, "leaves no room")
    size = reading.variables[key].size
    high, low = np.full(size, np.inf), np.full(size, -np.inf)
    high[each.index[above]] = end[above]
    low[each.index[below]] = np.where(both, -end, end)[below]
    reading.upper[key] = np.minimum(reading.upper.get(key, np.inf), high)
    reading.lower[key] = np.maximum(reading.lower.get(key, -np.inf), low)
    if not (reading.lower[key] <= reading.upper[key]).all():
        raise _declined(rows, "leaves no room")
    return EntryBounds(rows, key, each.index, scale, both, above, below)


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
        raise _declined(rows, "is no ball that is known")
    ((key, each),) = maps.items()
    whole = each.is_selection and 0 < each.rows == each.width == np.unique(each.index).size
    size = (
        term.weight * np.abs(each.scales)
        if term.kind != "square"
        else (term.weight * each.scales**2)
    )
    if not whole or not (size == size[0]).all() or not size[0] > 0.0:
        raise _declined(rows, "is not of all entries alike")
    level = -float(rows.affine.offset[0]) / float(size[0])
    orders = {"abs": 1, "norm": 2, "square": 2}
    if term.kind not in orders or not 0.0 < level < np.inf:
        raise _declined(rows, "is no ball that is known")
    radius = float(np.sqrt(level)) if term.kind == "square" else level
    factor = float(size[0]) * (2.0 * radius if term.kind == "square" else 1.0)
    return NormBound(orders[term.kind], key, radius, factor, rows)


def _samples(reading: Reading, rows: ConstraintRows) -> None:
    """Margins or equations of the predictions: an indicator among the losses."""
    if not rows.affine.maps:
        raise _declined(rows, "does not vary")
    kind = "is 0" if rows.equality else "at most 0"
    term = Term(kind, np.ones(rows.size), rows.affine, None, rows.constraint)
    reading.terms.append(term)
    reading.sets.append(SampleRows(rows, term))
