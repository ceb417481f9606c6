"""Squares, lines and constraints of one variable, by what they may be of a dual."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...numerics import Array
from ..constraints.rows import ConstraintRows, brief, read_rows
from ..constraints.sets import EntryBounds, bounds_entries, bounds_sizes, read_bound, settle
from ..reading.declined import Declined, named
from ..reading.maps import transposed
from ..reading.terms import Reading, Term
from .facets import FeatureBlock, read_facets


@dataclass
class DualProgram:
    """min sum_i (curvature_i a_i^2 + slope_i a_i + constant_i) + what is said of M a.

    Subject to lower <= a <= upper, e'a = 0.

    Attributes
    ----------
    key : int
        The variable a.
    outer : Term or None
        Squares of M a, or a form a'Qa.
    blocks : list of FeatureBlock
        Bounds of M a.
    equality : (ConstraintRows, e) or None
    bounds : list of EntryBounds
        Where lower and upper come from.
    """

    key: int
    curvature: Array
    slope: Array
    constant: Array
    lower: Array
    upper: Array
    outer: Term | None = None
    blocks: list[FeatureBlock] = field(default_factory=list)
    equality: tuple[ConstraintRows, Array] | None = None
    bounds: list[EntryBounds] = field(default_factory=list)


def read_program(reading: Reading) -> DualProgram | None:
    """What a reading says, if it is of one variable, of squares, with a constraint; else None.

    Raises
    ------
    Declined
        Naming what stands in the way.
    """
    if len(reading.variables) != 1 or not (reading.constraints or reading.lower or reading.upper):
        return None
    if not all(_of_a_dual(each) for each in reading.terms):
        return None
    ((key, variable),) = reading.variables.items()
    n = variable.size
    free = np.full(n, np.inf)
    found = DualProgram(key, np.zeros(n), np.zeros(n), np.zeros(n), -free, free)
    _read_terms(reading, found)
    reading.rows = [read_rows(reading, each) for each in reading.constraints]
    reading.written = [each.copy() for each in reading.rows]
    for rows in reading.rows:
        if rows.equality:
            _read_equality(rows, found)
        elif bounds_sizes(rows) if rows.terms else bounds_entries(rows):
            found.bounds.append(read_bound(reading, rows))
        else:
            read_facets(rows, found.blocks)
    settle(found.bounds, reading)
    found.lower = reading.lower.get(key, -free)
    found.upper = reading.upper.get(key, free)
    reading.constraints = []
    return found


def _of_a_dual(term: Term) -> bool:
    """Whether a term is a form, or squares of what is about 0 but for single entries."""
    alone = all(each.is_selection for each in term.affine.maps.values())
    return term.kind == "form" or (
        term.kind == "square" and (alone or not term.affine.offset.any())
    )


def _read_terms(reading: Reading, found: DualProgram) -> None:
    for term in reading.terms:
        each, weight, offset = term.affine.maps[found.key], term.weight, term.affine.offset
        if term.kind == "square" and each.is_selection:
            n = found.slope.size
            found.curvature += np.bincount(each.index, weight * each.scales**2, n)
            found.slope += np.bincount(each.index, 2.0 * weight * each.scales * offset, n)
            found.constant += np.bincount(each.index, weight * offset**2, n)
            continue
        if found.outer is not None:
            raise Declined(f"{named(term.said)} and {named(found.outer.said)} of one dual")
        found.outer = term
    for line in reading.linear:
        reading.constant += float(line.weight @ line.affine.offset)
        for each in line.affine.maps.values():
            found.slope += transposed(each, line.weight)


def _read_equality(rows: ConstraintRows, found: DualProgram) -> None:
    """e'a = 0, once."""
    if found.equality is not None or not rows.is_number or rows.affine.offset.any():
        raise Declined(
            f"the constraint {brief(rows.constraint)} is not the one equation of a dual, with 0"
        )
    each = rows.affine.maps.get(found.key)
    if each is None:
        raise Declined(f"the constraint {brief(rows.constraint)} does not vary")
    found.equality = rows, transposed(each, np.ones(1))
