"""The trend filter that was read, in its own units and in those of the problem."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy import sparse

from ...errors import InputError
from ...models.shape.trend_filter import TrendFilter
from ...numerics import EPS, Array, gamma
from ..constraints.reading import eliminate
from ..constraints.rows import brief
from ..posing.rows import NEAR
from ..reading.declined import Declined, named
from ..reading.maps import transposed
from ..reading.matrices import LOOKED_AT
from ..reading.terms import Reading, Term
from .differences import Differences, read_differences


@dataclass(frozen=True)
class SquaredDistances:
    """sum c (x - y)^2 + over, entry by entry.

    Attributes
    ----------
    curvature, signal, over : arrays
        c, which may differ by rounding; y; and what is left.
    moved : array
        What the entries of y may be off by.
    lost : float
        What it may be off by besides, where squares and lines were added up.
    """

    curvature: Array
    signal: Array
    over: Array
    moved: Array
    lost: float = 0.0


@dataclass
class PosedTrend:
    """c sum (x - y)^2 + g sum abs(A x) + ``constant``: ``factor`` = 2 n c times a trend filter.

    Attributes
    ----------
    reading : Reading
        What it comes from.
    key : int
        The variable x.
    squares : list of Term
        Of single entries of x.
    differences : Differences
        The rows of A x, by the terms that they stand in.
    problem : TrendFilter
        Of y and lam = g / factor.
    distances : SquaredDistances
        Where c, y and parts of ``constant`` come from; the rest of it is ``level``.
    """

    reading: Reading
    key: int
    squares: list[Term]
    differences: Differences
    problem: TrendFilter
    factor: float
    distances: SquaredDistances
    level: float

    def of(self, reading: Reading) -> PosedTrend:
        """The same of another reading that says the same."""
        return replace(self, reading=reading)

    @property
    def constant(self) -> float:
        """Numbers that do not hang on x."""
        return float(self.distances.over.sum()) + self.level

    @property
    def signal(self) -> Array:
        """The entries of y."""
        return self.problem.program.y

    def values(self, w: Array) -> dict[int, Array]:
        """The entries of each variable where x is w."""
        return self.reading.complete({self.key: np.array(w)})

    def price(self, value: float) -> float:
        """What the numbers that were read change of a minimum that is at most ``value``.

        There |x - y| <= sqrt(value / c). The weights differ by a share of the value, a coefficient
        of a difference by so much times an entry of x, and y by its rounding.
        """
        c, level = self.distances.curvature, self.differences.level
        least, y, moved = float(c.min()), np.abs(self.signal), self.distances.moved
        share = 8.0 * EPS + float(np.ptp(c)) / least
        share += float(np.ptp(level)) / float(level.max()) if level.any() else 0.0
        value, off = max(value, 0.0), float(np.linalg.norm(moved))
        reach = float(np.sqrt(value / least))
        lost = sum(each.off for each in self.differences.rows) @ (y + reach)
        lost += 2.0 * c.max() * (reach + off) * off + self.distances.lost
        return float(share * value + lost)


def pose_trend(reading: Reading) -> PosedTrend | None:
    """The trend filter that was read; None where it has not the shape of one.

    Raises
    ------
    Declined
        Where it has the shape, and is none, or not surely.
    """
    if not _may_be_one(reading):
        return None
    left = eliminate(reading)
    squares, sizes = _parts(reading)
    if not sizes:
        return None
    if left:
        raise Declined(f"the constraint {brief(left[0].constraint)} on a trend filter")
    ((key, variable),) = reading.remaining.items()
    for bounds in (reading.lower, reading.upper):
        if bounds:
            raise Declined(f"{variable.name()} has bounds, which a trend filter has not")
    differences = read_differences(sizes, key, variable.size)
    distances = _distances(reading, squares, key, variable.size)
    y = distances.signal
    factor = 2.0 * y.size * float(distances.curvature[0])
    try:
        problem = TrendFilter(y, float(differences.level[0]) / factor, differences.times - 1)
    except InputError as error:
        raise Declined(str(error)) from None
    level = reading.constant + sum(float(e.weight @ e.affine.offset) for e in reading.linear)
    return PosedTrend(reading, key, squares, differences, problem, factor, distances, level)


def looks_like_a_trend(reading: Reading) -> bool:
    """Whether it is written as one, before any constraint is read: distances, and differences."""
    sizes = [each for each in reading.terms if each.kind == "abs"]
    return any(map(_selects, reading.terms)) and any(map(_has_short_rows, sizes))


def _has_short_rows(term: Term) -> bool:
    """Whether the first row of a size is of a few entries of one variable."""
    maps = list(term.affine.maps.values())
    if len(maps) != 1 or maps[0].is_selection or not maps[0].rows:
        return False
    matrix = maps[0].matrix
    is_sparse = sparse.issparse(matrix)
    entries = sparse.csr_array(matrix).indptr[1] if is_sparse else np.count_nonzero(matrix[0])
    return bool(1 < entries <= LOOKED_AT)


def _may_be_one(reading: Reading) -> bool:
    """Whether there are squares of single entries, not about 0 alone."""
    more = bool(reading.linear or reading.constraints)
    return any(_selects(each) and (more or each.affine.offset.any()) for each in reading.terms)


def _selects(term: Term) -> bool:
    return term.kind == "square" and len(term.affine.maps) == 1 and _chooses(term)


def _parts(reading: Reading) -> tuple[list[Term], list[Term]]:
    """Squares of entries, and sizes, of one variable; none where there are others."""
    squares = [each for each in reading.terms if _selects(each)]
    sizes = [each for each in reading.terms if each.kind == "abs"]
    others = [each for each in reading.terms if not (_selects(each) or each.kind == "abs")]
    if len(reading.remaining) != 1 or not squares or all(_chooses(each) for each in sizes):
        return squares, []
    if others:
        raise Declined(f"{named(others[0].said)} beside a trend filter")
    return squares, sizes


def _chooses(term: Term) -> bool:
    return all(each.is_selection for each in term.affine.maps.values())


def _distances(reading: Reading, squares: list[Term], key: int, n: int) -> SquaredDistances:
    """The squares and lines of each entry, added up."""
    count, c, slope, slopes, over, y = np.zeros((6, n))
    for term in squares:
        each, weight, offset = term.affine.maps[key], term.weight, term.affine.offset
        used = (weight > 0.0) & (each.scales != 0.0)
        index, scale, weight, offset = (
            part[used] for part in (each.index, each.scales, weight, offset)
        )
        count += np.bincount(index, minlength=n)
        c += np.bincount(index, weight * scale**2, n)
        slope += np.bincount(index, 2.0 * weight * scale * offset, n)
        slopes += np.bincount(index, 2.0 * weight * np.abs(scale * offset), n)
        over += np.bincount(index, weight * offset**2, n)
        y[index] = -offset / scale
    said, lines = squares[0].said, lines_of(reading, key, n)
    if not count.all():
        raise Declined(f"{named(said)} is not of all entries")
    if not (np.abs(c - c[0]) <= NEAR * c[0]).all():
        raise Declined(f"{named(said)} counts some entries more than others")
    if (count == 1).all() and not lines.any():
        return SquaredDistances(c, y, np.zeros(n), EPS * np.abs(y))
    sums = slopes + np.abs(lines)
    y, rounding = -(slope + lines) / (2.0 * c), gamma(int(count.max()) + len(reading.linear) + 8)
    lost = rounding * float((over + 4.0 * c * y**2 + 2.0 * sums * np.abs(y)).sum())
    return SquaredDistances(c, y, over - c * y**2, rounding * sums / c, lost)


def lines_of(reading: Reading, key: int, n: int) -> Array:
    """What all lines count of each entry of a variable."""
    found = np.zeros(n)
    for line in reading.linear:
        found += transposed(line.affine.maps[key], line.weight)
    return found
