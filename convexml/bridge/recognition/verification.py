"""Nobody is trusted: what was read against what CVXPY computes from the expressions as written.

At points of several sizes every argument of an atom is compared entry by entry, every loss row by
row, and the whole objective; a difference beyond rounding is a decline. The points are compared
together: arrays have a row for each of them, or are of one point.
"""

from __future__ import annotations

from copy import copy
from typing import Any, Self

import numpy as np

from ...numerics import EPS, Array
from .constraints import ConstraintRows, EntryBounds, SampleRows, brief, worth
from .losses import Bundle
from .maps import Declined, named
from .posing import PosedReading
from .slacks import Slack
from .softmax import PosedScores
from .terms import INDICATORS, AsWritten, Reading, per_row

# Constraints that were read against what CVXPY computes of them, expression by expression.


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


# What was read, sample by sample and as a whole, against the expressions as written.


class Crosscheck:
    """What is read and what is written, at points with the predictions ``z``."""

    def __init__(
        self,
        posed: Any,
        values: dict[int, Array],
        w: Array,
        z: Array,
        written: AsWritten | None = None,
    ) -> None:
        self.posed, self.values, self.w, self.z = posed, values, w, z
        self.written = AsWritten(posed.reading.walker, values) if written is None else written
        self.rounding: Any = 0.0
        self.losses, self.beyond = np.zeros(0), 0.0

    def of(self, posed: Any) -> Self:
        """The same of another problem with the same losses."""
        twin = copy(self)
        twin.posed = posed
        return twin

    def compare(self, constraints: bool = True) -> Any:
        """The objective as written, a number for each point; Declined where anything differs.

        ``constraints`` that were compared are not compared again, but for what became of them.
        """
        posed = self.posed
        self._selections()
        losses = self._losses()
        if constraints:
            compare_constraints(posed.reading, self.written)
        compare_derived(posed.reading, self.written)
        compare_sets(posed, self.written, self.w, self.z)
        compare_traded(posed, self.written)
        whole = self._of_all_rows(self.z) / posed.design.factor
        for bundle, beyond in zip(posed.bundles, posed.beyond, strict=True):
            total, size = beyond, np.abs(beyond)
            for _, here in posed.homes[id(bundle)]:
                total, size = total + losses[..., here], size + np.abs(losses[..., here])
                self._predictions(bundle, whole[..., here], posed.design.kept[here])
            self._rows(bundle, total, 16.0 * EPS * size)
        self.losses = losses
        self.beyond = sum(float(np.abs(each).sum()) for each in posed.beyond)
        return self.compare_whole()

    def _losses(self) -> Array:
        """The loss of each row at each point."""
        objective, z = self.posed.problem.objective_parts, np.atleast_2d(self.z)
        if objective.loss.is_indicator:
            return self._of_all_rows(np.zeros(self.z.shape))
        found = np.array([objective.loss.value(objective.y, each) for each in z])
        return self._of_all_rows(objective.c * found.reshape(self.z.shape))

    def _of_all_rows(self, samples: Array) -> Array:
        """Numbers of samples among those of all rows, 0 of those that are none."""
        kept = self.posed.design.kept
        if samples.shape[-1] == kept.size:
            return samples
        found = np.zeros((*samples.shape[:-1], kept.size))
        found[..., kept] = samples
        return found

    def _selections(self) -> None:
        for term in self.posed.reading.terms:
            if all(each.is_selection for each in term.affine.maps.values()):
                self._same_argument(term)

    def compare_whole(self) -> Any:
        """The objective as written, compared with the sum of what was read."""
        posed, reading, losses = self.posed, self.posed.reading, self.losses
        w, value = np.atleast_2d(self.w), posed.problem.objective_parts.penalty.value
        penalty = np.array([float(value(each)) for each in w]).reshape(self.w.shape[:-1])
        ours = losses.sum(axis=-1) + penalty + posed.constant
        written = self.written.number(reading.problem.objective.args[0])
        theirs = reading.sign * written
        sizes = np.abs(losses).sum(axis=-1) + np.abs(penalty) + abs(posed.constant) + self.beyond
        self.rounding = self.rounding + ROUNDING * sizes
        agree = (ours == theirs) | (np.abs(ours - theirs) <= self.rounding)
        if not agree.all():
            here = np.argmin(agree)
            theirs, ours = np.ravel(theirs)[here], np.ravel(ours)[here]
            raise Declined(f"the objective is {theirs:g} as written and {ours:g} as read")
        return written

    def _same_argument(self, term: Any) -> None:
        if term.source is None:
            return
        ours, theirs = term.affine(self.values), self.written.entries(term.source)
        if ours.shape != theirs.shape or not (np.abs(ours - theirs) <= self._slack(term)).all():
            raise Declined(f"{named(term.source)} is not what was read")

    def _predictions(self, bundle: Bundle, z: Array, kept: Array) -> None:
        """The arguments as they follow from the predictions of the posed problem."""
        for part in bundle.parts:
            theirs = self._argument(part.term)
            live = kept & (part.term.weight > 0.0)
            off = np.abs(part.s * z + part.o - theirs)
            if not ((off <= self._slack(part.term)) | ~live).all():
                raise Declined(f"{named(part.term.said)} is not what was read")

    def _argument(self, term: Any) -> Array:
        """Of a term, as it is written; what was derived, as it was read."""
        if term.source is None:
            return self.written.once("value", term, lambda: term.affine(self.values))
        return self.written.entries(term.source)

    def _slack(self, term: Any) -> Array:
        return self.written.once("slack", term, lambda: ROUNDING * term.affine.terms(self.values))

    def _rows(self, bundle: Bundle, ours: Array, slack: Array) -> None:
        """What is said of each prediction, with the arguments as CVXPY has them."""
        theirs: Any = 0.0
        for part in bundle.parts:
            term = part.term
            if term.kind in INDICATORS:
                continue
            at = self._argument(term)
            off = self._slack(term)
            value = per_row(term.kind, at, term.level)
            near = np.abs(per_row(term.kind, at + off, term.level) - value)
            near += np.abs(per_row(term.kind, at - off, term.level) - value)
            near += ROUNDING * np.abs(value)
            counts = term.weight > 0.0
            theirs = theirs + np.where(counts, term.weight * value, 0.0)
            slack = slack + np.where(counts, term.weight * near, 0.0)
        for line in bundle.lines:
            at = self._argument(line)
            theirs = theirs + line.weight * at
            slack = slack + np.abs(line.weight) * (self._slack(line) + ROUNDING * np.abs(at))
        agree = (ours == theirs) | (np.abs(ours - theirs) <= slack)
        if not agree.all():
            row = np.argmin(agree) % bundle.rows
            raise Declined(f"{named(bundle.said)} is not what was read, in row {row}")
        self.rounding = self.rounding + np.where(np.isfinite(slack), slack, 0.0).sum(axis=-1)


