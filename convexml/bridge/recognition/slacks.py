"""Variables that cost and are bounded from below alone: each is its largest bound.

Let t stand in the objective, or in one convex constraint of one row, with a coefficient C > 0 and
nowhere else but in rows l_j(x) - c_j t <= 0, c_j > 0. For every x the least that t may be is the
best, t = max_j l_j(x) / c_j, so that what is minimised over x alone is C max_j l_j(x) / c_j: the
slack is the loss. Where C t^2 is paid instead, t = max(0, max_j l_j / c_j). What else is said of t
(a second cost, an upper bound, an equation) leaves it where it is, and the problem is declined.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...numerics import Array
from .affine import Affine
from .constraints import ConstraintRows, worth
from .losses import NEAR
from .maps import Declined, LinearMap, transposed
from .terms import LinearTerm, Reading, Term

# The rows that bound a slack from below, entry by entry: lines, a floor, convex terms.


@dataclass
class Bounds:
    """t >= max(lines, floor), or t >= rest + convex terms, for each entry of t.

    Attributes
    ----------
    rows : list of ConstraintRows
        Where they come from, the attribute of the variable not among them.
    place, factor : list of arrays
        The entry of each row, and what the row is divided by.
    floor : array
        The largest constant bound, -inf where there is none.
    source : array of int
        The constraint that it comes from, -1 for the attribute.
    lines : list of Affine
        No, one or two affine bounds of all entries.
    origin : list of (constraint, row) arrays
        Where the entries of each line come from.
    convex : list of (constraint, term, places)
        Convex terms, at ``places`` of t, divided by the factor.
    rest : Affine
        What is added to them.
    """

    rows: list[ConstraintRows]
    place: list[Array]
    factor: list[Array]
    floor: Array
    source: Array
    lines: list[Affine]
    origin: list[tuple[Array, Array]]
    convex: list[tuple[int, Term, Array]]
    rest: Affine

    @property
    def said(self) -> Any:
        """The first bound that varies, for messages."""
        number = self.convex[0][0] if self.convex else int(self.origin[0][0][0])
        return self.rows[number].constraint

    def value(self, values: dict[int, Array]) -> Array:
        """The largest bound of each entry."""
        total = self.floor
        for line in self.lines:
            total = np.maximum(total, line(values))
        if self.convex:
            found = self.rest(values)
            for number, term, places in self.convex:
                found[..., places] += self.rows[number].counted(worth(term, term.affine(values)))
            total = np.maximum(total, found)
        return total

    def share(self, shares: list[Array], rest: Array) -> None:
        """Give the rows multipliers: of the lines, entry by entry, and of the floor."""
        found = [np.zeros(each.size) for each in self.rows]
        if self.convex:
            for number in {number for number, _, _ in self.convex}:
                found[number] = shares[0][self.place[number]] / self.factor[number]
        for (numbers, rows), share in zip(self.origin, shares, strict=False):
            for number in np.unique(numbers):
                here = numbers == number
                found[number][rows[here]] = share[here] / self.factor[number][rows[here]]
        for number, places in enumerate(self.place):
            if (self.source == number).any() and not self.rows[number].terms:
                first = np.zeros(places.size, dtype=bool)
                entries, rows = np.unique(places, return_index=True)
                first[rows[self.source[entries] == number]] = True
                found[number] = np.where(first, rest[places] / self.factor[number], found[number])
        for each, multiplier in zip(self.rows, found, strict=True):
            each.multiplier = multiplier


def lower_bounds(reading: Reading, rows: list[ConstraintRows], key: int) -> Bounds | None:
    """The bounds of a variable from below; None where they are not of a form that is known."""
    size = reading.variables[key].size
    floor, source = np.full(size, -np.inf), np.full(size, -1)
    if key in reading.lower:
        floor = np.array(reading.lower[key])
    place, factor, rests = [], [], []
    varying, convex = [], []
    for number, each in enumerate(rows):
        own = each.affine.maps[key]
        index, c = own.index, -own.scales
        rest = each.without(key)
        rest = rest if (c == 1.0).all() else rest.scaled(1.0 / c)
        place.append(index)
        factor.append(c)
        rests.append(rest)
        if each.terms:
            convex.append(number)
        elif rest.maps:
            varying.append(number)
        else:
            entries, first = np.unique(index, return_index=True)
            if entries.size < index.size:
                return None
            higher = rest.offset[first] > floor[entries]
            floor[entries[higher]] = rest.offset[first][higher]
            source[entries[higher]] = number
    empty = Affine(size, {}, np.zeros(size))
    known = Bounds(rows, place, factor, floor, source, [], [], [], empty)
    if convex and not varying:
        return _convex(reading, known, rests, convex)
    if varying and not convex:
        return _lines(reading, known, rests, varying)
    return None


def _convex(
    reading: Reading, known: Bounds, rests: list[Affine], convex: list[int]
) -> Bounds | None:
    places = np.concatenate([known.place[number] for number in convex])
    if places.size != known.floor.size or np.unique(places).size != places.size:
        return None
    for number in convex:
        factor = known.factor[number]
        for term in known.rows[number].terms:
            weight = term.weight / (factor if factor.size == term.weight.size else factor[0])
            known.convex.append((number, replace(term, weight=weight), known.place[number]))
    known.rest = gathered(reading, [rests[number] for number in convex], np.argsort(places))
    return known


def _lines(
    reading: Reading, known: Bounds, rests: list[Affine], varying: list[int]
) -> Bounds | None:
    size = known.floor.size
    places = np.concatenate([known.place[number] for number in varying])
    numbers = np.repeat(varying, [known.place[number].size for number in varying])
    rows = np.concatenate([np.arange(known.place[number].size) for number in varying])
    counts = np.bincount(places, minlength=size)
    if not (counts == counts[0]).all() or counts[0] not in (1, 2):
        return None
    order = np.argsort(places, kind="stable").reshape(size, counts[0])
    for j in range(counts[0]):
        chosen = order[:, j]
        used = np.unique(numbers[chosen])
        if used.size == 1:
            line = rests[used[0]].taken(rows[chosen])
        else:
            line = gathered(reading, [rests[number] for number in varying], chosen)
        known.lines.append(line)
        known.origin.append((numbers[chosen], rows[chosen]))
    return known


def gathered(reading: Reading, parts: list[Affine], order: Array) -> Affine:
    """Rows of several expressions in an order."""
    if len(parts) == 1:
        return parts[0].taken(order)
    return reading.walker.gathered(parts, order + 1, order.size)


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
    over : array
        What its attribute has, once it is known.
    """

    key: int
    cost: Array
    squares: list[Term]
    owner: ConstraintRows | None
    bounds: Bounds
    terms: dict[str, Term] = field(default_factory=dict)
    over: Any = None

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
        rest = np.zeros_like(cost)
        if bounds.convex:
            shares = [cost]
        elif "size" in slope:  # of (l_1 - l_2) / 2
            pull = slope["size"]
            first = np.maximum(pull, 0.0) if self.squares else (cost + pull) / 2.0
            shares = [first, np.maximum(-pull, 0.0) if self.squares else cost - first]
        else:
            shares = [slope[role] for role in ("first", "second") if role in slope]
            if not self.squares:
                rest = np.maximum(cost - sum(shares), 0.0)
            if len(bounds.lines) > len(shares):
                shares, rest = [*shares, rest], np.zeros_like(cost)
        bounds.share(shares, rest)
        self.over = np.where(bounds.source < 0, -rest, 0.0)

    # -- what it becomes ----------------------------------------------------------------------

    def lower(self, reading: Reading) -> None:
        """Put its bounds in the place of the slack."""
        bounds = self.bounds
        if bounds.convex:
            return self._convex(reading)
        lines, floor = bounds.lines, bounds.floor
        if len(lines) == 1:
            if self.squares:
                if (np.isfinite(floor) & (floor != 0.0)).any():
                    raise Declined("a squared slack with a bound that is not 0")
                return self._emit(reading, "first", "squared ramp", lines[0])
            if not np.isfinite(floor).all():
                if np.isfinite(floor).any():
                    raise Declined("some slacks have a bound and others have none")
                return self._line(reading, lines[0])
            self._number(reading, floor)
            return self._emit(reading, "first", "ramp", lines[0] + Affine(floor.size, {}, -floor))
        one, two = lines
        return self._two(reading, one, two, floor)

    def _convex(self, reading: Reading) -> None:
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
            counted = self.cost[places]  # as often as the entries at these places cost
            counted = counted if counted.size == term.weight.size else counted[0]
            self._add(reading, f"convex {number}", replace(term, weight=term.weight * counted))
        if plain:
            self._number(reading, bounds.rest.offset)
        else:
            self._line(reading, bounds.rest)

    def _two(self, reading: Reading, one: Affine, two: Affine, floor: Array) -> None:
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
                    return self._emit(reading, "size", kind, size, level=width)
                raise Declined("squared slacks with two bounds that are no tube")
            if not (bounded & (floor > level)).any():
                self._number(reading, level)
                return self._emit(reading, "size", "abs", size)
            if bounded.all() and (floor >= level).all():
                base = Affine(one.size, {}, -floor)
                self._number(reading, floor)
                self._emit(reading, "first", "ramp", one + base)
                return self._emit(reading, "second", "ramp", two + base)
        if self.squares or bounded.any():
            raise Declined("a slack with two bounds that are no tube")
        self._line(reading, two)
        return self._emit(reading, "first", "ramp", one + two.scaled(-1.0))

    # -- where that goes: the objective, or the constraint in which it counts ------------------

    def _emit(
        self, reading: Reading, role: str, kind: str, affine: Affine, level: float = 0.0
    ) -> None:
        """Add cost . f(affine)."""
        self._add(reading, role, Term(kind, self.cost, affine, None, self.bounds.said, level))

    def _add(self, reading: Reading, role: str, term: Term) -> None:
        self.terms[role] = term
        (reading if self.owner is None else self.owner).terms.append(term)

    def _line(self, reading: Reading, affine: Affine) -> None:
        """Add cost . affine."""
        if self.owner is not None:
            raise Declined("a slack of a constraint is bounded by a line")
        reading.linear.append(LinearTerm(self.cost, affine, None))

    def _number(self, reading: Reading, entries: Array) -> None:
        """Add cost . entries."""
        total = float(self.cost @ entries)
        if self.owner is None:
            reading.constant += total
        else:
            self.owner.affine = self.owner.affine + Affine(1, {}, np.array([total]))


# Who is a slack: a variable that costs, and is bounded from below, and has no other use.


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
    found = transposed(each, np.ones(1))
    return found if (found > 0.0).all() else None
