"""The price of unpenalised columns: X'u is 0 there only up to rounding."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...data import Design, in_blocks, in_memory, thinned
from ...numerics import EPS, Array, gamma, length
from ...problem import Objective
from ..algebra.rationals import Dependence, dependence, exact_total, solve_rows, whole_row
from ..algebra.sums import exact_dot, exact_residual
from .repair import ColumnGram, DualPoint, PrimalPoint, outermost

# The rows X'u = 0 of unpenalised columns, and 1'u = 0: their residual and regularity.


ZERO = Fraction(0)
RATIONAL = 2_000
"""Entries of the columns, at samples inside their box, up to which rationals are solved."""
EXACTLY = 20_000
"""Entries of the columns up to which X'u is summed exactly."""
DENSE = 4_000_000
"""Entries of columns in blocks up to which their dependence is decided."""
LARGEST = 50_000_000
"""The same of others."""
WIDEST = 2000


@dataclass(frozen=True, eq=False)
class ColumnRows:
    """What is left of the rows E'u = 0, E = [B, 1], and how far a u is that meets them.

    Attributes
    ----------
    objective : Objective
    rows : array, shape (d,)
        Mask of the columns B.
    raw, total : array of shape (d,), float
        Bounds of |X'u| on the rows (0 elsewhere) and of |1'u|.
    signed : array, shape (d + 1,), or None
        X'u on the rows and 1'u, each rounded once, where all are known.
    """

    objective: Objective
    rows: Array
    raw: Array
    total: float
    signed: Array | None = None

    @classmethod
    def at_dual(
        cls, objective: Objective, u: Array, v: Array, rows: Array, error: Array
    ) -> ColumnRows:
        """Measure the rows at u, with v = -X'u as computed, to within ``error``."""
        index, signed = np.flatnonzero(rows), None
        total = exact_total(u) if objective.fit_intercept else 0.0
        raw = np.where(rows, np.abs(v) + error, 0.0)
        if objective.n * index.size <= EXACTLY:
            exact = np.zeros(objective.d)
            exact[index] = exact_residual(objective.design.columns(index).dense().T, in_memory(u))
            raw = np.where(np.isnan(exact), raw, np.abs(exact) * (1.0 + EPS))
            signed = None if np.any(np.isnan(exact)) else np.append(exact, total)
        return cls(objective, rows, raw, abs(total) * (1.0 + EPS), signed)

    @property
    def vanish(self) -> bool:
        """Whether the rows are exactly 0."""
        return not np.any(self.raw) and self.total == 0.0

    @property
    def width(self) -> int:
        """The number of columns of E."""
        return int(self.rows.sum()) + self.objective.fit_intercept

    @cached_property
    def columns(self) -> Design:
        """B."""
        design = self.objective.design
        return design if self.rows.all() else design.columns(self.rows)

    def at(self, point: PrimalPoint) -> float:
        """What the residual is worth at a point: a bound of |w'X'u + b 1'u| on the rows."""
        size = float(np.abs(point.w) @ self.raw) + abs(point.b) * self.total
        if self.signed is None:
            return size
        return abs(exact_dot(np.append(point.w, point.b), self.signed)) + 2.0 * EPS * size

    def metric(self, h: Array) -> ColumnGram:
        """That of changes of u which are weighed by h."""
        return ColumnGram(self.columns, h, self.objective.fit_intercept, self.rows)

    def distance(self, gram: ColumnGram) -> float:
        """N with |du / sqrt(h)|_2 <= N for some du that makes the rows exactly 0; inf if unknown.

        Columns that depend on others exactly need no row of their own.
        """
        if self.width > WIDEST:
            return np.inf
        loose = self.raw[self.rows]
        kept = np.arange(self.width)
        for _ in range(2):
            units, sigma = gram.regularity
            if sigma > 0.0:
                missed = np.append(loose, self.total)[kept]
                return length(units * missed) / sigma * (1.0 + 1e-12)
            if self.dependence.doubtful.size or len(kept) <= self.dependence.independent.size:
                break
            kept = self.dependence.independent
            part = gram.columns.columns(kept[kept < loose.size])
            gram = replace(gram, columns=part)
        return np.inf

    def shorter(self, u: Array, gram: ColumnGram) -> float:
        """The same by a du that nearly does it: what that leaves is summed exactly."""
        if self.signed is None:
            return np.inf
        E, ones = gram.dense, gram.ones
        x = gram.shortest(self.signed[np.append(self.rows, ones)])
        du = np.sqrt(in_memory(gram.h)) * x
        left = exact_residual(np.vstack([E, E]).T, np.append(in_memory(u), du))
        raw = np.zeros(self.objective.d)
        raw[self.rows] = np.abs(left[: len(left) - ones]) * (1.0 + EPS)
        total = abs(float(left[-1])) * (1.0 + EPS) if ones else 0.0
        rest = replace(self, raw=raw, total=total, signed=None).distance(gram)
        found = length(x) * (1.0 + 1e-12) + rest
        return found if np.isfinite(found) else np.inf

    def exact_length(self, u: Array, samples: Array) -> float:
        """|x|_2 of an x on a mask of samples with E'(u + x) = 0, in rationals; inf if none is."""
        chosen = self.width * int(samples.sum())
        if not 0 < chosen <= RATIONAL or self.objective.n * self.width > EXACTLY:
            return np.inf
        E, samples = self.metric(samples).dense, in_memory(samples)
        exact = [Fraction(float(x)) for x in in_memory(u)]
        table = []
        for column in E.T:
            missed = sum((Fraction(float(a)) * x for a, x in zip(column, exact, strict=True)), ZERO)
            table.append(whole_row([Fraction(float(a)) for a in column[samples]] + [-missed]))
        x = solve_rows(table)
        return np.inf if x is None else math.hypot(*(float(t) for t in x)) * (1.0 + 1e-12)

    @property
    def dependence(self) -> Dependence:
        """Which columns depend on the others, kept with the data of the objective."""
        memo, key = self.objective.memo, ("dependence", self.rows.tobytes())
        if key not in memo:
            memo[key] = self._dependence()
        found: Dependence = memo[key]
        return found

    def _dependence(self) -> Dependence:
        """None is known where X is too large to tell."""
        largest = DENSE if in_blocks(self.columns) else LARGEST
        if self.objective.n * self.width > largest:
            none = np.zeros(0, dtype=int)
            return Dependence(np.arange(self.width), none, none)
        return dependence(self.columns.dense(), ones=self.objective.fit_intercept)

    def why(self) -> str:
        """The words for columns that depend on others up to rounding only."""
        names, told = np.flatnonzero(self.rows), self.objective.features
        doubtful = ", ".join(
            repr(told[names[j]]) if told else str(names[j]) for j in self.dependence.doubtful[:5]
        )
        return (
            f"Up to rounding, but not exactly, the unpenalised columns ({doubtful}) of X depend on "
            "the others: only enormous weights could do better. Drop one, or use lam > 0."
        )


