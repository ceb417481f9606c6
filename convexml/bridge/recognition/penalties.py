"""Terms whose map selects entries of a variable, as a penalty of the library."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ... import penalties
from ...numerics import Array
from ...penalties import Penalty
from .maps import LARGEST, Declined, named
from .terms import LinearTerm, NormBound, Reading, Term

FAR = 1e6
"""Where a penalty is asked whether it grows along a coefficient."""


@dataclass
class Entries:
    """What is said of each entry of one variable, or of all: l1 |v|, (l2/2) v^2, bounds, groups."""

    l1: Array
    l2: Array
    slope: Array
    lower: Array
    upper: Array
    groups: list[tuple[Array, float]] = field(default_factory=list)

    @classmethod
    def nothing(cls, size: int) -> Entries:
        """No penalty on so many entries."""
        free = np.full(size, np.inf)
        return cls(np.zeros(size), np.zeros(size), np.zeros(size), -free, free)

    @property
    def touched(self) -> Array:
        """Which entries anything is said of."""
        found = (self.l1 != 0.0) | (self.l2 != 0.0) | (self.slope != 0.0)
        found |= np.isfinite(self.lower) | np.isfinite(self.upper)
        for index, _ in self.groups:
            found[index] = True
        return found


def is_penalty(term: Term) -> bool:
    """Whether a term is of scaled, distinct entries of one variable, and not shifted."""
    if term.kind not in ("square", "abs", "norm") or len(term.affine.maps) != 1:
        return False
    (each,) = term.affine.maps.values()
    if not each.is_selection or term.affine.offset.any():
        return False
    if not (np.all(each.scale) if term.kind == "norm" else np.any(each.scale)):
        return False
    return bool(each.columns is None or np.unique(each.columns).size == each.rows)


def collect(reading: Reading, terms: list[Term], linear: list[LinearTerm]) -> dict[int, Entries]:
    """The penalties of each variable, by its id."""
    found = {key: Entries.nothing(each.size) for key, each in reading.variables.items()}
    for term in terms:
        ((key, each),) = term.affine.maps.items()
        size = np.abs(each.scales)
        if term.kind == "abs":
            found[key].l1 += np.bincount(each.index, term.weight * size, each.width)
        elif term.kind == "square":
            found[key].l2 += np.bincount(each.index, 2.0 * term.weight * size**2, each.width)
        else:
            assert term.groups is not None
            for number, weight in enumerate(term.weight):
                here = term.groups == number
                if weight == 0.0:
                    continue
                if not (size[here] == size[here][0]).all():
                    raise Declined(f"{named(term.said)} weighs the entries of a group apart")
                found[key].groups.append((each.index[here], float(weight * size[here][0])))
    for one in linear:
        for key, each in one.affine.maps.items():
            if not each.is_selection:
                raise Declined(f"{named(one.source)} is linear and belongs to no loss")
            found[key].slope += np.bincount(each.index, one.weight * each.scales, each.width)
    for key in found:
        if key in reading.lower:
            found[key].lower = np.maximum(found[key].lower, reading.lower[key])
        if key in reading.upper:
            found[key].upper = np.minimum(found[key].upper, reading.upper[key])
    return found


def joined(parts: list[tuple[Entries, Array]], size: int) -> Entries:
    """The entries of several variables in the columns that they have."""
    whole = Entries.nothing(size)
    for part, columns in parts:
        for name in ("l1", "l2", "slope", "lower", "upper"):
            getattr(whole, name)[columns] = getattr(part, name)
        whole.groups += [(columns[index], weight) for index, weight in part.groups]
    return whole


def penalty_of(entries: Entries) -> Penalty:
    """The penalty of the library that says this.

    Raises
    ------
    Declined
        If there is none.
    """
    l1, l2, slope = entries.l1, entries.l2, entries.slope
    bounded = np.isfinite(entries.lower).any() or np.isfinite(entries.upper).any()
    if bounded:
        return _bounded(entries)
    if slope.any():
        raise Declined("some coefficients count linearly, without a bound")
    if entries.groups:
        return _grouped(entries)
    if not l1.any():
        if not l2.any():
            return penalties.Zero()
        return penalties.L2(*level_of(l2))
    if not l2.any():
        return penalties.L1(*level_of(l1))
    if not (_even(l1) and _even(l2)):
        raise Declined("an elastic net that weighs the coefficients apart")
    lam = float(l1[0] + l2[0])
    return penalties.ElasticNet(lam, float(l1[0]) / lam)


def ball_of(balls: list[NormBound], keys: list[int], entries: Entries) -> Penalty:
    """A ball of all coefficients of which nothing else is said."""
    if keys != [each.key for each in balls] or entries.touched.any():
        raise Declined("a ball together with another set or penalty")
    order = penalties.L1Ball if balls[0].order == 1 else penalties.L2Ball
    return order(balls[0].radius)


def _bounded(entries: Entries) -> Penalty:
    l1, l2, lower, upper = entries.l1, entries.l2, entries.lower, entries.upper
    rising = l1 + entries.slope  # |v| = v where v >= 0
    plain = not (l1.any() or l2.any() or entries.slope.any() or entries.groups)
    if plain and (lower == 0.0).all() and np.isinf(upper).all():
        return penalties.Nonnegative()
    if plain:
        return penalties.Box(lower, upper)
    nonnegative = (lower == 0.0).all() and np.isinf(upper).all() and not entries.groups
    if not nonnegative or not (_even(rising) and _even(l2)) or rising[0] < 0.0:
        raise Declined("bounds together with a penalty that has none in the library")
    lam = float(rising[0] + l2[0])
    if lam == 0.0:
        return penalties.Nonnegative()
    return penalties.NonnegativeElasticNet(lam, float(rising[0]) / lam)


def _grouped(entries: Entries) -> Penalty:
    """Groups, single entries being groups of one."""
    if entries.l2.any():
        raise Declined("groups together with squares")
    numbers = np.full(entries.l1.size, -1)
    weights: list[float] = []
    for index, weight in entries.groups:
        if (numbers[index] >= 0).any():
            raise Declined("groups that overlap")
        numbers[index] = len(weights)
        weights.append(weight)
    if entries.l1[numbers >= 0].any():
        raise Declined("groups together with sizes of their entries")
    for j in np.flatnonzero(numbers < 0):
        numbers[j] = len(weights)
        weights.append(float(entries.l1[j]))
    return penalties.GroupL2(1.0, numbers, np.array(weights))


def level_of(values: Array) -> tuple[float, Any]:
    """lam and the weights; None where they are equal."""
    return (float(values[0]), None) if _even(values) else (1.0, values)


def _even(values: Array) -> bool:
    return bool((values == values[0]).all())


def is_coercive(penalty: Penalty, d: int) -> bool:
    """Whether every coefficient is held: the penalty grows along it both ways."""
    if d * d > LARGEST:
        return False
    ends = FAR * np.eye(d)
    return all(penalty.value(end) > 0.0 and penalty.value(-end) > 0.0 for end in ends)
