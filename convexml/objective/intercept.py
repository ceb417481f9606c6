"""The best intercept for given predictions: a convex problem in one variable."""

from __future__ import annotations

import numpy as np

from ..losses import Loss
from ..numerics import Array

LARGEST = 1e300


def best_shift(loss: Loss, y: Array, c: Array, z: Array) -> float:
    """Return t minimising sum_i c_i l(y_i, z_i + t); 0 where there is no minimiser.

    A constraint on the predictions is met, or missed by the least.

    The slope of that sum is nondecreasing in t. For piecewise linear losses the minimiser is a
    breakpoint; else it is bracketed and found by Newton steps kept inside the bracket. Real
    targets are centred at the median of y - z first and measured in units of their spread, so that
    neither an offset nor a change of units matters.
    """
    if loss.is_indicator:
        return _middle(loss, y, z)
    if not loss.is_smooth:
        return _breakpoint(loss, y, c, z)
    if loss.labels != "real":
        return _smooth_root(loss, y, c, z, 1.0)
    centre = float(np.median(y - z))
    spread = float(np.median(np.abs(y - z - centre))) or float(np.max(np.abs(y - z - centre)))
    return centre + _smooth_root(loss, y, c, z + centre, spread or 1.0)


def _middle(loss: Loss, y: Array, z: Array) -> float:
    """The middle of the shifts that a constraint on the predictions allows, or nearly allows."""
    if loss.labels == "binary":
        low = np.max((1.0 - z)[y > 0.0], initial=-np.inf)
        high = np.min((-1.0 - z)[y < 0.0], initial=np.inf)
    else:
        low, high = np.max(y - z), np.min(y - z)
    middle = 0.5 * (low + high)
    if np.isfinite(middle):
        return float(middle)
    return float(low if np.isfinite(low) else high if np.isfinite(high) else 0.0)


def _breakpoint(loss: Loss, y: Array, c: Array, z: Array) -> float:
    points = np.unique(np.concatenate([kink - z for kink in loss.kinks(y)]))

    def slope_after(k: int) -> float:
        right = points[k + 1] if k + 1 < len(points) else points[k] + 2.0
        return float(c @ loss.derivative(y, z + 0.5 * (points[k] + right)))

    lo, hi = 0, len(points) - 1
    while lo < hi:
        mid = (lo + hi) // 2
        if slope_after(mid) >= 0.0:
            hi = mid
        else:
            lo = mid + 1
    return float(points[lo])


def _smooth_root(loss: Loss, y: Array, c: Array, z: Array, unit: float) -> float:
    """The root of the slope, bracketed from 0 in steps that start at ``unit``."""

    def slope(t: float) -> float:
        with np.errstate(over="ignore"):
            return float(c @ loss.derivative(y, z + t))

    first = slope(0.0)
    if first == 0.0 or not np.isfinite(first):
        return 0.0
    # Bracket the root, moving against the slope.
    reach, t = unit, 0.0
    while True:
        other = -np.sign(first) * reach
        value = slope(other)
        if value == 0.0:
            return other
        if value * first < 0.0:
            break
        t, reach = other, 4.0 * reach
        if not reach < LARGEST or np.isnan(value):
            return 0.0
    lo, hi = min(t, other), max(t, other)
    t = 0.5 * (lo + hi)
    for _ in range(200):
        value = slope(t)
        if value == 0.0:
            return t
        lo, hi = (t, hi) if value < 0.0 else (lo, t)
        with np.errstate(over="ignore"):
            curvature = float(c @ loss.curvature(y, z + t))
        newton = t - value / curvature if curvature > 0.0 else np.inf
        nxt = newton if lo < newton < hi else 0.5 * (lo + hi)
        if abs(nxt - t) <= 1e-15 * max(unit, abs(t)) or nxt in (lo, hi):
            return nxt
        t = nxt
    return t
