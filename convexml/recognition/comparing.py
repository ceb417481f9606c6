"""Constraints that were read against what CVXPY computes of them, expression by expression."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numerics import EPS, Array
from .constraints.rows import ConstraintRows, brief, worth
from .constraints.sets import EntryBounds, SampleRows
from .posing.problem import PosedReading
from .reading.declined import Declined
from .reading.evaluating import AsWritten
from .reading.terms import Reading

ROUNDING = 2000.0 * EPS
"""What a sum may be off by, relative to the size of its terms."""


def as_written(rows: ConstraintRows, written: AsWritten) -> Array:
    """The left-hand side of each row, of what is <= 0 or == 0."""
    constraint = rows.constraint
    kind = type(constraint).__name__
    if kind in ("NonPos", "NonNeg", "Zero"):
        entries = written.entries(constraint.args[0])
        return -entries if kind == "NonNeg" else entries
    return written.entries(constraint.expr)


def rounding(rows: ConstraintRows, values: dict[int, Array]) -> Array:
    """What each row may be off by."""
    total = np.array(rows.affine.terms(values))
    for term in rows.terms:
        at = term.affine(values)
        value, off = worth(term, at), ROUNDING * term.affine.terms(values)
        near = np.abs(worth(term, at + off) - value) + np.abs(worth(term, at - off) - value)
        total = total + rows.counted(near / ROUNDING + np.abs(value))
    return np.asarray(ROUNDING * total)


def compare_constraints(
    reading: Reading, values: dict[int, Array], written: AsWritten | None = None
) -> None:
    """Compare every constraint at a point; Declined where one differs."""
    written = AsWritten(reading.walker, values) if written is None else written
    with np.errstate(all="ignore"):
        for rows in reading.written:
            theirs, ours = as_written(rows, written), rows.value(values)
            agree = theirs.shape == ours.shape and (
                (ours == theirs)
                | (np.abs(ours - theirs) <= rounding(rows, values))
                | (np.isnan(ours) & np.isnan(theirs))  # inf - inf, where e^z overflows
            )
            _require(agree, rows)


def compare_sets(posed: PosedReading, values: dict[int, Array], w: Array, z: Array) -> None:
    """Compare the sets of the posed problem with the constraints that they came from."""
    for one in posed.reading.sets:
        if isinstance(one, EntryBounds):
            _bounds(posed, one, w)
        elif isinstance(one, SampleRows):
            _samples(posed, one, values, z)
    for ball in posed.reading.balls:
        penalty: Any = posed.penalty
        size = penalty.norm(w)
        square = any(term.kind == "square" for term in ball.rows.terms)
        ours = (size**2 - penalty.t**2) / (2.0 * penalty.t) if square else size - penalty.t
        slack = rounding(ball.rows, values) + ROUNDING * abs(ball.factor * ours)
        ours = np.array([ball.factor * ours])
        _require(np.abs(ours - ball.rows.value(values)) <= slack, ball.rows)


def _bounds(posed: PosedReading, one: EntryBounds, w: Array) -> None:
    """The ends of the posed set are those that make the rows 0."""
    columns, far = posed.design.columns[one.key][one.place], np.full(w.size, np.inf)
    for holds, end, sign in (
        (one.above, posed.penalty.project(far), 1.0),
        (one.below, posed.penalty.project(-far), -1.0),
    ):
        side = sign * np.abs(one.scale) if one.both else one.scale
        ours, theirs = (side * end[columns])[holds], -one.rows.affine.offset[holds]
        near = np.abs(ours - theirs) <= ROUNDING * np.abs(theirs)
        _require((ours == theirs) | (near & np.isfinite(theirs)), one.rows)


def _samples(posed: PosedReading, one: SampleRows, values: dict[int, Array], z: Array) -> None:
    objective, start, known = posed.problem.objective_parts, 0, False
    own = 1.0 - objective.y * z if one.term.kind == "at most 0" else z - objective.y
    ordered = [each for home in posed.bundles for each in posed.rows if each.home is home]
    for rows in ordered:
        part, stop = rows.bundle.parts[0], start + rows.y.size
        if part.term is one.term:
            known = True
            ours = own[start:stop] * (part.o if one.term.kind == "at most 0" else part.s)
            theirs = one.term.affine(values)
            slack = ROUNDING * one.term.affine.terms(values)
            _require(np.abs(ours - theirs) <= slack, one.rows)
        start = stop
    _require(known, one.rows)


def _require(agree: Any, rows: ConstraintRows) -> None:
    if not np.all(agree):
        said = "an attribute" if rows.constraint is None else brief(rows.constraint)
        raise Declined(f"the constraint {said} is not what was read")