# How fast F* and Omega* can rise when a dual point is moved a little.


STEP = 2.0**-20
"""Share of |u| over which the slope of F* is taken."""


def slopes(
    objective: Objective, dual: DualPoint, samples: Array | slice, t: Array, point: PrimalPoint
) -> tuple[Array, Array]:
    """Bounds of |F*_i(u + s) - F*_i(u)| / |s|, and of (... - z_i s) / |s|, for |s| <= t, (k,).

    F*_i is convex, so that the secant to any farther point is a bound; u - t and u + t are in its
    domain.
    """
    u, y, c = dual.u[samples], objective.y[samples], objective.c[samples]
    lo, hi = (end[samples] for end in objective.loss.domain(objective.y))

    def at(x: Array) -> Array:
        return c * objective.loss.conjugate(y, np.clip(x / c, lo, hi))

    known = dual.conjugates
    left, here, right = at(u - t), at(u) if known is None else c * known[samples], at(u + t)
    below, above = left - here, right - here
    terms = np.abs(left) + np.abs(here) + np.abs(right)
    noise = 8.0 * EPS * (terms + (c + np.abs(u) + t) * (1.0 + np.abs(y)))
    shift = point.z[samples] * t
    plain = np.maximum(np.maximum(below, above), 0.0)
    excess = np.maximum(np.maximum(below + shift, above - shift), 0.0)
    return (plain + noise) / t, (excess + noise + 4.0 * EPS * np.abs(shift)) / t


def rise(objective: Objective, dual: DualPoint, v: Array, error: Array, reach: Array) -> float:
    """By how much Omega* may rise where v, known to within ``error``, moves by ``reach``.

    Or what D may fall by where (u, v) is shrunk until all of that is in the domain.
    """
    penalty, far, t = objective.penalty, error + reach, 1.0
    if penalty.conjugate_bound(v, far) == np.inf:
        t = penalty.domain_scale(outermost(v, far)) * (1.0 - 2.0 * gamma(len(v) + 32))
    before, after = (penalty.conjugate_bound(t * v, t * each) for each in (error, far))
    more = max(after - before, 0.0) + 4.0 * EPS * abs(after) if np.any(reach) else 0.0
    return more + (1.0 - t) * above_zero(objective, dual) if t < 1.0 else more


def above_zero(objective: Objective, dual: DualPoint) -> float:
    """max(D(u) - D(0), 0), D(u) by its formula: u = 0 is exactly feasible."""
    least = objective.loss_conjugate(objective.zero_scores)
    least += objective.penalty.conjugate(np.zeros(objective.d))
    return max(objective.dual_formula(dual.u, dual.v) + least, 0.0)


