"""Trend filters: squared distances from a signal, and absolute differences of some order.

- Whether rows are differences of neighbours, and of which order.
- The signal, and the trend filter in its own units.
- What was read against what CVXPY computes from the expressions as written.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import binom

from ...certificates import Certificate
from ...errors import InputError
from ...formulas import Condition
from ...models.trend import TrendFilter
from ...numerics import EPS, Array, gamma
from .answers import ReadProblem
from .constraints import refused
from .elimination import Slopes, eliminate, set_eliminated
from .losses import NEAR
from .maps import Declined, named, transposed
from .terms import Reading, Term, counted, derivative
from .verification import ROUNDING, Crosscheck, require_same

# Whether rows are differences of neighbours, and of which order.


@dataclass(frozen=True)
class DifferenceRows:
    """Row i of a term is ``scale``_i times the difference that begins at the entry ``start``_i.

    ``off`` bounds by how much the coefficients of each entry differ from that, all rows together,
    as they are weighted.
    """

    term: Term
    times: int
    start: Array
    scale: Array
    off: Array


@dataclass
class Differences:
    """All terms: how often differences are taken, and what each of them counts for."""

    times: int
    level: Array
    rows: list[DifferenceRows] = field(default_factory=list)


def read_differences(terms: list[Term], key: int, n: int) -> Differences:
    """The sum of sizes of differences of the variable ``key`` of n entries.

    Raises
    ------
    Declined
        Naming the term that is something else.
    """
    rows = [difference_rows(term, key) for term in terms]
    times = rows[0].times
    other = next((each.term for each in rows if each.times != times), None)
    if other is not None:
        raise Declined(f"{named(other.said)} is of differences of another order than the rest")
    level = np.zeros(n - times)
    for each in rows:
        level += np.bincount(each.start, each.term.weight * np.abs(each.scale), level.size)
    if not (np.abs(level - level[0]) <= NEAR * level[0]).all():
        raise Declined(f"{named(rows[0].term.said)}: some differences count more than others")
    return Differences(times, level, rows)


def difference_rows(term: Term, key: int) -> DifferenceRows:
    """The rows of a term of sizes, as differences.

    Raises
    ------
    Declined
        Where one is none.
    """
    if term.kind != "abs" or term.affine.offset.any() or list(term.affine.maps) != [key]:
        raise _refused(term)
    matrix = sparse.csr_array(term.affine.maps[key].full(), copy=True)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    counts = np.diff(matrix.indptr)
    if not matrix.shape[0] or counts.min() != counts.max() or counts[0] < 2:
        raise _refused(term)
    times = int(counts[0]) - 1
    index, data = (each.reshape(-1, times + 1) for each in (matrix.indices, matrix.data))
    pattern = binom(times, np.arange(times + 1)) * (-1.0) ** np.arange(times, -1, -1)
    start, scale = index[:, 0].astype(int), data[:, 0] / pattern[0]
    off = np.abs(data - scale[:, None] * pattern)
    near = (off <= NEAR * np.abs(data)).all()
    if not near or (index != start[:, None] + np.arange(times + 1)).any():
        raise _refused(term)
    lost = np.bincount(index.ravel(), (term.weight[:, None] * off).ravel(), matrix.shape[1])
    return DifferenceRows(term, times, start, scale, lost)


def _refused(term: Term) -> Declined:
    return Declined(f"{named(term.said)} is not of differences of neighbours")


# The trend filter that was read, in its own units and in those of the problem.


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


class TrendCrosscheck(Crosscheck):
    """What is read and what is written, entry by entry and difference by difference."""

    def parts(self) -> tuple[Any, Any]:
        """See ``Crosscheck``."""
        self.x = self.values[self.posed.key]
        ours = self._distances() + self._sizes() + self.posed.level
        return ours, np.abs(ours) + abs(self.posed.level)

    def _distances(self) -> Array:
        """c (x - y)^2, entry by entry, against squares and lines as they are written."""
        posed, y, over = self.posed, self.posed.signal, self.posed.distances.over
        theirs, size = self.single_entries(posed.squares, posed.key)
        c = posed.factor / (2.0 * y.size)
        ours = c * (self.x - y) ** 2 + over
        size = size + np.abs(over) + c * (np.abs(self.x) + np.abs(y)) ** 2
        require_same(ours, theirs, ROUNDING * size, "a distance from the signal")
        self.rounding = self.rounding + ROUNDING * size.sum(axis=-1)
        return np.asarray(ours.sum(axis=-1))

    def _sizes(self) -> Array:
        """lam abs(A x), difference by difference, against sizes as they are written."""
        posed, program = self.posed, self.posed.problem.program
        z = np.diff(self.x, program.times)
        theirs, off = np.zeros_like(z), np.zeros_like(z)
        for rows in posed.differences.rows:
            at, weight = self.same_argument(rows.term), rows.term.weight
            if rows.times != posed.problem.order + 1:
                raise Declined(f"{named(rows.term.said)} is of another order than was read")
            theirs += counted(rows.start, weight * np.abs(at), z.shape[-1])
            room = weight * (self.slack(rows.term) + ROUNDING * np.abs(at))
            off += counted(rows.start, room, z.shape[-1])
        ours = posed.factor * program.lam * np.abs(z)
        require_same(ours, theirs, off, "a difference")
        self.rounding = self.rounding + off.sum(axis=-1)
        return np.asarray(ours.sum(axis=-1))


@dataclass
class PosedTrend(ReadProblem):
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

    crosscheck = TrendCrosscheck

    reading: Reading
    key: int
    squares: list[Term]
    differences: Differences
    problem: TrendFilter
    factor: float
    distances: SquaredDistances
    level: float

    @property
    def why(self) -> str:
        """See ``ReadProblem``."""
        return repr(self.problem)

    @property
    def constant(self) -> float:  # type: ignore[override]
        """Numbers that do not hang on x."""
        return float(self.distances.over.sum()) + self.level

    @property
    def signal(self) -> Array:
        """The entries of y."""
        return self.problem.program.y

    @property
    def entries(self) -> int:
        """See ``ReadProblem``."""
        return self.signal.size

    def values(self, point: Mapping[str, Any]) -> dict[int, Array]:
        """See ``ReadProblem``."""
        return self.reading.complete({self.key: np.array(point["w"])})

    def ends(self) -> dict[int, Any]:
        """See ``ReadProblem``."""
        return {self.key: (-np.inf, np.inf)}

    def certified(self, own: Certificate, point: Mapping[str, Any]) -> Certificate:
        """See ``ReadProblem``: ``factor`` times all."""
        names = "primal_objective", "dual_objective", "gap", "scale", "rounding", "repaired"
        found = own.but(**{name: self.factor * getattr(own, name) for name in names})
        found = found.but(dual={"s": self.factor * own.dual["s"]})
        found.put_off(lambda: [_in_units(row, self.factor) for row in own.conditions])
        return found

    def set_multipliers(self, values: dict[int, Array], point: Mapping[str, Any]) -> None:
        """Of what was eliminated: a size has its share of s, which is lam times a subgradient."""
        lam, slopes = self.problem.lam, Slopes()
        s = np.clip(point["s"], -lam, lam)
        share = s / lam if lam > 0.0 else np.zeros_like(s)
        for rows in self.differences.rows:
            slopes[id(rows.term)] = rows.term.weight * np.sign(rows.scale) * share[rows.start]
        for term in self.squares:
            slopes[id(term)] = derivative(term, term.affine(values))
        set_eliminated(self.reading, values, slopes)

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
        raise refused(left[0], "on a trend filter")
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


def _may_be_one(reading: Reading) -> bool:
    """Whether there are squares of single entries, not about 0 alone."""
    more = bool(reading.linear or reading.constraints)
    if not (reading.linear or any(each.kind == "abs" for each in reading.terms)):
        return False  # nothing is the size of a difference, nor a slack that could be
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


def _in_units(row: Condition, factor: float) -> Condition:
    return replace(
        row,
        residual=factor * row.residual,
        scale=factor * row.scale,
        rounding=factor * row.rounding,
        largest=factor * row.largest,
    )
