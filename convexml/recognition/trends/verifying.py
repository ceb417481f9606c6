"""What was read of a trend filter against what CVXPY computes from the expressions as written."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics import Array
from ..comparing import ROUNDING, compare_constraints, compare_derived, ends_of, same_ends
from ..points import SIZES, random_points
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
    variable = posed.reading.variables[posed.key]
    free = np.full(variable.size, np.inf)
    with np.errstate(invalid="ignore"):  # inf - inf
        same_ends(variable, (-free, free), ends_of(variable))
    for values in random_points(posed.reading, sizes, seed):
        if posed.reading.eliminated:
            compare_constraints(posed.reading, AsWritten(posed.reading.walker, values))
        TrendCrosscheck(posed, posed.reading.complete(values)).compare()


class TrendCrosscheck:
    """What is read and what is written, at one point."""

    def __init__(self, posed: PosedTrend, values: dict[int, Array]) -> None:
        self.posed, self.values, self.x = posed, values, values[posed.key]
        self.written = AsWritten(posed.reading.walker, values)
        self.rounding = 0.0

    def compare(self) -> float:
        """The objective as written; Declined where anything differs."""
        reading = self.posed.reading
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

    def _distances(self) -> float:
        """c (x - y)^2, entry by entry, against squares and lines as they are written."""
        posed, n, y = self.posed, self.x.size, self.posed.signal
        theirs, size = np.zeros(n), np.zeros(n)
        for term in posed.squares:
            at, off = self._argument(term)
            index = term.affine.maps[posed.key].index
            theirs += np.bincount(index, term.weight * at**2, n)
            bound = np.abs(at) + off / ROUNDING + np.abs(term.affine.offset)
            size += np.bincount(index, term.weight * bound**2, n)
        for line in posed.reading.linear:
            self._argument(line)
        lines = lines_of(posed.reading, posed.key, n) * self.x
        c = posed.factor / (2.0 * n)
        ours = c * (self.x - y) ** 2 + posed.distances.over
        size += np.abs(lines) + np.abs(posed.distances.over) + c * (np.abs(self.x) + np.abs(y)) ** 2
        if not (np.abs(ours - theirs - lines) <= ROUNDING * size).all():
            raise Declined("the distances from a signal are not what was read")
        self.rounding += ROUNDING * float(size.sum())
        return float(ours.sum())

    def _sizes(self) -> float:
        """lam abs(A x), difference by difference, against sizes as they are written."""
        posed, program = self.posed, self.posed.problem.program
        z = program.differences(self.x)
        theirs, off = np.zeros(z.size), np.zeros(z.size)
        for rows in posed.differences.rows:
            at, slack = self._argument(rows.term)
            weight = rows.term.weight
            if rows.times != posed.problem.order + 1:
                raise Declined(f"{named(rows.term.said)} is of another order than was read")
            theirs += np.bincount(rows.start, weight * np.abs(at), z.size)
            off += np.bincount(rows.start, weight * (slack + ROUNDING * np.abs(at)), z.size)
        ours = posed.factor * program.lam * np.abs(z)
        if not (np.abs(ours - theirs) <= off).all():
            raise Declined("the differences are not what was read")
        self.rounding += float(off.sum())
        return float(ours.sum())

    def _whole(self, ours: float) -> float:
        posed, reading = self.posed, self.posed.reading
        written = float(self.written.number(reading.problem.objective.args[0]))
        ours += posed.level
        self.rounding += ROUNDING * (abs(ours) + abs(posed.level))
        if not abs(reading.sign * written - ours) <= self.rounding:
            raise Declined(f"the objective is {written:g} as written and {ours:g} as read")
        return written
