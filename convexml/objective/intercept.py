"""The best intercept for given predictions: a convex problem in one variable."""

from __future__ import annotations

from collections.abc import Callable
from math import copysign, inf, isfinite, isinf, isnan
from typing import Any

import numpy as np

from ..blocks import between, count_between, in_memory
from ..losses import Loss
from ..numerics import Array

LARGEST = 1e300
SIGNS = np.array([1.0, -1.0])
STEPS, TRUSTED = 1000, 8
MANY = 1 << 16
"""Breakpoints that are sorted at once: more are halved by the slope between them."""


def best_shift(loss: Loss, y: Array, c: Array, z: Array) -> float:
    """Return t minimising sum_i c_i l(y_i, z_i + t); 0 where there is no minimiser.

    A constraint on the predictions is met, or missed by the least.

    The slope of that sum is nondecreasing in t. For piecewise linear losses the minimiser is a
    breakpoint, for the squared loss a mean; else it is found by Newton steps. Other real
    targets are centred at the median of y - z first and measured in units of their spread, so that
    neither an offset nor a change of units matters.
    """
    if loss.is_indicator:
        return _middle(loss, y, z)
    if loss.labels == "binary" and (z == z[0]).all():  # two sums say it all
        sums = np.array([c @ (y > 0.0), c @ (y < 0.0)])
        if sums.all():
            best = loss.best_constant(*sums.tolist())
            if best is not None:
                return best - float(z[0])
            y, c, z = SIGNS, sums, np.full(2, float(z[0]))
    if not loss.is_smooth:
        return _breakpoint(loss, y, c, z)
    if loss.conjugate_curvature == loss.curvature_bound == loss.strong_convexity == 1.0:
        return _weighted_mean(y, c, z)
    if loss.labels != "real":
        return _smooth_root(loss, y, c, z, 1.0)
    centre = float(np.median(y - z))
    spread = float(np.median(np.abs(y - z - centre))) or float(np.max(np.abs(y - z - centre)))
    return centre + _smooth_root(loss, y, c, z + centre, spread or 1.0)


def least_beside(objective: Any, b: float, value: float) -> float:
    """The least P of w = 0 at b, where it is ``value``, and at the two numbers next to b.

    A kink is rounded: on its steep side P may be large beside the minimum.
    """
    if objective.loss.is_smooth or not (objective.fit_intercept and isfinite(value)):
        return value
    w, z = np.zeros(objective.d), objective.zero_scores
    beside = [float(np.nextafter(b, end)) for end in (-inf, inf)]
    return min(value, *(objective.primal(w, each, z + each) for each in beside))


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
    points = _breakpoints(
        [kink - z for kink in loss.kinks(y)],
        lambda t: float(c @ loss.derivative(y, z + t)),
    )

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


def _breakpoints(kinks: list[Any], slope: Callable[[float], float]) -> Array:
    """The breakpoints, in order; of very many those that the slope leaves in question."""
    ends = [end for kink in kinks for end in (float(kink.min()), float(kink.max()))]
    low, high = min(ends), max(ends)
    if sum(kink.size for kink in kinks) <= MANY or not all(map(isfinite, ends)):
        return np.unique(np.concatenate([in_memory(kink) for kink in kinks]))
    while sum(count_between(kink, low, high) for kink in kinks) > MANY:
        middle = low + 0.5 * (high - low)
        if not low < middle < high:
            break
        low, high = (low, middle) if slope(middle) >= 0.0 else (middle, high)
    return np.unique(np.concatenate([between(kink, low, high) for kink in kinks]))


def _weighted_mean(y: Array, c: Array, z: Array) -> float:
    """The root of the slope of the squared loss: the mean of y - z, and that of what is left."""
    total, left = float(c.sum()), y - z
    with np.errstate(over="ignore", invalid="ignore"):
        mean = float(c @ left) / total
        left -= mean
        mean += float(c @ left) / total
    return mean if isfinite(mean) else 0.0


def _smooth_root(loss: Loss, y: Array, c: Array, z: Array, unit: float) -> float:
    """The root of the slope by Newton steps from 0, inside the bracket that they have found.

    Where no bracket is known yet a step is at most ``unit``, then 4 times as much each time; and
    no less after the first few, as there may be no root.
    """

    def slope(t: float) -> float:
        with np.errstate(over="ignore"):
            return float(c @ loss.derivative(y, z + t))

    t, value = 0.0, slope(0.0)
    if not isfinite(value):
        return 0.0
    lo, hi, reach = -inf, inf, unit
    for step in range(STEPS):
        if value == 0.0:
            return t
        lo, hi = (t, hi) if value < 0.0 else (lo, t)
        with np.errstate(over="ignore"):
            curvature = float(c @ loss.curvature(y, z + t))
        nxt = t - value / curvature if curvature > 0.0 else inf
        if abs(nxt - t) <= 1e-15 * max(unit, abs(t)):
            return nxt  # even where rounding has led out of the bracket
        if isinf(lo) or isinf(hi):
            if not abs(nxt - t) <= reach or step >= TRUSTED:
                nxt, reach = t - copysign(reach, value), 4.0 * reach
        elif not lo < nxt < hi:
            nxt = 0.5 * (lo + hi)
        if abs(nxt - t) <= 1e-15 * max(unit, abs(t)) or nxt in (lo, hi):
            return nxt
        t, value = nxt, slope(nxt)
        if isnan(value) or not reach < LARGEST:
            return 0.0
    return t
