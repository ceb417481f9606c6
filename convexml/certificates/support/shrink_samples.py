"""Shrink what is known of each sample: b* and z* from w* and u*, u* from z*."""

from __future__ import annotations

import math

import numpy as np

from ...numerics import ROUNDING, Array
from .enclosure import Enclosure, kink
from .interval import crossing, sublevel


def shrink_predictions(known: Enclosure) -> None:
    """b* from the sum of all terms FY_i(z_i*, u_i) <= G; z* from w*, b* and u*."""
    objective = known.objective
    lo, hi = known.scores
    bounded = bool(np.all(np.isfinite(lo) & np.isfinite(hi)))
    if objective.fit_intercept and bounded:

        def total(b: Array) -> Array:
            terms = known.terms_of_predictions(np.clip(known.nearest, lo + b, hi + b))
            return np.array([terms.sum()])

        known.b.meet(*sublevel(total, np.array([known.point.b]), known.gap))
    level_intercepts(known)
    known.z.meet(lo + known.b.lo, hi + known.b.hi)
    if objective.loss.is_indicator:
        held = known.u.excludes_zero
        known.z.meet(kink(objective)[held], kink(objective)[held], held)
        known.pinned |= held
    else:
        low, high = _inverse_slopes(known)
        known.z.meet(low, high)


def level_intercepts(known: Enclosure) -> None:
    """An interval of optimal b: no sample on a kink of its loss, the slopes adding up to 0.

    At such a b every sample is certainly on one side of its kinks, for each w* that is possible:
    dP/db = sum_i c_i l'(z_i) = 0 makes (w*, b) optimal, so that u_i* is that slope, and with it
    every b up to the next kink. The sum must vanish exactly.
    """
    objective = known.objective
    loss, y, c = objective.loss, objective.y, objective.c
    lo, hi = known.scores
    if not objective.fit_intercept or loss.is_smooth or loss.is_indicator:
        return
    if known.level is not None or not np.all(np.isfinite(lo) & np.isfinite(hi)):
        return
    kinks = np.stack(loss.kinks(y))
    for b in (*known.b.middle[known.b.bounded], known.point.b):
        slack = ROUNDING * (np.abs(lo) + np.abs(hi) + np.abs(y) + abs(b))
        below, above = hi + b + slack < kinks, lo + b - slack > kinks
        middle = 0.5 * (lo + hi) + b
        slopes = c * loss.derivative(y, middle)
        straight = np.all(below | above) and not np.any(loss.curvature(y, middle))
        if straight and math.fsum(slopes.tolist()) == 0.0:
            known.u.meet(slopes, slopes)
            low = np.where(above, kinks - lo + slack, -np.inf).max()
            high = np.where(below, kinks - hi - slack, np.inf).min()
            known.level = (float(low), float(high))
            return


def _inverse_slopes(known: Enclosure) -> tuple[Array, Array]:
    """The z with dl(z) meeting the interval of u_i*/c_i, rounded outward."""
    loss, y, c = known.objective.loss, known.objective.y, known.objective.c
    least, most = known.u.lo / c, known.u.hi / c
    blur = ROUNDING * (1.0 + np.abs(y) + np.abs(known.slopes))
    if not loss.is_smooth:  # slopes are exact between kinks
        blur = ROUNDING * np.maximum(np.abs(least), np.abs(most))
        blur = np.where(np.isfinite(blur), blur, 0.0)
    low = crossing(loss, y, least - blur)
    high = crossing(loss, y, most + blur, after=True)
    slack = 4.0 * ROUNDING * (np.abs(y) + np.minimum(np.abs(low), np.abs(high)))
    if not loss.is_smooth:
        away = np.abs(np.stack(loss.kinks(y)) - low).min(axis=0)
        known.pinned |= (high - low <= slack) & (away <= slack)
    low = np.where(np.abs(low) < 1e14, low - slack, -np.inf)
    high = np.where(np.abs(high) < 1e14, high + slack, np.inf)
    return low, high


def shrink_dual(known: Enclosure) -> None:
    """What z* leaves of u*: u_i* in c_i dl(z_i*)."""
    objective = known.objective
    y, c, loss = objective.y, objective.c, objective.loss
    slack = ROUNDING * (1.0 + np.abs(y) + np.abs(np.where(known.z.bounded, known.z.middle, 0.0)))
    lo, hi = known.z.lo - slack, known.z.hi + slack
    if loss.is_indicator:
        clear = loss.violation(y, lo) + loss.violation(y, hi) == 0.0
        known.u.meet(0.0, 0.0, clear)
        return
    low = np.where(np.isfinite(lo), c * loss.derivative(y, lo), -np.inf)
    high = np.where(np.isfinite(hi), c * loss.derivative(y, hi), np.inf)
    least, most = objective.dual_bounds()
    if loss.is_smooth:
        at = (low == 0.0) | (low == least) | (low == most)
        low = np.where(at, low, low - ROUNDING * (np.abs(low) + c * np.abs(y)))
        at = (high == 0.0) | (high == least) | (high == most)
        high = np.where(at, high, high + ROUNDING * (np.abs(high) + c * np.abs(y)))
    known.u.meet(low, high)