class CrosscheckOfScores(Crosscheck):
    """The same for several outputs: ``z`` has a column for each class."""

    def compare(self, constraints: bool = True) -> Any:
        """The objective as written; Declined where anything differs."""
        posed, start = self.posed, 0
        objective = posed.problem.objective_parts
        self._selections()
        losses = objective.c * objective.loss.value(objective.y, self.z)
        own = np.where(objective.c > 0.0, losses, 0.0)
        for block in posed.blocks:
            kept = block.weight > 0.0
            here = slice(start, start + int(kept.sum()))
            start, said = here.stop, named(block.term.said)
            scores = self.written.entries(block.term.source)[block.scores][kept]
            terms = block.term.affine.terms(self.values)[block.scores][kept]
            if not (np.abs(scores - self.z[here]) <= ROUNDING * terms).all():
                raise Declined(f"{named(block.term.source)} is not what was read")
            top = scores.max(axis=1)
            whole = top + np.log(np.exp(scores - top[:, None]).sum(axis=1))
            label = objective.y[here].astype(int)
            mine = scores[np.arange(label.size), label]
            off = ROUNDING * (np.abs(whole) + np.abs(mine) + terms.max(axis=1))
            theirs = block.weight[kept] * (whole - mine)
            if not (np.abs(theirs - own[here]) <= block.weight[kept] * off).all():
                raise Declined(f"{said} is not what was read")
            self.rounding += float((block.weight[kept] * off).sum())
        self.losses = own
        return self.compare_whole()


# Points at which what was read is compared with what is written.


SIZES = (2.0**-10, 1.0, 2.0**10)


