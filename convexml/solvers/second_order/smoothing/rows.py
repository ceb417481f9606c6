"""What a Newton step on a smoothed loss asks of the rows: all of it in one pass over X."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ....blocks import rowwise
from ....design import Design, by_blocks, in_blocks
from ....numerics import Array
from ....objective import Objective
from ...box_dual import curvatures
from ..smoothed_loss import Smoothed


@dataclass(frozen=True)
class BandSums:
    """BandSums over the rows at predictions z, for bands of width omega.

    Attributes
    ----------
    matrix : array, shape (d + 1, d + 1)
        [X, 1]' diag(h) [X, 1] for the curvatures h of the smoothed loss.
    pulls : array, shape (d, 2)
        X'u for the slopes u of the smoothed loss at z, and for those that were expected of it.
    totals : array, shape (2,)
        1'u.
    loss : float
        F(z).
    terms : array, shape (2,)
        F(z) + F*(u) - u'z, not below 0.
    smoothed : array, shape (2,)
        The smoothed loss at z in these bands, and in those before.
    inside : float
        The samples in their bands.
    """

    matrix: Array
    pulls: Array
    totals: Array
    loss: float
    terms: Array
    smoothed: Array
    inside: float

    @classmethod
    def of(cls, flat: Array, d: int) -> BandSums:
        """From ``row_sums``."""
        square = (d + 1) ** 2
        matrix, pulls, rest = np.split(flat, [square, square + 2 * d])
        return cls(
            matrix.reshape(d + 1, d + 1),
            pulls.reshape(d, 2),
            rest[:2],
            float(rest[2]),
            rest[3:5],
            rest[5:7],
            float(rest[7]),
        )


@dataclass(frozen=True)
class BandedLoss:
    """How F is smoothed: about the middle of its box, in bands of width omega in z.

    Attributes
    ----------
    objective : Objective
        Whose F* is quadratic on a bounded box.
    """

    objective: Objective

    @property
    def _rows(self) -> tuple[Array, Array, Array, Array]:
        """What F* is made of, row by row; not to be kept, for it is much where rows are many."""
        objective = self.objective
        return objective.y, curvatures(objective), *objective.dual_bounds()

    @property
    def _epsilon(self) -> float:
        return float(getattr(self.objective.loss, "epsilon", 0.0))

    def sums(self, z: Array, omega: float, z0: Array, before: float) -> BandSums:
        """Those at z, after a step from z0 in bands of the width ``before``."""
        objective = self.objective
        losses = objective.c * objective.loss.value(objective.y, z)
        arguments: tuple[Any, ...] = (losses, *self._rows, self._epsilon, z, omega, z0, before)
        if in_blocks(objective.design):
            found = by_blocks(row_sums, objective.design, *arguments)
            return BandSums.of(found.executor.total(found.parts), objective.d)
        return BandSums.of(row_sums(objective.design, *arguments), objective.d)

    def slopes(self, z: Array, omega: float) -> Array:
        """The slopes of the smoothed loss at z."""
        found: Array = _slopes(*self._rows, z, epsilon=self._epsilon, omega=omega)
        return found

    def expected(self, z: Array, z0: Array, before: float) -> Array:
        """The slopes that its curvature at z0 lets expect at z."""
        found: Array = _expected(*self._rows, z, z0, epsilon=self._epsilon, omega=before)
        return found


def smoothed(y: Array, K: Array, lo: Array, hi: Array, epsilon: float, omega: float) -> Smoothed:
    """About the middle of the box, so that bands lie about the kinks."""
    return Smoothed(y, K, (lo, hi), epsilon, 0.5 * (lo + hi), omega)


def row_sums(
    design: Design,
    losses: Array,
    y: Array,
    K: Array,
    lo: Array,
    hi: Array,
    epsilon: float,
    z: Array,
    omega: float,
    z0: Array,
    before: float,
) -> Array:
    """The ``BandSums`` of some rows, one after the other."""
    narrow, wide = (smoothed(y, K, lo, hi, epsilon, width) for width in (omega, before))
    u, inside = narrow.slope(z)
    v = _expected(y, K, lo, hi, z, z0, epsilon=epsilon, omega=before)
    h = np.where(inside, narrow.rate, 0.0)
    loss = float(losses.sum())
    terms = [loss + narrow.conjugate(each) - float(each @ z) for each in (u, v)]
    values = [_value(narrow, u, z), _value(wide, wide.slope(z)[0], z)]
    return np.concatenate(
        [
            design.bordered_gram(h).ravel(),
            design.rmatvec(np.stack([u, v], axis=1)).ravel(),
            [u.sum(), v.sum(), loss, *terms, *values, float(np.count_nonzero(inside))],
        ]
    )


def _value(smooth: Smoothed, u: Array, z: Array) -> float:
    """The smoothed loss at z, whose slopes there are u."""
    away = u - smooth.centre
    return float(u @ z) - smooth.conjugate(u) - 0.5 * float(smooth.D @ (away * away))


@rowwise
def _slopes(
    y: Array, K: Array, lo: Array, hi: Array, z: Array, *, epsilon: float, omega: float
) -> Array:
    return smoothed(y, K, lo, hi, epsilon, omega).slope(z)[0]


@rowwise
def _expected(
    y: Array, K: Array, lo: Array, hi: Array, z: Array, z0: Array, *, epsilon: float, omega: float
) -> Array:
    """U + h (z - z0) in the box, for the slopes u and the curvatures h at z0."""
    smooth = smoothed(y, K, lo, hi, epsilon, omega)
    u, inside = smooth.slope(z0)
    found: Array = np.clip(u + np.where(inside, smooth.rate * (z - z0), 0.0), lo, hi)
    return found