ROUNDS = 6
NOTHING = 1e-8
"""A share of P below which no smaller price is looked for."""
INSIDE = 1e-6
"""Share of the largest room to the ends of dom F* from which on a sample may move."""

ENOUGH = 50
"""Samples for each column that are tried before all of them."""
FARTHER = 1e4
"""Times the step that columns of one length need: room for those that are less regular."""


class ColumnPrice(NamedTuple):
    """What D(u) may exceed the value of an exactly feasible dual point by.

    Attributes
    ----------
    price : float
        P* >= D(u) - price; inf where no such bound is known.
    within : float or None
        Where the price exceeds ``room``: within this distance the bound D(u) - room holds.
    reason : str
        Why there is no better price.
    """

    price: float
    within: float | None = None
    reason: str = ""


def price_of_columns(
    objective: Objective, dual: DualPoint, point: PrimalPoint, room: float = 0.0
) -> ColumnPrice:
    """Bound D(u) - P* from above where X'u and 1'u vanish only nearly on unpenalised columns.

    Three ways, of which the cheapest counts. (i) A correction du of the samples that lie inside
    dom F* makes the rows E'u exactly 0; |du| <= |E'u| / sigma_min(E_I), which must fit into the
    box; D falls by the slope of F* times |du|. Seen from a point (w, b) this slope is z up to
    second order, and z'du = -w'(residual). (ii) Where F grows in all directions, points as good
    as the given one have |w| <= R, and the residual costs |E'u| R. (iii) u = 0 is exactly feasible.

    Parameters
    ----------
    objective : Objective
    dual : DualPoint
        Inside the box of F*; where the matrix that it was corrected with tells enough, no other is
        formed.
    point : PrimalPoint
        Any point with predictions; ``origin`` where none is known.
    room : float
        What may be charged; where the price is higher, ``within`` belongs to this much.

    Returns
    -------
    ColumnPrice
    """
    wanted = objective.penalty.free(objective.d) | _may_miss(objective, dual.v, dual.error)
    best = np.inf
    for _ in range(ROUNDS):
        rows = ColumnRows.at_dual(objective, dual.u, dual.v, wanted, dual.error)
        if rows.vanish:
            return ColumnPrice(0.0)
        found, crossed, reason = _corrected(rows, dual, point)
        best = min(best, found)
        if not np.any(crossed):
            break
        wanted = wanted | crossed
    enough = max(room, NOTHING * point.value if np.isfinite(point.value) else 0.0)
    if best > enough and not np.any(crossed):
        best = min(best, _corrected(rows, dual, point, sharply=True)[0])
    if best <= enough:
        return ColumnPrice(best)
    best = min(best, _growth(rows, point), above_zero(objective, dual))
    if best <= room:
        return ColumnPrice(best)
    if rows.dependence.doubtful.size:
        reason = rows.why()
    here = rows.at(point)
    unit = length(np.append(rows.raw, rows.total))
    return ColumnPrice(best, (room - here) / unit if room > here else None, reason)


def origin(objective: Objective) -> PrimalPoint:
    """w = 0, b = 0 as a point of which nothing but its predictions is known."""
    return PrimalPoint(np.zeros(objective.d), 0.0, objective.zero_scores, np.inf, 0.0)


def _may_miss(objective: Objective, v: Array, reach: Array) -> Array:
    """Mask of the rows v_j = 0, v_j >= 0 and v_j <= 0 that some v this near misses."""
    ends = objective.penalty.outside(v + reach), objective.penalty.outside(v - reach)
    return (ends[0] != 0.0) | (ends[1] != 0.0)


