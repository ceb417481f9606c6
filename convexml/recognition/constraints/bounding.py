"""The rows that bound a slack from below, entry by entry: lines, a floor, convex terms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...numerics import Array
from ..reading.affine import Affine
from ..reading.terms import Reading, Term
from .rows import ConstraintRows, worth


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
