"""Variables that cost and are bounded from below alone: each is its largest bound.

Let t stand in the objective, or in one convex constraint of one row, with a coefficient C > 0 and
nowhere else but in rows l_j(x) - c_j t <= 0, c_j > 0. For every x the least that t may be is the
best, t = max_j l_j(x) / c_j, so that what is minimised over x alone is C max_j l_j(x) / c_j: the
slack is the loss. Where C t^2 is paid instead, t = max(0, max_j l_j / c_j). What else is said of t
(a second cost, an upper bound, an equation) leaves it where it is, and the problem is declined.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ...numerics import Array
from ..posing.rows import NEAR
from ..reading.affine import Affine
from ..reading.declined import Declined
from ..reading.terms import LinearTerm, Reading, Term
from .bounding import Bounds
from .rows import ConstraintRows

NONNEGATIVE = ("square", "abs", "ramp", "squared ramp", "huber", "tube", "squared tube", "logistic")


@dataclass
class Slack:
    """The variable ``key``, with what it costs; eliminated, it is ``terms``.

    Attributes
    ----------
    cost : array
        C of each entry; for ``squares`` of its square.
    owner : ConstraintRows or None
        The constraint in which it counts; None for the objective.
    bounds : Bounds
        The rows that bound it from below.
    terms : dict
        What it became, by role.
    """

    key: int
    cost: Array
    squares: list[Term]
    owner: ConstraintRows | None
    bounds: Bounds
    terms: dict[str, Term] = field(default_factory=dict)

    def value(self, values: dict[int, Array]) -> Array:
        """The entries of the variable: its largest bound."""
        total = self.bounds.value(values)
        return np.maximum(total, 0.0) if self.squares else total

    def set_multipliers(self, slopes: dict[int, Array]) -> None:
        """Give the rows their multipliers; ``slopes`` are derivatives of terms, by their id."""
        cost = self.cost
        if self.owner is not None:
            assert self.owner.multiplier is not None
            cost = cost * self.owner.multiplier
        bounds, slope = self.bounds, {role: slopes[id(each)] for role, each in self.terms.items()}
        if bounds.convex:
            return bounds.share([cost], np.zeros_like(cost))
        if "size" in slope:  # of (l_1 - l_2) / 2
            if self.squares:
                shares = [np.maximum(slope["size"], 0.0), np.maximum(-slope["size"], 0.0)]
                return bounds.share(shares, np.zeros_like(cost))
            first = (cost + slope["size"]) / 2.0
            return bounds.share([first, cost - first], np.zeros_like(cost))
        shares = [slope[role] for role in ("first", "second") if role in slope]
        if self.squares:
            return bounds.share(shares, np.zeros_like(cost))
        rest = np.maximum(cost - sum(shares), 0.0)
        if len(bounds.lines) > len(shares):
            return bounds.share([*shares, rest], np.zeros_like(cost))
        return bounds.share(shares, rest)

    # -- what it becomes ----------------------------------------------------------------------

    def lower(self, reading: Reading) -> None:
        """Put its bounds in the place of the slack."""
        bounds, target = self.bounds, Target(self, reading)
        if bounds.convex:
            return self._convex(target)
        lines, floor = bounds.lines, bounds.floor
        if len(lines) == 1:
            if self.squares:
                if (np.isfinite(floor) & (floor != 0.0)).any():
                    raise Declined("a squared slack with a bound that is not 0")
                return target.emit("first", "squared ramp", lines[0])
            if not np.isfinite(floor).all():
                if np.isfinite(floor).any():
                    raise Declined("some slacks have a bound and others have none")
                return target.line(lines[0])
            target.number(floor)
            return target.emit("first", "ramp", lines[0] + Affine(floor.size, {}, -floor))
        one, two = lines
        return self._two(target, one, two, floor)

    def _convex(self, target: Target) -> None:
        bounds = self.bounds
        if self.squares:
            raise Declined("a squared slack with a convex bound")
        known = all(t.kind in (*NONNEGATIVE, "norm", "exp") for _, t, _ in bounds.convex)
        plain = not bounds.rest.maps
        if np.isfinite(bounds.floor).any() and not (
            known and plain and (bounds.floor <= bounds.rest.offset).all()
        ):
            raise Declined("a slack with a convex bound and a floor")
        for number, term, places in bounds.convex:
            target.term(f"convex {number}", term, places)
        if plain:
            target.number(bounds.rest.offset)
        else:
            target.line(bounds.rest)

    def _two(self, target: Target, one: Affine, two: Affine, floor: Array) -> None:
        both, bounded = one + two, np.isfinite(floor)
        level, near = both.offset / 2.0, NEAR * (np.abs(one.offset) + np.abs(two.offset))
        if all(not np.any(each.scale) for each in both.maps.values()):
            # max(r, -r) + level, with r = (l_1 - l_2) / 2 = l_1 - level
            level = np.where(np.abs(level - floor) <= near, floor, level)
            level = np.where(np.abs(level) <= near, 0.0, level)
            size = one + Affine(one.size, {}, -level)
            width = -float(np.median(level))
            if self.squares:
                even = (np.abs(level + width) <= near).all() and not (
                    bounded & (floor != 0.0)
                ).any()
                if even and width >= 0.0:
                    kind = "squared tube" if width > 0.0 else "square"
                    return target.emit("size", kind, size, level=width)
                raise Declined("squared slacks with two bounds that are no tube")
            if not (bounded & (floor > level)).any():
                target.number(level)
                return target.emit("size", "abs", size)
            if bounded.all() and (floor >= level).all():
                base = Affine(one.size, {}, -floor)
                target.number(floor)
                target.emit("first", "ramp", one + base)
                return target.emit("second", "ramp", two + base)
        if self.squares or bounded.any():
            raise Declined("a slack with two bounds that are no tube")
        target.line(two)
        return target.emit("first", "ramp", one + two.scaled(-1.0))


@dataclass
class Target:
    """Where the terms of a slack go: the objective, or the constraint in which it counts."""

    slack: Slack
    reading: Reading

    def emit(self, role: str, kind: str, affine: Affine, level: float = 0.0) -> None:
        """Add cost . f(affine)."""
        said = self.slack.bounds.said
        term = Term(kind, self.slack.cost, affine, None, said, level)
        self._add(role, term)

    def term(self, role: str, term: Term, places: Array) -> None:
        """Add a term of a bound, as often as the entries at ``places`` cost."""
        counted = self.slack.cost[places]
        weight = term.weight * (counted if counted.size == term.weight.size else counted[0])
        more = Term(term.kind, weight, term.affine, term.source, term.said, term.level, term.groups)
        self._add(role, more)

    def _add(self, role: str, term: Term) -> None:
        self.slack.terms[role] = term
        owner = self.slack.owner
        (self.reading if owner is None else owner).terms.append(term)

    def line(self, affine: Affine) -> None:
        """Add cost . affine."""
        if self.slack.owner is not None:
            raise Declined("a slack of a constraint is bounded by a line")
        self.reading.linear.append(LinearTerm(self.slack.cost, affine, None))

    def number(self, entries: Array) -> None:
        """Add cost . entries."""
        total = float(self.slack.cost @ entries)
        owner = self.slack.owner
        if owner is None:
            self.reading.constant += total
        else:
            owner.affine = owner.affine + Affine(1, {}, np.array([total]))
