"""From what is said of a prediction to a loss of the library, its targets and weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import losses
from ...numerics import Array
from ..reading.declined import Declined, named
from .bundles import Bundle
from .kinks import kinked
from .rows import NEAR, LossRows, margins, refuse_overflow


def lower(bundle: Bundle) -> list[LossRows]:
    """The rows of a bundle; several where samples of one kind are counted twice.

    Raises
    ------
    Declined
        If no loss of the library says this.
    """
    kinds = {part.term.kind for part in bundle.parts}
    if kinds <= {"abs", "ramp"}:
        return [kinked(bundle)]
    if len(kinds) > 1:
        raise Declined(f"{named(bundle.said)}: losses of several kinds of one prediction")
    kind = kinds.pop()
    if kind == "square":
        return [squared(bundle)]
    levels = {part.term.level for part in bundle.parts}
    if kind not in READERS or len(levels) > 1:
        raise Declined(f"{named(bundle.said)} is no loss that is known of a prediction")
    merged = _merged(bundle)
    if merged is not None:
        return READERS[kind](bundle, *merged)
    found, slope = [], bundle.slope
    for part in bundle.parts:
        single = Bundle(bundle.maps, bundle.main, [part], slope, whole=bundle)
        found += READERS[kind](single, part.term.weight, part.s, part.o)
        slope = 0.0
    return found


def _merged(bundle: Bundle) -> tuple[Array, Array, Array] | None:
    """One weight, s and o a row, where each row counts in one part only."""
    parts = bundle.parts
    if len(parts) == 1:
        return parts[0].term.weight, parts[0].s, parts[0].o
    weights = np.array([part.term.weight for part in parts])
    if (np.count_nonzero(weights, axis=0) > 1).any():
        return None
    which, rows = np.argmax(weights, axis=0), np.arange(bundle.rows)
    s, o = np.array([part.s for part in parts]), np.array([part.o for part in parts])
    return weights[which, rows], s[which, rows], o[which, rows]


def squared(bundle: Bundle) -> LossRows:
    """sum of squares, and what is linear: weight (z - y)^2 / 2."""
    parts = bundle.parts
    if len(parts) == 1 and not np.any(bundle.slope):
        part = parts[0]
        weight = 2.0 * part.term.weight * part.s**2
        with np.errstate(divide="ignore", invalid="ignore"):
            y = np.where(part.s == 0.0, 0.0, -part.o / part.s)
    else:
        weight = sum((2.0 * p.term.weight * p.s**2 for p in parts), np.zeros(bundle.rows))
        pull = sum((2.0 * p.term.weight * p.s * p.o for p in parts), bundle.slope)
        if np.any((weight == 0.0) & (pull != 0.0)):
            raise Declined(f"{named(bundle.said)}: an entry counts linearly, without bound")
        y = -np.divide(pull, weight, out=np.zeros(bundle.rows), where=weight != 0.0)
    refuse_overflow(bundle, weight, y)
    return LossRows(bundle, losses.Squared(), y, weight)


def _levelled(kind: str, make: Any) -> Any:
    """A loss of s z + o with a level, in units in which the level is one for all rows."""
    square = kind != "tube"

    def read(bundle: Bundle, weight: Array, s: Array, o: Array) -> list[LossRows]:
        _no_slope(bundle)
        level, size = bundle.parts[0].term.level, np.abs(s)
        if not (size > 0.0).all():
            raise Declined(f"{named(bundle.said)}: a row counts for nothing")
        if (size == size[0]).all():
            scale = weight * (2.0 * size**2 if square else size)
            rows = LossRows(bundle, make(level / size[0]), -o / s, scale)
        else:
            rows = LossRows(bundle, make(level), -o * np.sign(s), (2.0 if square else 1.0) * weight)
            rows.multiplier = size
        return [rows]

    return read


def squared_ramp(bundle: Bundle, weight: Array, s: Array, o: Array) -> list[LossRows]:
    """c (s z + o)_+^2 as 2 c o^2 (1 - y z |s|/o)_+^2 / 2."""
    _no_slope(bundle)
    size, used = np.abs(s), (weight > 0.0) & (s != 0.0)
    slope, below = 2.0 * weight * size**2, -np.where(used, o, 1.0) / np.where(used, size, 1.0)
    return [margins(bundle, losses.SquaredHinge(), slope, -np.sign(s), below, used, 2)]


def logistic(bundle: Bundle, weight: Array, s: Array, o: Array) -> list[LossRows]:
    """c log(1 + e^(s z)) + g z: a sample of either label, or of both."""
    used = (weight > 0.0) & (s != 0.0)
    if o[used].any():
        raise Declined(f"{named(bundle.said)}: a constant is added to the prediction")
    slope = np.zeros(bundle.rows) + bundle.slope
    if slope[~used].any():
        raise Declined(f"{named(bundle.said)}: an entry counts linearly, without bound")
    share = np.divide(-slope, weight * s, out=np.zeros(bundle.rows), where=used)
    share = np.where(np.abs(share) <= NEAR, 0.0, np.where(np.abs(share - 1) <= NEAR, 1.0, share))
    if ((share < 0.0) | (share > 1.0)).any():
        raise Declined(f"{named(bundle.said)}: a label is neither 0 nor 1, nor between them")
    size, label = np.abs(s), np.where(s > 0.0, -1.0, 1.0)
    multiplier: Any = 1.0 if (size[used] == 1.0).all() else np.where(used, size, 1.0)
    weight = np.where(used, weight, 0.0)
    loss, split = losses.Logistic(), (share > 0.0) & (share < 1.0)
    if not split.any():
        label = np.where(share == 1.0, -label, label)
        return [LossRows(bundle, loss, label, weight, multiplier)]
    return [
        LossRows(bundle, loss, label, weight * (1.0 - share), multiplier),
        LossRows(bundle, loss, -label, weight * share, multiplier),
    ]


def exponential(bundle: Bundle, weight: Array, s: Array, o: Array) -> list[LossRows]:
    """c e^(s z + o) + g z: Poisson's loss where a line or one sign says so, else exponential."""
    with np.errstate(over="ignore"):
        scale = weight * np.exp(o)
    used = (scale > 0.0) & (s != 0.0)
    slope = np.zeros(bundle.rows) + bundle.slope
    refuse_overflow(bundle, scale, slope)
    if slope[~used].any():
        raise Declined(f"{named(bundle.said)}: an entry counts linearly, without bound")
    multiplier: Any = np.where(used, s, 1.0)
    if slope.any() or (multiplier > 0.0).all():
        y = np.divide(-slope, scale * s, out=np.zeros(bundle.rows), where=used)
        if (y < 0.0).any():
            raise Declined(f"{named(bundle.said)}: a count is below 0")
        multiplier = 1.0 if (multiplier == 1.0).all() else multiplier
        return [LossRows(bundle, losses.Poisson(), y, np.where(used, scale, 0.0), multiplier)]
    size: Any = np.abs(multiplier)
    size = 1.0 if (size == 1.0).all() else size
    label = -np.sign(multiplier)
    return [LossRows(bundle, losses.Exponential(), label, np.where(used, scale, 0.0), size)]


