"""Nobody is trusted: what was read against what CVXPY computes from the expressions as written.

At points of several sizes every argument of an atom is compared entry by entry, every loss row by
row, and the whole objective; a difference beyond rounding is a decline. The points are compared
together: arrays have a row for each of them, or are of one point.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from ...numerics import EPS, Array
from .constraints import ConstraintRows, EntryBounds, worth
from .maps import Declined, named, transposed
from .slacks import Slack
from .terms import AsWritten, LinearTerm, Reading, Term, counted

# Constraints that were read against what CVXPY computes of them, expression by expression.


ROUNDING = 2000.0 * EPS
"""What a sum may be off by, relative to the size of its terms."""
FAR = 1e300


def require_same(ours: Array, theirs: Array, off: Any, said: Any) -> None:
    """Declined unless entries are the same but for what they may be ``off`` by.

    ``said`` is an expression, a constraint that was read, or words.
    """
    if np.shape(ours) == np.shape(theirs):
        if np.all((ours == theirs) | (np.abs(ours - theirs) <= off)):
            return
    said = said.said if isinstance(said, ConstraintRows) else said
    raise Declined(f"{said if isinstance(said, str) else named(said)} is not what was read")


def as_written(rows: ConstraintRows, written: AsWritten) -> Array:
    """The left-hand side of each row, of what is <= 0 or == 0."""
    sign = -1.0 if type(rows.constraint).__name__ == "NonNeg" else 1.0
    return written.once("side", rows, lambda: sign * written.entries(rows.constraint.expr))


def rounding(rows: ConstraintRows, written: AsWritten) -> Array:
    """What each row may be off by."""
    return written.once("rounding", rows, lambda: _rounding(rows, written.values))


def _rounding(rows: ConstraintRows, values: dict[int, Array]) -> Array:
    total = np.array(rows.affine.terms(values))
    for term in rows.terms:
        at = term.affine(values)
        _, near = nearby(term, at, ROUNDING * term.affine.terms(values))
        total = total + rows.counted(near / ROUNDING)
    return np.asarray(ROUNDING * total)


def nearby(term: Term, at: Array, off: Array) -> tuple[Array, Array]:
    """What each row or group of a term is worth, and by how much that may be off."""
    value = worth(term, at)
    near = np.abs(worth(term, at + off) - value) + np.abs(worth(term, at - off) - value)
    return value, near + ROUNDING * np.abs(value)


def at_each(f: Callable[[Array], Any], points: Array, axes: int = 1) -> Array:
    """The values of a function point by point; of a point it takes the last ``axes``."""
    lead, last = points.shape[:-axes], points.shape[-axes:]
    found = np.array([f(each) for each in points.reshape((-1, *last))])
    return found.reshape((*lead, *found.shape[1:]))


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
            side = sides.get(id(one.rows.constraint))
            # The largest of sizes bounds them all: their arguments are compared, one by one.
            if side is not None and side.shape[-1] == one.rows.size:
                _same(one.rows, side, written)
        for each in reading.eliminated:
            if isinstance(each, Slack):
                _slack(reading, each, sides, written)


def as_read(rows: ConstraintRows, written: AsWritten) -> Array:
    """The same as it was read."""
    return written.once("read", rows, lambda: np.asarray(rows.value(written.values)))


def _same(rows: ConstraintRows, theirs: Array, written: AsWritten) -> None:
    ours, theirs = (  # both are inf - inf where e^z overflows
        np.where(np.isnan(each), FAR, each) for each in (as_read(rows, written), theirs)
    )
    require_same(ours, theirs, rounding(rows, written), rows)


def _slack(reading: Reading, slack: Slack, sides: dict[int, Array], written: AsWritten) -> None:
    """No smaller entries meet what bounds a slack from below, and these do."""
    entries = written.values[slack.key]
    least = ends_of(reading.variables[slack.key])[0]
    meets, tight = entries >= least, entries == least
    if slack.squares:
        tight |= entries == 0.0
    for rows, places in zip(slack.bounds.rows, slack.bounds.place, strict=True):
        side, room = sides.get(id(rows.constraint)), rounding(rows, written)
        side = as_read(rows, written) if side is None else side
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


def ends_as_written(variable: Any, bounds: list[EntryBounds]) -> tuple[Array, Array]:
    """The least and largest entries by attributes and by the rows of constraints."""
    low, high = ends_of(variable)
    for one in bounds:
        edge = one.rows.affine.offset / one.scale
        above, below = one.both | (one.scale > 0.0), one.both | (one.scale < 0.0)
        np.minimum.at(high, one.place[above], -edge[above])
        np.maximum.at(low, one.place[below], (edge if one.both else -edge)[below])
    return low, high


def same_ends(variable: Any, ours: Any, theirs: tuple[Array, Array]) -> None:
    """Declined where the bounds of a variable differ."""
    for end, other in zip(ours, theirs, strict=True):
        off = np.where(np.isfinite(other), ROUNDING * np.abs(other), 0.0)
        require_same(np.broadcast_to(end, other.shape), other, off, f"a bound of {variable.name()}")


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


def _between(entries: Array, low: Array, high: Array) -> Array:
    """The entries within their bounds, not at them: there a column would count for nothing."""
    size = np.abs(entries)
    up, down = np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 0.0)
    entries = np.where(np.isfinite(low), up + size, entries)
    entries = np.where(np.isfinite(high) & ~np.isfinite(low), down - size, entries)
    inside = up + (down - up) * (size / (1.0 + size))
    return np.where(np.isfinite(low) & np.isfinite(high), inside, entries)


# What was read of the objective, against the expressions as written.


class Crosscheck(ABC):
    """What is read and what is written, at one point or at several, row by row."""

    def __init__(
        self, posed: Any, values: dict[int, Array], written: AsWritten | None = None
    ) -> None:
        self.posed, self.reading, self.values = posed, posed.reading, values
        self.written = AsWritten(self.reading.walker, values) if written is None else written
        self.rounding: Any = 0.0

    def compare(self, constraints: bool = True) -> Any:
        """The objective as written, a number for each point; Declined where anything differs.

        ``constraints`` that were compared are not compared again, but for what became of them.
        """
        with np.errstate(all="ignore"):
            if constraints:
                compare_constraints(self.reading, self.written)
            compare_derived(self.reading, self.written)
            for term in self.reading.terms:
                if all(each.is_selection for each in term.affine.maps.values()):
                    self.same_argument(term)
            ours, size = self.parts()
            written = self.written.number(self.reading.problem.objective.args[0])
            self.rounding = self.rounding + ROUNDING * size
            require_same(ours, self.reading.sign * written, self.rounding, "the objective")
            return written

    @abstractmethod
    def parts(self) -> tuple[Any, Any]:
        """Compare part by part; the objective as read, and the size of its terms."""

    def argument(self, each: Term | LinearTerm) -> Array:
        """Of a term or a line, as it is written; what was derived, as it was read."""
        if each.source is None:
            return self.written.once("value", each, lambda: each.affine(self.values))
        return self.written.entries(each.source)

    def slack(self, each: Term | LinearTerm) -> Array:
        """What the argument may be off by."""
        return self.written.once("slack", each, lambda: ROUNDING * each.affine.terms(self.values))

    def single_entries(self, terms: list[Term], key: int) -> tuple[Array, Array]:
        """Squares of entries of a variable, and all lines, as they are written; and their sizes."""
        x = self.values[key]
        theirs, size = np.zeros_like(x), np.zeros_like(x)
        for term in terms:
            at, index = self.same_argument(term), term.affine.maps[key].index
            bound = np.abs(at) + self.slack(term) / ROUNDING + np.abs(term.affine.offset)
            for total, entries in ((theirs, at), (size, bound)):
                total += counted(index, term.weight * entries**2, x.shape[-1])
        for line in self.reading.linear:
            self.same_argument(line)
            pull = transposed(line.affine.maps[key], line.weight) * x
            theirs, size = theirs + pull, size + np.abs(pull)
        return theirs, size

    def same_argument(self, each: Term | LinearTerm) -> Array:
        """``argument``, compared with what was read."""
        theirs = self.argument(each)
        if each.source is not None:
            require_same(each.affine(self.values), theirs, self.slack(each), each.source)
        return theirs
