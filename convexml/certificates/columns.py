"""The price of unpenalised columns: X'u is 0 there only up to rounding."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..numerics import EPS, Array, gamma
from ..objective import MulticlassObjective, Objective
from .column_rows import ColumnRows
from .dual_slopes import above_zero, rise, shrinkage, slopes
from .primal_repair import PrimalPoint

ROUNDS = 6
NOTHING = 1e-8
"""A share of P below which no smaller price is looked for."""
INSIDE = 1e-6
"""Share of the largest room to the ends of dom F* from which on a sample may move."""


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
        found, crossed, reason = _corrected(rows, u, v, point, reach)
        best = min(best, found)
        if not np.any(crossed):
            break
        wanted = wanted | crossed
    small = NOTHING * (0.0 if point is None else point.value)
    if best <= max(room, small if np.isfinite(small) else 0.0):
        return ColumnPrice(best)
    best = min(best, _growth(rows, point), above_zero(objective, u, v))
    if best <= room:
        return ColumnPrice(best)
    if rows.dependence.doubtful.size:
        reason = rows.why()
    here = 0.0 if point is None else rows.at(point)
    unit = float(np.linalg.norm(np.append(rows.raw, rows.total)))
    return ColumnPrice(best, (room - here) / unit if room > here else None, reason)


def _corrected(
    rows: ColumnRows, u: Array, v: Array, point: PrimalPoint | None, error: Array
) -> tuple[float, Array, str]:
    """(price, sign rows to hold as well, reason) of a correction on the interior samples."""
    objective = rows.objective
    lo, hi = objective.dual_bounds()
    room = np.minimum(u - lo, hi - u) * (1.0 - 4.0 * EPS)
    step, inside, reason = _length(rows, room)
    if reason:
        wide = np.flatnonzero(room > INSIDE * float(np.max(np.where(room < np.inf, room, 0.0))))
        step = rows.exact_length(u, wide)
        if wide.size and 2.0 * step <= float(room[wide].min()):
            inside, reason = wide, ""
    if reason:
        return np.inf, np.zeros(objective.d, dtype=bool), reason
    others = ~rows.rows
    norms = rows.norms
    reach = np.where(others, norms * step * (1.0 + gamma(objective.n + 4)), 0.0)
    outside, far = objective.penalty.outside, reach + error
    crossed = others & ((outside(v + far) != 0.0) | (outside(v - far) != 0.0))
    if np.any(crossed):
        return np.inf, crossed, ""
    plain, from_point = slopes(objective, u, inside, room[inside], step, point)
    held = np.where(objective.penalty.free(objective.d), 0.0, rows.raw)
    more = rise(objective, np.where(others, v, 0.0), reach + held)
    price = float(np.linalg.norm(plain)) * step
    if point is not None:
        w = np.abs(point.w)
        first = rows.at(point) + float(w @ reach)
        lengths = float(norms @ w) + np.sqrt(inside.size) * abs(point.b)
        second = float(np.linalg.norm(from_point)) + gamma(objective.d + 3) * lengths
        price = min(price, first + second * step)
    more += shrinkage(objective, np.where(others, v, 0.0), reach) * above_zero(objective, u, v)
    return (price + more) * (1.0 + 1e-9), crossed, ""


def _length(rows: ColumnRows, room: Array) -> tuple[float, Array, str]:
    """(step, samples, why not): |du| <= step on samples that are 2 step inside their box."""
    kept = np.arange(rows.width)
    least = _first_guess(rows)
    for _ in range(ROUNDS):
        inside = np.flatnonzero(room > least)
        sigma, length = rows.regularity(inside, kept)
        if sigma > 0.0:
            step = length / sigma
            if np.all(room[inside] >= 2.0 * step):
                return step, inside, ""
            least = 2.0 * step
        elif least > 0.0 and np.count_nonzero(room > 0.0) > inside.size:
            least = 0.0
        elif rows.dependence.doubtful.size:
            return np.inf, inside, rows.why()
        elif len(kept) > rows.dependence.independent.size:
            kept = rows.dependence.independent
        else:
            break
    return np.inf, inside, "Too few samples are inside dom F* to make X'u exactly 0."


def _first_guess(rows: ColumnRows) -> float:
    """About the step that well conditioned columns need, and then some."""
    shares = rows.raw / np.where(rows.norms > 0.0, rows.norms, np.inf)
    total = rows.total / np.sqrt(rows.objective.n)
    return 100.0 * float(np.linalg.norm(np.append(shares, total)))


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
    everyone, kept = np.arange(objective.n), np.arange(rows.width)
    sigma, length = rows.regularity(everyone, kept)
    if sigma == 0.0 and not rows.dependence.doubtful.size:
        sigma, length = rows.regularity(everyone, rows.dependence.independent)
    if sigma == 0.0:
        return np.inf
    return (rows.at(point) + length * reach / sigma) * (1.0 + 1e-9)
