"""The price of unpenalised columns: X'u is 0 there only up to rounding."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....blocks import thinned
from ....numerics import EPS, Array, gamma, length
from ....objective import MulticlassObjective, Objective
from .column_gram import ColumnGram
from .column_rows import ColumnRows
from .dual_repair import DualPoint
from .dual_slopes import above_zero, rise, shrinkage, slopes
from .primal_repair import PrimalPoint

ROUNDS = 6
NOTHING = 1e-8
"""A share of P below which no smaller price is looked for."""
INSIDE = 1e-6
"""Share of the largest room to the ends of dom F* from which on a sample may move."""

ENOUGH = 50
"""Samples for each column that are tried before all of them."""
KEPT, LEFT_OUT = 0.9, 0.18
"""Shares of sigma, and of its square, with KEPT^2 + LEFT_OUT < 1."""


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
    objective: Objective,
    u: Array,
    v: Array,
    point: PrimalPoint | None = None,
    room: float = 0.0,
    error: Array | None = None,
    dual: DualPoint | None = None,
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
    u : array, shape (n,)
        Inside the box of F*.
    v : array, shape (d,)
        -X'u as computed; on penalised columns it is taken as it is.
    point : PrimalPoint, optional
        A point with predictions and value; without it only the plain forms are available.
    room : float
        What may be charged; where the price is higher, ``within`` belongs to this much.
    error : array, shape (d,), optional
        A bound on the error of v; a priori by default.
    dual : DualPoint, optional
        What u and v are from: where the matrix that it was corrected with tells enough, no
        other is formed.

    Returns
    -------
    ColumnPrice
    """
    if isinstance(objective, MulticlassObjective):
        return ColumnPrice(0.0)
    outside, reach = objective.penalty.outside, np.zeros(objective.d) if error is None else error
    wanted = objective.penalty.free(objective.d)
    wanted |= (outside(v + reach) != 0.0) | (outside(v - reach) != 0.0)
    best, reason = np.inf, ""
    for _ in range(ROUNDS):
        rows = ColumnRows.at_dual(objective, u, v, wanted, error)
        if rows.vanish:
            return ColumnPrice(0.0)
        found, crossed, reason = _corrected(rows, u, v, point, reach, dual)
        best = min(best, found)
        if not np.any(crossed):
            break
        wanted = wanted | crossed
    small = NOTHING * (0.0 if point is None else point.value)
    enough = max(room, small if np.isfinite(small) else 0.0)
    if best > enough and not np.any(crossed):
        found, crossed, _ = _corrected(rows, u, v, point, reach, None, True)
        best = min(best, found)
    if best <= enough:
        return ColumnPrice(best)
    best = min(best, _growth(rows, point), above_zero(objective, u, v))
    if best <= room:
        return ColumnPrice(best)
    if rows.dependence.doubtful.size:
        reason = rows.why()
    here = 0.0 if point is None else rows.at(point)
    unit = length(np.append(rows.raw, rows.total))
    return ColumnPrice(best, (room - here) / unit if room > here else None, reason)


def _corrected(
    rows: ColumnRows,
    u: Array,
    v: Array,
    point: PrimalPoint | None,
    error: Array,
    dual: DualPoint | None,
    sharply: bool = False,
) -> tuple[float, Array, str]:
    """(price, sign rows to hold as well, reason) of a correction on the interior samples.

    ``sharply`` looks for it, where else a bound of its length is enough.
    """
    objective = rows.objective
    lo, hi = objective.dual_bounds()
    room = np.minimum(u - lo, hi - u) * (1.0 - 4.0 * EPS)
    known = _known_length(rows, dual.gram, room) if dual is not None and dual.gram else None
    sought = u if sharply else None
    step, inside, shares, reason = _length(rows, room, sought) if known is None else (*known, "")
    if reason:
        fits = room > INSIDE * float(np.max(np.where(room < np.inf, room, 0.0)))
        step, wide = rows.exact_length(u, fits), np.flatnonzero(fits)
        if wide.size and 2.0 * step <= float(room[wide].min()):
            inside, shares, reason = wide, np.ones_like(room[wide]), ""
    if reason:
        return np.inf, np.zeros(objective.d, dtype=bool), reason
    others = ~rows.rows
    norms, most = rows.norms, step * float(np.max(shares))
    reach = np.where(others, norms * most * (1.0 + gamma(objective.n + 4)), 0.0)
    outside, wide = objective.penalty.outside, reach + error
    crossed = others & ((outside(v + wide) != 0.0) | (outside(v - wide) != 0.0))
    if np.any(crossed):
        return np.inf, crossed, ""
    chosen = slice(None) if inside.size == objective.n else inside  # all of them: no copies
    terms = None if dual is None or dual.conjugates is None else dual.conjugates[chosen]
    far = step * shares
    plain, from_point = slopes(objective, u, chosen, room[chosen], far, point, terms)
    held = np.where(objective.penalty.free(objective.d), 0.0, rows.raw)
    more = rise(objective, np.where(others, v, 0.0), reach + held)
    price = length(shares * plain) * step
    if point is not None:
        w = np.abs(point.w)
        first = rows.at(point) + float(w @ reach)
        lengths = float(norms @ w) + np.sqrt(inside.size) * abs(point.b)
        second = length(shares * from_point) * step
        second += gamma(objective.d + 3) * lengths * most
        price = min(price, first + second)
    share = shrinkage(objective, np.where(others, v, 0.0), reach)
    more += share * above_zero(objective, u, v) if share > 0.0 else 0.0
    return (price + more) * (1.0 + 1e-9), crossed, ""


