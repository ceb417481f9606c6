"""Samples of a loss of the library: targets, weights and what the prediction is multiplied by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...losses import Loss
from ...numerics import EPS, Array
from ..reading.declined import Declined, named
from .bundles import Bundle

NEAR = 64.0 * EPS
"""Numbers that were meant to be equal are, up to this share."""


@dataclass
class LossRows:
    """weight . loss(y, multiplier * z) + constants is what a bundle says, row by row."""

    bundle: Bundle
    loss: Loss
    y: Array
    weight: Array
    multiplier: Any = 1.0

    @property
    def home(self) -> Bundle:
        """The bundle that this is a part of."""
        return self.bundle.whole or self.bundle

    def value(self, z: Array) -> Array:
        """weight . loss at the prediction z, row by row."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.asarray(self.weight * self.loss.value(self.y, self.multiplier * z))


def by_home(rows: list[LossRows]) -> dict[int, list[LossRows]]:
    """The rows of each bundle, by its id."""
    found: dict[int, list[LossRows]] = {}
    for each in rows:
        found.setdefault(id(each.home), []).append(each)
    return found


def margins(
    bundle: Bundle, loss: Loss, slope: Array, sign: Array, below: Array, used: Array, power: int = 1
) -> LossRows:
    """slope (o - y z)_+ as slope o (1 - y z / o)_+, o = -``below`` > 0."""
    o = np.where(used, -below, 1.0)
    if not (o > 0.0).all():
        raise Declined(f"{named(bundle.said)}: its margin is not above 0")
    multiplier: Any = 1.0 if (o == 1.0).all() else 1.0 / o
    return LossRows(bundle, loss, sign, np.where(used, slope * o**power, 0.0), multiplier)


def refuse_overflow(bundle: Bundle, *arrays: Array) -> None:
    """Raise Declined where numbers of a bundle are not finite."""
    if not all(np.isfinite(each).all() for each in arrays):
        raise Declined(f"{named(bundle.said)}: its numbers are too large for float64")


def beyond_losses(rows: list[LossRows], found: list[Bundle]) -> list[Array]:
    """What each bundle says beyond its losses, row by row: at one prediction, as at all."""
    answer, homes = [], by_home(rows)
    for bundle in found:
        mine = homes[id(bundle)]
        if mine[0].loss.is_indicator:
            answer.append(np.zeros(bundle.rows))
            continue
        z = _reference(mine[0])
        whole = bundle.value(z)
        rest = whole - sum(each.value(z) for each in mine)
        answer.append(np.where(np.abs(rest) <= NEAR * np.abs(whole), 0.0, rest))
    return answer


def _reference(rows: LossRows) -> Array:
    """A prediction at which little is lost to rounding: the target, or 0."""
    if rows.loss.labels == "real":
        return np.where(rows.weight > 0.0, rows.y / rows.multiplier, 0.0)
    return np.zeros(rows.y.size)
