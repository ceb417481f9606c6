"""What was read of a dual against what CVXPY computes from the expressions as written."""

from __future__ import annotations

import numpy as np

from ...numerics import Array
from ..comparing import ROUNDING, compare_constraints, ends_as_written, rounding, same_ends
from ..comparing import as_written as side_of
from ..constraints.rows import ConstraintRows, brief
from ..reading.declined import Declined, named
from ..reading.evaluating import AsWritten
from .facets import Facets
from .posing import PosedDual


def verify_dual(posed: PosedDual, points: list[dict[int, Array]]) -> None:
    """Compare at points of several sizes.

    Raises
    ------
    Declined
        If anything differs.
    """
    _bounds(posed)
    _every_row_counts(posed)
    for values in points:
        DualCrosscheck(posed, values).compare()


def _bounds(posed: PosedDual) -> None:
    """The domain of F* against attributes and constraints, entry by entry."""
    program, tau = posed.program, posed.samples.tau
    variable = posed.reading.variables[program.key]
    ends = np.array(posed.problem.sample_parts.dual_bounds()) / tau
    theirs = ends_as_written(variable, program.bounds)
    with np.errstate(invalid="ignore"):  # inf - inf
        same_ends(variable, (ends.min(axis=0), ends.max(axis=0)), theirs)


def _every_row_counts(posed: PosedDual) -> None:
    """Each constraint is a bound, the equation, or bounds features; each feature on both sides."""
    program = posed.program
    used = [each.rows for each in program.bounds]
    used += [each.rows for block in program.blocks for each in block.facets]
    used += [] if program.equality is None else [program.equality[0]]
    for rows in posed.reading.written:
        if sum(each.constraint is rows.constraint for each in used) != 1:
            raise Declined(f"the constraint {brief(rows.constraint)} was not read")
    for block in program.blocks:
        sides = np.zeros((2, block.map.rows), dtype=int)
        for each in block.facets:
            sides += np.array([each.above, each.below], dtype=int)
        if not (sides == 1).all():
            raise Declined("a feature is not bounded from both sides")