def random_values(reading: Reading) -> dict[int, Array]:
    """Entries of every variable within their bounds, a row for each size."""
    random, values = np.random.default_rng(0), {}
    total = sum(each.size for each in reading.variables.values())
    drawn, start = np.array(SIZES)[:, None] * random.standard_normal((len(SIZES), total)), 0
    for key, variable in reading.variables.items():
        entries, start = drawn[:, start : start + variable.size], start + variable.size
        if key in reading.lower or key in reading.upper:
            free = np.full(variable.size, np.inf)
            low, high = reading.lower.get(key, -free), reading.upper.get(key, free)
            entries = _between(entries, low, high)
        values[key] = entries
    return values


def random_points(reading: Reading) -> list[dict[int, Array]]:
    """The same, point by point."""
    values = random_values(reading)
    return [{key: each[row] for key, each in values.items()} for row in range(len(SIZES))]


def _between(entries: Array, low: Array, high: Array) -> Array:
    """The entries within their bounds, not at them: there a column would count for nothing."""
    size = np.abs(entries)
    up, down = np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 0.0)
    entries = np.where(np.isfinite(low), up + size, entries)
    entries = np.where(np.isfinite(high) & ~np.isfinite(low), down - size, entries)
    inside = up + (down - up) * (size / (1.0 + size))
    return np.where(np.isfinite(low) & np.isfinite(high), inside, entries)


Posed = PosedReading | PosedScores


def verify(posed: Posed) -> None:
    """Compare at a random point of each size; ``check`` is what was compared.

    Raises
    ------
    Declined
        If anything differs.
    """
    with np.errstate(all="ignore"):  # most ends are infinite
        if isinstance(posed, PosedScores):
            # The same where there are several outputs, and attributes alone.
            key, places = posed.weights
            penalty = posed.problem.objective_parts.penalty
            ends = [penalty.project(np.full(places.size, end)) for end in (-np.inf, np.inf)]
            for other, variable in posed.reading.variables.items():
                low, high = ends_of(variable)
                if other == key:
                    same_ends(variable, ends, (low[places.ravel()], high[places.ravel()]))
                else:
                    same_ends(variable, (-np.inf, np.inf), (low, high))
            for values in random_points(posed.reading):
                w, b = posed.point(values)
                CrosscheckOfScores(posed, values, w, _scores(posed, w, b)).compare()
            return
        compare_bounds(posed)
        values = random_values(posed.reading)
        written, eliminated = AsWritten(posed.reading.walker, values), posed.reading.eliminated
        if (
            eliminated
        ):  # where variables have any entries; then where they have those they stand for
            compare_constraints(posed.reading, written)
            values = posed.reading.complete(dict(values))
            written = written.moved(values, {each.key for each in eliminated})
        w, b = posed.points(values)
        z = np.asarray(posed.X @ w.T).T + b[:, None]
        posed.check = Crosscheck(posed, values, w, z, written)
        posed.check.compare(not eliminated)


def verify_weights(posed: PosedReading, changed: set[int]) -> None:
    """Compare the objective again, where nothing but weights of penalties has changed.

    ``changed`` are the expressions, by ``id()``, in which a Parameter stands that has; Declined
    where it differs.
    """
    with np.errstate(all="ignore"):
        compare_bounds(posed)
        again = posed.check.of(posed)
        again.written = posed.check.written.but_for(posed.reading.walker, changed)
        again.compare_whole()


def value_at(posed: Posed, values: dict[int, Array], w: Array, b: Array, ours: float) -> float:
    """The objective as written where the variables have these entries.

    ``ours`` is P(w, b) of the learning problem: the two may differ by rounding only.

    Raises
    ------
    Declined
        If they differ by more.
    """
    with np.errstate(all="ignore"):
        comparison: Crosscheck
        if isinstance(posed, PosedScores):
            comparison = CrosscheckOfScores(posed, values, w, _scores(posed, w, b))
        else:
            comparison = Crosscheck(posed, values, w, np.asarray(posed.X @ w) + b)
        written = float(comparison.compare())
        total = ours + posed.constant
        if not abs(posed.reading.sign * written - total) <= comparison.rounding:
            raise Declined(f"the objective is {written:g} as written and {total:g} as read")
    return written


def _scores(posed: PosedScores, w: Array, b: Array) -> Array:
    return np.asarray(posed.X @ w.reshape(posed.weights[1].shape)) + b
