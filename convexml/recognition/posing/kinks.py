"""Losses with kinks: absolute, pinball, hinge, and the tube of two kinks."""

from __future__ import annotations

import numpy as np

from ... import losses
from ...numerics import Array
from ..reading.declined import Declined, named
from .bundles import Bundle
from .rows import NEAR, LossRows, margins, refuse_overflow


def kinked(bundle: Bundle) -> LossRows:
    """Sizes, ramps and lines with one kink: absolute, pinball or hinge; with two: a tube."""
    left = np.zeros(bundle.rows) + bundle.slope
    kinks, jumps = [], []
    for part in bundle.parts:
        size = part.term.weight * np.abs(part.s)
        both = part.term.kind == "abs"
        left = left - np.where(both | (part.s < 0.0), size, 0.0)
        jumps.append(size * (2.0 if both else 1.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            kinks.append(np.where(part.s == 0.0, 0.0, -part.o / part.s))
    at, jump = np.array(kinks), np.array(jumps)
    live = jump > 0.0
    low = np.where(live, at, np.inf).min(axis=0, initial=np.inf)
    high = np.where(live, at, -np.inf).max(axis=0, initial=-np.inf)
    idle = ~live.any(axis=0)
    low, high = np.where(idle, 0.0, low), np.where(idle, 0.0, high)
    refuse_overflow(bundle, low, high)
    if not (high - low <= NEAR * (np.abs(low) + np.abs(high))).all():
        return _two_kinks(bundle, left, at, jump, low, high)
    whole = jump.sum(axis=0)
    right = left + whole
    exact = NEAR * whole
    left, right = (
        np.where(np.abs(left) <= exact, 0.0, left),
        np.where(np.abs(right) <= exact, 0.0, right),
    )
    if ((left > 0.0) | (right < 0.0)).any():
        raise Declined(f"{named(bundle.said)}: a line is added that no loss takes in")
    sides = (left < 0.0) & (right > 0.0)
    used = ~idle & (whole > 0.0)
    if sides[used].all():
        tau = np.divide(-left, whole, out=np.full(bundle.rows, 0.5), where=used)[used]
        if not tau.size or not (np.abs(tau - tau[0]) <= NEAR).all():
            raise Declined(f"{named(bundle.said)}: the level of the quantile is not one for all")
        level = float(np.median(tau))
        if abs(level - 0.5) <= NEAR:
            return LossRows(bundle, losses.Absolute(), low, whole / 2.0)
        return LossRows(bundle, losses.Pinball(level), low, whole)
    if sides.any():
        raise Declined(f"{named(bundle.said)}: some rows have one slope, others two")
    sign = np.where(left < 0.0, 1.0, -1.0)
    return margins(bundle, losses.Hinge(), whole, sign, -sign * low, used)


def _two_kinks(
    bundle: Bundle, left: Array, at: Array, jump: Array, low: Array, high: Array
) -> LossRows:
    middle, width = (low + high) / 2.0, (high - low) / 2.0
    first = np.where(np.abs(at - low) <= np.abs(at - high), jump, 0.0).sum(axis=0)
    second = jump.sum(axis=0) - first
    apart = np.where(jump > 0.0, np.minimum(np.abs(at - low), np.abs(at - high)), 0.0)
    flat = np.abs(left + first) <= NEAR * first
    even = np.abs(first - second) <= NEAR * first
    one = np.abs(width - width[0]) <= NEAR * (np.abs(low) + np.abs(high))
    if not (flat & even & one).all() or not (apart <= NEAR * np.abs(width)).all():
        raise Declined(f"{named(bundle.said)}: a loss of several kinks that is no tube")
    return LossRows(bundle, losses.EpsilonInsensitive(float(np.median(width))), middle, first)