def _corrected(
    rows: ColumnRows, dual: DualPoint, point: PrimalPoint, sharply: bool = False
) -> tuple[float, Array, str]:
    """(price, sign rows to hold as well, reason) of a correction on the interior samples.

    ``sharply`` looks for it, where else a bound of its length is enough.
    """
    objective, u = rows.objective, dual.u
    lo, hi = objective.dual_bounds()
    room = np.minimum(u - lo, hi - u) * (1.0 - 4.0 * EPS)
    step, inside, shares, reason = _length(rows, room, u, None if sharply else dual.gram, sharply)
    if reason:
        fits = room > INSIDE * float(np.max(np.where(room < np.inf, room, 0.0)))
        step, wide = rows.exact_length(u, fits), np.flatnonzero(fits)
        if wide.size and 2.0 * step <= float(room[wide].min()):
            inside, shares, reason = wide, np.ones_like(room[wide]), ""
    if reason:
        return np.inf, np.zeros(objective.d, dtype=bool), reason
    others = ~rows.rows
    norms, most = objective.column_norms, step * float(np.max(shares))
    reach = np.where(others, norms * most * (1.0 + gamma(objective.n + 4)), 0.0)
    v, error = np.where(others, dual.v, 0.0), np.where(others, dual.error, 0.0)
    crossed = others & _may_miss(objective, dual.v, reach + dual.error)
    if np.any(crossed):
        return np.inf, crossed, ""
    chosen = slice(None) if inside.size == objective.n else inside  # all of them: no copies
    # A secant over a share of u, where there is room: over less it is rounding.
    far = np.maximum(step * shares, STEP * float(np.max(np.abs(u[chosen]), initial=0.0)))
    far = np.minimum(far, 0.5 * room[chosen])
    plain, from_point = slopes(objective, dual, chosen, far, point)
    w = np.abs(point.w)
    lengths = float(norms @ w) + np.sqrt(inside.size) * abs(point.b)
    seen = rows.at(point) + float(w @ reach) + length(shares * from_point) * step
    seen += gamma(objective.d + 3) * lengths * most
    price = min(length(shares * plain) * step, seen)
    held = np.where(objective.penalty.free(objective.d), 0.0, rows.raw)
    more = rise(objective, dual, v, error, reach + held)
    return (price + more) * (1.0 + 1e-9), crossed, ""


def _length(
    rows: ColumnRows, room: Array, u: Array, known: ColumnGram | None, sharply: bool
) -> tuple[float, Array, Array, str]:
    """(step, samples, shares, why not): |du / shares|_2 <= step on samples with room for it twice.

    ``sharply`` looks for the du.
    """
    for gram in _metrics(rows, room, u, known):
        step = rows.distance(gram)
        step = min(step, rows.shorter(u, gram)) if sharply else step
        shares = np.sqrt(gram.h) * (1.0 + 4.0 * EPS)
        inside = np.flatnonzero(shares)
        if step < np.inf and np.all(room[inside] >= 2.0 * step * shares[inside]):
            return step, inside, shares[inside], ""
    return np.inf, inside, np.ones(0), "Too few samples are inside dom F* to make X'u exactly 0."


def _metrics(
    rows: ColumnRows, room: Array, u: Array, known: ColumnGram | None
) -> Iterator[ColumnGram]:
    """Those with room enough for what regular columns need, alike; then all, by their room."""
    objective = rows.objective
    if known is not None and known.rows is not None and np.array_equal(known.rows, rows.rows):
        yield known
    shares = rows.raw / np.where(objective.column_norms > 0.0, objective.column_norms, np.inf)
    guess = FARTHER * length(np.append(shares, rows.total / np.sqrt(objective.n)))
    most = float(np.max(np.abs(u), initial=0.0)) or 1.0
    for root in (guess * (room >= guess), np.clip(room, 0.0, most)):
        inside = np.flatnonzero(root >= 0.5 * np.max(root))
        few = thinned(inside, max(1, inside.size // (ENOUGH * rows.width)))
        if few.size < inside.size:
            h = objective.zero_scores
            h[few] = root[few] ** 2
            yield rows.metric(h)
        yield rows.metric(root**2)


def _growth(rows: ColumnRows, point: PrimalPoint) -> float:
    """The price from a bound of |z - z(point)| over all points that are as good."""
    objective = rows.objective
    lo, hi = objective.loss.domain(objective.y)
    known = np.isfinite(point.value) and not objective.loss.is_indicator
    if not (known and np.all(lo < 0.0) and np.all(hi > 0.0)):
        return np.inf
    # l(z') >= s (z' - z) - (l*(s) - s z) for both signs of s: F grows like slope |z' - z|.
    y, z, c = objective.y, point.z, objective.c
    most = 1.0 + np.abs(z - y)
    ends = [np.clip(0.5 * end, -most, most) for end in (lo, hi)]
    offset = np.maximum(*(objective.loss.conjugate(y, s) - s * z for s in ends))
    slope = np.minimum(-ends[0], ends[1])
    terms = np.abs(offset) + slope * (np.abs(z) + np.abs(y))
    value = point.value + float(c @ np.maximum(offset, 0.0)) + 64.0 * EPS * float(c @ terms)
    reach = value / float(np.min(c * slope))
    others = ~rows.rows
    if np.any(others):
        blocks = objective.penalty.zero_blocks(objective.d)
        if blocks is None or not np.all(blocks[1][blocks[0]][others] > 0.0):
            return np.inf
        norms = objective.column_norms[others]
        reach += float(np.sum(2.0 * point.value * norms / blocks[1][blocks[0]][others]))
    step = rows.distance(rows.metric(np.ones_like(objective.c)))
    return (rows.at(point) + step * reach) * (1.0 + 1e-9)