def _known_length(
    rows: ColumnRows, gram: ColumnGram, room: Array
) -> tuple[float, Array, Array] | None:
    """(step, samples, shares) with |du / shares|_2 <= step, for a du on the samples of ``gram``.

    Those without the room for it are left out: their rows take at most so much of sigma^2.
    """
    if gram.h is None or gram.rows is None or not np.array_equal(gram.rows, rows.rows):
        return None
    units, sigma = gram.regularity
    if not 0.0 < sigma < np.inf:
        return None
    loose, size = rows.raw[rows.rows], rows.norms[rows.rows]
    if gram.ones:
        loose, size = np.append(loose, rows.total), np.append(size, np.sqrt(len(room)))
    step = length(units * loose) / (KEPT * sigma) * (1.0 + 1e-12)
    shares = np.sqrt(gram.h) * (1.0 + 4.0 * EPS)
    fits = (shares > 0.0) & (room >= 2.0 * step * shares)
    lost = float(np.max(np.where(fits, 0.0, gram.h), initial=0.0)) * float(
        np.sum((units * size) ** 2)
    )
    inside = np.flatnonzero(fits)
    if not (inside.size and lost <= LEFT_OUT * sigma**2):
        return None
    return step, inside, shares[inside]


def _length(rows: ColumnRows, room: Array, u: Array | None) -> tuple[float, Array, Array, str]:
    """(step, samples, ones, why not): |du|_2 <= step on samples that are 2 step inside the box.

    With ``u`` the step is looked for.
    """
    kept = np.arange(rows.width)
    least = _first_guess(rows)
    for _ in range(ROUNDS):
        inside = np.flatnonzero(room > least)
        few = thinned(inside, max(1, inside.size // (ENOUGH * rows.width)))  # they often do
        for chosen in (few, inside) if few.size < inside.size else (inside,):
            sigma, length = rows.regularity(chosen, kept)
            step = length / sigma if sigma > 0.0 else np.inf
            step = step if u is None else min(step, rows.shorter(u, chosen, kept))
            if sigma > 0.0 and np.all(room[chosen] >= 2.0 * step):
                return step, chosen, np.ones_like(room[chosen]), ""
        if sigma > 0.0:
            least = 2.0 * step
        elif least > 0.0 and np.count_nonzero(room > 0.0) > inside.size:
            least = 0.0
        elif rows.dependence.doubtful.size:
            return np.inf, inside, np.ones(0), rows.why()
        elif len(kept) > rows.dependence.independent.size:
            kept = rows.dependence.independent
        else:
            break
    return np.inf, inside, np.ones(0), "Too few samples are inside dom F* to make X'u exactly 0."


def _first_guess(rows: ColumnRows) -> float:
    """About the step that well conditioned columns need, and then some."""
    shares = rows.raw / np.where(rows.norms > 0.0, rows.norms, np.inf)
    total = rows.total / np.sqrt(rows.objective.n)
    return 100.0 * length(np.append(shares, total))


def _growth(rows: ColumnRows, point: PrimalPoint | None) -> float:
    """The price from a bound of |z - z(point)| over all points that are as good."""
    objective = rows.objective
    lo, hi = objective.loss.domain(objective.y)
    if point is None or not np.isfinite(point.value) or objective.loss.is_indicator:
        return np.inf
    if not (np.all(lo < 0.0) and np.all(hi > 0.0)):
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
        norms = rows.norms[others]
        reach += float(np.sum(2.0 * point.value * norms / blocks[1][blocks[0]][others]))
    everyone, kept = np.flatnonzero(objective.c), np.arange(rows.width)
    sigma, length = rows.regularity(everyone, kept)
    if sigma == 0.0 and not rows.dependence.doubtful.size:
        sigma, length = rows.regularity(everyone, rows.dependence.independent)
    if sigma == 0.0:
        return np.inf
    return (rows.at(point) + length * reach / sigma) * (1.0 + 1e-9)
