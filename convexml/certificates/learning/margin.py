"""A dual point that meets the bounds on v = -X'u with all that v may be off by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import numpy as np

from ...data import in_blocks
from ...numerics import EPS, Array
from ...problem import MulticlassObjective, Objective
from ..algebra.sums import exact_residual
from ..rounding import compensated_error, compensated_rmatvec
from .repair import (
    ColumnGram,
    DualPoint,
    balance,
    box_inside,
    drift_of_multiples,
    dual_value,
    outermost,
    room_of,
    scaled,
)

SMALL = 100_000
"""Entries of X up to which X'u is evaluated in twice the digits where its rounding costs much."""
TAKEN, SEEN = 1e-12, 1e-3
"""Of u, or of what tol allows, where that is more."""
NEAR = 1e-9
"""Share below its bound from which on a block of v is held where it is."""
MOST = 500
ATTEMPTS = 6
ROUNDS = 4
POWERS = range(4, 53, 2)
"""Margins that are tried are 2^4 eps, 2^6 eps, ..."""


def with_margin(
    objective: Objective, point: DualPoint, precise: bool = False, tol: float = 0.0
) -> DualPoint:
    """Shrink u until bounds such as |v_j| <= lam hold for certain; ``precise`` evaluates v anew.

    So does a rounding of v that would take more than a share of ``tol``, where X is small. Rows of
    v that must vanish or have a sign are left as they are: no shrinking restores them.
    """
    penalty = objective.penalty
    u, v, error = point.u, point.v, point.error
    if not precise:
        if penalty.conjugate_bound(v, error) < np.inf:
            return point
        scale = penalty.domain_scale(outermost(v, error + drift_of_multiples(objective, u)))
        small = 0 < objective.n * objective.d <= SMALL
        precise = small and penalty.domain_scale(v) - scale > max(TAKEN, SEEN * tol)
    if precise:
        v, error = _precisely(objective, u)
        value, terms = dual_value(objective, u, v)
        point = replace(point, v=v, error=error, value=value, conjugates=terms)
        if penalty.conjugate_bound(v, error) < np.inf:
            return point
        moved_inside = None if objective.is_unbounded else _moved(objective, point)
        if moved_inside is not None:
            return moved_inside
        scale = penalty.domain_scale(outermost(v, error))
    found = _shrunk(objective, u, v, error, scale or 1.0, precise)  # 0 where a sign is missed
    value, terms = dual_value(objective, *found[:2])
    moved = point.moved + float(np.abs(found[0] - u).max())
    return DualPoint(found[0], value, found[1], moved, point.source, found[2], terms)


def closer(objective: Objective, point: DualPoint) -> Iterator[DualPoint]:
    """Points nearer to X'u = 0 and 1'u = 0 of free columns: u less what exact residuals ask for.

    What is left is rounding of u, of which each step draws another. Rows in blocks have none.
    """
    free, u = objective.penalty.free(objective.d), point.u
    apart = isinstance(objective, MulticlassObjective) or in_blocks(objective.design)
    if apart or not free.any():
        return
    lo, hi = box_inside(objective)
    part = objective.design.columns(np.flatnonzero(free))
    gram = ColumnGram(part, room_of(objective, u, lo, hi), objective.fit_intercept)
    root = np.sqrt(np.maximum(gram.h, 0.0))
    for _ in range(ROUNDS):
        u = u + root * gram.shortest(exact_residual(gram.dense.T, u))
        u = balance(objective, np.clip(u, lo, hi), lo, hi)
        v, error = _precisely(objective, u)
        value, terms = dual_value(objective, u, v)
        moved = point.moved + float(np.abs(u - point.u).max())
        yield DualPoint(u, value, v, moved, point.source, error, terms)


def _shrunk(
    objective: Objective, u: Array, v: Array, error: Array, scale: float, precise: bool
) -> tuple[Array, Array, Array]:
    """t u with a margin, t v and what that may be off by; t = 0 where nothing else has one.

    By ``scale`` and some digits less: a margin that costs no more than what X'u would be rounded by
    is found at once, also where it is evaluated anew.
    """
    penalty = objective.penalty
    at_once = ((power, False) for power in (POWERS[:3] if precise else POWERS))
    for power, anew in chain(at_once, ((power, True) for power in POWERS if precise)):
        t = scale * (1.0 - EPS * 2.0**power)
        found = scaled(objective, u, v, error, t)
        if anew:  # what v is at the rounded t u, not what it may be
            found = found[0], *_precisely(objective, found[0])
            scale *= penalty.domain_scale(outermost(found[1], found[2])) or 1.0
        if penalty.conjugate_bound(found[1], found[2]) < np.inf:
            return found
    return scaled(objective, u, v, error, 0.0)


def _moved(objective: Objective, point: DualPoint) -> DualPoint | None:
    """Move only samples inside their box, so that those at its ends stay there; None if in vain."""
    penalty = objective.penalty
    blocks = penalty.zero_blocks(objective.d)
    if blocks is None or isinstance(objective, MulticlassObjective):
        return None
    block, level = blocks
    lo, hi = objective.dual_bounds()
    h = np.maximum(room_of(objective, point.u, lo, hi), 0.0)
    u, v, error = point.u, point.v, point.error
    margin = np.full(len(level), 16.0 * EPS)
    for _ in range(ATTEMPTS):
        size = np.sqrt(np.bincount(block, outermost(v, error) ** 2, minlength=len(level)))
        # What u is rounded by moves v: a block that misses its bound aims lower than before.
        over = size > level * (1.0 - 4.0 * EPS)
        excess = np.where(over & (level > 0.0), size / np.where(level > 0.0, level, 1.0) - 1.0, 0.0)
        margin = np.where(over, np.maximum(2.0 * margin, 2.0 * excess), margin)
        bound = level * (1.0 - np.minimum(margin, NEAR))
        near = (level > 0.0) & (size > level * (1.0 - NEAR))
        chosen = near[block]
        if not 0 < chosen.sum() <= MOST:
            return None
        share = np.where(size > bound, 1.0 - bound / np.where(near, size, 1.0), 0.0)
        part = objective.design.columns(np.flatnonzero(chosen))
        missed = -(share[block] * v)[chosen]
        u = u - h * ColumnGram(part, h, objective.fit_intercept).combination(missed, 0.0)
        u = balance(objective, np.clip(u, lo, hi), *box_inside(objective))
        v, error = _precisely(objective, u)
        if penalty.conjugate_bound(v, error) < np.inf:
            value, moved = dual_value(objective, u, v)[0], float(np.max(np.abs(u - point.u)))
            return DualPoint(u, value, v, point.moved + moved, point.source, error)
    return None


def _precisely(objective: Objective, u: Array) -> tuple[Array, Array]:
    """-X'u in twice the digits, and what it may be off by."""
    v = -compensated_rmatvec(objective.design, u)
    return v, compensated_error(v, objective.n, objective.column_reach(u))
