"""The price of a residual where rows bound the variables that it falls on."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from scipy import sparse

from ....numerics import EPS, Array
from ....objective.conic.cones import ZeroCone
from ....objective.conic.program import ConeProgram
from ...algebra.least_change import LeastChange
from .price import Priced, rounding, unpriced
from .variables import FEW, VariableBounds

ASIDE = 128.0 * EPS
"""How far from 0, for their terms, reduced costs of variables without a bound are moved."""
ROUNDS = 6


def bounded_prices(
    program: ConeProgram, w: Array, y: Array, pair: Priced | None = None
) -> Iterator[Priced]:
    """The price of (w, y) by bounds of variables, or else that of (w, y) a little aside.

    With r = P w + A'y + q every feasible x' has an objective of D + r'x' + (x' - w)'P(x' - w) / 2
    or more: bounds that the rows imply for x' (``implied_bounds``) say how low r'x' is, and a
    variable that P bends alone needs none. A negative r_j of a variable without
    an upper bound has no such price; y moves by about as much as r_j to where it is positive.
    Only of polyhedral cones whose data are exact; nothing where no price is found. ``pair`` is
    ``unpriced``, where that is known.
    """
    off = program.rounded
    if not program.is_polyhedral or (off is not None and off.rows.nnz):
        return
    known, pair = VariableBounds(program), pair or unpriced(program, w, y)
    near = np.zeros(w.size, dtype=bool)
    for _ in range(ROUNDS):
        if not (np.isfinite(pair.value) and np.all(np.isfinite(pair.left))):
            return
        if np.isfinite(pair.price):
            yield pair
            return
        costs = known.costs(pair)
        if np.all(np.isfinite(costs)):
            yield pair._replace(price=float(np.sum(costs)) + rounding(pair.value))
            return
        few = np.count_nonzero(np.isinf(costs)) <= FEW
        aside = _aside(known, pair, np.isinf(costs), near) if few else None
        if aside is None:
            return
        pair = unpriced(program, w, aside)


def _aside(known: VariableBounds, pair: Priced, asked: Array, near: Array) -> Array | None:
    """y, moved so that reduced costs have the sign that goes with the one bound, with some room.

    Those that were ``near`` 0 once stay where they are moved. Multipliers of inequalities move in
    proportion to their size. None where a variable that is ``asked`` for has no bound at all.
    """
    program, (lower, upper) = known.program, known.bounds
    below, above = np.isfinite(lower), np.isfinite(upper)
    if not np.all((below | above)[asked]):
        return None
    sign = np.where(below, 1.0, -1.0)
    own = np.bincount(known.columns, known.entries * pair.y[known.own], program.q.size)
    rest, room = pair.left - own, ASIDE * program.stationarity_size(pair.w, pair.y)
    lone = (below != above) & ~known.joined & (known.curves == 0.0)
    near |= lone & (sign * rest < room)
    columns = np.flatnonzero(near)
    level = float(np.max(np.abs(pair.y), initial=0.0)) or 1.0
    weights = np.where(program.ruled_by(ZeroCone), level, np.maximum(pair.y, 0.0))
    weights[known.own] = 0.0
    target = sign[columns] * 2.0 * room[columns] - rest[columns]
    step = LeastChange(sparse.csr_array(known.linked.T)[columns], weights)(target)
    return np.asarray(program.project_dual(pair.y + step)) if np.any(step) else None
