"""What was read of a trend filter against what CVXPY computes from the expressions as written."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics import Array
from ..comparing import ROUNDING, compare_constraints, compare_derived, ends_of, same_ends
from ..points import SIZES, random_values
from ..reading.declined import Declined, named
from ..reading.evaluating import AsWritten
from .posing import PosedTrend, lines_of


def verify_trend(posed: PosedTrend, sizes: tuple[float, ...] = SIZES, seed: int = 0) -> None:
    """Compare at a random point of each size.

    Raises
    ------
    Declined
        If anything differs.
    """
    reading, variable = posed.reading, posed.reading.variables[posed.key]
    free = np.full(variable.size, np.inf)
    with np.errstate(invalid="ignore"):  # inf - inf
        same_ends(variable, (-free, free), ends_of(variable))
    values = random_values(reading, sizes, seed)
    written, eliminated = AsWritten(reading.walker, values), reading.eliminated
    if eliminated:  # at any entries of these first, then at those that they stand for
        compare_constraints(reading, written)
        values = reading.complete(dict(values))
        written = written.moved(values, {each.key for each in eliminated})
    TrendCrosscheck(posed, values, written).compare(not eliminated)


class TrendCrosscheck:
    """What is read and what is written, at one point or at several, row by row."""

    def __init__(
        self, posed: PosedTrend, values: dict[int, Array], written: AsWritten | None = None
    ) -> None:
        self.posed, self.values, self.x = posed, values, values[posed.key]
        self.written = AsWritten(posed.reading.walker, values) if written is None else written
        self.rounding: Any = 0.0

    def compare(self, constraints: bool = True) -> Any:
        """The objective as written, a number for each point; Declined where anything differs.

        ``constraints`` that were compared are not compared again, but for what became of them.
        """
        reading = self.posed.reading
        if constraints:
            compare_constraints(reading, self.written)
        compare_derived(reading, self.written)
        return self._whole(self._distances() + self._sizes())

    def _argument(self, each: Any) -> tuple[Array, Array]:
        """Of a term or a line: as it is written, if it is, and what it may be off by."""
        ours, off = each.affine(self.values), ROUNDING * each.affine.terms(self.values)
        if each.source is None:
            return ours, off
        theirs = self.written.entries(each.source)
        if ours.shape != theirs.shape or not (np.abs(ours - theirs) <= off).all():
            raise Declined(f"{named(each.source)} is not what was read")
        return theirs, off

    def _distances(self) -> Array:
        """c (x - y)^2, entry by entry, against squares and lines as they are written."""
        posed, n, y = self.posed, self.x.shape[-1], self.posed.signal
        theirs, size = np.zeros_like(self.x), np.zeros_like(self.x)
        for term in posed.squares:
            at, off = self._argument(term)
            index = term.affine.maps[posed.key].index
            theirs += _counted(index, term.weight * at**2, n)
            bound = np.abs(at) + off / ROUNDING + np.abs(term.affine.offset)
            size += _counted(index, term.weight * bound**2, n)
        for line in posed.reading.linear:
            self._argument(line)
        lines = lines_of(posed.reading, posed.key, n) * self.x
        c = posed.factor / (2.0 * n)
        ours = c * (self.x - y) ** 2 + posed.distances.over
        size += np.abs(lines) + np.abs(posed.distances.over) + c * (np.abs(self.x) + np.abs(y)) ** 2
        if not (np.abs(ours - theirs - lines) <= ROUNDING * size).all():
            raise Declined("the distances from a signal are not what was read")
        self.rounding = self.rounding + ROUNDING * size.sum(axis=-1)
        return np.asarray(ours.sum(axis=-1))

    def _sizes(self) -> Array:
        """lam abs(A x), difference by difference, against sizes as they are written."""
        posed, program = self.posed, self.posed.problem.program
        z = program.differences(self.x)
        theirs, off = np.zeros_like(z), np.zeros_like(z)
        for rows in posed.differences.rows:
            at, slack = self._argument(rows.term)
            weight = rows.term.weight
            if rows.times != posed.problem.order + 1:
                raise Declined(f"{named(rows.term.said)} is of another order than was read")
            theirs += _counted(rows.start, weight * np.abs(at), z.shape[-1])
            room = weight * (slack + ROUNDING * np.abs(at))
            off += _counted(rows.start, room, z.shape[-1])
        ours = posed.factor * program.lam * np.abs(z)
        if not (np.abs(ours - theirs) <= off).all():
            raise Declined("the differences are not what was read")
        self.rounding = self.rounding + off.sum(axis=-1)
        return np.asarray(ours.sum(axis=-1))

    def _whole(self, ours: Array) -> Any:
        posed, reading = self.posed, self.posed.reading
        written = self.written.number(reading.problem.objective.args[0])
        ours = ours + posed.level
        self.rounding = self.rounding + ROUNDING * (np.abs(ours) + abs(posed.level))
        agree = np.abs(reading.sign * written - ours) <= self.rounding
        if not agree.all():
            theirs, ours = (np.ravel(each)[np.argmin(agree)] for each in (written, ours))
            raise Declined(f"the objective is {theirs:g} as written and {ours:g} as read")
        return written


def _counted(index: Array, entries: Array, size: int) -> Array:
    """Entries added up at their places, point by point."""
    if entries.ndim == 1:
        return np.bincount(index, entries, size)
    return np.array([np.bincount(index, each, size) for each in entries])