class DualCrosscheck:
    """What is read and what is written, at one point."""

    def __init__(self, posed: PosedDual, values: dict[int, Array]) -> None:
        self.posed, self.values = posed, values
        self.written = AsWritten(posed.reading.walker, values)
        self.entries = values[posed.program.key]
        self.u = posed.samples.tau * self.entries
        self.pull = posed.pull(self.u)
        self.rounding = 0.0

    def compare(self) -> float:
        """The objective as written; Declined where anything differs."""
        reading = self.posed.reading
        compare_constraints(reading, self.written)
        for each in (*reading.terms, *reading.linear):
            self._same_argument(each)
        self._equality()
        self._facets()
        return self._whole(self._own(), self._outer())

    def _same_argument(self, each: object) -> None:
        source, affine = each.source, each.affine  # type: ignore[attr-defined]
        if source is None:
            raise Declined("an expression of a dual was derived")
        theirs, terms = self.written.entries(source), affine.terms(self.values)
        ours = affine(self.values)
        if ours.shape != theirs.shape or not (np.abs(ours - theirs) <= ROUNDING * terms).all():
            raise Declined(f"{named(source)} is not what was read")

    def _equality(self) -> None:
        """The equation as written is a multiple of 1'u."""
        if (self.posed.program.equality is None) == self.posed.problem.sample_parts.fit_intercept:
            raise Declined("an intercept without an equation")
        if self.posed.program.equality is not None:
            rows, _ = self.posed.program.equality
            share = self.posed.samples.share
            size = abs(share) * float(np.abs(self.u).sum())
            ours = np.array([share * float(self.u.sum())])
            self._same(rows, ours, size)

    def _facets(self) -> None:
        """The bounds of features as written, from X'u and the levels of the penalty."""
        program, start = self.posed.program, 0
        if not program.blocks:
            return
        penalty = self.posed.problem.objective_parts.penalty
        blocks = penalty.zero_blocks(self.pull.size)
        if blocks is None:
            raise Declined("a penalty without kinks")
        levels = blocks[1]
        for block in program.blocks:
            here = slice(start, start + block.map.rows)
            start = here.stop
            features = self.posed.samples.turn * self.pull[here]
            for each in block.facets:
                ours = each.value(features, levels[here])
                if each.kind == "largest":
                    self._largest(each, ours)
                else:
                    self._same(each.rows, ours, 0.0)
        if start != self.pull.size:
            raise Declined("a feature is of no constraint")

    def _largest(self, facets: Facets, ours: Array) -> None:
        """Feature by feature: of a largest size one alone would be seen."""
        rows, (term,) = facets.rows, facets.rows.terms
        theirs = term.weight * np.abs(self.written.entries(term.source)) + rows.affine.offset
        terms = term.weight * term.affine.terms(self.values) + np.abs(rows.affine.offset)
        if ours.shape != theirs.shape or not (np.abs(ours - theirs) <= ROUNDING * terms).all():
            raise Declined(f"the constraint {brief(rows.constraint)} is not what was read")

    def _same(self, rows: ConstraintRows, ours: Array, size: float) -> None:
        theirs = side_of(rows, self.written)
        slack = rounding(rows, self.written) + ROUNDING * size
        if ours.shape != theirs.shape or not (np.abs(ours - theirs) <= slack).all():
            raise Declined(f"the constraint {brief(rows.constraint)} is not what was read")

    def _own(self) -> float:
        """F*(u) and constants, entry by entry, against squares and lines as they are written."""
        posed, key, n = self.posed, self.posed.program.key, self.entries.size
        theirs, size = np.zeros(n), np.zeros(n)
        for term in posed.reading.terms:
            each = term.affine.maps[key]
            if term.kind == "square" and each.is_selection:
                at = term.weight * self.written.entries(term.source) ** 2
                theirs += np.bincount(each.index, at, n)
                off = term.weight * term.affine.terms(self.values) ** 2
                size += np.bincount(each.index, off, n)
        for line in posed.reading.linear:
            each = line.affine.maps[key]
            full = each.full().T @ line.weight if not each.is_selection else None
            if full is None:
                full = np.bincount(each.index, line.weight * each.scales, n)
            theirs += np.asarray(full).ravel() * self.entries
            size += np.abs(np.asarray(full).ravel() * self.entries)
        parts = posed.problem.sample_parts
        ours = parts.c * parts.loss.conjugate(parts.y, self.u / parts.c)
        size += np.abs(ours) + np.abs(posed.program.constant)
        if not (np.abs(ours + posed.program.constant - theirs) <= ROUNDING * size).all():
            raise Declined("the conjugate of the loss is not what is written of some entry")
        self.rounding += float(ROUNDING * size.sum())
        return float(ours.sum())

    def _outer(self) -> float:
        """Omega*(-X'u), feature by feature, against the squares as they are written."""
        outer = self.posed.program.outer
        if outer is None:
            return 0.0
        each, said = outer.affine.maps[self.posed.program.key], named(outer.said)
        if outer.kind == "form":
            Q = self.posed.reading.walker.constant(outer.said.args[1])
            inner = self.written.entries(outer.source)
            theirs = np.zeros(self.entries.size)
            theirs[each.index] = 2.0 * outer.weight[0] * each.scales * np.asarray(Q @ inner).ravel()
            ours = self.posed.samples.tau * self.pull
            size = np.abs(self.posed.samples.tau) * (np.abs(self.posed.X) @ np.abs(self.u))
            if not (np.abs(ours - theirs) <= ROUNDING * size).all():
                raise Declined(f"{said} is not what was read")
            self.rounding += float(ROUNDING * (size @ np.abs(self.entries)))
            return 0.5 * float(ours @ self.entries)
        theirs = self.written.entries(outer.source)
        off = ROUNDING * outer.affine.terms(self.values)
        if not (np.abs(self.posed.samples.turn * self.pull - theirs) <= off).all():
            raise Declined(f"{said} is not what was read")
        own = float(self.posed.problem.objective_parts.penalty.conjugate(-self.pull))
        worth = float(outer.weight @ theirs**2)
        near = 3.0 * float(outer.weight @ (off * (np.abs(theirs) + off))) + ROUNDING * abs(worth)
        if not abs(own - worth) <= near:
            raise Declined(f"{said} counts otherwise than it was read")
        self.rounding += near
        return own

    def _whole(self, own: float, outer: float) -> float:
        reading = self.posed.reading
        written = float(self.written.number(reading.problem.objective.args[0]))
        ours = own + outer + self.posed.constant
        self.rounding += ROUNDING * (abs(own) + abs(outer) + abs(self.posed.constant))
        if not abs(reading.sign * written - ours) <= self.rounding:
            raise Declined(f"the objective is {written:g} as written and {ours:g} as read")
        return written
