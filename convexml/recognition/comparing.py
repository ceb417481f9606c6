"""Constraints that were read against what CVXPY computes of them, expression by expression."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numerics import EPS, Array
from .constraints.rows import ConstraintRows, brief, worth
from .constraints.sets import EntryBounds, SampleRows
from .constraints.slacks import Slack
from .posing.problem import PosedReading
from .posing.scores import PosedScores
from .reading.declined import Declined, named
from .reading.evaluating import AsWritten
from .reading.terms import Reading

ROUNDING = 2000.0 * EPS
"""What a sum may be off by, relative to the size of its terms."""
FAR = 1e300


def as_written(rows: ConstraintRows, written: AsWritten) -> Array:
    """The left-hand side of each row, of what is <= 0 or == 0."""
    return written.once("side", rows, lambda: _side(rows, written))


def _side(rows: ConstraintRows, written: AsWritten) -> Array:
    constraint = rows.constraint
    kind = type(constraint).__name__
    if kind in ("NonPos", "NonNeg", "Zero"):
        entries = written.entries(constraint.args[0])
        return -entries if kind == "NonNeg" else entries
    return written.entries(constraint.expr)


def rounding(rows: ConstraintRows, written: AsWritten) -> Array:
    """What each row may be off by."""
    return written.once("rounding", rows, lambda: _rounding(rows, written.values))


def _rounding(rows: ConstraintRows, values: dict[int, Array]) -> Array:
    total = np.array(rows.affine.terms(values))
    for term in rows.terms:
        at = term.affine(values)
        value, off = worth(term, at), ROUNDING * term.affine.terms(values)
        near = np.abs(worth(term, at + off) - value) + np.abs(worth(term, at - off) - value)
        total = total + rows.counted(near / ROUNDING + np.abs(value))
    return np.asarray(ROUNDING * total)


def compare_constraints(reading: Reading, written: AsWritten) -> None:
    """Compare every constraint, row by row; Declined where one differs, or was not read."""
    constraints = reading.problem.constraints
    read = [each.constraint for each in reading.written]
    if len(read) != len(constraints) or any(
        a is not b for a, b in zip(read, constraints, strict=True)
    ):
        raise Declined("a constraint was not read")
    with np.errstate(all="ignore"):
        for rows in reading.written:
            _same(rows, as_written(rows, written), written)


def compare_derived(reading: Reading, written: AsWritten) -> None:
    """What became of constraints, and slacks with what bounds them, where these are complete."""
    with np.errstate(all="ignore"):
        sides = {id(rows.constraint): as_written(rows, written) for rows in reading.written}
        for one in (*reading.sets, *reading.balls):
            if id(one.rows.constraint) in sides:
                _same(one.rows, sides[id(one.rows.constraint)], written)
        for each in reading.eliminated:
            if isinstance(each, Slack):
                _slack(reading, each, sides, written)


def _as_read(rows: ConstraintRows, written: AsWritten) -> Array:
    return written.once("read", rows, lambda: np.asarray(rows.value(written.values)))


def _same(rows: ConstraintRows, theirs: Array, written: AsWritten) -> None:
    ours = _as_read(rows, written)
    agree = theirs.shape == ours.shape and (
        (ours == theirs)
        | (np.abs(ours - theirs) <= rounding(rows, written))
        | (np.isnan(ours) & np.isnan(theirs))  # inf - inf, where e^z overflows
    )
    _require(agree, rows)


def _slack(reading: Reading, slack: Slack, sides: dict[int, Array], written: AsWritten) -> None:
    """No smaller entries meet what bounds a slack from below, and these do."""
    entries = written.values[slack.key]
    least = ends_of(reading.variables[slack.key])[0]
    meets, tight = entries >= least, entries == least
    if slack.squares:
        tight |= entries == 0.0
    for rows, places in zip(slack.bounds.rows, slack.bounds.place, strict=True):
        side, room = sides.get(id(rows.constraint)), rounding(rows, written)
        side = _as_read(rows, written) if side is None else side
        meets[..., places] &= side <= room
        tight[..., places] |= side >= -room
    if not (meets & tight)[np.isfinite(entries)].all():
        name = reading.variables[slack.key].name()
        raise Declined(f"the slack {name} is not its largest bound")


def ends_of(variable: Any) -> tuple[Array, Array]:
    """The least and largest entries that the attributes of a variable allow, as CVXPY projects."""
    low, high = (
        np.asarray(_projected(variable, end), dtype=float).ravel(order="F") for end in (-FAR, FAR)
    )
    return np.where(low == -FAR, -np.inf, low), np.where(high == FAR, np.inf, high)


def _projected(variable: Any, end: float) -> Any:
    """Far entries as CVXPY projects them; by the values of bounds that are Parameters, too."""
    at = variable.project(np.full(variable.shape, end))
    bounds = variable.attributes.get("bounds") or []
    values = [each.value if hasattr(each, "is_constant") else each for each in bounds]
    if any(each is None for each in values):  # CVXPY has infinities for no bound
        raise Declined(f"the bounds of {variable.name()} have no values")
    return np.clip(at, *values) if values else at


def compare_traded(posed: PosedReading, written: AsWritten) -> None:
    """Lines as written against what stands for them among the predictions."""
    values = written.values
    for bundle in (each for each in posed.bundles if each.traded):
        mine, theirs = bundle.lines[-1], np.zeros(1)
        at = mine.affine(values)
        ours = at @ mine.weight
        off = (mine.affine.terms(values) + np.abs(at)) @ np.abs(mine.weight)
        for line in bundle.traded:
            at = line.affine(values) if line.source is None else written.entries(line.source)
            theirs = theirs + (at - line.affine.offset) @ line.weight
            off = off + line.affine.terms(values) @ np.abs(line.weight)
        if not np.all(np.abs(ours - theirs) <= ROUNDING * off):
            raise Declined(f"{named(bundle.traded[0].source)} is not what was read")


def ends_as_written(variable: Any, bounds: list[EntryBounds]) -> tuple[Array, Array]:
    """The least and largest entries by attributes and by the rows of constraints."""
    low, high = ends_of(variable)
    for one in bounds:
        edge = one.rows.affine.offset / one.scale
        above, below = one.both | (one.scale > 0.0), one.both | (one.scale < 0.0)
        np.minimum.at(high, one.place[above], -edge[above])
        np.maximum.at(low, one.place[below], (edge if one.both else -edge)[below])
    return low, high


def compare_sets(posed: PosedReading, written: AsWritten, w: Array, z: Array) -> None:
    """Compare the sets of the posed problem with the constraints that they came from."""
    for one in posed.reading.sets:
        if isinstance(one, EntryBounds):
            _bounds(posed, one, w.shape[-1])
        elif isinstance(one, SampleRows):
            _samples(posed, one, written, z)
    for ball in posed.reading.balls:
        penalty: Any = posed.penalty
        size = np.array([penalty.norm(each) for each in np.atleast_2d(w)])[:, None]
        square = any(term.kind == "square" for term in ball.rows.terms)
        ours = (size**2 - penalty.t**2) / (2.0 * penalty.t) if square else size - penalty.t
        slack = rounding(ball.rows, written) + ROUNDING * abs(ball.factor * ours)
        _require(np.abs(ball.factor * ours - _as_read(ball.rows, written)) <= slack, ball.rows)


def compare_bounds(posed: PosedReading) -> None:
    """The bounds of the posed problem against attributes and constraints, entry by entry."""
    reading, width = posed.reading, sum(each.size for each in posed.design.columns.values())
    if reading.balls:
        return
    ends = [posed.penalty.project(np.full(width, end)) for end in (-np.inf, np.inf)]
    for key, variable in reading.remaining.items():
        if key not in posed.ends:
            every = (one for one in reading.sets if isinstance(one, EntryBounds))
            posed.ends[key] = ends_as_written(variable, [one for one in every if one.key == key])
        if key in posed.design.columns:
            columns = posed.design.columns[key]
            same_ends(variable, (ends[0][columns], ends[1][columns]), posed.ends[key])
        else:  # the intercept
            same_ends(variable, (-np.inf, np.inf), posed.ends[key])


def compare_bounds_of_scores(posed: PosedScores) -> None:
    """The same where there are several outputs, and attributes alone."""
    key, places = posed.weights
    penalty = posed.problem.objective_parts.penalty
    ends = [penalty.project(np.full(places.size, end)) for end in (-np.inf, np.inf)]
    for other, variable in posed.reading.variables.items():
        low, high = ends_of(variable)
        if other == key:
            same_ends(variable, ends, (low[places.ravel()], high[places.ravel()]))
        else:
            same_ends(variable, (-np.inf, np.inf), (low, high))


def same_ends(variable: Any, ours: Any, theirs: tuple[Array, Array]) -> None:
    """Declined where the bounds of a variable differ."""
    for end, other in zip(ours, theirs, strict=True):
        if np.array_equal(end, other):
            continue
        near = np.isfinite(other) & (np.abs(end - other) <= ROUNDING * np.abs(other))
        if not ((end == other) | near).all():
            raise Declined(f"the bounds of {variable.name()} are not what was read")


def _bounds(posed: PosedReading, one: EntryBounds, width: int) -> None:
    """The ends of the posed set are those that make the rows 0; the intercept has none."""
    if one.key not in posed.design.columns:
        _require(one.rows.affine.offset == -np.inf, one.rows)
        return
    columns, far = posed.design.columns[one.key][one.place], np.full(width, np.inf)
    for holds, end, sign in (
        (one.above, posed.penalty.project(far), 1.0),
        (one.below, posed.penalty.project(-far), -1.0),
    ):
        side = sign * np.abs(one.scale) if one.both else one.scale
        ours, theirs = (side * end[columns])[holds], -one.rows.affine.offset[holds]
        near = np.abs(ours - theirs) <= ROUNDING * np.abs(theirs)
        _require((ours == theirs) | (near & np.isfinite(theirs)), one.rows)


def _samples(posed: PosedReading, one: SampleRows, written: AsWritten, z: Array) -> None:
    objective, known = posed.problem.objective_parts, posed.samples_of.get(id(one.term))
    _require(known is not None, one.rows)
    assert known is not None
    part, here = known[0].bundle.parts[0], known[1]
    _require(posed.design.kept[here].all(), one.rows)
    y, z = objective.y[here], z[..., here]
    ours = (1.0 - y * z) * part.o if one.term.kind == "at most 0" else (z - y) * part.s
    theirs, slack = _as_read(one.rows, written), rounding(one.rows, written)
    _require(ours.shape == theirs.shape and np.abs(ours - theirs) <= slack, one.rows)


def _require(agree: Any, rows: ConstraintRows) -> None:
    if not np.all(agree):
        said = "an attribute" if rows.constraint is None else brief(rows.constraint)
        raise Declined(f"the constraint {said} is not what was read")
