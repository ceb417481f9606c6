"""Rows of the dual that no shrinking restores: 1'u = 0, (X'u)_j = 0, and signs of (X'u)_j."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....numerics import EPS, ROUNDING, Array
from ....objective import Objective, once
from ....penalties import Penalty
from .column_gram import ColumnGram

ROUNDS = 25
"""Alternations of clipping to the box and restoring the equalities before giving up."""


@once
def held_rows(objective: Objective) -> Array:
    """Mask of the rows of dom Omega* that ask for v_j = 0 or for a sign, (d,)."""
    penalty, ones = objective.penalty, np.ones(objective.d)
    if type(penalty).outside is Penalty.outside:
        return penalty.free(objective.d)
    return (penalty.outside(ones) != 0.0) | (penalty.outside(-ones) != 0.0)


@dataclass(frozen=True)
class Restored:
    """A u with 1'u = 0 and the rows of dom Omega* restored, and what was found on the way."""

    u: Array
    v: Array | None = None
    start: Array | None = None
    gram: ColumnGram | None = None


def restore_rows(
    objective: Objective, u: Array, lo: Any, hi: Any, metric: Array | None
) -> Restored:
    """Restore 1'u = 0 and the rows of dom Omega* that no shrinking can restore, within the box."""
    penalty, d = objective.penalty, objective.d
    rows = np.flatnonzero(held_rows(objective))
    if not rows.size:
        return Restored(_restore_sum(objective, u, lo, hi, metric))
    columns = objective.design
    if 0 < rows.size < d:
        columns = columns.columns(rows)
    equalities = penalty.free(d)[rows]
    v, start, gram, h = None, None, None, None
    for _ in range(ROUNDS):
        total = u.sum() if objective.fit_intercept else 0.0
        done = abs(total) <= 0.5 * ROUNDING * np.abs(u).sum()
        v = np.zeros(d)
        v[rows] = -columns.rmatvec(u)
        start = v if start is None else start
        outside = np.abs(penalty.outside(v)[rows])
        if np.any(outside):
            broken = outside > 0.5 * ROUNDING * objective.product_sizes(u)[rows]
            done, more = done and not np.any(broken), equalities | broken
            gram, equalities = gram if np.array_equal(more, equalities) else None, more
        if done:
            break
        if gram is None:
            h = _room(objective, u, lo, hi) if metric is None else metric
        assert h is not None
        if equalities.any():
            if gram is None:
                mask = np.isin(np.arange(d), rows[equalities])
                part = columns if equalities.all() else columns.columns(equalities)
                gram = ColumnGram(part, h, objective.fit_intercept, mask)
            shift = gram.combination(-v[rows[equalities]], total)
        elif h.sum() > 0.0:
            shift = total / h.sum()
        else:
            break
        there = u - h * shift
        u, v = np.clip(there, lo, hi), None
        if metric is None and not np.array_equal(u, there):
            gram = None  # other samples are to carry what is left
        u = _without_traces(objective, u)
    known = rows.size == d
    return Restored(u, v if known else None, start if known else None, gram)


def _restore_sum(objective: Objective, u: Array, lo: Any, hi: Any, metric: Array | None) -> Array:
    """Restore 1'u = 0 within the box, down to rounding."""
    for _ in range(ROUNDS if objective.fit_intercept else 0):
        total = u.sum()
        if abs(total) <= 0.5 * ROUNDING * np.abs(u).sum():
            break
        h = _room(objective, u, lo, hi) if metric is None else metric
        whole = h.sum()
        if not whole > 0.0:
            break
        u = u - h * (total / whole)
        if not objective.is_unbounded:
            u = np.clip(u, lo, hi)
        u = _without_traces(objective, u)
    return u


def _room(objective: Objective, u: Array, lo: Any, hi: Any) -> Array:
    """How far each u_i is inside of its box; c_i where there is none."""
    if objective.is_unbounded:
        return objective.c
    room = np.minimum(u - lo, hi - u)
    return np.where(np.isfinite(room), room, objective.c)


def _without_traces(objective: Objective, u: Array) -> Array:
    """U without its least entries: where a row has one term left, that must be exactly 0."""
    share = np.abs(u) / objective.c
    return np.where(share <= EPS * share.max(), 0.0, u)
