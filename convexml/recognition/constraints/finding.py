"""Who is a slack: a variable that costs, and is bounded from below, and has no other use."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..reading.affine import Affine
from ..reading.declined import Declined
from ..reading.maps import LinearMap, transposed
from ..reading.terms import LinearTerm, Reading
from .bounding import lower_bounds
from .rows import ConstraintRows
from .slacks import Slack


def eliminate_slacks(reading: Reading, constraints: list[ConstraintRows]) -> None:
    """Eliminate every variable that is a slack; constraints that say what it is are consumed."""
    spell_out(reading, {key for each in constraints for key in each.affine.maps})
    for key in list(reading.variables):
        if any(each.key == key for each in reading.eliminated):
            continue
        found = slack_of(reading, constraints, key)
        if found is None:
            continue
        try:
            found.lower(reading)
        except Declined as reason:
            name = reading.variables[key].name()
            raise Declined(f"the variable {name} is no slack that is known: {reason}") from None
        reading.terms[:] = [t for t in reading.terms if not any(t is s for s in found.squares)]
        drop(reading, key)
        if found.owner is not None:
            found.owner.affine = found.owner.without(key)
        gone = found.bounds.rows
        constraints[:] = [each for each in constraints if not any(each is one for one in gone)]
        reading.lower.pop(key, None)
        reading.eliminated.append(found)


def spell_out(reading: Reading, keys: set[int]) -> None:
    """Let a linear term that is one number of variables of constraints be c . x, not c'x."""
    found = []
    for line in reading.linear:
        maps = line.affine.maps
        if line.affine.size > 1 or not maps.keys() <= keys:
            found.append(line)
            continue
        reading.constant += float(line.weight @ line.affine.offset)
        for key, each in maps.items():
            size = each.width
            whole = Affine(size, {key: LinearMap(size, size)}, np.zeros(size))
            found.append(LinearTerm(transposed(each, line.weight), whole, None))
    reading.linear[:] = found


def drop(reading: Reading, key: int) -> None:
    """Leave the entries of a variable out of the linear terms."""
    found = []
    for line in reading.linear:
        maps = {other: each for other, each in line.affine.maps.items() if other != key}
        if len(maps) == len(line.affine.maps):
            found.append(line)
        elif maps:
            found.append(replace(line, affine=replace(line.affine, maps=maps), source=None))
        else:
            reading.constant += float(line.weight @ line.affine.offset)
    reading.linear[:] = found


def slack_of(reading: Reading, constraints: list[ConstraintRows], key: int) -> Slack | None:
    """The variable as a slack, None where it is none."""
    if key in reading.upper:
        return None
    size = reading.variables[key].size
    cost, squares, square = np.zeros(size), [], np.zeros(size)
    for line in reading.linear:
        if key in line.affine.maps:
            each = line.affine.maps[key]
            if not each.is_selection:
                return None
            cost += np.bincount(each.index, line.weight * each.scales, size)
    for term in reading.terms:
        if key in term.affine.maps:
            each = term.affine.maps[key]
            alone = term.kind == "square" and len(term.affine.maps) == 1 and each.is_selection
            if not alone or term.affine.offset.any() or np.unique(each.index).size < each.rows:
                return None
            square += np.bincount(each.index, term.weight * each.scales**2, size)
            squares.append(term)
    owner, rows = None, []
    for one in constraints:
        if any(key in term.affine.maps for term in one.terms):
            return None
        if key not in one.affine.maps:
            continue
        coefficients = _counts(one, one.affine.maps[key])
        if coefficients is not None and owner is None and not one.equality:
            owner, cost_of_owner = one, coefficients
            continue
        each = one.affine.maps[key]
        if one.equality or not each.is_selection or not (each.scales < 0.0).all():
            return None
        rows.append(one)
    uses = int(cost.any()) + int(square.any()) + int(owner is not None)
    if owner is not None:
        cost = cost + cost_of_owner
    paid = square if square.any() else cost
    bounds = lower_bounds(reading, rows, key) if uses == 1 and (paid > 0.0).all() else None
    return None if bounds is None else Slack(key, paid, squares, owner, bounds)


def _counts(rows: ConstraintRows, each: LinearMap) -> Any:
    """The coefficients of all entries in a constraint of one row that bounds them from above."""
    if not rows.is_number:
        return None
    full = each.full()
    found = np.asarray(full.toarray() if hasattr(full, "toarray") else full).ravel()
    return found if (found > 0.0).all() else None