def indicator(bundle: Bundle, weight: Array, s: Array, o: Array) -> list[LossRows]:
    """s z + o <= 0 as y z |s| / o >= 1, s z + o = 0 as z = y."""
    _no_slope(bundle)
    if not s.all():
        raise Declined(f"{named(bundle.said)}: a row does not vary")
    if bundle.whole and any((p.s != s).any() or (p.o != o).any() for p in bundle.whole.parts):
        raise Declined(f"{named(bundle.said)}: two bounds of one prediction")
    if bundle.parts[0].term.kind == "is 0":
        return [LossRows(bundle, losses.Interpolation(), -o / s, weight)]
    used, below = np.ones(bundle.rows, dtype=bool), -o / np.abs(s)
    return [margins(bundle, losses.HardMargin(), weight, -np.sign(s), below, used, 0)]


def _no_slope(bundle: Bundle) -> None:
    if np.any(bundle.slope):
        raise Declined(f"{named(bundle.said)}: a line is added that no loss takes in")


READERS: dict[str, Any] = {
    "huber": _levelled("huber", losses.Huber),
    "tube": _levelled("tube", losses.EpsilonInsensitive),
    "squared tube": _levelled("squared tube", losses.SquaredEpsilonInsensitive),
    "squared ramp": squared_ramp,
    "logistic": logistic,
    "exp": exponential,
    "at most 0": indicator,
    "is 0": indicator,
}
